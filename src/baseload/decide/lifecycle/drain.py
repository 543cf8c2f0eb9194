"""Who leaves a node next: groups in their order, and whoever needs all the time that is left (spec 23.3 to 23.5).

The groups are: not critical and no daemon, not critical daemons, critical and no daemon, critical daemons. A group is
done when its pods are really gone, so the next one is not touched while one of them still terminates.
"""

from collections.abc import Iterable, Sequence
from typing import Final, Literal

from baseload.decide.lifecycle import pods as of_pods
from baseload.kube.types.core import Pod
from baseload.model.view import is_daemon, name_of
from baseload.plan.lifecycle import Drain
from baseload.values import instant
from baseload.values.instant import SECOND

SETTLES: Final = 5 * SECOND
"""A drain lasts so long at least, because pods may still be landing."""


def drain(on_node: Iterable[Pod], deadline: int | None, now: int) -> Drain:
    """The step for the pods of a node; a deadline is nanoseconds since the epoch."""
    waiting = sorted((pod for pod in on_node if of_pods.is_waited_for(pod, now)), key=name_of)
    forced = [pod for pod in waiting if is_forced(pod, deadline, now)]
    forced_keys = {name_of(pod) for pod in forced}
    group = _first_group([pod for pod in waiting if name_of(pod) not in forced_keys])
    evict = tuple(pod for pod in group if of_pods.is_evictable(pod, now))
    held = tuple(pod for pod in group if of_pods.is_active(pod) and not of_pods.is_evictable(pod, now))
    return Drain(evict, tuple((pod, grace_left(deadline, now)) for pod in forced), held, len(waiting))


def is_forced(pod: Pod, deadline: int | None, now: int) -> bool:
    """Whether it would not be gone by the deadline if it were not made to go now."""
    if deadline is None:
        return False
    if of_pods.is_terminating(pod):
        return instant.parse(pod.metadata.deletion_timestamp) > deadline
    grace = pod.spec.termination_grace_period_seconds
    return grace is not None and now > deadline - grace * SECOND


def grace_left(deadline: int | None, now: int) -> int:
    """The seconds of grace that a pod which is made to go still gets."""
    return 1 if deadline is None else max(1, (deadline - now) // SECOND)


def is_settled(began: int | None, now: int) -> bool:
    """Whether a drain that has nobody left to wait for may end."""
    return began is not None and now - began >= SETTLES


Attempt = Literal["evict", "delete", "drop", "later"]


def attempt(pod: Pod | None, deadline: int | None, now: int) -> Attempt:
    """What is to be done with a pod in the queue of evictions; None is one that is gone (spec 23.4)."""
    if pod is None:
        return "drop"
    if is_forced(pod, deadline, now):
        return "delete"
    if not of_pods.is_active(pod):
        return "drop"
    return "evict" if of_pods.is_evictable(pod, now) else "later"


def _first_group(waiting: Sequence[Pod]) -> list[Pod]:
    """The pods whose turn it is, terminating ones included."""
    if not waiting:
        return []
    first = min(_rank(pod) for pod in waiting)
    return [pod for pod in waiting if _rank(pod) == first]


def _rank(pod: Pod) -> tuple[bool, bool]:
    return of_pods.is_critical(pod), is_daemon(pod)
