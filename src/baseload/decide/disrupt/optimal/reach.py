"""Where a pod might run, as far as its node selector, required node affinity and tolerations go.

Asked for the bound, so every doubt is in the pod's favour: an alternative of its node affinity is as good as the first,
and of a NodePool only requirements that list values stand in its way.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from baseload.catalog.columns import OfferingColumn
from baseload.decide.fit.constraints import Constraints
from baseload.decide.fit.nodes import Host
from baseload.decide.fit.taints import TOLERATES_SOFT, tolerated
from baseload.decide.fit.template import PoolOffer
from baseload.values.requirement import Requirements


@dataclass(frozen=True, slots=True)
class Reach:
    """A mask of the nodes, and for each market of `Markets` one of the types that could be launched there."""

    nodes: int
    types: tuple[int, ...]

    def joined(self, other: "Reach") -> "Reach":
        types = tuple(ours | theirs for ours, theirs in zip(self.types, other.types, strict=True))
        return Reach(self.nodes | other.nodes, types)


class Places:
    """The nodes that are there and the markets: each pool's offerings in one zone and capacity type."""

    def __init__(self, hosts: Sequence[Host], offers: Sequence[PoolOffer]) -> None:
        self.markets: Final = tuple(_markets(offers))
        self._hosts: Final = [(host.taints, Requirements.of_labels(host.labels)) for host in hosts]

    def reach(self, constraints: Constraints) -> Reach:
        """What is open to a pod with these constraints."""
        terms = constraints.required or (Requirements({}),)
        alternatives = tuple(constraints.selector.add(term) for term in terms)
        return Reach(
            sum(1 << place for place in self._open(constraints, alternatives)),
            tuple(market.types(constraints, alternatives) for market in self.markets),
        )

    def _open(self, constraints: Constraints, alternatives: Sequence[Requirements]) -> Iterator[int]:
        lifted = (*constraints.tolerations, TOLERATES_SOFT)
        for place, (taints, labels) in enumerate(self._hosts):
            if tolerated(taints, lifted) and any(labels.compatible(wanted) for wanted in alternatives):
                yield place


@dataclass(frozen=True, slots=True, eq=False)
class Market:
    offer: PoolOffer
    column: OfferingColumn
    own: Requirements  # of the pool, those that list values

    def types(self, constraints: Constraints, alternatives: Sequence[Requirements]) -> int:
        """The types that could be launched here for a pod."""
        if not tolerated(self.offer.taints, (*constraints.tolerations, TOLERATES_SOFT)):
            return 0
        index, found = self.offer.types, 0
        for wanted in alternatives:
            if self.own.intersects(wanted) and self.column.requirements.intersects(wanted):
                found |= index.agreeing(wanted)
        return found & self.column.available & index.agreeing(self.own)

    def price(self, place: int) -> float:
        """The least that a node of a type may be taken to cost: the first offering of its place and kind says (9.5)."""
        table, column = self.offer.types.table, self.column
        alike = (
            o
            for o in table.offerings
            if o.types >> place & 1 and (o.zone, o.capacity_type) == (column.zone, column.capacity_type)
        )
        first = next(alike, column)
        return min(first.prices[place] or 0.0, column.prices[place] or 0.0)


def _markets(offers: Sequence[PoolOffer]) -> Iterator[Market]:
    for offer in offers:
        own = Requirements({key: held for key, held in offer.requirements.items() if not held.complement})
        for column in offer.types.table.offerings:
            if column.available and own.intersects(column.requirements):
                yield Market(offer, column, own)
