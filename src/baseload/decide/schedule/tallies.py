"""How many pods that some selector means run on each node, kept up to date pod by pod.

Pods of one namespace with equal labels are one group of members. A tally, made when somebody first asks for it, is
filled from the groups; from then on each group knows its tallies. So a pod that comes or goes costs one addition for
each tally that counts it, and selectors are never matched against single pods.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from baseload.decide.fit.constraints import Spread
from baseload.decide.schedule.kinds import Carried, Kind, Labels
from baseload.values.selector import Selector

Numbers = npt.NDArray[np.int64]
_SLOTS: Final = 64  # to begin with; doubled when more nodes come


@dataclass(frozen=True, slots=True)
class Meant:
    """Which pods a tally counts."""

    namespaces: frozenset[str]
    selector: Selector
    with_terminating: bool

    def matches(self, namespace: str, labels: Mapping[str, str]) -> bool:
        return namespace in self.namespaces and self.selector.matches(labels)


@dataclass(eq=False, slots=True)
class Tally:
    """Counts by the node's slot."""

    meant: Meant
    counts: Numbers
    total: int = 0


@dataclass(eq=False, slots=True)
class Members:
    """The running pods of one namespace with equal labels: slot -> [all, those that do not terminate]."""

    namespace: str
    labels: Mapping[str, str]
    on: dict[int, list[int]] = field(default_factory=dict)
    tallies: list[Tally] = field(default_factory=list)


class Tallies:
    """All tallies of a cluster, and the terms that its pods carry."""

    def __init__(self) -> None:
        self.slots = _SLOTS
        self._members: Final[dict[tuple[str, Labels], Members]] = {}
        self._tallies: Final[dict[Meant, Tally]] = {}
        self._of_spread: Final[dict[tuple[int, str], tuple[Spread, Tally]]] = {}
        self.carried: Final[dict[Carried, Numbers]] = {}
        """term -> on each slot, the pods that carry it"""
        self.version = 0
        """Rises when a term is carried that was not before"""

    def of_spread(self, spread: Spread, namespace: str) -> Tally:
        """The pods that a spread constraint counts, found by the constraint itself: equal pods share it."""
        place = id(spread), namespace
        known = self._of_spread.get(place)
        if known is None:
            assert spread.selector is not None
            meant = Meant(frozenset((namespace,)), spread.selector, with_terminating=False)
            known = self._of_spread[place] = spread, self.tally(meant)
        return known[1]

    def counts(self, meant: Meant) -> Numbers:
        """Pods on each slot."""
        return self.tally(meant).counts

    def tally(self, meant: Meant) -> Tally:
        """The count of those pods, which is kept up to date."""
        tally = self._tallies.get(meant)
        if tally is None:
            tally = self._tallies[meant] = Tally(meant, np.zeros(self.slots, np.int64))
            for members in self._members.values():
                if meant.matches(members.namespace, members.labels):
                    members.tallies.append(tally)
                    for slot, (every, staying) in members.on.items():
                        tally.counts[slot] += every if meant.with_terminating else staying
                        tally.total += every if meant.with_terminating else staying
        return tally

    def count(self, kind: Kind, slot: int, sign: int, *, is_terminating: bool) -> None:
        """A pod comes to a node (1) or leaves it (-1)."""
        members = self._of(kind)
        cell = members.on.get(slot)
        if cell is None:
            cell = members.on[slot] = [0, 0]
        cell[0] += sign
        if not is_terminating:
            cell[1] += sign
        if not cell[0]:
            del members.on[slot]
        for tally in members.tallies:
            if not is_terminating or tally.meant.with_terminating:
                tally.counts[slot] += sign
                tally.total += sign
        for term in kind.carried:
            held = self.carried.get(term)
            if held is None:
                held = self.carried[term] = np.zeros(self.slots, np.int64)
                self.version += 1
            held[slot] += sign

    def grow(self, slots: int) -> None:
        """Room for more nodes."""
        more = slots - self.slots
        self.slots = slots
        for tally in self._tallies.values():
            tally.counts = np.concatenate((tally.counts, np.zeros(more, np.int64)))
        for term, held in self.carried.items():
            self.carried[term] = np.concatenate((held, np.zeros(more, np.int64)))

    def forget_unused(self, most: int) -> None:
        """Drops all tallies where there are more than `most`; those that are asked for again are made again."""
        self._of_spread.clear()
        if len(self._tallies) > most:
            self._tallies.clear()
            for members in self._members.values():
                members.tallies.clear()
        for key in [key for key, members in self._members.items() if not members.on and not members.tallies]:
            del self._members[key]

    def _of(self, kind: Kind) -> Members:
        key = kind.namespace, kind.key
        members = self._members.get(key)
        if members is None:
            members = self._members[key] = Members(kind.namespace, kind.labels)
            for meant, tally in self._tallies.items():
                if meant.matches(kind.namespace, kind.labels):
                    members.tallies.append(tally)
        return members


class Axis:
    """The domains of one topology key: the number of each node's domain, -1 where it has none."""

    def __init__(self, slots: int) -> None:
        self.domain: Numbers = np.full(slots, -1, np.int64)
        self.numbers: Final[dict[str, int]] = {}

    def put(self, slot: int, value: str | None) -> None:
        self.domain[slot] = -1 if value is None else self.numbers.setdefault(value, len(self.numbers))

    def grow(self, slots: int) -> None:
        more = slots - len(self.domain)
        self.domain = np.concatenate((self.domain, np.full(more, -1, np.int64)))

    def sums(self, counts: Numbers, among: npt.NDArray[np.bool_] | None = None) -> Numbers:
        """What each domain holds, of the nodes that are among those."""
        has = self.domain >= 0
        if among is not None:
            has = has & among
        return whole(np.bincount(self.domain[has], weights=counts[has], minlength=len(self.numbers) + 1))

    def at(self, sums: Numbers) -> Numbers:
        """The sum of each node's domain; nothing for nodes without one."""
        # The last entry, which -1 reads, is beyond all domains and holds nothing.
        return sums[self.domain]


def whole(sums: Any) -> Numbers:
    """Sums of whole numbers that bincount adds up as doubles, which holds them exactly."""
    found: Numbers = sums.astype(np.int64)
    return found
