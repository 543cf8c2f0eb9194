"""The machine's time, by asyncio: as it goes, or so many times faster."""

import asyncio
import time
from collections.abc import Coroutine
from typing import Any


class WallBell:
    """A bell of an asyncio loop; `speed` is how many seconds pass on its clock in one of the machine's."""

    def __init__(self, speed: float = 1) -> None:
        self._event, self._speed = asyncio.Event(), speed

    def ring(self) -> None:
        self._event.set()

    async def wait(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(max(seconds, 0) / self._speed):
                await self._event.wait()
        except TimeoutError:
            return False
        self._event.clear()
        return True


class WallClock:
    """The time as the machine has it."""

    def now(self) -> int:
        return time.time_ns()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def bell(self) -> WallBell:
        return WallBell()

    async def together(self, *tasks: Coroutine[Any, Any, None]) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                for task in tasks:
                    group.create_task(task)
        except BaseExceptionGroup as errors:
            raise _first(errors) from errors


class ScaledClock(WallClock):
    """A time that begins at an instant and goes `speed` times as fast as the machine's, which never goes back here."""

    def __init__(self, start: int, speed: float) -> None:
        self._start, self._speed, self._origin = start, speed, time.monotonic_ns()

    def now(self) -> int:
        return self._start + int((time.monotonic_ns() - self._origin) * self._speed)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / self._speed)

    def bell(self) -> WallBell:
        return WallBell(self._speed)


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
