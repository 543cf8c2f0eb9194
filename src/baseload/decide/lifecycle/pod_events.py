"""Which changes of pods keep a node from being consolidated for a while (disruption and lifecycle spec 4.4)."""

from typing import Final

from baseload.decide.lifecycle import conditions, markers
from baseload.decide.lifecycle.changed import with_status
from baseload.kube.types.karpenter import NodeClaim, NodePool
from baseload.values import instant
from baseload.values.duration import HOUR
from baseload.values.instant import SECOND

QUIET: Final = 10 * SECOND
"""So long after the last one an event is not noted: less than the delay after which a command is validated."""
OF_NO_ACCOUNT: Final = 1 * HOUR
"""So long it is not written where the pool has no window, as nothing depends on it (Karpenter writes it there too)."""


def noted(claim: NodeClaim, at: int) -> NodeClaim:
    """The claim after something happened to a pod on its node at a moment."""
    held = claim.status.last_pod_event_time
    if held and at - instant.parse(held) < QUIET:
        return claim
    return with_status(claim, last_pod_event_time=conditions.written(at))


def waits(claim: NodeClaim, pool: NodePool | None, at: int) -> bool:
    """Whether the note of an event may wait: nothing depends on it, and one was written not long before."""
    held = claim.status.last_pod_event_time
    if not held or at - instant.parse(held) >= OF_NO_ACCOUNT:
        return False
    return pool is not None and not markers.consolidate_after(pool)
