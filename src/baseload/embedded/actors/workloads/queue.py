"""A controller's queue: keys of objects to look at, each once, at once or at a moment, later after each failure.

It is client-go's work queue without its workers: a key that is added twice is looked at once, and a key whose sync
failed comes back after 5 ms, then twice as late each time, up to 1000 s.
"""

import heapq
from typing import Final

from baseload.values import instant

FIRST_RETRY: Final = 5 * instant.SECOND // 1000  # client-go's default rate limiter, by item
LAST_RETRY: Final = 1000 * instant.SECOND
_DOUBLINGS: Final = 20  # more than lead from the first to the last


def retry_after(failures: int) -> int:
    """How long a key waits after so many failures in a row (nanoseconds)."""
    return min(FIRST_RETRY << min(failures - 1, _DOUBLINGS), LAST_RETRY)


class WorkQueue:
    """Keys in the order in which they became due."""

    def __init__(self) -> None:
        self._ready: dict[str, None] = {}
        self._later: list[tuple[int, int, str]] = []  # moment, sequence, key
        self._due: dict[str, int] = {}  # key -> the earliest moment for which it is on the heap
        self._failures: dict[str, int] = {}
        self._sequence = 0

    def add(self, key: str) -> None:
        """At the next turn."""
        self._ready[key] = None

    def add_at(self, key: str, moment: int) -> None:
        """At a moment, unless it comes up before."""
        due = self._due.get(key)
        if due is not None and due <= moment:
            return
        self._due[key] = moment
        self._sequence += 1
        heapq.heappush(self._later, (moment, self._sequence, key))

    def failed(self, key: str, now: int) -> None:
        """Later, the more often it failed."""
        failures = self._failures[key] = self._failures.get(key, 0) + 1
        self.add_at(key, now + retry_after(failures))

    def forget(self, key: str) -> None:
        """It went well."""
        self._failures.pop(key, None)

    def failures(self, key: str) -> int:
        """How often it failed in a row."""
        return self._failures.get(key, 0)

    def is_due(self, now: int) -> bool:
        """Whether there is a key to take."""
        return bool(self._ready) or bool(self._later and self._later[0][0] <= now)

    def take(self, now: int) -> list[str]:
        """All keys that are due, which are no longer in the queue."""
        later = self._later
        while later and later[0][0] <= now:
            moment, _, key = heapq.heappop(later)
            if self._due.get(key) == moment:
                del self._due[key]
                self._ready[key] = None
        ready, self._ready = self._ready, {}
        return list(ready)

    def next(self, now: int) -> int | None:
        """When the next key is due; None where there is none."""
        if self._ready:
            return now
        later = self._later
        while later and self._due.get(later[0][2]) != later[0][0]:
            heapq.heappop(later)
        return later[0][0] if later else None
