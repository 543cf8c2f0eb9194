"""What a container uses of memory and cpu as time goes by: points in time, straight lines between them.

An amount is one of its own or a share of what the container requests. Everything is in whole numbers, so that a sum of
many is exact and a run is repeated to the byte; a rise that levels off (cluster-actors spec 24.4) is a row of points.
"""

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from baseload.values.instant import SECOND

THOUSAND: Final = 1000
_LEFT: Final = (1000, 607, 368, 223, 135, 82, 50, 30, 18, 11, 7, 0)
"""Of a rise that levels off, what is still missing after each half of its time constant, in thousandths"""


@dataclass(frozen=True, slots=True)
class Amount:
    """So much of its own, or so many thousandths of the request."""

    own: int = 0
    share: int = 0

    def of(self, request: int) -> int:
        return self.own + request * self.share // THOUSAND


@dataclass(frozen=True, slots=True)
class Curve:
    """Amounts at moments after a container's start, in nanoseconds; the last one holds for ever."""

    moments: tuple[int, ...]
    amounts: tuple[Amount, ...]

    @property
    def is_flat(self) -> bool:
        return len(self.amounts) == 1

    def at(self, age: int, request: int) -> int:
        """What is used at an age."""
        after = bisect_right(self.moments, age)
        if after == 0:
            return self.amounts[0].of(request)
        before = self.amounts[after - 1].of(request)
        if after == len(self.moments):
            return before
        begun, ends = self.moments[after - 1], self.moments[after]
        return before + (self.amounts[after].of(request) - before) * (age - begun) // (ends - begun)

    def peak(self, request: int) -> int:
        """The most that is ever used."""
        return max(amount.of(request) for amount in self.amounts)

    def reaches(self, bound: int, request: int) -> int | None:
        """The first age at which so much is used; None for never."""
        amounts = [amount.of(request) for amount in self.amounts]
        if amounts[0] >= bound:
            return 0
        for at, (before, after) in enumerate(pairwise(amounts)):
            if after >= bound:
                begun, ends = self.moments[at], self.moments[at + 1]
                return begun + -(-(bound - before) * (ends - begun) // (after - before))
        return None


def constant(amount: Amount) -> Curve:
    return Curve((0,), (amount,))


def levelling(base: Amount, peak: Amount, seconds: int = 120) -> Curve:
    """A rise from a base to a peak that takes up two thirds of what is left in so many seconds."""
    moments = tuple(number * seconds * SECOND // 2 for number in range(len(_LEFT)))
    amounts = tuple(
        Amount(
            peak.own - (peak.own - base.own) * left // THOUSAND,
            peak.share - (peak.share - base.share) * left // THOUSAND,
        )
        for left in _LEFT
    )
    return Curve(moments, amounts)
