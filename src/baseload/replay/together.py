"""Expectations that cannot be kept together, found before anything runs.

Two are held against each other where one narrows down the series of the other, or asks for the same: what is true of a
part, at least, is true of the whole. A series that counts what has happened so far never falls, so that a bound from
below holds ever after, and one from above at all times before.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from baseload.replay.judge import Bound, Expectation, span
from baseload.replay.series import Query

_NEVER_FALL: Final = frozenset(
    (
        "launches",
        "terminations",
        "interruptions",
        "nodes.flaps",
        "evictions",
        "podsCutOff",
        "restarts",
        "oomKills",
        "events",
        "cost.total",
        "controllers.starts",
        "controllers.downTime",
    )
)
_EVER: Final = 1 << 62


@dataclass(frozen=True, slots=True)
class _Range:
    """Between which values a series has to be throughout an interval; both its ends belong to it."""

    of: Expectation
    low: Fraction | float
    high: Fraction | float
    begins: int
    ends: int


def clashes(expectations: Iterable[Expectation]) -> Iterator[tuple[Expectation, Expectation]]:
    """Each expectation that cannot be kept beside an earlier one, with that one, once."""
    by_series: dict[str, list[Expectation]] = {}
    for later in expectations:
        before = by_series.setdefault(later.query.series, [])
        earlier = next((one for one in before if _clash(one, later) or _clash(later, one)), None)
        if earlier is not None:
            yield later, earlier
        before.append(later)


def _clash(one: Expectation, other: Expectation) -> bool:
    """Whether what the first says of its series throughout some time leaves the other no room."""
    ranges = [held for held in _ranges(one) if _excludes(held, other)]
    if not ranges:
        return False
    if other.when in ("at", "always"):
        return any(held.begins <= other.latest and other.begins <= held.ends for held in ranges)
    return not any(_is_free(moment, other.lasts, ranges) for moment in _moments(other, ranges))


def _ranges(one: Expectation) -> Iterator[_Range]:
    """What an expectation that is kept says throughout an interval."""
    low, high = span(one.bounds)
    is_throughout = one.when in ("at", "always")
    if is_throughout:
        yield _Range(one, low, high, one.begins, one.latest)
    if one.query.series in _NEVER_FALL:
        # What is kept at some moment alone is so not after the last of them, and not before the first.
        yield _Range(one, low, float("inf"), one.begins if is_throughout else one.ends, _EVER)
        yield _Range(one, float("-inf"), high, 0, one.latest if is_throughout else one.begins)


def _excludes(held: _Range, other: Expectation) -> bool:
    """Whether no value within a range of the one series goes with the bounds on the other."""
    low, high = span(other.bounds)
    mine, theirs = held.of.query, other.query
    if mine == theirs and _is_empty(max(low, held.low), min(high, held.high), (*held.of.bounds, *other.bounds)):
        return True
    return (_is_part(mine, theirs) and held.low > high) or (_is_part(theirs, mine) and low > held.high)


def _is_empty(low: Fraction | float, high: Fraction | float, bounds: tuple[Bound, ...]) -> bool:
    return low > high or (low == high and any(one.name == "isNot" and one.value == low for one in bounds))


def _is_part(query: Query, of: Query) -> bool:
    """Whether a series never counts more than another one: it is narrowed down further."""
    if not set(of.filters) <= set(query.filters):
        return False
    return (query.longer_than or 0) >= (of.longer_than or 0)


def _moments(other: Expectation, ranges: list[_Range]) -> Iterator[int]:
    """The moments from which on it could be kept, if at all."""
    yield other.begins
    for held in ranges:
        if other.begins <= held.ends + 1 <= other.ends:
            yield held.ends + 1


def _is_free(moment: int, lasts: int, ranges: list[_Range]) -> bool:
    """Whether nothing is in the way from a moment on, for so long; at that moment at least."""
    last = moment + max(lasts - 1, 0)
    return not any(held.begins <= last and moment <= held.ends for held in ranges)
