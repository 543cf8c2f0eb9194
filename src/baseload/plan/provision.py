"""The provisioning plan as a value: which pending pods go where, which nodes are launched for them, and every "no".

Amounts are nano-units, prices US dollars an hour, a pod is `namespace/name`. `plan.encode` turns it into the JSON
contract; field names here are the contract's in snake_case.
"""

from dataclasses import dataclass, field

import msgspec

from baseload.plan.reason import Reason
from baseload.values.requirement import Requirement
from baseload.values.taint import Taint


class Placement(msgspec.Struct, frozen=True, gc=False):
    """A pod's place: an existing node (or a NodeClaim of the input without one), or a NodeClaim of this plan."""

    pod: str
    node: str | None = None
    node_claim: str | None = None


@dataclass(frozen=True, slots=True)
class PlannedClaim:
    """A NodeClaim that the pass would create; type, zone, capacity type and price are of the cheapest offering."""

    name: str
    node_pool: str
    instance_type: str
    zone: str
    capacity_type: str
    price_per_hour: float | None
    estimated: bool
    labels: dict[str, str]
    annotations: dict[str, str]
    taints: tuple[Taint, ...]  # all that the node starts with
    startup_taints: tuple[Taint, ...]  # those of them that go by themselves
    requests: dict[str, int]  # pods and daemons
    allocatable: dict[str, int]  # of the instance type chosen
    fill: dict[str, float]  # resource -> share of the allocatable that is asked for, 0..1
    binding: str  # the resource that fills first
    requirements: tuple[Requirement, ...]
    instance_types: tuple[str, ...]  # cheapest first
    prices: tuple[float | None, ...]  # aligned to instance_types
    estimates: tuple[bool, ...]  # which of these are no published prices
    pods: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why one target cannot take a pod. `target`: nodePool/NAME, node/NAME or nodeClaim/NAME."""

    target: str
    reason: Reason
    message: str


@dataclass(frozen=True, slots=True)
class Demand:
    """A requirement that takes part in a conflict, and the field of the object that makes it."""

    object: str  # e.g. Pod default/web-1, NodePool default
    path: str  # e.g. spec.nodeSelector["topology.kubernetes.io/zone"]
    key: str
    operator: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Nearest:
    """The target that comes closest, and what it lacks (resource -> quantity, or label key -> what it would need)."""

    target: str
    lacking: dict[str, str]


Field = str | int | float | bool | list[object] | dict[str, object] | None
"""a value of a manifest's field, as JSON has it"""


@dataclass(frozen=True, slots=True)
class Fix:
    """One field to change; doing so and planning again places the pod. A None means the field is absent."""

    object: str
    path: str
    from_: Field
    to: Field


@dataclass(frozen=True, slots=True)
class Unschedulable:
    pod: str
    reason: Reason
    message: str
    conflict: tuple[Demand, ...] = ()
    nearest: Nearest | None = None
    fix: Fix | None = None
    rejections: tuple[Rejection, ...] = ()


@dataclass(frozen=True, slots=True)
class StaticPool:
    node_pool: str
    delta: int  # NodeClaims to create; negative: to delete


@dataclass(frozen=True, slots=True)
class Buffer:
    buffer: str  # namespace/name
    replicas: int
    provisioning: str  # FitsExistingCapacity | RequiresNewCapacity | BufferEmpty | NotReadyForProvisioning


@dataclass(frozen=True, slots=True)
class Expanded:
    workload: str  # e.g. Deployment default/web
    pods: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProvisionPlan:
    """What one provisioning pass would do now."""

    placements: tuple[Placement, ...]
    node_claims: tuple[PlannedClaim, ...]
    unschedulable: tuple[Unschedulable, ...]
    static_pools: tuple[StaticPool, ...]
    buffers: tuple[Buffer, ...]
    expanded: tuple[Expanded, ...]
    pods: int  # pending pods that the pass looked at, and those of nodes being deleted
    notes: tuple[str, ...] = field(default=())
    empty_pools: tuple[tuple[str, bool], ...] = ()
    """NodePools whose requirements leave no instance type, and whether only their minValues do"""

    @property
    def price_per_hour(self) -> float:
        return sum(claim.price_per_hour or 0.0 for claim in self.node_claims)
