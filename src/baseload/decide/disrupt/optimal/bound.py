"""A bound on what any end of consolidation can cost an hour, below which no search need look.

Why it is one. Give every class of pods a value for each unit of each resource, as one likes, but so that no kind of
node that can be launched is worth more than its price; a unit of a node's room is worth what the class that values it
most gives for it. Whatever the end looks like, every pod that counts runs on some node, and no node holds more than it
has room for. So the value of all pods is at most the worth of all nodes of the end. New nodes are worth at most their
price. A node that was there and is kept is worth at most its price and its excess, should it be worth more. So

    price of the end >= value of all pods - excess of the nodes that may be kept + price of the nodes that have to stay

whatever the values are: they are a certificate. (This is weak duality of the linear program that splits pods and nodes
into fractions.) The best values are sought by the simplex method, which rounds; then they are scaled until no new node
is worth more than its price, and the bound is worked out from them in exact fractions and rounded down.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import nextafter
from typing import Final

from baseload.decide.disrupt.optimal.demand import Demand, Supply, demand
from baseload.decide.disrupt.optimal.linear import maximum
from baseload.decide.disrupt.situation import Situation

ROUNDS: Final = 60
_CUTS_EACH: Final = 24
_UNIT: Final = {"cpu": 10**9, "memory": 2**30 * 10**9, "ephemeral-storage": 2**30 * 10**9}
_OTHER_UNIT: Final = 10**9
_SLACK: Final = 1e-7

Key = tuple[int, str]
"""a class and a resource"""
Values = Mapping[Key, float]


def bound(situation: Situation) -> float:
    """Dollars an hour that every end costs at least in which the pods that run now run."""
    wanted = demand(situation)
    return worth(wanted, best_values(wanted))


def worth(wanted: Demand, values: Values) -> float:
    """What the bound comes to with these values, worked out exactly and then rounded down."""
    exact = {key: Fraction(max(0.0, value)) for key, value in values.items()}
    scale = Fraction(1)
    for supply in wanted.new:
        full = _worth_of(supply, exact)
        if full * scale > Fraction(supply.price):
            scale = Fraction(supply.price) / full
    exact = {key: value * scale for key, value in exact.items()}
    total = sum(
        (exact.get((c, r), Fraction(0)) * a for c, asked in enumerate(wanted.classes) for r, a in asked.items()),
        Fraction(0),
    )
    for supply in wanted.kept:
        total -= max(Fraction(0), _worth_of(supply, exact) - Fraction(supply.price))
    rounded = float(max(Fraction(0), total) + Fraction(wanted.fixed))
    return max(0.0, nextafter(rounded, 0.0))


def _worth_of(supply: Supply, values: Mapping[Key, Fraction]) -> Fraction:
    users = [c for c in range(supply.classes.bit_length()) if supply.classes >> c & 1]
    zero = Fraction(0)
    return sum((a * max((values.get((c, r), zero) for c in users), default=zero) for r, a in supply.room), zero)


def best_values(wanted: Demand) -> Values:
    """Values under which the bound is as high as it can be, or nearly.

    The program has a limit for every way in which a node's room may be given to the classes; those that the last
    proposal breaks are added until it breaks none.
    """
    program = _Program(wanted)
    found: dict[Key, float] = {}
    for _ in range(ROUNDS):
        found, excess = program.solved()
        if not program.cut(found, excess):
            break
    return {key: value / _unit(key[1]) for key, value in found.items()}


class _Program:
    """The linear program, as far as its limits were written down. Amounts are in everyday units."""

    def __init__(self, wanted: Demand) -> None:
        self._keys: Final = [(c, r) for c, asked in enumerate(wanted.classes) for r in sorted(asked)]
        self._column: Final = {key: at for at, key in enumerate(self._keys)}
        self._kept: Final = [s for s in wanted.kept if s.classes and not any(n.serves(s) for n in wanted.new)]
        self._new: Final = wanted.new
        asked = [wanted.classes[c][r] / _unit(r) for c, r in self._keys]
        self._gains: Final = [*asked, *(-1.0 for _ in self._kept)]
        self._limits: Final[dict[tuple[float, ...], float]] = {}
        most = sum(s.price for s in (*wanted.kept, *wanted.new)) + 1.0
        for at, amount in enumerate(asked):
            row = [0.0] * len(self._gains)
            row[at] = amount
            self._limits[tuple(row)] = most  # a box, so that every proposal is finite
        self.cut({}, [0.0] * len(self._kept))

    def solved(self) -> tuple[dict[Key, float], list[float]]:
        """The best values under the limits so far, and the excess of each kept node that goes with them."""
        found = maximum(self._gains, list(self._limits), list(self._limits.values()))
        count = len(self._keys)
        return dict(zip(self._keys, found, strict=False)), found[count:]

    def cut(self, values: Mapping[Key, float], excess: Sequence[float]) -> bool:
        """Adds the limits that values break most; whether there were any."""
        broken: list[tuple[float, int, tuple[float, ...], float]] = []
        supplies = [*((s, None) for s in self._new), *((s, at) for at, s in enumerate(self._kept))]
        for number, (supply, at) in enumerate(supplies):
            row, full = self._row(supply, at, values)
            over = full - supply.price - (excess[at] if at is not None else 0.0)
            if over > _SLACK * max(1.0, supply.price) or (not values and any(row)):
                broken.append((-over / max(supply.price, _SLACK), number, row, supply.price))
        broken.sort()
        before = len(self._limits)
        for _, _, row, price in broken[:_CUTS_EACH] if values else broken:
            self._limits.setdefault(row, price)
        return len(self._limits) > before

    def _row(self, supply: Supply, at: int | None, values: Mapping[Key, float]) -> tuple[tuple[float, ...], float]:
        """The limit in which each resource of a node goes to the class that values it most, and what it comes to."""
        row, full = [0.0] * len(self._gains), 0.0
        users = [c for c in range(supply.classes.bit_length()) if supply.classes >> c & 1]
        for resource, amount in supply.room:
            open_to = [c for c in users if (c, resource) in self._column]
            if open_to and amount > 0:
                best = max(open_to, key=lambda c: (values.get((c, resource), 0.0), -c))
                row[self._column[best, resource]] = amount / _unit(resource)
                full += values.get((best, resource), 0.0) * amount / _unit(resource)
        if at is not None:
            row[len(self._keys) + at] = -1.0
        return tuple(row), full


def _unit(resource: str) -> int:
    return _UNIT.get(resource, _OTHER_UNIT)
