"""Static pools: NodePools with a fixed number of nodes (gate StaticCapacity; provisioning spec 21)."""

from collections.abc import Iterator, Sequence

from baseload.decide.provision.pools import is_ready, is_static, is_supported
from baseload.kube.types.karpenter import NodeClaim, NodePool
from baseload.model.statenode import is_deleting
from baseload.model.view import View
from baseload.plan.provision import StaticPool
from baseload.values import quantity
from baseload.values.label import NODEPOOL


def static_pools(view: View) -> Iterator[StaticPool]:
    """The pools whose number of nodes is off: how many claims would be created, or (negative) deleted, now."""
    for pool in sorted(view.node_pools, key=lambda pool: pool.metadata.name):
        if is_static(pool) and is_ready(pool) and is_supported(pool):
            delta = delta_of(
                pool, [c for c in view.node_claims if c.metadata.labels.get(NODEPOOL) == pool.metadata.name]
            )
            if delta:
                yield StaticPool(pool.metadata.name, delta)


def delta_of(pool: NodePool, claims: Sequence[NodeClaim]) -> int:
    """How many claims a pool is to get, or (negative) to lose; `claims` are those of the pool."""
    deleting = [claim for claim in claims if is_deleting(claim)]
    pending = [claim for claim in claims if not is_deleting(claim) and is_disrupted(claim)]
    running = len(claims) - len(deleting) - len(pending)
    wanted = pool.spec.replicas or 0
    if running > wanted:
        return wanted - running
    if running + len(pending) >= wanted:
        return 0
    missing = wanted - running
    limit = pool.spec.limits.get("nodes")
    if limit is not None:
        missing = min(missing, quantity.parse(limit) // quantity.UNIT - len(claims))
    return max(0, missing)


def is_disrupted(claim: NodeClaim) -> bool:
    """Whether disruption has chosen it, so that it counts as pending (21)."""
    return any(c.type == "DisruptionReason" and c.status == "True" for c in claim.status.conditions)
