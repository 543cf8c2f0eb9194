"""What a pod on a node that goes away is to a drain (disruption and lifecycle spec 6)."""

from typing import Final

from baseload.decide.fit.taints import taints_of, tolerated, tolerations_of
from baseload.decide.lifecycle.names import DISRUPTED
from baseload.decide.provision.pods import DO_NOT_DISRUPT, is_held
from baseload.kube.types.core import Pod
from baseload.model.view import is_static, is_terminal
from baseload.plan.lifecycle import Told
from baseload.values import duration, instant
from baseload.values.duration import MINUTE

STUCK: Final = 1 * MINUTE
"""So long after its deletion timestamp a pod that is still there is waited for no more."""
CRITICAL: Final = ("system-cluster-critical", "system-node-critical")

_DISRUPTED: Final = taints_of((DISRUPTED,))


def is_terminating(pod: Pod) -> bool:
    return bool(pod.metadata.deletion_timestamp)


def is_active(pod: Pod) -> bool:
    return not is_terminating(pod) and not is_terminal(pod)


def tolerates_disruption(pod: Pod) -> bool:
    """Whether it is to stay on a node that is disrupted."""
    return tolerated(_DISRUPTED, tolerations_of(pod.spec.tolerations))


def is_stuck(pod: Pod, now: int) -> bool:
    """Whether it should be gone for long."""
    return is_terminating(pod) and now > instant.parse(pod.metadata.deletion_timestamp) + STUCK


def is_drainable(pod: Pod, now: int) -> bool:
    """Whether a drain has to do with it; protected pods are, the drain waits for them."""
    return not tolerates_disruption(pod) and not is_static(pod) and not is_stuck(pod, now)


def is_waited_for(pod: Pod, now: int) -> bool:
    return not is_terminal(pod) and is_drainable(pod, now)


def is_evictable(pod: Pod, now: int) -> bool:
    return is_active(pod) and not tolerates_disruption(pod) and not is_static(pod) and not is_held(pod, now)


def is_critical(pod: Pod) -> bool:
    """By the name of its class, whatever its number."""
    return pod.spec.priority_class_name in CRITICAL


def protection_told(pod: Pod, now: int) -> Told | None:
    """What is told of a pod's do-not-disrupt when it would be evicted: that it cannot be read, or counts (spec 6.1)."""
    value = pod.metadata.annotations.get(DO_NOT_DISRUPT)
    if value in (None, "true") or not is_active(pod) or tolerates_disruption(pod) or is_static(pod):
        return None
    assert value is not None
    try:
        length = duration.parse(value)
    except ValueError:
        return _unread(f'failed to parse "{value}" as a duration: time: invalid duration "{value}"')
    if length <= 0:
        return _unread(f'duration "{value}" must be positive')
    if not pod.status.start_time:
        return None
    ends = instant.parse(pod.status.start_time) + length
    if now < ends:
        message = f"The {DO_NOT_DISRUPT} grace period will elapse at {instant.format(ends - ends % instant.SECOND)}"
        return Told("DoNotDisruptUntil", message, each_by_words=True)
    message = f"The {DO_NOT_DISRUPT} grace period has elapsed, pod is now disruptable"
    return Told("DoNotDisruptGracePeriodElapsed", message)


def _unread(why: str) -> Told:
    message = f"Invalid {DO_NOT_DISRUPT} annotation: {why}, ignoring annotation"
    return Told("InvalidDoNotDisruptAnnotation", message, "Warning", each_by_words=True)
