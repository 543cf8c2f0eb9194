"""What every end of consolidation has to provide for, and what may provide it: the base of the bound.

Pods that may move are summed by class: those that may run on the same kinds of node. A kind of node offers a price,
room by resource, and the classes that may use it. Everything here errs to one side: rather a class too many on a kind
of node, rather too much room, a price too low, a pod left out.

- Pods count that consolidation would move from a node, where evicting them costs something: what costs nothing lets an
  "empty" node go without a place being sought (disruption spec 9.4).
- A node that may go offers what it has left, and what its own pods take. One that stays offers what it has left, free.
- A new node offers all that its type has, daemons left aside, for the lowest price in a zone and capacity type that it
  may come up in.
- A class may use what its node selector, required node affinity and tolerations do not forbid; all else that pods
  demand (each other's nearness or distance, volumes, ports) is left aside.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from baseload.catalog.masks import bits
from baseload.decide.disrupt import costs, filters
from baseload.decide.disrupt.optimal.reach import Market, Places, Reach
from baseload.decide.disrupt.optimal.staying import staying
from baseload.decide.disrupt.situation import Situation
from baseload.decide.fit.constraints import Constraints
from baseload.decide.fit.nodes import Host
from baseload.decide.fit.shape import FitPod
from baseload.decide.fit.taints import Toleration
from baseload.decide.fit.template import PoolOffer
from baseload.decide.provision import pools
from baseload.decide.provision.setup import SetUp
from baseload.model.view import name_of
from baseload.values.requirement import Requirements

MOST_CLASSES: Final = 12
"""The smaller classes are taken together, as one that may use whatever one of them may."""
Room = tuple[tuple[str, int], ...]
"""(resource, nano-units); of one demand all name the same resources in the same order"""


@dataclass(frozen=True, slots=True)
class Supply:
    """A kind of node: its price, its room in nano-units, and a mask of the classes that may use it."""

    price: float
    room: Room
    classes: int

    def serves(self, other: "Supply") -> bool:
        """Whether this is no dearer than another, and no worse in anything."""
        if self.price > other.price or other.classes & ~self.classes:
            return False
        return all(ours >= theirs for (_, ours), (_, theirs) in zip(self.room, other.room, strict=True))


@dataclass(frozen=True, slots=True)
class Demand:
    """What the pods of each class ask, and what may hold them.

    `fixed` is the price of what stays. Of the `kept` there is one each, of the `new` as many as anybody likes.
    """

    fixed: float
    classes: Sequence[Mapping[str, int]] = ()
    kept: Sequence[Supply] = ()
    new: Sequence[Supply] = ()


def demand(situation: Situation) -> Demand:
    """The demand of a situation."""
    stay = frozenset(staying(situation))
    states = [state for state in situation.view.state_nodes if not state.marked_for_deletion]
    tables = situation.tables
    prices = {state.name: costs.of_node(state.labels, tables.get(state.pool)) or 0.0 for state in states}
    fixed = sum(price for name, price in sorted(prices.items()) if name in stay)
    if situation.simulator is None:
        return Demand(fixed)
    made = situation.simulator.made
    places = Places(made.cluster.hosts, (*made.cluster.offers, *_of_changing(situation, made)))
    pods = {name: [bound.pod for bound in made.movable.get(name, ())] for name in prices if name not in stay}
    free = {name_of(pod) for pod in situation.view.pods if costs.of_eviction(pod) <= 0}
    classes = Classes(places)
    for name in sorted(pods):
        for pod in pods[name]:
            if pod.name not in free:
                classes.count(pod)
    classes.merge()
    kept = (
        Supply(
            0.0 if host.name in stay else prices[host.name],
            _room(host, pods.get(host.name, ()), classes.resources),
            classes.on_node(place, pods.get(host.name, ())),
        )
        for place, host in enumerate(made.cluster.hosts)
    )
    return Demand(fixed, classes.asked, _summed(kept), _new(places.markets, classes))


class Classes:
    """The classes of the pods that are counted."""

    def __init__(self, places: Places) -> None:
        self._places: Final = places
        self._reach: Final[dict[_Signature, Reach]] = {}
        self._of: Final[dict[int, _Signature]] = {}  # id of constraints, which live as long as the pods -> signature
        self._asked: Final[dict[_Signature, dict[str, int]]] = {}
        self._number: Final[dict[_Signature, int]] = {}
        self.asked: Final[list[dict[str, int]]] = []
        self.reach: Final[list[Reach]] = []

    @property
    def resources(self) -> list[str]:
        return sorted({resource for asked in self.asked for resource in asked})

    def count(self, pod: FitPod) -> None:
        asked = self._asked.setdefault(self._signature(pod.constraints), {})
        for resource, amount in pod.requests.items():
            if amount > 0:
                asked[resource] = asked.get(resource, 0) + amount

    def merge(self) -> None:
        """Those that reach the same are one; the smallest are one, too, where there are many."""
        alike: dict[Reach, list[_Signature]] = {}
        for signature in self._asked:
            alike.setdefault(self._reach[signature], []).append(signature)
        groups = sorted(alike.items(), key=lambda one: self._weight(one[1]), reverse=True)
        for reach, signatures in groups:
            if len(self.reach) < MOST_CLASSES:
                self.reach.append(reach)
                self.asked.append({})
            else:
                self.reach[-1] = self.reach[-1].joined(reach)
            for signature in signatures:
                self._number[signature] = len(self.reach) - 1
                for resource, amount in self._asked[signature].items():
                    self.asked[-1][resource] = self.asked[-1].get(resource, 0) + amount

    def on_node(self, place: int, pods: Iterable[FitPod]) -> int:
        """The classes that may use a node: those that may come there, and those that are."""
        found = sum(1 << number for number, reach in enumerate(self.reach) if reach.nodes >> place & 1)
        for pod in pods:
            number = self._number.get(self._signature(pod.constraints))
            if number is not None:
                found |= 1 << number
        return found

    def _signature(self, constraints: Constraints) -> "_Signature":
        found = self._of.get(id(constraints))
        if found is None:
            found = self._of[id(constraints)] = constraints.selector, constraints.required, constraints.tolerations
            if found not in self._reach:
                self._reach[found] = self._places.reach(constraints)
        return found

    def _weight(self, signatures: Iterable["_Signature"]) -> tuple[int, int]:
        asked = [self._asked[signature] for signature in signatures]
        return sum(one.get("cpu", 0) for one in asked), sum(one.get("memory", 0) for one in asked)


_Signature = tuple[Requirements, tuple[Requirements, ...], tuple[Toleration, ...]]


def _of_changing(situation: Situation, made: SetUp) -> Iterator[PoolOffer]:
    """What static pools may launch in place of their drifted nodes."""
    drifted = {s.pool for s in situation.view.state_nodes if s.claim is not None and filters.is_drifted(s.claim)}
    static = (pool for pool in situation.view.node_pools if pools.is_static(pool) and pool.metadata.name in drifted)
    for _, offer in pools.offers(tuple(static), situation.tables, made.sets):
        yield offer


def _room(host: Host, pods: Iterable[FitPod], resources: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """What is left on a node when pods have gone from it."""
    room = {resource: max(0, host.remaining.get(resource, 0)) for resource in resources}
    for pod in pods:
        for resource, amount in pod.requests.items():
            if resource in room:
                room[resource] += amount
    return tuple(room.items())


def _summed(kept: Iterable[Supply]) -> list[Supply]:
    """Free room for the same classes is one."""
    found: list[Supply] = []
    free: dict[int, dict[str, int]] = {}
    for supply in kept:
        if supply.price > 0:
            found.append(supply)
            continue
        held = free.setdefault(supply.classes, {})
        for resource, amount in supply.room:
            held[resource] = held.get(resource, 0) + amount
    return [*found, *(Supply(0.0, tuple(room.items()), classes) for classes, room in free.items())]


def _new(markets: Sequence[Market], classes: Classes) -> list[Supply]:
    """The kinds of node that could be launched, without those than which another is no worse in anything."""
    cheapest: dict[tuple[Room, int], float] = {}
    for at, market in enumerate(markets):
        table = market.offer.types.table
        for place in bits(_any(reach.types[at] for reach in classes.reach)):
            users = sum(1 << number for number, reach in enumerate(classes.reach) if reach.types[at] >> place & 1)
            room = tuple((r, table.allocatable[r][place] if r in table.allocatable else 0) for r in classes.resources)
            price = market.price(place)
            cheapest[room, users] = min(price, cheapest.get((room, users), price))
    supplies = [Supply(price, room, users) for (room, users), price in cheapest.items()]
    supplies.sort(key=lambda it: (it.price, [-amount for _, amount in it.room], -it.classes.bit_count()))
    found: list[Supply] = []
    for supply in supplies:
        if not any(other.serves(supply) for other in found):
            found.append(supply)
    return found


def _any(masks: Iterable[int]) -> int:
    found = 0
    for mask in masks:
        found |= mask
    return found
