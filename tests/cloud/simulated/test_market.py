"""Spot prices wander about the catalogue's, by the seed alone; on-demand prices stand."""

import pytest

from baseload.catalog.columns import InstanceTypes
from baseload.catalog.nodeclass import DEFAULT
from baseload.cloud.simulated.draws import Streams
from baseload.cloud.simulated.market import MICRO, Market
from baseload.cloud.simulated.settings import Spot
from baseload.values.duration import HOUR, MINUTE
from tests.catalog.ec2_catalogue import types_of
from tests.cloud.simulated.clouds import START, ZONES, Run, types

DAY = 24 * HOUR


def market(seed: int = 1, table: InstanceTypes | None = None, spot: Spot | None = None) -> Market:
    return Market(table or types(), spot or Spot(), Streams(seed), START)


def path(of: Market, zone: str = "z1", name: str = "m5.large", days: int = 3) -> list[int]:
    prices = [of.price(name, zone, "spot", START + at) for at in range(0, days * DAY, 30 * MINUTE)]
    assert None not in prices
    return [price for price in prices if price is not None]


def test_a_price_path_is_the_seeds_whoever_asks_and_when() -> None:
    whole, once = path(market()), market()
    assert once.price("m5.large", "z1", "spot", START + 3 * DAY - 1) == whole[-1]
    assert path(market()) == whole
    assert path(market(seed=2)) != whole
    assert path(market(), "z2") != whole


def worked_out(steps: int, *, seed: int, zone: str, name: str, usual: int) -> list[int]:
    """The path by the rules alone, in plain integers; the price begins at the catalogue's, 40 steps before the run."""
    key, distance, found = Streams(seed).lot("spot-price", zone, name), 0, []
    for step in range(1, 41 + steps):
        mixed = (key + step * 0x9E3779B97F4A7C15) % 2**64
        mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB % 2**64
        mixed = (mixed ^ mixed >> 31) >> 2
        drawn = mixed % 90_001 + (mixed >> 31) % 90_001 - 90_000
        distance += drawn - distance * 50_000 // 1_000_000
        found.append(usual * (1_000_000 + distance) // 1_000_000)
    return found[39:]


def test_a_price_path_is_a_sum_of_draws_that_loses_a_twentieth_of_its_distance_a_step() -> None:
    for seed, zone in ((1, "z1"), (7, "z3")):
        by_rule = worked_out(48 * 3, seed=seed, zone=zone, name="m5.large", usual=40_000)
        assert path(market(seed), zone) == by_rule[: 48 * 3]


def test_prices_stand_within_a_step_and_move_by_no_more_than_their_swing_and_reversion() -> None:
    of = market()
    first = of.price("m5.large", "z1", "spot", START)
    assert of.price("m5.large", "z1", "spot", START + 30 * MINUTE - 1) == first
    assert of.price("m5.large", "z1", "spot", START + 30 * MINUTE) != first
    usual = 40_000
    for before, after in zip(path(of)[:-1], path(market())[1:], strict=True):
        assert abs(after - before) <= usual * 9 // 100 + abs(before - usual) * 5 // 100 + 2


def test_over_weeks_prices_come_back_to_the_catalogues() -> None:
    found = path(market(), days=90)
    mean = sum(found) / len(found)
    assert 0.95 * 40_000 < mean < 1.05 * 40_000
    assert min(found) < 0.85 * 40_000
    assert max(found) > 1.15 * 40_000


def test_spot_prices_stay_between_a_tenth_of_on_demand_and_all_of_it() -> None:
    for seed in range(5):
        found = path(market(seed, spot=Spot(swing=600_000)), name="m6g.large", days=20)
        assert (min(found), max(found)) == (8_000, 80_000)


def test_without_a_swing_prices_are_the_catalogues() -> None:
    assert set(path(market(spot=Spot(swing=0)))) == {40_000}


def test_on_demand_prices_are_the_catalogues_and_what_is_not_sold_has_none() -> None:
    of = market()
    assert of.price("m5.large", "z1", "on-demand", START + DAY) == 100_000
    assert of.price("p3.2xlarge", "z3", "on-demand", START) is None
    assert of.price("p3.2xlarge", "z3", "spot", START) is None
    assert of.price("m99.large", "z1", "spot", START) is None
    assert of.zones == ZONES


def test_offerings_carry_the_spot_prices_of_the_moment() -> None:
    run = Run(spot={})
    asked = run.ask(run.cloud.instance_types(DEFAULT))
    again = run.ask(run.cloud.instance_types(DEFAULT))
    run.until(1800)
    later = run.ask(run.cloud.instance_types(DEFAULT))

    assert again is asked
    for table, now in ((asked, START), (later, START + 30 * MINUTE)):
        position = table.names.index("m5.large")
        for column in table.offerings:
            price = market().price("m5.large", column.zone, column.capacity_type, now)
            assert column.prices[position] == (price or 0) / MICRO
    assert asked.offerings[1].capacity_type == "spot"
    assert asked.offerings[1].prices != later.offerings[1].prices


@pytest.mark.parametrize("zone", ["us-east-1a", "us-east-1f"])
def test_the_catalogue_of_a_region_is_sold_as_it_stands(zone: str) -> None:
    table = types_of()
    of = market(table=table)
    for column in table.offerings:
        if column.zone == zone:
            quotes = of.quotes(zone, column.capacity_type, START)
            assert sum(1 << at for at in quotes.order) == column.available
            assert [quotes.prices[at] for at in quotes.order] == sorted(quotes.prices[at] for at in quotes.order)
