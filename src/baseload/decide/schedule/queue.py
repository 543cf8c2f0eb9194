"""Pods that wait for a node: who is next, who has to wait how long, and whom an event wakes (cluster-actors 1).

Four places: active, back-off (with one of its own for pods that failed by an error), unschedulable, and gated. An entry
is in one of them; what a heap still holds of an entry that left it is void, which the entry's turn tells. Times are
nanoseconds and handed in.
"""

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Literal

from baseload.decide.schedule.kinds import Pod
from baseload.values import instant

INITIAL: Final = 1 * instant.SECOND  # podInitialBackoffSeconds (1.4)
MOST: Final = 10 * instant.SECOND  # podMaxBackoffSeconds
WINDOW: Final = 1 * instant.SECOND  # back-offs end together in windows of this length (1.6)
STALE: Final = 300 * instant.SECOND  # after which unschedulable pods are tried again without any event (1.5)
SWEEP: Final = 30 * instant.SECOND  # how often that is looked for

Where = Literal["active", "backoff", "error", "unschedulable", "gated", "out"]
_Entry = tuple[int, int, int, int, "Waiting", int]


@dataclass(eq=False, slots=True)
class Waiting:
    """A pod without a node."""

    pod: Pod
    added: int
    """When it was put into the queue, last"""
    number: int
    where: Where = "out"
    turn: int = 0
    rejections: int = 0
    errors: int = 0
    """In a row"""
    attempts: int = 0
    plugins: frozenset[str] = frozenset()
    """Who rejected it last"""


@dataclass(frozen=True, slots=True)
class Hint:
    """What an event means: the plugins that it might help past, and which of the pods that they rejected."""

    plugins: tuple[str, ...]
    wakes: Callable[[Waiting], bool]


def backoff(count: int) -> int:
    """How long a pod waits after so many failures (1.4)."""
    return min(INITIAL << (count - 1), MOST) if 0 < count < 8 else MOST if count else 0


class Queue:
    """The queue of one scheduler."""

    def __init__(self) -> None:
        self._entries: Final[dict[str, Waiting]] = {}
        self._active: Final[list[_Entry]] = []
        self._backoff: Final[list[_Entry]] = []
        self._error: Final[list[_Entry]] = []
        self._unschedulable: Final[dict[str, Waiting]] = {}
        self._rejected_by: Final[dict[str, dict[str, Waiting]]] = {}  # plugin -> those of the unschedulable
        self._number = 0
        self._swept = 0

    def __contains__(self, uid: str) -> bool:
        return uid in self._entries

    def get(self, uid: str) -> Waiting | None:
        return self._entries.get(uid)

    def all(self) -> Iterable[Waiting]:
        return self._entries.values()

    def add(self, pod: Pod, now: int, *, gated: bool = False) -> Waiting:
        """A pod that was not there, or has changed so that it is tried afresh."""
        self.remove(pod.uid)
        self._number += 1
        entry = self._entries[pod.uid] = Waiting(pod, now, self._number)
        if gated:
            self._to(entry, "gated")
        else:
            self._activate(entry)
        return entry

    def remove(self, uid: str) -> None:
        entry = self._entries.pop(uid, None)
        if entry is not None:
            self._to(entry, "out")

    def pop(self, now: int) -> Waiting | None:
        """The pod to try next. Where none is active, one that was rejected need not wait to the end (1.6)."""
        self.flush(now)
        entry = _first(self._active) or _first(self._backoff)
        if entry is not None:
            self._to(entry, "out")
            entry.attempts += 1
        return entry

    def reject(self, entry: Waiting, plugins: frozenset[str], now: int) -> None:
        """A pod that was tried in vain waits for what its rejecting plugins wait for; without any, for its back-off."""
        if self._entries.get(entry.pod.uid) is not entry:
            return
        entry.added, entry.plugins = now, plugins
        if plugins:
            entry.rejections, entry.errors = entry.rejections + 1, 0
            self._to(entry, "unschedulable")
            self._unschedulable[entry.pod.uid] = entry
            for plugin in plugins:
                self._rejected_by.setdefault(plugin, {})[entry.pod.uid] = entry
        else:
            entry.errors += 1
            self._back_off(entry)

    def wake(self, hint: Hint, now: int) -> int:
        """Something happened: the unschedulable pods that it might help go on. How many."""
        rejected: dict[str, Waiting] = {}
        for plugin in hint.plugins:
            rejected |= self._rejected_by.get(plugin, {})
        woken = [entry for entry in rejected.values() if hint.wakes(entry)]
        woken.sort(key=lambda entry: (entry.added, entry.number))
        for entry in woken:
            self._move(entry, now)
        return len(woken)

    def flush(self, now: int) -> None:
        """Back-offs that are over, and pods that have been unschedulable for long."""
        start = now - now % WINDOW
        for heap in (self._backoff, self._error):
            while (entry := _first(heap)) is not None and heap[0][0] < start:
                self._activate(entry)
        tick = now - now % SWEEP
        if tick > self._swept:
            self._swept = tick
            for entry in [held for held in self._unschedulable.values() if tick - held.added > STALE]:
                self._move(entry, now)

    def due(self, now: int) -> int | None:
        """When there is something to do next, if nothing happens before."""
        if _first(self._active) or _first(self._backoff):
            return now
        times = []
        if _first(self._error) is not None:
            times.append(self._error[0][0] + WINDOW)
        if self._unschedulable:
            oldest = next(iter(self._unschedulable.values())).added  # they are in the order of their rejection
            due = max(oldest + STALE + 1, self._swept + SWEEP)
            times.append(-(-due // SWEEP) * SWEEP)
        return max(min(times), now) if times else None

    def _move(self, entry: Waiting, now: int) -> None:
        if self._expiry(entry) >= now - now % WINDOW:
            self._back_off(entry)
        else:
            self._activate(entry)

    def _expiry(self, entry: Waiting) -> int:
        end = entry.added + backoff(entry.errors or entry.rejections)
        return end - end % WINDOW

    def _activate(self, entry: Waiting) -> None:
        self._to(entry, "active")
        place = -entry.pod.priority, entry.added, 0, entry.number, entry, entry.turn
        heapq.heappush(self._active, place)

    def _back_off(self, entry: Waiting) -> None:
        if entry.errors:
            self._to(entry, "error")
            heapq.heappush(self._error, (self._expiry(entry), 0, 0, entry.number, entry, entry.turn))
        else:
            self._to(entry, "backoff")
            place = self._expiry(entry), -entry.pod.priority, entry.added, entry.number, entry, entry.turn
            heapq.heappush(self._backoff, place)

    def _to(self, entry: Waiting, where: Where) -> None:
        if entry.where == "unschedulable":
            del self._unschedulable[entry.pod.uid]
            for plugin in entry.plugins:
                del self._rejected_by[plugin][entry.pod.uid]
        entry.where = where
        entry.turn += 1


def _first(heap: list[_Entry]) -> Waiting | None:
    """The first entry that is still there; it stays."""
    while heap and heap[0][4].turn != heap[0][5]:
        heapq.heappop(heap)
    return heap[0][4] if heap else None
