"""What is going to happen in the simulated region, by moment and then in the order in which it was arranged.

What is planned is data: a moment, what, and of what. So it can be kept beside the rest of the region's state.
"""

import heapq
from collections.abc import Callable, Iterable

from baseload.values import instant
from baseload.values.clock import Clock

Argument = str | int | None
Planned = tuple[int, str, tuple[Argument, ...]]
"""(moment, what, of what)"""
_NEVER = float("inf")


class Agenda:
    """A heap of moments, carried out by `settle` before anything is read or done, and by `run` when they come."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.done = 0  # how much was carried out
        self._acts: dict[str, Callable[..., None]] = {}
        self._bell = clock.bell()
        self._heap: list[tuple[int, int, str, tuple[Argument, ...]]] = []
        self._sequence = 0
        self._now: int | None = None

    def now(self) -> int:
        """The moment of what is being carried out, else the clock's."""
        return self.clock.now() if self._now is None else self._now

    def on(self, what: str, act: Callable[..., None]) -> None:
        """Says how something is carried out."""
        self._acts[what] = act

    def at(self, moment: int, what: str, *arguments: Argument) -> None:
        self._sequence += 1
        heapq.heappush(self._heap, (moment, self._sequence, what, arguments))
        if self._heap[0][1] == self._sequence:
            self._bell.ring()

    def after(self, nanoseconds: int, what: str, *arguments: Argument) -> None:
        self.at(self.now() + nanoseconds, what, *arguments)

    def planned(self) -> list[Planned]:
        """All that is to come, in its order."""
        return [(moment, what, arguments) for moment, _, what, arguments in sorted(self._heap)]

    def plan(self, planned: Iterable[Planned]) -> None:
        """Puts back what was planned."""
        for moment, what, arguments in planned:
            self.at(moment, what, *arguments)

    def settle(self) -> None:
        """Carries out what is due, each thing at its own moment."""
        if self._now is not None:
            return
        now = self.clock.now()
        try:
            while self._heap and self._heap[0][0] <= now:
                self._now, _, what, arguments = heapq.heappop(self._heap)
                self.done += 1
                self._acts[what](*arguments)
        finally:
            self._now = None

    async def run(self) -> None:
        """Carries out everything when it is due, for ever."""
        while True:
            self.settle()
            wait = (self._heap[0][0] - self.clock.now()) / instant.SECOND if self._heap else _NEVER
            await self._bell.wait(wait)
