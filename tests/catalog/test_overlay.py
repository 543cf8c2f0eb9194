"""Tables with other prices or more capacity."""

from baseload.catalog.overlay import with_capacity, with_prices
from baseload.values.quantity import UNIT
from tests.catalog.ec2_catalogue import GI, capacity, price, types_of


def test_a_price_that_is_given_replaces_the_offerings_own_and_is_no_estimate() -> None:
    types = types_of()
    m5 = types.names.index("m5.large")
    spot = next(i for i, column in enumerate(types.offerings) if column.capacity_type == "spot")
    changed = with_prices(types, {spot: {m5: 0.01}})
    assert price(changed, "m5.large", "spot", types.offerings[spot].zone) == 0.01
    assert not changed.offerings[spot].estimated >> m5 & 1
    assert price(changed, "m5.xlarge", "spot") == price(types, "m5.xlarge", "spot")
    assert price(types, "m5.large", "spot") == 0.03264


def test_an_offering_that_lacked_a_price_becomes_available_where_the_zone_has_the_type() -> None:
    types = types_of()
    r9g = types.names.index("r9g.large")
    changed = with_prices(types, {i: {r9g: 0.1} for i, _ in enumerate(types.offerings)})
    zones = {column.zone for column in changed.offerings if column.available >> r9g & 1}
    assert zones == {column.zone for column in types.offerings if column.types >> r9g & 1}


def test_capacity_is_set_on_the_types_of_the_mask_alone() -> None:
    types = types_of()
    mask = 1 << types.names.index("m5.large")
    changed = with_capacity(types, mask, {"example.com/dongle": 3 * UNIT})
    assert capacity(changed, "m5.large", "example.com/dongle") == 3 * UNIT
    assert capacity(changed, "m5.xlarge", "example.com/dongle") == 0
    assert changed.allocatable["example.com/dongle"] == changed.capacity["example.com/dongle"]
    assert "example.com/dongle" not in types.capacity


def test_huge_pages_are_taken_out_of_memory() -> None:
    types = types_of()
    m5 = types.names.index("m5.large")
    changed = with_capacity(with_capacity(types, 1 << m5, {"hugepages-2Mi": 2 * GI}), 1 << m5, {"hugepages-2Mi": GI})
    assert changed.capacity["memory"] == types.capacity["memory"]
    assert changed.allocatable["memory"][m5] == types.allocatable["memory"][m5] - GI
    assert changed.allocatable["memory"][m5 + 1] == types.allocatable["memory"][m5 + 1]
