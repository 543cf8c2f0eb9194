"""What each pool costs, in millionths of a dollar an hour.

On demand it is the catalogue's price. A spot price wanders about the catalogue's: in each step it moves by a draw and
loses a part of its distance, so that it comes back sooner or later; it never leaves the range from a tenth of the
on-demand price to the whole of it, as EC2's do not. The draws belong to the seed, the pool and the step: a price at a
moment is the same whoever asked before. A zone's pools are worked out together when one of them is asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from baseload.catalog import overlay
from baseload.catalog.columns import InstanceTypes, OfferingColumn
from baseload.catalog.masks import bits
from baseload.cloud.simulated.draws import GOLDEN, MIX, WHOLE, Streams
from baseload.cloud.simulated.settings import Spot

if TYPE_CHECKING:
    from numpy import int64, uint64
    from numpy.typing import NDArray

MICRO: Final = 10**6
"""Prices are counted in millionths of a dollar: no published one has more decimals."""
_LOWEST: Final = 10  # a spot price is at least the on-demand price divided by this
_SETTLED: Final = 40  # steps before the start: prices begin anywhere in their range, not all at the catalogue's


@dataclass(slots=True)
class Quotes:
    """The pools of one zone and capacity type: prices by position of the type, and the order of those for sale."""

    prices: list[int]  # -1 where the zone does not sell the type
    order: list[int]  # positions by (price, name)
    rank: dict[int, int]  # position -> its place in the order


class Market:
    """The prices of a region; `types` are all that it has."""

    def __init__(self, types: InstanceTypes, spot: Spot, streams: Streams, start: int) -> None:
        self.types = types
        self.position = {name: position for position, name in enumerate(types.names)}
        self._spot, self._start = spot, start
        self._quotes: dict[tuple[str, str], Quotes] = {}
        self._zones: dict[str, _SpotZone] = {}
        self._streams = streams
        self._columns = {
            (column.zone, column.capacity_type): column for column in types.offerings if not column.reservation_id
        }
        self._sets: dict[int, tuple[Sequence[str], frozenset[int]]] = {}
        self._tables: dict[tuple[int, int], tuple[InstanceTypes, InstanceTypes]] = {}

    @property
    def zones(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(zone for zone, _ in self._columns))

    def price(self, instance_type: str, zone: str, capacity_type: str, now: int) -> int | None:
        """None where the zone does not sell the type so."""
        position = self.position.get(instance_type)
        quotes = self.quotes(zone, capacity_type, now)
        return None if position is None or quotes.prices[position] < 0 else quotes.prices[position]

    def quotes(self, zone: str, capacity_type: str, now: int) -> Quotes:
        """All of a zone and capacity type, as they stand."""
        key = zone, capacity_type
        if capacity_type == "spot" and self._spot.swing and key in self._columns:
            own = self._zones.get(zone)
            if own is None:
                own = self._zones[zone] = self._spot_zone(zone)
            return own.at(self._step(now))
        if key not in self._quotes:
            column = self._columns.get(key)
            self._quotes[key] = self._ordered(_micros(column) if column else [-1] * len(self.types))
        return self._quotes[key]

    def positions(self, names: Sequence[str]) -> frozenset[int]:
        """Those of the names that exist; an equal request is mostly the same object."""
        known = self._sets.get(id(names))
        if known is None or known[0] is not names:
            if len(self._sets) > 512:
                self._sets.clear()
            found = frozenset(self.position[name] for name in names if name in self.position)
            known = self._sets[id(names)] = names, found
        return known[1]

    def table(self, types: InstanceTypes, now: int) -> InstanceTypes:
        """Instance types as somebody sees them, with the spot prices of the moment; the same object within a step."""
        if not self._spot.swing:
            return types
        key = id(types), self._step(now)
        held = self._tables.get(key)
        if held is None or held[0] is not types:
            if len(self._tables) > 64:
                self._tables.clear()
            held = self._tables[key] = types, self._priced(types, now)
        return held[1]

    def _priced(self, types: InstanceTypes, now: int) -> InstanceTypes:
        places = [self.position.get(name) for name in types.names]
        prices: dict[int, dict[int, float]] = {}
        for i, column in enumerate(types.offerings):
            if column.capacity_type == "spot" and (column.zone, "spot") in self._columns:
                quoted = self.quotes(column.zone, "spot", now).prices
                prices[i] = {
                    at: quoted[place] / MICRO
                    for at in bits(column.available)
                    if (place := places[at]) is not None and quoted[place] >= 0
                }
        return overlay.with_prices(types, prices)

    def _step(self, now: int) -> int:
        return max(now - self._start, 0) // self._spot.step

    def _ordered(self, prices: list[int]) -> Quotes:
        order = sorted(
            (at for at, price in enumerate(prices) if price >= 0), key=lambda at: (prices[at], self.types.names[at])
        )
        return Quotes(prices, order, {at: place for place, at in enumerate(order)})

    def _spot_zone(self, zone: str) -> "_SpotZone":
        usual = _micros(self._columns[zone, "spot"])
        on_demand = self._columns.get((zone, "on-demand"))
        highest = _micros(on_demand) if on_demand else usual
        ceilings = [max(most, mean) for most, mean in zip(highest, usual, strict=True)]
        floors = [min(most // _LOWEST, mean) if most >= 0 else mean for most, mean in zip(highest, usual, strict=True)]
        keys = [self._streams.lot("spot-price", zone, name) for name in self.types.names]
        return _SpotZone(self._spot, keys, usual, (floors, ceilings), self._ordered)


def _micros(column: OfferingColumn) -> list[int]:
    prices = [-1] * len(column.prices)
    for at in bits(column.available):
        price = column.prices[at]
        if price is not None:
            prices[at] = round(price * MICRO)
    return prices


class _SpotZone:
    """The spot prices of one zone, step by step."""

    def __init__(
        self, spot: Spot, keys: list[int], usual: list[int], bounds: tuple[list[int], list[int]], ordered: Any
    ) -> None:
        import numpy as np  # dear to import, and needed for a market that moves alone

        self._spot, self._ordered = spot, ordered
        self._keys: NDArray[uint64] = np.array(keys, dtype=np.uint64)
        self._usual: NDArray[int64] = np.array(usual, dtype=np.int64)
        self._low: NDArray[int64] = np.array(bounds[0], dtype=np.int64)
        self._high: NDArray[int64] = np.array(bounds[1], dtype=np.int64)
        self._distance: NDArray[int64] = np.zeros(
            len(keys), dtype=np.int64
        )  # from the usual price, in millionths of it
        self._step = -_SETTLED
        self._quotes: Quotes | None = None

    def at(self, step: int) -> Quotes:
        if self._quotes is None or step > self._step:
            while self._step < step:
                self._step += 1
                self._move()
            self._quotes = self._quoted()
        return self._quotes

    def _move(self) -> None:
        """x becomes x less its reversion, plus two draws of half a swing either way, whose sum is mostly small."""
        swing = self._spot.swing
        drawn = self._drawn()
        half = drawn % (swing + 1) + (drawn >> 31) % (swing + 1)
        self._distance -= self._distance * self._spot.reversion // WHOLE
        self._distance += half - swing

    def _drawn(self) -> Any:
        """62 bits for each pool in this step, by SplitMix64."""
        import numpy as np

        mixed = self._keys + np.uint64((self._step + _SETTLED) * GOLDEN % 2**64)
        for shift, factor in MIX:
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
        return (mixed >> np.uint64(2)).astype(np.int64)

    def _quoted(self) -> Quotes:
        import numpy as np

        prices = self._usual * (WHOLE + self._distance) // WHOLE
        clamped = np.where(self._usual < 0, -1, np.clip(prices, self._low, self._high))
        quoted: list[int] = clamped.tolist()
        return self._ordered(quoted)  # type: ignore[no-any-return]
