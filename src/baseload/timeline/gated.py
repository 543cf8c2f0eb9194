"""A clock with a gate: who lives by it goes on only while the gate is open, and hears late where it is slow.

What waits is waited for as ever; at the end of a wait the gate has to be passed. So a component that cannot reach what
it works on stands still where it is, and takes everything in when it can again.
"""

from collections.abc import Coroutine
from typing import Any, Final

from baseload.values.clock import Bell, Clock
from baseload.values.instant import SECOND

_LONG: Final = 1e9


class Gate:
    """Open at first."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._waiting: dict[Bell, None] = {}
        self.is_shut = False
        self.delay = 0
        """How much later a ring is heard, in nanoseconds"""

    def shut(self) -> None:
        """Nobody passes any more."""
        self.is_shut = True

    def open(self) -> None:
        """All that wait pass."""
        self.is_shut = False
        for bell in self._waiting:
            bell.ring()

    async def passed(self, *, has_heard: bool = False) -> None:
        """Waits until one may pass; who heard something is later by the delay."""
        await self._opened()
        if has_heard and self.delay:
            await self._clock.sleep(self.delay / SECOND)
            await self._opened()

    async def _opened(self) -> None:
        while self.is_shut:
            bell = self._clock.bell()
            self._waiting[bell] = None
            try:
                await bell.wait(_LONG)
            finally:
                del self._waiting[bell]


class GatedBell:
    """A bell that is heard through the gate."""

    def __init__(self, bell: Bell, gate: Gate) -> None:
        self._bell, self._gate = bell, gate

    def ring(self) -> None:
        self._bell.ring()

    async def wait(self, seconds: float) -> bool:
        rang = await self._bell.wait(seconds)
        await self._gate.passed(has_heard=rang)
        return rang


class GatedClock:
    """A clock behind a gate."""

    def __init__(self, clock: Clock, gate: Gate) -> None:
        self._clock, self._gate = clock, gate

    def now(self) -> int:
        return self._clock.now()

    async def sleep(self, seconds: float) -> None:
        await self._clock.sleep(seconds)
        await self._gate.passed()

    def bell(self) -> GatedBell:
        return GatedBell(self._clock.bell(), self._gate)

    async def together(self, *tasks: Coroutine[Any, Any, None]) -> None:
        await self._clock.together(*tasks)
