"""Pods that wait for a node: who is next, who has to wait how long, and whom an event wakes (cluster-actors 1).

Four places: active, back-off (with one of its own for pods that failed by an error), unschedulable, and gated. A pod
that was rejected stands in a line with its like: of the same kind, rejected by the same plugins, with the same
back-off. Who was rejected first is the first in everything there: to be woken, to have sat out its back-off, to be
tried again. So an event wakes a line and not its pods: those up to a mark are awake, and of them the first alone is on
a heap.

What a heap still holds of a pod or a line that moved on is void, which its turn tells. Times are nanoseconds and handed
in.
"""

import heapq
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

from baseload.decide.schedule.kinds import Kind, Pod
from baseload.values import instant

INITIAL: Final = 1 * instant.SECOND  # podInitialBackoffSeconds (1.4)
MOST: Final = 10 * instant.SECOND  # podMaxBackoffSeconds
WINDOW: Final = 1 * instant.SECOND  # back-offs end together in windows of this length (1.6)
STALE: Final = 300 * instant.SECOND  # after which unschedulable pods are tried again without any event (1.5)
SWEEP: Final = 30 * instant.SECOND  # how often that is looked for
_STEPS: Final = 5  # rejections after which the back-off grows no more

Where = Literal["active", "error", "line", "gated", "out"]
_Kinds = tuple[Kind, int, tuple[str, ...], frozenset[str], int]


class Told(Protocol):
    """What whoever tries pods remembers of one that he tried in vain."""

    @property
    def record(self) -> object:
        """The pod's object as it was told of that"""
        ...


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
    line: "Line | None" = None
    place: int = 0
    """Its number in the line"""
    told: "Told | None" = None
    """What its last attempt in vain left, where all is as it was then"""


@dataclass(eq=False, slots=True)
class Line:
    """Rejected pods that are alike in all that decides about them while they wait, in the order of their rejection."""

    like: Waiting
    """Whom they are all like"""
    key: _Kinds
    backoff: int
    entries: deque[Waiting] = field(default_factory=deque)
    awake: int = 0
    """The places below this are awake"""
    end: int = 0
    """The place of the next that comes"""
    asleep: int = 0
    """Pods that are not awake; those that left meanwhile are not counted"""
    turn: int = 0

    def expiry(self, entry: Waiting) -> int:
        """The window at whose end the back-off is over."""
        end = entry.added + self.backoff
        return end - end % WINDOW

    def oldest_asleep(self) -> Waiting | None:
        """The first that is not awake."""
        if not self.asleep:
            return None
        at = max(self.awake - self.entries[0].place, 0)
        while self.entries[at].where == "out":
            at += 1
        return self.entries[at]


_Entry = tuple[int, int, int, int, int, "Waiting | Line"]


