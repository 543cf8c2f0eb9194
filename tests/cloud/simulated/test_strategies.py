"""The order of a launch's pools, against a plain sort by the rules."""

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from baseload.catalog.columns import InstanceTypes
from baseload.cloud.port import CapacityType, Fleet, Overrides, Strategy
from baseload.cloud.simulated.draws import Streams
from baseload.cloud.simulated.fleet import ranked
from baseload.cloud.simulated.market import Market
from baseload.cloud.simulated.settings import Spot
from tests.catalog.ec2_catalogue import types_of
from tests.cloud.simulated.clouds import START, TYPES, types

STRATEGIES: tuple[Strategy, ...] = (
    "lowest-price",
    "prioritized",
    "price-capacity-optimized",
    "capacity-optimized-prioritized",
)
SUBNETS = {"s1": "z1", "s2": "z2", "s3": "z3", "s3b": "z3"}
PLENTY = 10

Sorting = tuple[int, int, int, str, str, str]


def slow(fleet: Fleet, zones: dict[str, str], market: Market, left: Callable[[str, str], int]) -> list[tuple[str, str]]:
    """(type, subnet) in the order in which they are asked."""
    pools: list[tuple[Sorting, str, str]] = []
    unsold: list[tuple[str, str]] = []
    last = max((priority for group in fleet.overrides for priority in group.priorities), default=0) + 1
    for group in fleet.overrides:
        for name in dict.fromkeys(group.types):
            zone = zones[group.subnet]
            price = market.price(name, zone, fleet.capacity_type, START)
            if price is None:
                unsold.append((name, group.subnet))
                continue
            priorities = dict(zip(group.types, group.priorities, strict=False))
            capacity = -left(name, zone) if "capacity" in fleet.strategy else 0
            priority = priorities.get(name, last) if "prioritized" in fleet.strategy else 0
            pools.append(((capacity, priority, price, name, zone, group.subnet), name, group.subnet))
    return [(name, subnet) for _, name, subnet in sorted(pools)] + unsold


@st.composite
def fleets(draw: st.DrawFn, names: tuple[str, ...], most: int) -> Fleet:
    groups = []
    for subnet in draw(st.lists(st.sampled_from(sorted(SUBNETS)), min_size=1, unique=True)):
        chosen = tuple(draw(st.lists(st.sampled_from(names), min_size=1, max_size=most, unique=True)))
        priorities = tuple(draw(st.lists(st.integers(0, 3), max_size=len(chosen))))
        groups.append(Overrides(subnet, "ami-any", chosen, priorities))
    kind: CapacityType = draw(st.sampled_from(("spot", "on-demand")))
    return Fleet("", kind, draw(st.sampled_from(STRATEGIES)), tuple(groups))


def check(fleet: Fleet, table: InstanceTypes, zones: dict[str, str], rooms: list[int], seed: int) -> None:
    market, streams = Market(table, Spot(), Streams(seed), START), Streams(seed)

    def left(name: str, zone: str) -> int:
        return rooms[streams.lot(name, zone) % len(rooms)]

    fast = ranked(fleet, zones, market, START, left=left, plenty=PLENTY)
    assert [(pool.instance_type, pool.overrides.subnet) for pool in fast] == slow(fleet, zones, market, left)


ROOMS = st.lists(st.integers(0, PLENTY), min_size=1, max_size=6)
MANY = types_of().names[:300]


@given(fleets((*TYPES, "m99.large"), 7), ROOMS, st.integers(0, 9))
def test_pools_are_asked_in_the_order_of_the_strategy(fleet: Fleet, rooms: list[int], seed: int) -> None:
    check(fleet, types(), SUBNETS, rooms, seed)


@given(fleets(MANY, 300), ROOMS, st.integers(0, 9))
def test_of_many_types_as_of_few_the_order_is_the_strategys(fleet: Fleet, rooms: list[int], seed: int) -> None:
    zones = {"s1": "us-east-1a", "s2": "us-east-1b", "s3": "us-east-1e", "s3b": "us-east-1e"}
    check(fleet, types_of(), zones, rooms, seed)
