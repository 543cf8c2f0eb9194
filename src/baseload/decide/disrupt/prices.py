"""What launching one of several types would cost at best and at worst (disruption and lifecycle spec 9.7).

Which offering a launch gets is open until then. So a type is judged by the dearest available offering of the capacity
type that is taken first, reserved before spot before on-demand. For a table and a requirement set all that is worked
out once: then "those of these types that are sure to be cheaper than this" is one mask.
"""

from bisect import bisect_left
from typing import Final

from baseload.catalog.masks import bits
from baseload.decide.fit.sets import Sets
from baseload.decide.fit.types import TypeIndex

PRECEDENCE: Final = ("reserved", "spot", "on-demand")
UNKNOWN: Final = float("inf")


class Ladder:
    """The prices of a table's types under one requirement set."""

    def __init__(self, index: TypeIndex, sets: Sets, number: int) -> None:
        best: dict[int, float] = {}
        dearest: tuple[dict[int, float], ...] = ({}, {}, {})
        for column in index.offerings(sets[number]):
            if column.capacity_type not in PRECEDENCE:
                continue
            top = dearest[PRECEDENCE.index(column.capacity_type)]
            for place in bits(column.available):
                price = column.prices[place]
                if price is None:
                    continue
                best[place] = min(price, best.get(place, UNKNOWN))
                top[place] = max(price, top.get(place, price))
        worst: dict[int, float] = {}
        for top in dearest:
            worst = top | worst
        names = index.table.names
        self.cheapest: Final = best
        self.order: Final = tuple(sorted(best, key=lambda place: (best[place], names[place])))
        rows = sorted((price, place) for place, price in worst.items())
        self.worst_prices: Final = worst
        self._rows: Final = rows
        self._steps: Final = [price for price, _ in rows]
        self._below: Final = [0]
        for _, place in rows:
            self._below.append(self._below[-1] | 1 << place)

    def below(self, types: int, price: float) -> int:
        """Those of the types whose launch costs less than that, whatever happens."""
        return types & self._below[bisect_left(self._steps, price)]

    def surest(self, types: int) -> float:
        """The least that one of the types costs at worst."""
        return next((price for price, place in self._rows if types >> place & 1), UNKNOWN)

    def first(self, types: int, count: int) -> int:
        """The cheapest so many of the types, as a mask."""
        found = 0
        for place in self.order:
            if count and types >> place & 1:
                found |= 1 << place
                count -= 1
        return found

    def price(self, types: int) -> float:
        """The price of the cheapest of the types."""
        return next((self.cheapest[place] for place in self.order if types >> place & 1), 0.0)


class Prices:
    """Ladders that were made already."""

    def __init__(self, sets: Sets) -> None:
        self._sets: Final = sets
        self._ladders: Final[dict[tuple[int, int], Ladder]] = {}
        self._kept: Final[list[TypeIndex]] = []  # ids stand for objects that must live as long

    def ladder(self, index: TypeIndex, number: int) -> Ladder:
        found = self._ladders.get((id(index), number))
        if found is None:
            found = self._ladders[id(index), number] = Ladder(index, self._sets, number)
            self._kept.append(index)
        return found
