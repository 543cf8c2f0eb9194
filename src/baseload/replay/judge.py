"""Whether an expectation holds: a bound on a series, and when it has to be kept.

    at          at one moment, and for so long from then on
    always      throughout an interval
    eventually  from some moment of an interval on, for so long
    within      the same, the interval being counted from `after`

The truth of a bound is itself a line of pieces: true or false from one moment to another.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Final, Literal

from baseload.replay.line import Line, Piece, Sum
from baseload.replay.series import KINDS, Query
from baseload.values import duration

When = Literal["at", "always", "eventually", "within"]
Verdict = Literal["holds", "fails", "open"]
"""Open: the run ended before it could be told"""

BOUNDS: Final = ("is", "isNot", "atMost", "atLeast", "below", "above")


@dataclass(frozen=True, slots=True)
class Bound:
    """What a value has to be, in whole numbers of its line."""

    name: str
    value: Fraction
    written: str  # as the user wrote the value

    def holds(self, value: int) -> bool:
        match self.name:
            case "is":
                return value == self.value
            case "isNot":
                return value != self.value
            case "atMost":
                return value <= self.value
            case "atLeast":
                return value >= self.value
            case "below":
                return value < self.value
            case _:
                return value > self.value

    def __str__(self) -> str:
        return f"{_WORDS[self.name]} {self.written}"


_WORDS: Final = {
    "is": "is",
    "isNot": "is not",
    "atMost": "is at most",
    "atLeast": "is at least",
    "below": "is below",
    "above": "is above",
}


@dataclass(frozen=True, slots=True)
class Expectation:
    """One expectation; moments and durations are nanoseconds, counted from the start of the run."""

    query: Query
    when: When
    begins: int
    ends: int  # of the interval; the same moment for `at`
    bounds: tuple[Bound, ...]
    lasts: int = 0
    path: str = ""  # where it stands in the scenario

    @property
    def latest(self) -> int:
        """The moment until which the run has to go for it to be told."""
        return self.ends + self.lasts

    def __str__(self) -> str:
        what = " and ".join(map(str, self.bounds))
        lasts = f" for {duration.format(self.lasts)}" if self.lasts else ""
        begins, ends = duration.format(self.begins), duration.format(self.ends)
        match self.when:
            case "at":
                return f"{self.query} {what} at {begins}{lasts}"
            case "always":
                return f"{self.query} {what} always from {begins} to {ends}"
            case _:
                return f"{self.query} {what}{lasts} at some time from {begins} to {ends}"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What became of an expectation; moments are counted from the start of the run."""

    expectation: Expectation
    verdict: Verdict
    moment: int  # when it first failed, or was met; what it was told by
    value: int  # at that moment, in whole numbers of its line


@dataclass(frozen=True, slots=True)
class _Truth:
    """A bound is kept, or not, from a moment to another."""

    begins: int
    ends: int
    holds: bool


def span(bounds: tuple[Bound, ...]) -> tuple[Fraction | float, Fraction | float]:
    """The whole numbers that keep all bounds lie from here to there."""
    lowest: Fraction | float = float("-inf")
    highest: Fraction | float = float("inf")
    for bound in bounds:
        value = bound.value
        match bound.name:
            case "is":
                whole = value if value.denominator == 1 else None
                lowest = max(lowest, value if whole is not None else value + 1)
                highest = min(highest, value)
            case "atMost":
                highest = min(highest, value.__floor__())
            case "below":
                highest = min(highest, value.__ceil__() - 1)
            case "atLeast":
                lowest = max(lowest, value.__ceil__())
            case "above":
                lowest = max(lowest, value.__floor__() + 1)
    return lowest, highest


def judge(expectation: Expectation, line: Line | Sum, start: int, end: int) -> Judgement:
    """Holds an expectation against a line in a run from a start to an end, which are instants."""
    if expectation.when in ("at", "always"):
        return _throughout(expectation, line, start, end)
    return _sometime(expectation, line, start, end)


def _throughout(expectation: Expectation, line: Line | Sum, start: int, end: int) -> Judgement:
    begins, ends = start + expectation.begins, start + expectation.latest
    if begins > end:
        return Judgement(expectation, "open", end - start, line.at(end))
    for piece in _truths(expectation, line, begins, min(ends, end)):
        if not piece.holds:
            return Judgement(expectation, "fails", piece.begins - start, line.at(piece.begins))
    until = min(ends, end)
    return Judgement(expectation, "holds" if ends <= end else "open", until - start, line.at(until))


def _sometime(expectation: Expectation, line: Line | Sum, start: int, end: int) -> Judgement:
    """The first time that it is kept for long enough, beginning within the interval.

    It fails at the end of that; or, where it is kept then and not for long enough, at the moment at which it ceases.
    """
    begins, ends = start + expectation.begins, start + expectation.ends
    if begins > end:
        return Judgement(expectation, "open", end - start, line.at(end))
    kept: int | None = None  # since when the bound is kept
    for piece in _truths(expectation, line, begins, min(ends + expectation.lasts, end)):
        if not piece.holds:
            if kept is not None and piece.begins > ends:
                return Judgement(expectation, "fails", piece.begins - start, line.at(piece.begins))
            kept = None
            continue
        kept = piece.begins if kept is None else kept
        if kept > ends:
            break
        if piece.ends - kept >= expectation.lasts:
            return Judgement(expectation, "holds", kept - start, line.at(kept))
    told = min(ends, end)
    verdict: Verdict = "fails" if ends + expectation.lasts <= end else "open"
    return Judgement(expectation, verdict, told - start, line.at(told))


def _truths(expectation: Expectation, line: Line | Sum, begins: int, ends: int) -> Iterator[_Truth]:
    for piece in line.pieces(begins, ends):
        for part in _parts(piece, expectation.bounds):
            yield _Truth(part.begins, part.ends, all(bound.holds(part.first) for bound in expectation.bounds))


def _parts(piece: Piece, bounds: tuple[Bound, ...]) -> Iterator[Piece]:
    """A piece that rises, cut where it crosses a bound, so that each part is on one side of all of them."""
    begins, ends, first, last = piece
    if first == last:
        yield piece
        return
    rise, run = last - first, ends - begins
    cuts = {begins}
    for bound in bounds:
        for nudge in (0, 1):  # the last moment at which it is not above, and the next one
            at = begins + int((bound.value - first) * run / rise) + nudge
            if begins < at < ends:
                cuts.add(at)
    moments = [*sorted(cuts), ends]
    for here, there in pairwise(moments):
        yield Piece(here, there, first + rise * (here - begins) // run, first + rise * (there - begins) // run)


def shown(query: Query, value: int) -> str:
    """A value of a series as people read it."""
    kind = KINDS[query.series]
    if kind.unit.startswith("dollars"):
        return f"${value / kind.scale:.4f}"
    if kind.unit == "seconds":
        return f"{value / kind.scale:.0f} s"
    return f"{value / kind.scale:g}"
