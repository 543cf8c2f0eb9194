"""What a StatefulSet does next: its replicas by ordinal, and in which order they may be made, deleted and renewed.

Scaling comes before updates. In order (OrderedReady) one thing happens at a time, and nothing while a lower replica is
not available; in parallel all that is missing is made and all that is too much deleted at once. Updates go from the
highest ordinal down to the partition, as many at once as may be unavailable.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Act = tuple[Literal["create", "delete", "recreate"], int]
"""(what to do, ordinal); recreate deletes a pod that is over, which is made anew once it is gone"""


@dataclass(frozen=True, slots=True)
class Replica:
    """A pod of a StatefulSet; one that is missing has no revision."""

    ordinal: int
    revision: str = ""
    is_over: bool = False
    is_ready: bool = False  # running and ready
    is_available: bool = False  # for minReadySeconds
    is_terminating: bool = False

    @property
    def is_there(self) -> bool:
        return bool(self.revision)

    @property
    def is_unavailable(self) -> bool:
        return not self.is_available or self.is_terminating


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a StatefulSet asks for."""

    start: int
    replicas: int
    revision: str  # the present one
    is_parallel: bool = False
    rolls: bool = True  # RollingUpdate, not OnDelete
    partition: int = 0
    max_unavailable: int = 1


def decide(wanted: Wanted, pods: Sequence[Replica]) -> list[Act]:
    """What to do now; nothing where something has to happen first."""
    held = {pod.ordinal: pod for pod in pods}
    ordinals = range(wanted.start, wanted.start + wanted.replicas)
    replicas = [held.get(ordinal, Replica(ordinal)) for ordinal in ordinals]
    condemned = sorted((pod for pod in pods if pod.ordinal not in ordinals), key=lambda pod: -pod.ordinal)
    if wanted.is_parallel:
        acts = [act for replica in replicas if (act := _mend(replica)) is not None]
        acts.extend(("delete", pod.ordinal) for pod in condemned if not pod.is_terminating)
        return acts or _update(wanted, replicas)
    for replica in replicas:
        act = _mend(replica)
        if act is not None:
            return [act]
        if replica.is_unavailable:
            return []
    if condemned:
        return _shrink(condemned)
    return _update(wanted, replicas)


def _mend(replica: Replica) -> Act | None:
    """What a replica needs that is missing or over."""
    if not replica.is_there:
        return "create", replica.ordinal
    if replica.is_over and not replica.is_terminating:
        return "recreate", replica.ordinal
    return None


def _shrink(condemned: Sequence[Replica]) -> list[Act]:
    """The highest goes first, and waits for lower ones unless it is the lowest that is not available."""
    last = condemned[0]
    sick = next((pod for pod in reversed(condemned) if pod.is_unavailable), None)
    if last.is_terminating or (not last.is_available and last is not sick):
        return []
    return [("delete", last.ordinal)]


def _update(wanted: Wanted, replicas: Sequence[Replica]) -> list[Act]:
    if not wanted.rolls:
        return []
    below = wanted.start + wanted.partition
    old = [
        pod
        for pod in reversed(replicas)
        if pod.ordinal >= below and pod.is_there and pod.revision != wanted.revision and not pod.is_terminating
    ]
    left = wanted.max_unavailable - sum(pod.is_unavailable for pod in replicas)
    if not wanted.is_parallel:
        return [("delete", pod.ordinal) for pod in old[: max(0, left)]]
    # Those that are unavailable anyhow cost nothing.
    sick = [pod for pod in old if not pod.is_available]
    well = [pod for pod in old if pod.is_available]
    return [("delete", pod.ordinal) for pod in (*sick, *well[: max(0, left)])]


def revision_at(ordinal: int, wanted: Wanted, current: str) -> str:
    """The revision at which a replica is made: below the partition it stays with the current one."""
    return current if wanted.rolls and ordinal < wanted.start + wanted.partition else wanted.revision
