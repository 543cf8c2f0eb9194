"""Time and what waits for it, as whoever acts in time is handed it: the machine's, or a simulated one.

Coroutines that await nothing but a clock and what is built on it run alike under any event loop.
"""

from collections.abc import Awaitable, Coroutine
from typing import Any, Final, Protocol

FOREVER: Final = float("inf")
"""Seconds that never pass"""


class Bell(Protocol):
    """What one coroutine waits for and others ring; a ring that nobody waited for is remembered, once."""

    def ring(self) -> None: ...

    def wait(self, seconds: float) -> Awaitable[bool]:
        """Waits for a ring, or so long; whether it rang."""
        ...


class Clock(Protocol):
    """A time that goes on."""

    def now(self) -> int:
        """Nanoseconds since the epoch."""
        ...

    def sleep(self, seconds: float) -> Awaitable[None]: ...

    def bell(self) -> Bell: ...

    async def together(self, *tasks: Coroutine[Any, Any, None]) -> None:
        """Runs all until the last has ended; where one fails the others are cancelled and its error is raised."""
        ...
