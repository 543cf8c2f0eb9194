"""What is asked of a cloud: each thing once at a time, some of them beside one another, again later where it fails."""

import heapq
from collections.abc import Callable, Coroutine
from typing import Any, Final

from baseload.embedded.actors.storage.disks import DiskError
from baseload.values.clock import FOREVER, Bell, Clock
from baseload.values.instant import SECOND

WORKERS: Final = 10
FIRST: Final = 1  # seconds until a failure is tried again, doubling, as the sidecars of CSI drivers do it
LONGEST: Final = 300

Job = Callable[[], Coroutine[Any, Any, None]]


class Jobs:
    """Work by key."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._jobs: dict[str, Job] = {}
        self._due: list[tuple[int, int, str]] = []  # moment, sequence, key
        self._failures: dict[str, int] = {}
        self._sequence = 0
        self._idle: list[Bell] = []

    def add(self, key: str, job: Job) -> None:
        """Has something done, unless it is under way."""
        if key not in self._jobs:
            self._jobs[key] = job
            self._push(key, self._clock.now())

    async def run(self) -> None:
        """Works for ever."""
        await self._clock.together(*(self._work() for _ in range(WORKERS)))

    async def _work(self) -> None:
        bell = self._clock.bell()
        while True:
            now = self._clock.now()
            if not self._due or self._due[0][0] > now:
                self._idle.append(bell)
                await bell.wait((self._due[0][0] - now) / SECOND if self._due else FOREVER)
                if bell in self._idle:
                    self._idle.remove(bell)
                continue
            key = heapq.heappop(self._due)[2]
            try:
                await self._jobs[key]()
            except DiskError:
                failures = self._failures[key] = self._failures.get(key, 0) + 1
                self._push(key, self._clock.now() + min(FIRST << min(failures - 1, 20), LONGEST) * SECOND)
            else:
                self._failures.pop(key, None)
                del self._jobs[key]

    def _push(self, key: str, at: int) -> None:
        self._sequence += 1
        heapq.heappush(self._due, (at, self._sequence, key))
        if self._idle:
            self._idle.pop(0).ring()
