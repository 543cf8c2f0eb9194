"""Which changes of pods keep a node from being consolidated for a while (disruption and lifecycle spec 4.4)."""

from typing import Final

from baseload.decide.lifecycle import conditions
from baseload.decide.lifecycle.changed import with_status
from baseload.kube.types.karpenter import NodeClaim
from baseload.values import instant
from baseload.values.instant import SECOND

QUIET: Final = 10 * SECOND
"""So long after the last one an event is not noted: less than the delay after which a command is validated."""


def noted(claim: NodeClaim, now: int) -> NodeClaim:
    """The claim after something happened to a pod on its node."""
    held = claim.status.last_pod_event_time
    if held and now - instant.parse(held) < QUIET:
        return claim
    return with_status(claim, last_pod_event_time=conditions.written(now))
