"""Keys that wait for work, each of them once, by when they are due; several workers take from one queue.

A key that is being worked on is handed to nobody else. What is added meanwhile counts once the work is done.
"""

import heapq
from collections.abc import Hashable
from typing import Generic, TypeVar

from baseload.values.clock import FOREVER, Bell, Clock
from baseload.values.instant import SECOND

K = TypeVar("K", bound=Hashable)


class Queue(Generic[K]):
    """The work of one controller."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._heap: list[tuple[int, int, K]] = []
        self._due: dict[K, int] = {}
        self._later: dict[K, int] = {}  # of keys that are being worked on
        self._working: dict[K, None] = {}
        self._rests: dict[K, int] = {}  # until when a key is not taken
        self._idle: list[Bell] = []
        self._keeper: Bell | None = None  # of the idle worker that wakes when the next key is due
        self._sequence = 0

    def __len__(self) -> int:
        return len(self._due) + len(self._working)

    def add(self, key: K, after: float = 0.0) -> None:
        """Has a key worked on so many seconds from now, or earlier where it is due earlier."""
        at = max(self._clock.now() + round(after * SECOND), self._rests.get(key, 0))
        held = self._later if key in self._working else self._due
        if held.get(key, at + 1) <= at:
            return
        held[key] = at
        if held is self._due:
            self._push(at, key)

    async def take(self) -> K:
        """The next key that is due; `done` gives it back.

        Of the workers that wait one alone keeps the time; it has another one keep it while it works.
        """
        bell = self._clock.bell()
        while (key := self._ready()) is None:
            self._idle.append(bell)
            if self._keeper is None:
                self._keeper = bell
            await bell.wait(self._wait() if self._keeper is bell else FOREVER)
            if self._keeper is bell:
                self._keeper = None
            if bell in self._idle:
                self._idle.remove(bell)
        if self._heap and self._idle and self._keeper is None:
            self._idle.pop(0).ring()
        return key[0]

    def done(self, key: K) -> None:
        """A key that may be taken again."""
        del self._working[key]
        at = self._later.pop(key, None)
        rests = self._rests.get(key, 0)
        if rests <= self._clock.now():
            self._rests.pop(key, None)
        if at is not None:
            at = max(at, rests)
            self._due[key] = at
            self._push(at, key)

    def rest(self, key: K, seconds: float) -> None:
        """Has a key that is being worked on not taken again for so long."""
        self._rests[key] = self._clock.now() + round(seconds * SECOND)

    def _push(self, at: int, key: K) -> None:
        self._sequence += 1
        heapq.heappush(self._heap, (at, self._sequence, key))
        is_due = at <= self._clock.now()
        if not self._idle or not (is_due or self._heap[0][1] == self._sequence):
            return  # the keeper wakes before that
        if self._keeper is None:
            self._idle.pop(0).ring()
        elif self._keeper in self._idle:
            self._idle.remove(self._keeper)
            self._keeper.ring()
        elif is_due:
            self._idle.pop(0).ring()  # the keeper has been rung for another one

    def _ready(self) -> tuple[K] | None:
        while self._heap:
            at, _, key = self._heap[0]
            if self._due.get(key) == at and at > self._clock.now():
                return None
            heapq.heappop(self._heap)
            if self._due.get(key) == at:
                del self._due[key]
                self._working[key] = None
                return (key,)
        return None

    def _wait(self) -> float:
        return (self._heap[0][0] - self._clock.now()) / SECOND if self._heap else FOREVER
