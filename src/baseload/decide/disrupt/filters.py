"""Which candidates a method considers, and what it says of the others (disruption and lifecycle spec 8).

Checks come in Karpenter's order. What it says nothing about (a static pool, an empty node that emptiness governs) has
words here all the same.
"""

from typing import Final

from baseload.decide.disrupt.candidates import Candidate
from baseload.decide.disrupt.guards import Block
from baseload.decide.lifecycle import conditions, markers
from baseload.decide.lifecycle.names import CONSOLIDATABLE, DRIFTED
from baseload.decide.provision.pools import is_static
from baseload.kube.types.karpenter import NodeClaim, NodePool
from baseload.plan.disrupt import Kept
from baseload.values import instant
from baseload.values.label import CAPACITY_TYPE, ZONE

WHEN_EMPTY: Final = "WhenEmpty"
BALANCED: Final = "Balanced"


def pods_forbid(candidate: Candidate) -> Block | None:
    """What pods say against a graceful disruption."""
    return None if candidate.held is None else candidate.held[:2]


def pods_forbid_drift(candidate: Candidate) -> Block | None:
    """The same for a method that a grace period of the NodeClaim makes deaf to it."""
    return None if candidate.has_grace_period else pods_forbid(candidate)


def consolidates(pool: NodePool) -> bool:
    """Whether the pool's nodes are ever consolidated or, being empty, deleted."""
    return markers.consolidate_after(pool) is not None


def is_drifted(claim: NodeClaim) -> bool:
    return conditions.is_true(claim.status.conditions, DRIFTED)


def drift_forbids(candidate: Candidate, *, static: bool) -> bool:
    """Whether drift, of static pools or of the others, passes the node over."""
    return is_static(candidate.pool) is not static or not is_drifted(candidate.claim)


def emptiness(candidate: Candidate, *, buffered: bool) -> Block | None:
    """Why emptiness passes a node over; `buffered`: pods of a CapacityBuffer are planned on it."""
    if is_static(candidate.pool):
        return _static(candidate)
    if not consolidates(candidate.pool):
        return _never(candidate)
    if buffered:
        return Kept.BUFFERED, "pods of a CapacityBuffer are planned on it"
    if not candidate.is_empty:
        return Kept.POLICY, "it is not empty"
    return not_consolidatable(candidate)


def consolidation(candidate: Candidate) -> Block | None:
    """Why multi-node and single-node consolidation pass a node over; an empty one is left to emptiness."""
    if is_static(candidate.pool):
        return _static(candidate)
    if not candidate.type_mask:
        name = candidate.instance_type
        return Kept.UNKNOWN_TYPE, f"instance type {name} is not known" if name else "it has no instance type"
    for key in (CAPACITY_TYPE, ZONE):
        if not candidate.state.labels.get(key):
            return Kept.LABEL, f"it lacks the label {key}"
    if not consolidates(candidate.pool):
        return _never(candidate)
    if candidate.is_empty:
        return Kept.POLICY, "it is empty, which emptiness governs"
    if candidate.pool.spec.disruption.consolidation_policy == WHEN_EMPTY:
        return Kept.POLICY, f"NodePool {candidate.pool_name} consolidates WhenEmpty alone, and the node is not empty"
    return not_consolidatable(candidate)


def not_consolidatable(candidate: Candidate) -> Block | None:
    """Whether the NodeClaim's own condition keeps it, and for how long as far as that can be told."""
    if conditions.is_true(candidate.claim.status.conditions, CONSOLIDATABLE):
        return None
    name, pool = candidate.claim.metadata.name, candidate.pool
    text = f"NodeClaim {name} is not Consolidatable"
    end = markers.window_end(candidate.claim, pool)
    if end is not None and candidate.now < end:
        after = pool.spec.disruption.consolidate_after
        text += f": its pods changed less than consolidateAfter ({after}) ago, until {instant.format(end)}"
    return Kept.NOT_CONSOLIDATABLE, text


def is_balanced(candidate: Candidate) -> bool:
    return candidate.pool.spec.disruption.consolidation_policy == BALANCED


def _static(candidate: Candidate) -> Block:
    return Kept.STATIC, f"NodePool {candidate.pool_name} has a fixed number of nodes"


def _never(candidate: Candidate) -> Block:
    return Kept.NEVER, f"NodePool {candidate.pool_name} says consolidateAfter: Never"
