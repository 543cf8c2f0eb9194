"""How many machines the pools hold: instance type, zone, capacity type.

A pool holds as many of the account's instances as wanted, unless a rule says otherwise: then at most a number, drawn
for each pool from the rule's range. The last rule whose window is open counts. A stockout is a rule of none: what runs
stays, what ends makes no room.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Final

from baseload.cloud.simulated.draws import Streams
from baseload.cloud.simulated.settings import CapacityRule

PLENTY: Final = 10
"""Machines left, from which on a pool counts as none better."""

Key = tuple[str, str, str]
"""(instance type, zone, capacity type)"""


@dataclass(frozen=True, slots=True, eq=False)
class Restriction:
    """A rule that was added while the region runs."""

    rule: CapacityRule


class Capacity:
    """What the pools have left. Moments are counted from the start of the run."""

    def __init__(self, rules: tuple[CapacityRule, ...], streams: Streams) -> None:
        self._restrictions = [Restriction(rule) for rule in rules]
        self._streams = streams
        self._used: Counter[Key] = Counter()
        self._most: dict[Key, int | None] = {}
        self._open: list[CapacityRule] = []
        self._until: int | None = None  # when the open rules change
        self._read = -1

    def restrict(self, rule: CapacityRule) -> Restriction:
        """Adds a rule, which goes before all that there are; it can be lifted."""
        restriction = Restriction(rule)
        self._restrictions.append(restriction)
        self._read = -1
        return restriction

    def lift(self, restriction: Restriction) -> None:
        self._restrictions = [other for other in self._restrictions if other is not restriction]
        self._read = -1

    def left(self, pool: Key, moment: int) -> int:
        """How many machines a pool can still give, none more than PLENTY."""
        if not self.is_limited(moment):
            return PLENTY
        if pool not in self._most:
            self._most[pool] = self._drawn(pool)
        most = self._most[pool]
        return PLENTY if most is None else min(max(most - self._used[pool], 0), PLENTY)

    def is_limited(self, moment: int) -> bool:
        """Whether any pool is."""
        if self._read < 0 or moment < self._read or (self._until is not None and moment >= self._until):
            self._reread(moment)
        return bool(self._open)

    def take(self, pool: Key) -> None:
        self._used[pool] += 1

    def give_back(self, pool: Key) -> None:
        self._used[pool] -= 1
        if not self._used[pool]:
            del self._used[pool]

    @property
    def used(self) -> dict[Key, int]:
        """Machines of the account by pool, those that are ending included."""
        return dict(self._used)

    def _reread(self, moment: int) -> None:
        rules = [restriction.rule for restriction in self._restrictions]
        self._open = [rule for rule in reversed(rules) if rule.window.holds(moment)]
        edges = [edge for rule in rules for edge in (rule.window.begins, rule.window.ends) if edge is not None]
        self._until = min((edge for edge in edges if edge > moment), default=None)
        self._most.clear()
        self._read = moment

    def _drawn(self, pool: Key) -> int | None:
        for rule in self._open:
            if rule.where.holds(*pool):
                return rule.least + self._streams.lot("capacity", *pool) % (rule.most - rule.least + 1)
        return None
