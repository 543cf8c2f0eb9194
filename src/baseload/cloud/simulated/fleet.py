"""In which order a launch asks its pools: the allocation strategies of an instant CreateFleet.

* lowest-price: the cheapest first.
* prioritized: by the overrides' priority, then price.
* price-capacity-optimized: those with the most machines left first, where ten are plenty; of equals the cheapest.
* capacity-optimized-prioritized: those with the most left first, then by priority, then price.

Equal pools stand by type, zone and subnet. Pools that are not sold come last, to be refused. The order is made lazily,
from the market's own, since a launch mostly takes its first pool out of thousands.
"""

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

from baseload.cloud.port import Fleet, Overrides
from baseload.cloud.simulated.draws import lot
from baseload.cloud.simulated.market import Market

_Entry = tuple[int, str, str, str, int]  # price, type, zone, subnet, number of the overrides
Left = Callable[[str, str], int]
"""(instance type, zone) -> machines left of the launch's capacity type, none more than plenty"""


@dataclass(frozen=True, slots=True)
class Pool:
    """One pool of a launch; the price is None where the zone does not sell the type so."""

    instance_type: str
    zone: str
    overrides: Overrides
    price: int | None


def fingerprint(fleet: Fleet) -> int:
    """A number that tells requests apart: all that is asked, the token aside."""
    types: dict[int, int] = {}  # the id of a tuple of names -> its own number; overrides mostly share theirs
    for group in fleet.overrides:
        if id(group.types) not in types:
            types[id(group.types)] = lot(*group.types)
    groups = [(group.subnet, group.image, types[id(group.types)], group.priorities) for group in fleet.overrides]
    rest = (fleet.security_groups, fleet.instance_profile, fleet.user_data, sorted(fleet.tags.items()))
    return lot(repr((fleet.capacity_type, fleet.strategy, groups, rest)))


def ranked(
    fleet: Fleet, zones: Mapping[str, str], market: Market, now: int, *, left: Left, plenty: int
) -> Iterator[Pool]:
    """The pools of a launch, the best first; `zones` are those of the subnets that exist."""
    groups = [group for group in fleet.overrides if group.subnet in zones]
    sold: Iterator[_Entry] = heapq.merge(
        *(_by_price(number, group, zones[group.subnet], fleet, market, now) for number, group in enumerate(groups))
    )
    order = sold
    match fleet.strategy:
        case "lowest-price":
            pass
        case "prioritized":
            order = iter(sorted(sold, key=_priority(groups)))
        case "price-capacity-optimized":
            order = _most_left(sold, left, plenty)
        case "capacity-optimized-prioritized":
            order = _most_left(iter(sorted(sold, key=_priority(groups))), left, plenty)
    for price, name, zone, _, number in order:
        yield Pool(name, zone, groups[number], price)
    yield from _unsold(groups, zones, fleet, market, now)


def _by_price(number: int, group: Overrides, zone: str, fleet: Fleet, market: Market, now: int) -> Iterator[_Entry]:
    """The pools of one subnet that are for sale, the cheapest first."""
    quotes = market.quotes(zone, fleet.capacity_type, now)
    wanted = market.positions(group.types)
    names = market.types.names
    order: Sequence[int] = quotes.order
    if len(wanted) * 8 < len(order):
        order = sorted((at for at in wanted if at in quotes.rank), key=quotes.rank.__getitem__)
    for at in order:
        if at in wanted:
            yield quotes.prices[at], names[at], zone, group.subnet, number


def _most_left(order: Iterator[_Entry], left: Left, plenty: int) -> Iterator[_Entry]:
    """Those with the most machines left first, else in the order given: with plenty there can be none before."""
    fewer = []
    for entry in order:
        machines = left(entry[1], entry[2])
        if machines >= plenty:
            yield entry
        else:
            fewer.append((-machines, entry))
    fewer.sort(key=itemgetter(0))
    for _, entry in fewer:
        yield entry


def _priority(groups: Sequence[Overrides]) -> Callable[[_Entry], tuple[int, _Entry]]:
    """Sorts by what the overrides say; what they say nothing of comes after."""
    said = [dict(zip(group.types, group.priorities, strict=False)) for group in groups]
    last = max((priority for group in groups for priority in group.priorities), default=0) + 1
    return lambda entry: (said[entry[4]].get(entry[1], last), entry)


def _unsold(
    groups: Sequence[Overrides], zones: Mapping[str, str], fleet: Fleet, market: Market, now: int
) -> Iterator[Pool]:
    for group in groups:
        zone = zones[group.subnet]
        for name in group.types:
            if market.price(name, zone, fleet.capacity_type, now) is None:
                yield Pool(name, zone, group, None)
