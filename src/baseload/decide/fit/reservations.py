"""Reserved capacity: instances paid for in advance, of which a pass must not promise more than there are (spec 17).

A claim holds one instance of every reservation that it might be launched into, since which one it gets is open till
then. In strict mode a pod that could use reserved capacity, of which none is left, waits rather than fall back.
"""

from collections.abc import Iterable
from typing import Final

from baseload.catalog.masks import bits
from baseload.decide.fit.sets import Sets
from baseload.decide.fit.types import TypeIndex

Held = frozenset[str]
NOTHING_HELD: Final[Held] = frozenset()


class Reservations:
    """Instances left of each reservation in this pass."""

    def __init__(self, tables: Iterable[TypeIndex], sets: Sets, *, strict: bool) -> None:
        self._sets: Final = sets
        self._strict: Final = strict
        self._left: dict[str, int] = {}
        for index in tables:
            for column in index.reserved:
                for place in bits(column.available):
                    count = column.reservation_capacity[place]
                    held = self._left.get(column.reservation_id)
                    self._left[column.reservation_id] = count if held is None else min(count, held)

    def wanted(self, index: TypeIndex, types: int, number: int, held: Held) -> Held | None:
        """The reservations that a claim would hold with these types and this set; None: it has to wait (17.4)."""
        requirements = self._sets[number]
        compatible = {
            column.reservation_id
            for column in index.reserved
            if column.available & types and requirements.compatible(column.requirements, self._sets.well_known)
        }
        reservable = frozenset(r for r in compatible if r in held or self._left[r] > 0)
        if self._strict and not reservable and (compatible or held):
            return None
        return reservable

    def swap(self, held: Held, wanted: Held) -> None:
        """A claim lets go of some reservations and takes others."""
        for reservation in held - wanted:
            self._left[reservation] += 1
        for reservation in wanted - held:
            self._left[reservation] -= 1
