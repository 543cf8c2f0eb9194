"""What is going to happen in the simulated region, by moment and then in the order in which it was arranged."""

import heapq
from collections.abc import Callable

from baseload.values import instant
from baseload.values.clock import Clock

_NEVER = float("inf")


class Agenda:
    """A heap of moments, carried out by `settle` before anything is read or done, and by `run` when they come."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._bell = clock.bell()
        self._heap: list[tuple[int, int, Callable[[], None]]] = []
        self._sequence = 0
        self._now: int | None = None

    def now(self) -> int:
        """The moment of what is being carried out, else the clock's."""
        return self.clock.now() if self._now is None else self._now

    def at(self, moment: int, act: Callable[[], None]) -> None:
        self._sequence += 1
        heapq.heappush(self._heap, (moment, self._sequence, act))
        if self._heap[0][1] == self._sequence:
            self._bell.ring()

    def after(self, nanoseconds: int, act: Callable[[], None]) -> None:
        self.at(self.now() + nanoseconds, act)

    def settle(self) -> None:
        """Carries out what is due, each thing at its own moment."""
        if self._now is not None:
            return
        now = self.clock.now()
        try:
            while self._heap and self._heap[0][0] <= now:
                self._now, _, act = heapq.heappop(self._heap)
                act()
        finally:
            self._now = None

    async def run(self) -> None:
        """Carries out everything when it is due, for ever."""
        while True:
            self.settle()
            wait = (self._heap[0][0] - self.clock.now()) / instant.SECOND if self._heap else _NEVER
            await self._bell.wait(wait)
