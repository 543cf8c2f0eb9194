"""What a pod's volumes demand of its node: where they are or may be made, and how many a node attaches (spec 14)."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import product
from typing import Final

from baseload.decide.fit.constraints import requirements_of
from baseload.decide.fit.shape import NOTHING_ATTACHED, Attachments
from baseload.kube.types.core import PersistentVolume, PersistentVolumeClaim, Pod
from baseload.kube.types.storage import StorageClass
from baseload.model.view import View, claim_name
from baseload.values.label import HOSTNAME
from baseload.values.requirement import EMPTY, Requirement, Requirements

_BOUND: Final = "pv.kubernetes.io/bind-completed"
_IN_TREE: Final = {
    "kubernetes.io/aws-ebs": "ebs.csi.aws.com",
    "kubernetes.io/gce-pd": "pd.csi.storage.gke.io",
    "kubernetes.io/azure-disk": "disk.csi.azure.com",
    "kubernetes.io/azure-file": "file.csi.azure.com",
    "kubernetes.io/cinder": "cinder.csi.openstack.org",
    "kubernetes.io/portworx-volume": "pxd.portworx.com",
    "kubernetes.io/vsphere-volume": "csi.vsphere.vmware.com",
}
"""in-tree provisioner -> the CSI driver that took its place"""


class Volumes:
    """The volumes of a view, by name."""

    def __init__(self, view: View) -> None:
        self._view: Final = view

    @cached_property
    def _claims(self) -> dict[tuple[str, str], PersistentVolumeClaim]:
        return {(c.metadata.namespace, c.metadata.name): c for c in self._view.persistent_volume_claims}

    @cached_property
    def _volumes(self) -> dict[str, PersistentVolume]:
        return {volume.metadata.name: volume for volume in self._view.persistent_volumes}

    @cached_property
    def _classes(self) -> dict[str, StorageClass]:
        return {storage.metadata.name: storage for storage in self._view.storage_classes}

    def fault(self, pod: Pod) -> str | None:
        """Why a pod's volumes cannot be used, so that it is left out of the pass (14.6)."""
        faults = (self._fault(pod.metadata.namespace, name) for name in _claim_names(pod))
        found = [fault for fault in faults if fault is not None]
        return "; ".join(found) or None

    def alternatives(self, pod: Pod) -> tuple[Requirements, ...]:
        """The requirement sets of which a node must meet one, in the order in which they are tried; none: no demand.

        Raises LookupError where a claim, volume or class is missing, which validated pods never meet.
        """
        each = [self._of_claim(pod.metadata.namespace, name) for name in _claim_names(pod)]
        terms = [alternatives for alternatives in each if alternatives]
        if not terms:
            return ()
        combined = list(product(*terms))
        agreeing = [c for c in combined if _agree(c)] or combined
        return tuple(EMPTY.add(*combination) for combination in agreeing)

    def attachments(self, pod: Pod) -> Attachments:
        """The claims that each CSI driver has to attach for a pod; what cannot be looked up is not counted."""
        found: dict[str, set[str]] = {}
        for name in _claim_names(pod):
            driver = self._driver(pod.metadata.namespace, name)
            if driver:
                found.setdefault(driver, set()).add(f"{pod.metadata.namespace}/{name}")
        return {d: frozenset(claims) for d, claims in found.items()} if found else NOTHING_ATTACHED

    def _fault(self, namespace: str, name: str) -> str | None:
        claim = self._claims.get((namespace, name))
        if claim is None:
            return f'persistentvolumeclaim "{name}" not found'
        if claim.metadata.deletion_timestamp:
            return f'persistentvolumeclaim "{name}" is being deleted'
        if claim.status.phase == "Lost":
            return f'persistentvolumeclaim "{name}" has lost its volume'
        if claim.spec.volume_name:
            return self._bound_fault(claim)
        return self._class_fault(claim)

    def _bound_fault(self, claim: PersistentVolumeClaim) -> str | None:
        name = claim.spec.volume_name
        volume = self._volumes.get(name)
        if volume is None or volume.metadata.deletion_timestamp:
            why = "not found" if volume is None else "is being deleted"
            return f'persistentvolume "{name}" of claim "{claim.metadata.name}" {why}'
        if _BOUND not in claim.metadata.annotations:
            return f'persistentvolumeclaim "{claim.metadata.name}" is not yet bound (annotation {_BOUND})'
        return None

    def _class_fault(self, claim: PersistentVolumeClaim) -> str | None:
        name = claim.metadata.name
        if not claim.spec.storage_class_name:
            return f'unbound persistentvolumeclaim "{name}" has no storage class'
        storage = self._classes.get(claim.spec.storage_class_name)
        if storage is None:
            return f'storageclass "{claim.spec.storage_class_name}" of claim "{name}" not found'
        if storage.volume_binding_mode != "WaitForFirstConsumer":
            mode = "its storage class binds immediately"
            return f'unbound persistentvolumeclaim "{name}" has no volume although {mode}'
        return None

    def _of_claim(self, namespace: str, name: str) -> tuple[Requirements, ...]:
        claim = self._claims[namespace, name]
        if claim.spec.volume_name:
            return tuple(_of_volume(self._volumes[claim.spec.volume_name]))
        if not claim.spec.storage_class_name:
            return ()
        return tuple(
            Requirements.of(Requirement.of(e.key, "In", e.values) for e in term.match_label_expressions)
            for term in self._classes[claim.spec.storage_class_name].allowed_topologies
            if term.match_label_expressions
        )

    def _driver(self, namespace: str, name: str) -> str | None:
        claim = self._claims.get((namespace, name))
        if claim is None:
            return None
        if claim.spec.volume_name:
            volume = self._volumes.get(claim.spec.volume_name)
            return _driver_of(volume) if volume is not None else None
        storage = self._classes.get(claim.spec.storage_class_name or "")
        return _IN_TREE.get(storage.provisioner, storage.provisioner) if storage is not None else None


def _claim_names(pod: Pod) -> Iterator[str]:
    return (name for volume in pod.spec.volumes if (name := claim_name(pod, volume)) is not None)


def _of_volume(volume: PersistentVolume) -> Iterator[Requirements]:
    """The terms of a volume's node affinity; a local volume's hostname is the old node's and is passed over."""
    required = volume.spec.node_affinity.required if volume.spec.node_affinity else None
    local = volume.spec.local is not None or volume.spec.host_path is not None
    for term in required.node_selector_terms if required else ():
        if term.match_expressions:
            kept = (e for e in term.match_expressions if not (local and e.key == HOSTNAME))
            yield requirements_of(kept)


def _driver_of(volume: PersistentVolume) -> str | None:
    if volume.spec.csi is not None:
        return volume.spec.csi.driver
    return _IN_TREE["kubernetes.io/aws-ebs"] if volume.spec.aws_elastic_block_store is not None else None


def _agree(combination: Iterable[Requirements]) -> bool:
    """Whether the demands of several volumes leave a place that meets them all."""
    joined = EMPTY
    for requirements in combination:
        if not joined.intersects(requirements):
            return False
        joined = joined.add(requirements)
    return True
