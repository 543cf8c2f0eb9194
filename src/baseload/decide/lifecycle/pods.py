"""What a pod on a node that goes away is to a drain (disruption and lifecycle spec 6)."""

from typing import Final

from baseload.decide.fit.taints import taints_of, tolerated, tolerations_of
from baseload.decide.lifecycle.names import DISRUPTED
from baseload.decide.provision.pods import is_held
from baseload.kube.types.core import Pod
from baseload.model.view import is_static, is_terminal
from baseload.values import instant
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
