"""Chance by whole numbers alone, so that the same seed gives the same run on every machine.

Two kinds: streams, one for each purpose, drawn from in the order of what happens; and lots, which depend on what they
are drawn for alone and not on when somebody asks. A stream is SplitMix64: a key and how often it was drawn from.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

WHOLE: Final = 10**6
"""A share is counted in millionths."""


GOLDEN: Final = 0x9E3779B97F4A7C15
MIX: Final = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))
"""SplitMix64: what a key grows by at each draw, and the (shift, factor) that scatter it."""
_MASK: Final = 2**64 - 1


class Streams:
    """The streams of one seed, by name: what is drawn for one purpose changes no other."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._keys: dict[str, int] = {}

    def share(self, name: str) -> int:
        """The next share of a stream: at least 0, below WHOLE."""
        return self.word(name) % WHOLE

    def word(self, name: str) -> int:
        """The next 64 bits of a stream."""
        key = self._keys.get(name)
        if key is None:
            key = self.lot("stream", name)
        self._keys[name] = key = (key + GOLDEN) & _MASK
        return scattered(key)

    def kept(self) -> dict[str, int]:
        """How far each stream has come."""
        return dict(self._keys)

    def put_back(self, kept: dict[str, int]) -> None:
        self._keys = dict(kept)

    def lot(self, *names: str) -> int:
        """64 bits that belong to these names."""
        return lot(str(self.seed), *names)


def scattered(key: int) -> int:
    """64 bits that look like chance, by SplitMix64."""
    for shift, factor in MIX:
        key = ((key ^ key >> shift) * factor) & _MASK
    return key


def lot(*names: str) -> int:
    """64 bits that belong to these names, under every seed."""
    return int.from_bytes(hashlib.sha256("/".join(names).encode()).digest()[:8], "big")


@dataclass(frozen=True, slots=True)
class Delays:
    """How long something takes: a table of quantiles, straight lines between them.

    Points are (share in millionths, nanoseconds), both ascending. Where the last share is below WHOLE, the rest never
    comes.
    """

    points: tuple[tuple[int, int], ...]

    @staticmethod
    def of(nanoseconds: int) -> "Delays":
        """Always the same."""
        return Delays(((0, nanoseconds), (WHOLE, nanoseconds)))

    @staticmethod
    def table(points: Iterable[tuple[int, int]], unit: int) -> "Delays":
        """From (per cent, number of units)."""
        return Delays(tuple((percent * WHOLE // 100, amount * unit) for percent, amount in points))

    def at(self, share: int) -> int | None:
        """The duration at a share of the cases; None where it never comes."""
        before, least = self.points[0]
        if share < before:
            return least
        for after, longest in self.points[1:]:
            if share < after:
                return least + (longest - least) * (share - before) // (after - before)
            before, least = after, longest
        return None if share >= before and before < WHOLE else least
