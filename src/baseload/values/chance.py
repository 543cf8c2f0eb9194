"""Chance, as whoever needs some is handed it."""

from typing import Protocol


class Chance(Protocol):
    """Draws numbers; `random.Random(seed)` is one that can be repeated."""

    def random(self) -> float:
        """At least 0, below 1."""
        ...
