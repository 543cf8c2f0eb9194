"""What the store needs from the world: the time, chance, and a place that outlives the process."""

from collections.abc import Iterable, Iterator
from typing import Protocol


class Clock(Protocol):
    """Tells the time, real or virtual."""

    def now(self) -> int:
        """Nanoseconds since the epoch."""
        ...


class Chance(Protocol):
    """Draws bits; `random.Random(seed)` is one that can be repeated, `random.SystemRandom()` one that cannot."""

    def getrandbits(self, k: int, /) -> int: ...


Row = tuple[str, str, bytes | None]
"""(qualified resource, key, the object's JSON; None where it was removed)"""


class Journal(Protocol):
    """Keeps objects across restarts."""

    def version(self) -> int:
        """The highest resourceVersion that was ever committed or promised."""
        ...

    def load(self, resource: str) -> Iterator[tuple[str, bytes]]:
        """(key, JSON) of every object of a resource."""
        ...

    def write(self, rows: Iterable[Row], version: int) -> None:
        """Makes the rows durable together: all or none, and on disk when this returns."""
        ...
