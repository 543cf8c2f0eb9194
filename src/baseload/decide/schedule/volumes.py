"""Where a pod's volumes are, or could be: the filters of claims, and what is to be bound once a node is chosen (6).

A bound claim ties the pod to where its volume is. One that waits for its first consumer takes the smallest free volume
of its class that the node can reach; else it is provisioned, if the class can do that there.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from baseload.decide.schedule.cluster import Cluster
from baseload.decide.schedule.demands import NodeTerm, node_terms
from baseload.decide.schedule.engine import Extra
from baseload.decide.schedule.kinds import Pod
from baseload.decide.schedule.nodes import Facts, Node
from baseload.decide.schedule.standing import FITS, Judge
from baseload.decide.schedule.statuses import (
    NODE_VOLUME_LIMITS,
    VOLUME_BINDING,
    VOLUME_RESTRICTIONS,
    VOLUME_ZONE,
    Status,
)
from baseload.decide.schedule.tallies import Numbers
from baseload.kube.types.core import PersistentVolume, PersistentVolumeClaim
from baseload.kube.types.storage import StorageClass
from baseload.values import quantity
from baseload.values.label import REGION, ZONE
from baseload.values.selector import Selector, compile

SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
BIND_COMPLETED: Final = "pv.kubernetes.io/bind-completed"
NO_PROVISIONER: Final = "kubernetes.io/no-provisioner"
_ONE_POD: Final = "ReadWriteOncePod"
_ZONES: Final = (ZONE, REGION, "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region")

OTHER_PLACE: Final = "node(s) didn't match PersistentVolume's node affinity"
NONE_FREE: Final = "node(s) didn't find available persistent volumes to bind"
NO_VOLUME: Final = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
OTHER_ZONE: Final = Status(VOLUME_ZONE, ("node(s) had no available volume zone",), False)
TOO_MANY: Final = Status(NODE_VOLUME_LIMITS, ("node(s) exceed max volume count",), True)
IN_USE: Final = Status(
    VOLUME_RESTRICTIONS,
    (
        "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by "
        "another pod",
    ),
    True,
)
IMMEDIATE: Final = "pod has unbound immediate PersistentVolumeClaims"


@dataclass(slots=True)
class Storage:
    """The claims, volumes and classes of a cluster, and what is promised of them while bindings go on."""

    claims: Mapping[tuple[str, str], PersistentVolumeClaim] = field(default_factory=dict)
    volumes: Mapping[str, PersistentVolume] = field(default_factory=dict)
    classes: Mapping[str, StorageClass] = field(default_factory=dict)
    limits: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """node -> CSI driver -> how many volumes it attaches"""
    reserved: dict[str, tuple[str, str]] = field(default_factory=dict)
    """volume -> the claim that it is promised to"""


@dataclass(frozen=True, slots=True)
class Plan:
    """What has to be bound before the pod is: claims with the volume each takes, and those to be provisioned."""

    bindings: tuple[tuple[PersistentVolumeClaim, str], ...] = ()
    provisions: tuple[PersistentVolumeClaim, ...] = ()


def refused(storage: Storage, pod: Pod) -> Status | None:
    """Why a pod cannot be placed anywhere as its claims are."""
    for name in pod.claims:
        claim = storage.claims.get((pod.namespace, name))
        if claim is None:
            missing = f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"'
            return _no(missing if name in pod.made_claims else f'persistentvolumeclaim "{name}" not found')
        if claim.status.phase == "Lost":
            volume = claim.spec.volume_name
            return _no(f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{volume}"')
        if claim.metadata.deletion_timestamp:
            return _no(f'persistentvolumeclaim "{name}" is being deleted')
    waiting = (claim for claim in _claims(storage, pod) if not is_bound(claim))
    if any(not _is_delayed(storage, claim) for claim in waiting):
        return _no(IMMEDIATE)
    return None


def is_bound(claim: PersistentVolumeClaim) -> bool:
    return bool(claim.spec.volume_name) and BIND_COMPLETED in claim.metadata.annotations


class Check:
    """The filters of one pod's volumes."""

    def __init__(self, storage: Storage, pod: Pod, cluster: Cluster) -> None:
        self._storage: Final = storage
        self._pod: Final = pod
        claims = list(_claims(storage, pod))
        self._bound: Final = [claim for claim in claims if is_bound(claim)]
        self._waiting: Final = sorted((claim for claim in claims if not is_bound(claim)), key=_size)
        self._is_in_use: Final = any(_ONE_POD in c.spec.access_modes and _users(c, cluster, pod) for c in claims)
        self._drivers: Final = _attached(storage, pod)
        self._terms: Final[dict[str, tuple[NodeTerm, ...] | None]] = {}

    def status(self, node: Node) -> Status | None:
        """What a node says to the pod's volumes."""
        if self._is_in_use:
            return IN_USE
        if self._is_over_limit(node):
            return TOO_MANY
        told = self._binding(node.facts)
        if told is not None:
            return Status(VOLUME_BINDING, told, False)
        return OTHER_ZONE if self._is_in_other_zone(node.facts) else None

    def plan(self, facts: Facts) -> Plan:
        """What is to be bound for the pod to run on a node that passed."""
        found = self._match(facts)
        assert found is not None, "the node was refused"
        return found

    def _binding(self, facts: Facts) -> tuple[str, ...] | None:
        reasons = []
        volumes = [self._storage.volumes.get(claim.spec.volume_name) for claim in self._bound]
        for volume in volumes:
            if volume is None:
                reasons.append(NO_VOLUME)
                break
            if not self._reaches(volume, facts):
                reasons.append(OTHER_PLACE)
                break
        if self._match(facts) is None:
            # In the order in which they are told: a place that does not match comes first.
            reasons = [*(r for r in reasons if r == OTHER_PLACE), NONE_FREE, *(r for r in reasons if r == NO_VOLUME)]
        return tuple(reasons) or None

    def _match(self, facts: Facts) -> Plan | None:
        """A free volume or a provisioner for each claim that waits; None where one has neither."""
        bindings: list[tuple[PersistentVolumeClaim, str]] = []
        provisions: list[PersistentVolumeClaim] = []
        for claim in self._waiting:
            selected = claim.metadata.annotations.get(SELECTED_NODE)
            if selected is not None and selected != facts.name:
                return None
            taken = {name for _, name in bindings}
            volume = None if selected is not None else self._smallest(claim, facts, taken)
            if volume is not None:
                bindings.append((claim, volume))
            elif self._can_provision(claim, facts):
                provisions.append(claim)
            else:
                return None
        return Plan(tuple(bindings), tuple(provisions))

    def _smallest(self, claim: PersistentVolumeClaim, facts: Facts, taken: set[str]) -> str | None:
        fitting = [
            (_capacity(volume), name)
            for name, volume in self._storage.volumes.items()
            if name not in taken and self._suits(volume, claim) and self._reaches(volume, facts)
        ]
        return min(fitting)[1] if fitting else None

    def _suits(self, volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
        own = claim.metadata.namespace, claim.metadata.name
        reserved = self._storage.reserved.get(volume.metadata.name)
        held = volume.spec.claim_ref
        if (reserved is not None and reserved != own) or volume.metadata.deletion_timestamp:
            return False
        if held is not None and (held.namespace, held.name) != own:
            return False
        selector = Selector() if claim.spec.selector is None else compile(claim.spec.selector)
        return (
            (held is not None or volume.status.phase == "Available")
            and volume.spec.storage_class_name == (claim.spec.storage_class_name or "")
            and set(claim.spec.access_modes) <= set(volume.spec.access_modes)
            and _capacity(volume) >= _size(claim)
            and selector.matches(volume.metadata.labels)
        )

    def _can_provision(self, claim: PersistentVolumeClaim, facts: Facts) -> bool:
        found = self._storage.classes.get(claim.spec.storage_class_name or "")
        if found is None or found.provisioner in ("", NO_PROVISIONER):
            return False
        terms = found.allowed_topologies
        return not terms or any(
            all(facts.labels.get(e.key) in e.values for e in term.match_label_expressions) for term in terms
        )

    def _reaches(self, volume: PersistentVolume, facts: Facts) -> bool:
        name = volume.metadata.name
        if name not in self._terms:
            affinity = volume.spec.node_affinity
            required = affinity.required if affinity else None
            self._terms[name] = None if required is None else node_terms(required)
        terms = self._terms[name]
        return terms is None or any(term.matches(facts.name, facts.labels) for term in terms)

    def _is_in_other_zone(self, facts: Facts) -> bool:
        """Whether a volume's own labels name another zone; nodes without any zone are not asked."""
        if not any(key in facts.labels for key in _ZONES):
            return False
        for claim in self._bound:
            volume = self._storage.volumes.get(claim.spec.volume_name)
            labels = {} if volume is None else volume.metadata.labels
            for key in _ZONES:
                if key in labels and facts.labels.get(key, "") not in labels[key].split("__"):
                    return True
        return False

    def _is_over_limit(self, node: Node) -> bool:
        limits = self._storage.limits.get(node.facts.name)
        if not limits or not self._drivers:
            return False
        held: set[tuple[str, str]] = set()
        for other in node.pods.values():
            if other.claims:
                held |= _attached(self._storage, other)
        return any(
            sum(driver == name for driver, _ in held | self._drivers) > most
            for name, most in limits.items()
            if any(driver == name for driver, _ in self._drivers - held)
        )


def _no(reason: str) -> Status:
    return Status(VOLUME_BINDING, (reason,), False)


def _claims(storage: Storage, pod: Pod) -> Iterator[PersistentVolumeClaim]:
    for name in pod.claims:
        claim = storage.claims.get((pod.namespace, name))
        if claim is not None:
            yield claim


def _is_delayed(storage: Storage, claim: PersistentVolumeClaim) -> bool:
    """Whether it waits for its first consumer; a claim that names its volume is the controller's to bind."""
    found = storage.classes.get(claim.spec.storage_class_name or "")
    return not claim.spec.volume_name and found is not None and found.volume_binding_mode == "WaitForFirstConsumer"


def _users(claim: PersistentVolumeClaim, cluster: Cluster, pod: Pod) -> Sequence[str]:
    """Other pods on nodes with the claim."""
    namespace, name = claim.metadata.namespace, claim.metadata.name
    return [
        other.uid
        for other in cluster.pods.values()
        if other.claims and other.uid != pod.uid and other.namespace == namespace and name in other.claims
    ]


def _attached(storage: Storage, pod: Pod) -> set[tuple[str, str]]:
    """(CSI driver, volume) of what a pod has attached; a claim without a volume yet counts by its name."""
    found = set()
    for claim in _claims(storage, pod):
        volume = storage.volumes.get(claim.spec.volume_name)
        if volume is not None:
            if volume.spec.csi is not None:
                found.add((volume.spec.csi.driver, volume.spec.csi.volume_handle))
            continue
        of_class = storage.classes.get(claim.spec.storage_class_name or "")
        if of_class is not None:
            found.add((of_class.provisioner, f"{claim.metadata.namespace}/{claim.metadata.name}"))
    return found


def _size(claim: PersistentVolumeClaim) -> int:
    return quantity.parse(claim.spec.resources.requests.get("storage", 0))


def _capacity(volume: PersistentVolume) -> int:
    return quantity.parse(volume.spec.capacity.get("storage", 0))


def filtering(storage: Storage, cluster: Cluster, judge: Judge) -> Extra:
    """The filters of volumes for the engine: one look at every node that would take the pod without them."""

    def bar(codes: Numbers, pod: Pod) -> Numbers:
        check = Check(storage, pod, cluster)
        codes = codes.copy()
        for slot in np.flatnonzero(codes == FITS).tolist():
            codes[slot] = judge.number(check.status(cluster.at(slot)))
        return codes

    return bar
