"""consolidateAfter: how long after the last change of its pods a node is left alone (disruption and lifecycle spec 12).

Inside its window a node is no source of consolidation, which its Consolidatable condition says, and takes no pods that
a consolidation moves. At exactly the end the window is over.
"""

from collections.abc import Mapping
from typing import Final

from baseload.decide.lifecycle import conditions
from baseload.decide.lifecycle.names import INITIALIZED
from baseload.kube.types.karpenter import NodeClaim, NodePool
from baseload.model.statenode import StateNode
from baseload.values import duration, instant
from baseload.values.duration import DurationError

NEVER: Final = "Never"
USUAL: Final = "0s"


def consolidates(pool: NodePool) -> bool:
    """Whether the pool's nodes are ever consolidated or, being empty, deleted."""
    return pool.spec.disruption.consolidate_after != NEVER


def length(pool: NodePool) -> int:
    """consolidateAfter in nanoseconds; 0 where there is no window."""
    text = pool.spec.disruption.consolidate_after or USUAL
    if text == NEVER:
        return 0
    try:
        return max(0, duration.parse(text))
    except DurationError:
        return 0


def ends(claim: NodeClaim, pool: NodePool) -> int | None:
    """When the claim's window is over, in the past too; None where it has none."""
    lasts = length(pool)
    if not lasts or not conditions.is_true(claim.status.conditions, INITIALIZED):
        return None
    last = claim.status.last_pod_event_time
    begun = instant.parse(last) if last else conditions.since(claim.status.conditions, INITIALIZED)
    return None if begun is None else begun + lasts


def is_inside(claim: NodeClaim, pool: NodePool, now: int) -> bool:
    end = ends(claim, pool)
    return end is not None and now < end


def is_target_inside(state: StateNode, pools: Mapping[str, NodePool], now: int) -> bool:
    """Whether a node takes no moved pods for now; `pools` are those that take part in the simulation."""
    pool = pools.get(state.pool)
    return pool is not None and state.claim is not None and is_inside(state.claim, pool, now)
