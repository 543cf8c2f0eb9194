"""How many pods that some selector means run on each node, kept up to date pod by pod.

Pods of one namespace with equal labels are one group of members. A tally, made when somebody first asks for it, is
filled from the groups; from then on each group knows its tallies. So a pod that comes or goes costs one addition for
each tally that counts it, and selectors are never matched against single pods.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from baseload.decide.fit.constraints import Spread
from baseload.decide.schedule.kinds import Carried, Kind, Labels
from baseload.values.selector import NOTHING, Selector

Numbers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
SLOTS: Final = 64  # to begin with; doubled when more nodes come


@dataclass(frozen=True, slots=True)
class Meant:
    """Which pods a tally counts."""

    namespaces: frozenset[str]
    selector: Selector
    with_terminating: bool = True

    def matches(self, namespace: str, labels: Mapping[str, str]) -> bool:
        return namespace in self.namespaces and self.selector.matches(labels)


@dataclass(eq=False, slots=True)
class Domains:
    """A tally by the domains of a topology key, over some of the nodes."""

    facts: int
    """The state of the nodes for which it was made"""
    domain: Numbers
    """The number of each node's domain; -1, which is the last entry of `sums`, for nodes that are left out"""
    sums: Numbers
    """What each domain holds; the last entry holds nothing"""
    present: Mask
    """Which domains have a node among those"""

    def least(self, domains: int) -> int:
        """What the emptiest domain holds; nothing where there are fewer domains."""
        present = self.present
        return int(self.sums[: len(present)][present].min()) if np.count_nonzero(present) >= domains else 0


@dataclass(eq=False, slots=True)
class Tally:
    """Counts by the node's slot."""

    counts: Numbers
    with_terminating: bool
    total: int = 0
    most: int = 0
    """No node has, or had, more"""
    domains: dict[Hashable, Domains] = field(default_factory=dict)

    def add(self, slot: int, number: int) -> None:
        """So many pods more on a node."""
        count = self.counts[slot] = int(self.counts[slot]) + number
        self.total += number
        if count > self.most:
            self.most = count
        for held in self.domains.values():
            domain = held.domain[slot]
            if domain >= 0:
                held.sums[domain] += number

    def by(self, key: Hashable, facts: int, axis: "Axis", among: Callable[[], Mask] | None = None) -> Domains:
        """The sums by domain, which are kept up to date as long as nodes are what they are.

        `key` stands for the axis and for the nodes that count, which `among` gives.
        """
        held = self.domains.get(key)
        if held is None or held.facts != facts:
            domain = axis.domain if among is None else np.where(among(), axis.domain, -1)
            number = len(axis.numbers)
            has = domain >= 0
            sums = whole(np.bincount(domain[has], weights=self.counts[has], minlength=number + 1))
            present = np.bincount(domain[has], minlength=1) > 0
            held = self.domains[key] = Domains(facts, domain.copy(), sums, present)
        return held


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
        self.slots = SLOTS
        self._members: Final[dict[tuple[str, Labels], Members]] = {}
        self._tallies: Final[dict[Meant, Tally]] = {}
        self._of_spread: Final[dict[tuple[int, str], tuple[Spread, Tally]]] = {}
        self.carried: Final[dict[Carried, Tally]] = {}
        """term -> the pods that carry it"""
        self.version = 0
        """Rises when a term is carried that was not before"""

    def of_spread(self, spread: Spread, namespace: str) -> Tally:
        """The pods that a spread constraint counts, found by the constraint itself: equal pods share it.

        QUIRK: the selector that means everything counts none.
        """
        place = id(spread), namespace
        known = self._of_spread.get(place)
        if known is None:
            assert spread.selector is not None
            counting = spread.selector if spread.selector.terms else NOTHING
            known = self._of_spread[place] = (
                spread,
                self.tally(Meant(frozenset((namespace,)), counting, with_terminating=False)),
            )
        return known[1]

    def tally(self, meant: Meant) -> Tally:
        """The count of those pods, which is kept up to date."""
        tally = self._tallies.get(meant)
        if tally is None:
            tally = self._tallies[meant] = Tally(np.zeros(self.slots, np.int64), meant.with_terminating)
            for members in self._members.values():
                if meant.matches(members.namespace, members.labels):
                    members.tallies.append(tally)
                    for slot, (every, staying) in members.on.items():
                        tally.add(slot, every if meant.with_terminating else staying)
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
            if not is_terminating or tally.with_terminating:
                tally.add(slot, sign)
        for term in kind.carried:
            held = self.carried.get(term)
            if held is None:
                held = self.carried[term] = Tally(np.zeros(self.slots, np.int64), with_terminating=True)
                self.version += 1
            held.add(slot, sign)

    def grow(self, slots: int) -> None:
        """Room for more nodes."""
        more = slots - self.slots
        self.slots = slots
        for tally in (*self._tallies.values(), *self.carried.values()):
            tally.counts = np.concatenate((tally.counts, np.zeros(more, np.int64)))
            tally.domains.clear()

    def forget_unused(self, most: int) -> None:
        """Drops all tallies where there are more than `most`; those that are asked for again are made again."""
        self._of_spread.clear()
        for tally in self._tallies.values():
            tally.domains.clear()
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


def whole(sums: Any) -> Numbers:
    """Sums of whole numbers that bincount adds up as doubles, which holds them exactly."""
    found: Numbers = sums.astype(np.int64)
    return found
