"""Times of the tests: asyncio's loop, but nobody waits for a delay."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from baseload.timeline.wall import WallClock
from baseload.values import instant


class _Bell:
    """A bell that rings when it is rung, and never because of the time."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def ring(self) -> None:
        self._event.set()

    async def wait(self, seconds: float) -> bool:
        await self._event.wait()
        self._event.clear()
        return True


class Hurried:
    """A clock whose sleeps end at once and move its time; `slept` has them all."""

    def __init__(self) -> None:
        self.time = instant.parse("2026-11-30T12:00:00Z")
        self.slept: list[float] = []

    def now(self) -> int:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += int(seconds * instant.SECOND)
        await asyncio.sleep(0)

    def bell(self) -> _Bell:
        return _Bell()

    async def together(self, *tasks: Coroutine[Any, Any, None]) -> None:
        await WallClock().together(*tasks)


class Even:
    """Chance that never stretches a delay."""

    def random(self) -> float:
        return 0.0