@dataclass(frozen=True, slots=True)
class Hint:
    """What an event means: the plugins that it might help past, and which of the pods that they rejected."""

    plugins: tuple[str, ...]
    wakes: Callable[[Waiting], bool]
    """Looks at nothing but the pod's kind, its claims and who rejected it"""


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
        self._lines: Final[dict[_Kinds, Line]] = {}
        self._number = 0
        self._window = 0  # the window of time up to which back-offs were looked at
        self._swept = 0

    @property
    def may_wake(self) -> bool:
        """Whether there are pods that an event could wake."""
        return bool(self._lines)

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
            entry.where = "gated"
        else:
            self._activate(entry)
        return entry

    def remove(self, uid: str) -> None:
        entry = self._entries.pop(uid, None)
        if entry is None:
            return
        entry.where, entry.turn = "out", entry.turn + 1
        line, entry.line = entry.line, None
        if line is not None:
            line.asleep -= entry.place >= line.awake
            if line.entries[0] is entry:
                self._advance(line, self._window)

    def pop(self, now: int) -> Waiting | None:
        """The pod to try next. Where none is active, one that was rejected need not wait to the end (1.6)."""
        if now - now % WINDOW != self._window:
            self.flush(now)
        found = _first(self._active) or _first(self._backoff)
        if found is None:
            return None
        if isinstance(found, Line):
            entry = found.entries.popleft()
            entry.line = None
            self._advance(found, now)
        else:
            entry = found
            entry.turn += 1
        entry.where = "out"
        entry.attempts += 1
        return entry

    def reject(self, entry: Waiting, plugins: frozenset[str], now: int) -> bool:
        """A pod that was tried in vain waits for what its rejecting plugins wait for; without any, for its back-off.

        Nothing, and no, for one that left meanwhile.
        """
        if self._entries.get(entry.pod.uid) is not entry:
            return False
        entry.added, entry.plugins = now, plugins
        if plugins:
            entry.rejections, entry.errors = entry.rejections + 1, 0
            self._queue_up(entry, now)
        else:
            entry.errors += 1
            entry.where = "error"
            end = now + backoff(entry.errors)
            heapq.heappush(self._error, (end - end % WINDOW, 0, 0, entry.number, entry.turn, entry))
        return True

    def wake(self, hint: Hint, now: int) -> int:
        """Something happened: the unschedulable pods that it might help go on. How many."""
        woken, plugins = 0, hint.plugins
        for line in self._lines.values():
            if line.asleep and not line.key[3].isdisjoint(plugins) and hint.wakes(line.like):
                woken += line.asleep
                self._wake(line, line.end, now)
        return woken

    def flush(self, now: int) -> None:
        """Back-offs that are over, and pods that have been unschedulable for long."""
        start = self._window = now - now % WINDOW
        backing_off = self._backoff
        while (found := _first(backing_off)) is not None and backing_off[0][0] < start:
            _, priority, added, number, turn, _ = heapq.heappop(backing_off)
            heapq.heappush(self._active, (priority, added, 0, number, turn, found))
        while (found := _first(self._error)) is not None and self._error[0][0] < start:
            assert isinstance(found, Waiting)
            self._activate(found)
        tick = now - now % SWEEP
        if tick > self._swept:
            self._swept = tick
            for line in self._lines.values():
                while (oldest := line.oldest_asleep()) is not None and tick - oldest.added > STALE:
                    self._wake(line, oldest.place + 1, now)

    def due(self, now: int) -> int | None:
        """When there is something to do next, if nothing happens before."""
        if _first(self._active) or _first(self._backoff):
            return now
        times = []
        if _first(self._error) is not None:
            times.append(self._error[0][0] + WINDOW)
        asleep = [held.added for line in self._lines.values() if (held := line.oldest_asleep()) is not None]
        if asleep:
            due = max(min(asleep) + STALE + 1, self._swept + SWEEP)
            times.append(-(-due // SWEEP) * SWEEP)
        return max(min(times), now) if times else None

    def _activate(self, entry: Waiting) -> None:
        entry.where = "active"
        entry.turn += 1
        heapq.heappush(self._active, (-entry.pod.priority, entry.added, 0, entry.number, entry.turn, entry))

    def _queue_up(self, entry: Waiting, now: int) -> None:
        """To the end of its line."""
        pod, steps = entry.pod, min(entry.rejections, _STEPS)
        key = pod.kind, pod.priority, pod.claims, entry.plugins, steps
        line = self._lines.get(key)
        if line is None:
            line = self._lines[key] = Line(Waiting(pod, now, 0, plugins=entry.plugins), key, backoff(steps))
        entry.where, entry.line, entry.place = "line", line, line.end
        line.entries.append(entry)
        line.end += 1
        line.asleep += 1

    def _wake(self, line: Line, until: int, now: int) -> None:
        """Those whose places are below go on."""
        first = line.entries[0].place
        was_asleep = line.awake <= first
        if until == line.end:
            line.asleep = 0
        else:  # it is the next alone
            line.asleep -= 1
        line.awake = until
        if was_asleep:
            self._advance(line, now)

    def _advance(self, line: Line, now: int) -> None:
        """The line has another first: that one is put on the heap where it is awake."""
        entries = line.entries
        line.turn += 1
        while entries and entries[0].where == "out":
            entries.popleft()
        if not entries:
            self._lines.pop(line.key, None)
            return
        entry = entries[0]
        if entry.place >= line.awake:
            return
        expiry, priority = line.expiry(entry), -entry.pod.priority
        if expiry < now - now % WINDOW:
            heapq.heappush(self._active, (priority, entry.added, 0, entry.number, line.turn, line))
        else:
            heapq.heappush(self._backoff, (expiry, priority, entry.added, entry.number, line.turn, line))


def _first(heap: list[_Entry]) -> Waiting | Line | None:
    """The first that is still there; it stays."""
    while heap and heap[0][5].turn != heap[0][4]:
        heapq.heappop(heap)
    return heap[0][5] if heap else None
