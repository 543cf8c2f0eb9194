"""A number over time as its changes: the moments at which it became another one, and what it was from then on.

Numbers are whole. A number that counts up by itself, such as what was spent, is the integral of another one: its line
rises evenly between two changes.
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import NamedTuple


class Piece(NamedTuple):
    """From a moment to another: the value at the begin, and what it would be at the end if nothing happened there."""

    begins: int
    ends: int
    first: int
    last: int


class Line:
    """Steps. Before its start a line is 0."""

    __slots__ = ("_moments", "_values", "value")

    def __init__(self) -> None:
        self._moments = array("q")
        self._values = array("q")
        self.value = 0

    def add(self, at: int, change: int) -> None:
        """Changes it at a moment that is not before the last one."""
        self.value += change
        if self._moments and self._moments[-1] == at:
            self._values[-1] = self.value
        else:
            self._moments.append(at)
            self._values.append(self.value)

    def at(self, moment: int) -> int:
        """What it is once everything has happened that happens at that moment."""
        place = bisect_right(self._moments, moment)
        return self._values[place - 1] if place else 0

    def most(self) -> int:
        return max((*self._values, 0))

    def pieces(self, begins: int, ends: int) -> Iterator[Piece]:
        """The line within an interval; the moment of its end is a piece of its own, without length."""
        moments, values = self._moments, self._values
        place = bisect_right(moments, begins)
        value = values[place - 1] if place else 0
        while place < len(moments) and moments[place] <= ends:
            yield Piece(begins, moments[place], value, value)
            begins, value = moments[place], values[place]
            place += 1
        if begins < ends:
            yield Piece(begins, ends, value, value)
        yield Piece(ends, ends, value, value)


class Sum:
    """The integral of steps: value times nanoseconds, from the start of the run."""

    def __init__(self, rate: Line, start: int) -> None:
        self._rate, self._start = rate, start

    def at(self, moment: int) -> int:
        return sum((piece.ends - piece.begins) * piece.first for piece in self._rate.pieces(self._start, moment))

    def pieces(self, begins: int, ends: int) -> Iterator[Piece]:
        total = self.at(begins)
        for piece in self._rate.pieces(begins, ends):
            after = total + (piece.ends - piece.begins) * piece.first
            yield Piece(piece.begins, piece.ends, total, after)
            total = after


def of_changes(changes: Iterable[tuple[int, int]]) -> Line:
    """The line of changes that were not noted in their order."""
    line = Line()
    for at, change in sorted(changes):
        line.add(at, change)
    return line
