"""A controller: one queue of keys, some workers, and a function that brings what a key stands for a step further.

The function says when to look again, None where a change of the object will tell. What an API or a cloud refuses is
tried again, ever later; a decision on an old state at once, as the new one is on its way.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

from baseload.act.queue import Queue
from baseload.cloud.errors import CloudError, Throttled
from baseload.kube.client.errors import ApiError, Conflict
from baseload.values.clock import Clock

Reconcile = Callable[[str], Awaitable[float | None]]

FIRST: Final = 1.0  # seconds until a failure is tried again, doubling
LONGEST: Final = 60.0
STALE: Final = 0.1  # seconds until a decision on an old state is made again


class Controller:
    """One kind of work."""

    def __init__(self, clock: Clock, reconcile: Reconcile, *, workers: int = 1) -> None:
        self._clock, self._reconcile, self._workers = clock, reconcile, workers
        self.queue: Final[Queue[str]] = Queue(clock)
        self._failures: dict[str, int] = {}

    async def run(self) -> None:
        """Works for ever."""
        await self._clock.together(*(self._work() for _ in range(self._workers)))

    async def _work(self) -> None:
        while True:
            key = await self.queue.take()
            try:
                again = await self._reconcile(key)
                self._failures.pop(key, None)
            except Conflict:
                again = STALE
            except (ApiError, CloudError) as error:
                again = self._delay(key, error)
            self.queue.done(key)
            if again is not None:
                self.queue.add(key, again)

    def _delay(self, key: str, error: ApiError | CloudError) -> float:
        failures = self._failures[key] = self._failures.get(key, 0) + 1
        delay: float = min(FIRST * 2 ** min(failures - 1, 10), LONGEST)
        asked = error.retry_after if isinstance(error, ApiError | Throttled) else 0.0
        return max(delay, asked)


async def every(clock: Clock, seconds: Callable[[], float], work: Callable[[], Awaitable[None]]) -> None:
    """Does something again and again; what an API or a cloud refuses waits for the next time."""
    while True:
        with suppress(ApiError, CloudError):
            await work()
        await clock.sleep(seconds())
