"""What is written of an object: the difference, and nothing where there is none."""

from typing import Any

import pytest

from baseload.act.objects import difference
from baseload.act.offerings import full_zones, without
from tests.cloud.simulated import clouds
from tests.decide.lifecycle.test_launch import node_class


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ({"a": 1, "b": {"c": 2}}, {"a": 1, "b": {"c": 2}}, {}),
        ({"a": 1}, {}, {"a": None}),
        ({"b": {"c": 2, "d": 3}}, {"b": {"c": 2, "d": 4}}, {"b": {"d": 4}}),
        ({"l": [1, 2]}, {"l": [1]}, {"l": [1]}),
        ({}, {"b": {"c": 1}}, {"b": {"c": 1}}),
        ({"b": {"c": 1}}, {"b": {}}, {"b": {"c": None}}),
    ],
)
def test_a_patch_says_what_differs(before: Any, after: Any, change: Any) -> None:
    assert difference(before, after) == change


def test_an_offering_that_refused_is_shut_and_the_others_are_open() -> None:
    table = clouds.types()
    place = table.names.index("m5.large")

    shut = without(table, [("m5.large", "z1", "spot"), ("unknown", "z1", "spot")])

    changed = [(it.zone, it.capacity_type) for it in shut.offerings if not it.available >> place & 1]
    assert changed == [("z1", "spot")]
    assert without(table, [("unknown", "z1", "spot")]) is table


def test_a_zone_offers_nothing_while_all_of_its_subnets_are_full() -> None:
    held = node_class(subnets=[{"id": "a", "zone": "z1"}, {"id": "b", "zone": "z1"}, {"id": "c", "zone": "z2"}])

    assert full_zones(held, {"a", "c"}) == ("z2",)
    assert full_zones(held, ()) == full_zones(None, {"a"}) == ()

    table = clouds.types()
    open_ = [it.zone for it in without(table, [], ("z2",)).offerings if it.available]
    assert "z2" not in open_
    assert "z1" in open_
