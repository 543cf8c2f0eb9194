"""Why a claim is no longer what its NodePool and NodeClass would make now (disruption and lifecycle spec 4.1, 27.3).

Reasons are looked for in an order, and the first one found is the claim's. What cannot be looked up gives no verdict:
a hash that one side lacks, types that are not known, a machine that the cloud does not describe.

A claim is looked at every few minutes, and most often nothing has changed, so verdicts are kept for as long as what
they were made on is the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from baseload.catalog.columns import InstanceTypes
from baseload.decide.fit.constraints import requirements_of
from baseload.decide.fit.types import RESERVED
from baseload.decide.lifecycle import class_hash
from baseload.decide.provision import pool_hash
from baseload.kube.types.ec2 import EC2NodeClass
from baseload.kube.types.karpenter import NodeClaim, NodePool, NodePoolSpec
from baseload.kube.types.meta import ObjectMeta
from baseload.values import instant
from baseload.values.duration import HOUR, MINUTE
from baseload.values.label import CAPACITY_TYPE, CORE_WELL_KNOWN, INSTANCE_TYPE, RESERVATION_ID, RESERVATION_KEYS
from baseload.values.requirement import Requirement, Requirements

Reason = Literal[
    "NodePoolDrifted",
    "RequirementsDrifted",
    "InstanceTypeNotFound",
    "NodeClassDrift",
    "AMIDrift",
    "SecurityGroupDrift",
    "SubnetDrift",
    "CapacityReservationDrift",
]
SETTLED: Final = 1 * HOUR
"""Before a claim is older its instance type is not looked for in the catalogue."""
TRUSTED: Final = 30 * MINUTE
"""So long an instance type that was found is not looked for again."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a machine stands."""

    subnet: str
    security_groups: frozenset[str]


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """The world around a claim; None where it is not known."""

    types: InstanceTypes | None = None
    """those of the claim's pool"""
    node_class: EC2NodeClass | None = None
    images: Mapping[str, str] = field(default_factory=dict)
    """type -> the image that the NodeClass starts it from now"""
    machine: Placed | None = None


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a verdict was made on: the claim's side of it, the pool's, and the very objects of the NodeClass."""

    claim: tuple[Mapping[str, str], Mapping[str, str], str]
    pool: tuple[Mapping[str, str], NodePoolSpec]
    node_class: EC2NodeClass | None
    images: Mapping[str, str]
    machine: Placed | None

    def is_same(self, other: "_Seen") -> bool:
        return (
            self.node_class is other.node_class
            and self.images is other.images
            and self.machine == other.machine
            and self.claim == other.claim
            and self.pool == other.pool
        )


class Verdicts:
    """Looks for drift, and remembers by the uid of a claim what was found."""

    def __init__(self) -> None:
        self._found: dict[str, int] = {}  # when the type of a claim was found last
        self._kept: dict[str, tuple[_Seen, Reason | None, Reason | None]] = {}
        self._table: InstanceTypes | None = None
        self._offered: dict[tuple[tuple[str, str], ...], bool] = {}  # in that table, by what labels say of a machine

    def reason(self, claim: NodeClaim, pool: NodePool, known: Known, now: int) -> Reason | None:
        """Why a launched claim has drifted, None where it has not."""
        of_pool, of_class = self._of_rules(claim, pool, known)
        if of_pool is not None:
            return of_pool
        if known.types is not None and self._looks_for_type(claim, now):
            if not self._is_offered(claim, known.types):
                return "InstanceTypeNotFound"
            self._found[claim.metadata.uid] = now
        return of_class

    def forget(self, uid: str) -> None:
        """A claim is gone."""
        self._found.pop(uid, None)
        self._kept.pop(uid, None)

    def _of_rules(self, claim: NodeClaim, pool: NodePool, known: Known) -> tuple[Reason | None, Reason | None]:
        """What the pool and what the NodeClass have against a claim."""
        uid, metadata = claim.metadata.uid, claim.metadata
        side = metadata.labels, metadata.annotations, claim.status.image_id
        ours = pool.metadata.annotations, pool.spec
        seen = _Seen(side, ours, known.node_class, known.images, known.machine)
        kept = self._kept.get(uid)
        if kept is not None and kept[0].is_same(seen):
            return kept[1:]
        verdict = of_pool(claim, pool), of_class(claim, known)
        self._kept[uid] = seen, *verdict
        return verdict

    def _looks_for_type(self, claim: NodeClaim, now: int) -> bool:
        if not claim.metadata.creation_timestamp or now - instant.parse(claim.metadata.creation_timestamp) <= SETTLED:
            return False
        found = self._found.get(claim.metadata.uid)
        return found is None or now - found >= TRUSTED

    def _is_offered(self, claim: NodeClaim, types: InstanceTypes) -> bool:
        if types is not self._table:
            self._table, self._offered = types, {}
        key = tuple(sorted(claim.metadata.labels.items()))
        found = self._offered.get(key)
        if found is None:
            found = self._offered[key] = is_offered(claim, types)
        return found


def of_pool(claim: NodeClaim, pool: NodePool) -> Reason | None:
    """Whether the pool's template says something else by now, or asks for what the claim is not."""
    if _differs(pool.metadata, claim.metadata, pool_hash.HASH, pool_hash.VERSION):
        return "NodePoolDrifted"
    demanded = requirements_of(pool.spec.template.spec.requirements)
    if not Requirements.of_labels(claim.metadata.labels).compatible(demanded):
        return "RequirementsDrifted"
    return None


