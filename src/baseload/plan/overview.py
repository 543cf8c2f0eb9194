"""What a cluster shows of its nodes at one moment: what each is, holds and costs, and which pods wait for one.

Amounts are nano-units, prices US dollars an hour, moments nanoseconds since the epoch, a pod is `namespace/name`.
"""

from dataclasses import dataclass
from typing import Final

from baseload.plan.encode import API_VERSION, price
from baseload.values import instant
from baseload.values.resource import written

RESOURCES: Final = ("cpu", "memory", "pods")
"""what a node fills up with"""

Json = dict[str, object]
Amounts = dict[str, int]


@dataclass(frozen=True, slots=True)
class PodRow:
    """A pod that is not over."""

    name: str
    state: str
    reason: str  # why it waits; "" where nothing is said
    created: int | None
    requests: Amounts


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A node, or a NodeClaim that has none yet."""

    name: str
    claim: str  # its NodeClaim; "" where there is none
    state: str
    reason: str  # more about the state; "" where there is nothing
    node_pool: str
    instance_type: str
    zone: str
    capacity_type: str
    price_per_hour: float | None
    estimated: bool
    created: int | None
    requests: Amounts
    allocatable: Amounts
    pods: tuple[PodRow, ...]

    def fill(self, resource: str) -> float:
        """The share that is asked for; 0 where nothing is known of what there is."""
        there = self.allocatable.get(resource, 0)
        return self.requests.get(resource, 0) / there if there > 0 else 0.0


@dataclass(frozen=True, slots=True)
class PoolRow:
    """A NodePool, what its nodes have, and how much they may have."""

    name: str
    nodes: int
    used: Amounts
    limits: Amounts


@dataclass(frozen=True, slots=True)
class Overview:
    """A cluster at a moment."""

    now: int
    nodes: tuple[NodeRow, ...]
    coming: tuple[NodeRow, ...]  # NodeClaims without a node
    pending: tuple[PodRow, ...]
    pools: tuple[PoolRow, ...]
    pods: dict[str, int]  # state -> how many pods are in it, those on nodes that are left out included

    @property
    def price_per_hour(self) -> float:
        """Of all machines with a known price."""
        return sum(row.price_per_hour or 0.0 for row in (*self.nodes, *self.coming))

    @property
    def estimated(self) -> bool:
        return any(row.estimated for row in (*self.nodes, *self.coming))

    @property
    def unpriced(self) -> int:
        """How many nodes have no known price."""
        return sum(row.price_per_hour is None for row in (*self.nodes, *self.coming))


def to_json(overview: Overview) -> Json:
    """The overview for programs."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Overview",
        "time": instant.format(overview.now // instant.SECOND * instant.SECOND),
        "nodes": [_node(row) for row in overview.nodes],
        "nodeClaims": [_node(row) for row in overview.coming],
        "pending": [_pod(row) for row in overview.pending],
        "nodePools": [_pool(row) for row in overview.pools],
        "totals": {
            "nodes": len(overview.nodes),
            "nodeClaimsWithoutNode": len(overview.coming),
            "pods": dict(overview.pods),
            "pricePerHour": price(overview.price_per_hour),
            "estimated": overview.estimated,
            "withoutPrice": overview.unpriced,
        },
    }


def _node(row: NodeRow) -> Json:
    return {
        "name": row.name,
        "nodeClaim": row.claim or None,
        "state": row.state,
        "reason": row.reason,
        "nodePool": row.node_pool or None,
        "instanceType": row.instance_type or None,
        "zone": row.zone or None,
        "capacityType": row.capacity_type or None,
        "pricePerHour": price(row.price_per_hour),
        "estimated": row.estimated,
        "created": _moment(row.created),
        "requests": _quantities(row.requests),
        "allocatable": _quantities(row.allocatable),
        "fill": {resource: round(row.fill(resource), 4) for resource in RESOURCES},
        "pods": [_pod(pod) for pod in row.pods],
    }


def _pod(row: PodRow) -> Json:
    return {
        "pod": row.name,
        "state": row.state,
        "reason": row.reason,
        "created": _moment(row.created),
        "requests": _quantities(row.requests),
    }


def _pool(row: PoolRow) -> Json:
    return {
        "name": row.name,
        "nodes": row.nodes,
        "used": _quantities(row.used),
        "limits": _quantities(row.limits),
    }


def _moment(moment: int | None) -> str | None:
    return None if moment is None else instant.format(moment)


def _quantities(amounts: Amounts) -> dict[str, str]:
    return {resource: written(resource, nanos) for resource, nanos in sorted(amounts.items())}
