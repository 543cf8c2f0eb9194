"""The cluster as a value: an immutable reading of everything that decisions look at.

Objects are in the order of the input. Look-ups that several decisions share are worked out once, when first asked for;
a view that is made of another (`but`, `narrowed`, `model.fold`) has those of them that still hold.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, Protocol

from baseload.kube.types.apps import DaemonSet, Deployment, ReplicaSet, StatefulSet
from baseload.kube.types.autoscaling import CapacityBuffer
from baseload.kube.types.core import (
    Namespace,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodTemplate,
    ReplicationController,
    Service,
    Volume,
)
from baseload.kube.types.ec2 import EC2NodeClass
from baseload.kube.types.karpenter import NodeClaim, NodeOverlay, NodePool
from baseload.kube.types.meta import ObjectMeta
from baseload.kube.types.policy import PodDisruptionBudget
from baseload.kube.types.storage import CSINode, StorageClass
from baseload.model.statenode import StateNode, pair


@dataclass(frozen=True)
class View:
    """One reading of a cluster."""

    pods: tuple[Pod, ...] = ()
    nodes: tuple[Node, ...] = ()
    node_claims: tuple[NodeClaim, ...] = ()
    node_pools: tuple[NodePool, ...] = ()
    node_overlays: tuple[NodeOverlay, ...] = ()
    node_classes: tuple[EC2NodeClass, ...] = ()
    capacity_buffers: tuple[CapacityBuffer, ...] = ()
    pod_templates: tuple[PodTemplate, ...] = ()
    deployments: tuple[Deployment, ...] = ()
    replica_sets: tuple[ReplicaSet, ...] = ()
    stateful_sets: tuple[StatefulSet, ...] = ()
    daemon_sets: tuple[DaemonSet, ...] = ()
    replication_controllers: tuple[ReplicationController, ...] = ()
    services: tuple[Service, ...] = ()
    namespaces: tuple[Namespace, ...] = ()
    pod_disruption_budgets: tuple[PodDisruptionBudget, ...] = ()
    persistent_volumes: tuple[PersistentVolume, ...] = ()
    persistent_volume_claims: tuple[PersistentVolumeClaim, ...] = ()
    storage_classes: tuple[StorageClass, ...] = ()
    csi_nodes: tuple[CSINode, ...] = ()
    node_class_refs: frozenset[tuple[str, str, str]] = field(default=frozenset())
    """(group, kind, name) of every NodeClass in the input, also of kinds that are not read"""
    marked: frozenset[str] = field(default=frozenset())
    """NodeClaims that commands which run are about to delete, as their controller alone knows"""

    def but(self, **fields: object) -> "View":
        """This view with some fields others."""
        after = replace(self, **fields)  # type: ignore[arg-type]
        for name, sources in _WORKED_OUT_OF.items():
            held = self.__dict__.get(name)
            if held is not None and all(getattr(after, it) is getattr(self, it) for it in sources):
                after.__dict__[name] = held
        return after

    def narrowed(self, counts: Callable[[Pod], bool]) -> "View":
        """This view without the pods on no node that do not count."""
        after = self.but(pods=tuple([pod for pod in self.pods if pod.spec.node_name or counts(pod)]))
        after.__dict__["pods_on"] = self.pods_on
        return after

    @cached_property
    def state_nodes(self) -> tuple[StateNode, ...]:
        """The nodes that Karpenter tracks."""
        return pair(self.nodes, self.node_claims, self.marked)

    @cached_property
    def pods_on(self) -> Mapping[str, tuple[Pod, ...]]:
        """node name -> bound pods that are not terminal"""
        found: dict[str, list[Pod]] = {}
        for pod in self.pods:
            if pod.spec.node_name and not is_terminal(pod):
                found.setdefault(pod.spec.node_name, []).append(pod)
        return {name: tuple(pods) for name, pods in found.items()}

    @cached_property
    def waiting(self) -> tuple[Pod, ...]:
        """the pods on no node"""
        return tuple([pod for pod in self.pods if not pod.spec.node_name])

    @cached_property
    def namespace_labels(self) -> Mapping[str, Mapping[str, str]]:
        """namespace -> its labels, the one with its name that every namespace carries included"""
        return {
            n.metadata.name: {"kubernetes.io/metadata.name": n.metadata.name, **n.metadata.labels}
            for n in self.namespaces
        }


_WORKED_OUT_OF: Final = {
    "state_nodes": ("nodes", "node_claims", "marked"),
    "pods_on": ("pods",),
    "waiting": ("pods",),
    "namespace_labels": ("namespaces",),
}
"""look-up -> the fields that it is worked out of"""


class Named(Protocol):
    """Any kind of object."""

    @property
    def metadata(self) -> ObjectMeta: ...


def name_of(one: Named) -> str:
    """A pod, or another object of a namespace, as plans write it."""
    return f"{one.metadata.namespace}/{one.metadata.name}"


def ref_of(one: Named) -> str:
    """An object as faults and plans refer to it: `Pod default/web-1`, `NodePool default`."""
    return f"{type(one).__name__} {name_of(one) if one.metadata.namespace else one.metadata.name}"


def claim_name(pod: Pod, volume: Volume) -> str | None:
    """The claim that a volume of a pod stands for, be it made with the pod; None for a volume without one."""
    if volume.persistent_volume_claim is not None:
        return volume.persistent_volume_claim.claim_name
    return f"{pod.metadata.name}-{volume.name}" if volume.ephemeral is not None else None


def has_claims(pod: Pod) -> bool:
    """Whether it has volumes that are objects of their own."""
    return any(it.persistent_volume_claim is not None or it.ephemeral is not None for it in pod.spec.volumes)


def is_terminal(pod: Pod) -> bool:
    return pod.status.phase in ("Succeeded", "Failed")


def owned_by(pod: Pod, kind: str, api_version: str) -> bool:
    """Whether some owner is of that kind in exactly that version; the controller flag does not matter."""
    owners = pod.metadata.owner_references
    return bool(owners) and any(owner.kind == kind and owner.api_version == api_version for owner in owners)


def is_daemon(pod: Pod) -> bool:
    return owned_by(pod, "DaemonSet", "apps/v1")


def is_static(pod: Pod) -> bool:
    return owned_by(pod, "Node", "v1")