def is_offered(claim: NodeClaim, types: InstanceTypes) -> bool:
    """Whether the catalogue has the claim's type with an offering, available or not, that is what its labels say."""
    name = claim.metadata.labels.get(INSTANCE_TYPE, "")
    if name not in types.names:
        return False
    place = types.names.index(name)
    said = _offering_said(claim.metadata.labels)
    well_known = CORE_WELL_KNOWN | types.well_known
    return any(
        offering.types >> place & 1 and said.compatible(offering.requirements, well_known)
        for offering in types.offerings
    )


def of_class(claim: NodeClaim, known: Known) -> Reason | None:
    """Whether the NodeClass would launch something else by now."""
    node_class, machine = known.node_class, known.machine
    if node_class is None or node_class.metadata.deletion_timestamp:
        return None
    if _differs(node_class.metadata, claim.metadata, class_hash.HASH, class_hash.VERSION):
        return "NodeClassDrift"
    image, status = known.images.get(claim.metadata.labels.get(INSTANCE_TYPE, "")), node_class.status
    if not image or not claim.status.image_id:
        return None
    if machine is not None and not (status.subnets and status.security_groups):
        return None
    if claim.status.image_id != image:
        return "AMIDrift"
    if machine is not None and machine.security_groups != {group.id for group in status.security_groups}:
        return "SecurityGroupDrift"
    if machine is not None and machine.subnet not in {subnet.id for subnet in status.subnets}:
        return "SubnetDrift"
    reservation = claim.metadata.labels.get(RESERVATION_ID)
    if reservation and reservation not in {held.id for held in status.capacity_reservations}:
        return "CapacityReservationDrift"
    return None


def _offering_said(labels: Mapping[str, str]) -> Requirements:
    """What labels say of an offering; a reservation that has run out leaves the machine on demand."""
    if labels.get(CAPACITY_TYPE) != RESERVED:
        return Requirements.of_labels(labels)
    kept = {key: value for key, value in labels.items() if key not in (CAPACITY_TYPE, *RESERVATION_KEYS)}
    return Requirements.of_labels(kept).add(Requirement.of(CAPACITY_TYPE, "In", (RESERVED, "on-demand")))


def _differs(maker: ObjectMeta, made: ObjectMeta, hash: str, version: str) -> bool:
    """Whether both carry the hash in one version of it, and not the same one."""
    ours, theirs = maker.annotations, made.annotations
    if not all(key in of for key in (hash, version) for of in (ours, theirs)):
        return False
    return ours[version] == theirs[version] and ours[hash] != theirs[hash]
