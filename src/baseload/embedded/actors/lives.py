"""Many small lives under one task: each a generator that says until when it waits, in the order of their moments.

A cluster has ten thousands of pods, and most of them wait most of the time. So a pod is not a task of the clock but a
generator that yields the moment until which it waits (None: until it is poked) and goes on when that has come. What is
due at one moment goes on in the order in which it was arranged.
"""

import heapq
from collections.abc import Callable, Generator

from baseload.values import instant
from baseload.values.clock import FOREVER, Clock

Life = Generator[int | None, None, None]


class Living:
    """A life that goes on; what was arranged for an earlier turn of it is void."""

    __slots__ = ("is_over", "life", "turn")

    def __init__(self, life: Life) -> None:
        self.life, self.turn, self.is_over = life, 0, False


class Lives:
    """The lives of one actor; `hear` takes what came since the last time, and may begin, poke and end lives."""

    def __init__(self, clock: Clock, hear: Callable[[], None]) -> None:
        self._clock, self._hear = clock, hear
        self._bell = clock.bell()
        self._heap: list[tuple[int, int, Living, int]] = []
        self._sequence = 0
        self._is_awake = False

    def ring(self) -> None:
        """For subscriptions: there is something to hear."""
        self._bell.ring()

    def begin(self, life: Life) -> Living:
        """Has a life begin, at this moment but not within this call."""
        living = Living(life)
        self._arrange(living, self._clock.now())
        return living

    def poke(self, living: Living) -> None:
        """Has a life look around at this moment, not within this call."""
        if not living.is_over:
            living.turn += 1
            self._arrange(living, self._clock.now())

    def end(self, living: Living) -> None:
        """Ends a life where it waits; never the one that goes on just now."""
        if not living.is_over:
            living.is_over = True
            living.life.close()

    async def run(self) -> None:
        """Goes on until the end of the clock."""
        heap, clock = self._heap, self._clock
        while True:
            self._is_awake = True
            self._hear()
            now = clock.now()
            while heap and heap[0][0] <= now:
                _, _, living, turn = heapq.heappop(heap)
                if living.turn == turn and not living.is_over:
                    self._go_on(living)
            self._is_awake = False
            await self._bell.wait((heap[0][0] - clock.now()) / instant.SECOND if heap else FOREVER)

    def _go_on(self, living: Living) -> None:
        living.turn += 1
        try:
            until = next(living.life)
        except StopIteration:
            living.is_over = True
            return
        if until is not None:
            self._arrange(living, until)

    def _arrange(self, living: Living, at: int) -> None:
        self._sequence += 1
        heapq.heappush(self._heap, (at, self._sequence, living, living.turn))
        if not self._is_awake and self._heap[0][2] is living:
            self._bell.ring()
