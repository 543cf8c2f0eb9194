"""What a claim is marked with for disruption: that it may be consolidated, and that it drifted (spec 4.1, 4.3, 12.2).

Both conditions are True or absent.
"""

from typing import Final

from baseload.decide.lifecycle import conditions
from baseload.decide.lifecycle.changed import claim_saying, with_status
from baseload.decide.lifecycle.conditions import Said
from baseload.decide.lifecycle.drift import Reason
from baseload.decide.lifecycle.names import CONSOLIDATABLE, DRIFTED, INITIALIZED, LAUNCHED
from baseload.decide.provision.pools import is_static
from baseload.kube.types.karpenter import NodeClaim, NodePool
from baseload.plan.lifecycle import Progress
from baseload.values import duration, instant

NEVER: Final = "Never"


def marked(claim: NodeClaim, pool: NodePool, drifted: Reason | None, now: int) -> Progress:
    """The claim with its marks as they are to be now; one that is being deleted keeps what it has.

    `drifted` is why it has drifted, if it has; before it is launched that counts for nothing.
    """
    if claim.metadata.deletion_timestamp:
        return Progress(claim)
    if drifted is not None and conditions.is_true(claim.status.conditions, LAUNCHED):
        claim = _saying(claim, Said(DRIFTED, reason=drifted, message=drifted), now)
    else:
        claim = _without(claim, DRIFTED)
    if is_static(pool):
        return Progress(claim)
    if is_consolidatable(claim, pool, now):
        return Progress(_saying(claim, Said(CONSOLIDATABLE), now))
    ends = window_end(claim, pool)
    return Progress(_without(claim, CONSOLIDATABLE), again=None if ends is None else ends - now)


def says(claim: NodeClaim, drifted: Reason | None) -> bool:
    """Whether a launched claim says already that it drifted for that reason, or that it did not."""
    held = conditions.find(claim.status.conditions, DRIFTED)
    return (held.reason if held is not None else None) == drifted


def is_consolidatable(claim: NodeClaim, pool: NodePool, now: int) -> bool:
    """Whether the claim's node has been let alone by its pods for as long as the pool wants (4.3)."""
    if consolidate_after(pool) is None or not conditions.is_true(claim.status.conditions, INITIALIZED):
        return False
    ends = window_end(claim, pool)
    return ends is None or ends <= now


def window_end(claim: NodeClaim, pool: NodePool) -> int | None:
    """When the window of the claim's node ends or ended (12.2); None where it has none."""
    after = consolidate_after(pool)
    if not after or not conditions.is_true(claim.status.conditions, INITIALIZED):
        return None
    text = claim.status.last_pod_event_time
    since = instant.parse(text) if text else conditions.since(claim.status.conditions, INITIALIZED)
    return None if since is None else since + after


def consolidate_after(pool: NodePool) -> int | None:
    """consolidateAfter in nanoseconds; None for Never."""
    text = pool.spec.disruption.consolidate_after
    if text == NEVER:
        return None
    return duration.parse(text) if text else 0


def _saying(claim: NodeClaim, said: Said, now: int) -> NodeClaim:
    held = conditions.find(claim.status.conditions, said.type)
    if held is not None and (held.status, held.reason) == (said.status, said.reason or said.type):
        return claim  # whatever its message: nothing is written for it
    return claim_saying(claim, said, now=now)


def _without(claim: NodeClaim, type: str) -> NodeClaim:
    if conditions.find(claim.status.conditions, type) is None:
        return claim
    return with_status(claim, conditions=conditions.without(claim.status.conditions, type))
