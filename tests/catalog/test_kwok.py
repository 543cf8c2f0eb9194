"""The catalogue of one's own: a file in KWOK's instance-type format."""

import json
from typing import Any

import pytest

from baseload.catalog import kwok
from baseload.catalog.columns import InstanceTypes, OfferingColumn
from baseload.catalog.masks import bits
from baseload.values.errors import BadInput
from baseload.values.label import CAPACITY_TYPE, ZONE
from baseload.values.quantity import MILLI, UNIT

MI, GI = 2**20 * UNIT, 2**30 * UNIT
RESERVATION = "karpenter.k8s.aws/capacity-reservation-id"


def requirement(key: str, *values: str, operator: str = "In") -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": list(values)}


def offering(zone: str = "zone-1", capacity_type: str = "spot", price: float = 0.1, **more: Any) -> dict[str, Any]:
    requirements = [requirement(CAPACITY_TYPE, capacity_type), requirement(ZONE, zone), *more.pop("also", [])]
    return {"Price": price, "Requirements": requirements} | more


def entry(name: str = "small", **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "architecture": "amd64",
        "operatingSystems": ["linux"],
        "resources": {"cpu": "2", "memory": "4Gi"},
        "offerings": [offering()],
    } | more


def read(*entries: object) -> InstanceTypes:
    return kwok.read(json.dumps(entries).encode(), "types.json")


def faults(data: object) -> list[str]:
    text = data if isinstance(data, bytes) else json.dumps(data).encode()
    with pytest.raises(BadInput) as raised:
        kwok.read(text, "types.json")
    return [str(fault) for fault in raised.value.faults]


def says(types: InstanceTypes, key: str, position: int = 0) -> str | None:
    """What a type says of a label key, None where it says nothing."""
    for requirement_, mask in types.labels[key].groups:
        if mask >> position & 1:
            return str(requirement_).removeprefix(f"{key} ")
    return None


def test_resources_are_capacity_and_overhead_is_taken_off_for_the_allocatable() -> None:
    types = read(entry(overhead={"cpu": "100m", "memory": "10Mi"}))
    assert types.capacity["cpu"] == (2 * UNIT,)
    assert types.allocatable["cpu"] == (1900 * MILLI,)
    assert types.allocatable["memory"] == (4 * GI - 10 * MI,)


def test_a_type_that_names_no_pods_holds_110() -> None:
    assert read(entry()).allocatable["pods"] == (110 * UNIT,)


def test_huge_pages_are_taken_out_of_the_memory() -> None:
    types = read(
        entry(resources={"cpu": "1", "memory": "8Gi", "hugepages-2Mi": "5Gi"}),
        entry("tiny", resources={"cpu": "1", "memory": "1Gi", "hugepages-2Mi": "1Gi", "hugepages-1Gi": "1Gi"}),
    )
    assert types.allocatable["memory"] == (3 * GI, 0)
    assert types.capacity["memory"] == (8 * GI, GI)


def test_a_resource_that_only_some_types_have_is_zero_for_the_others() -> None:
    types = read(entry(), entry("gpu", resources={"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": 2}))
    assert types.capacity["nvidia.com/gpu"] == (0, 2 * UNIT)


def test_zone_and_capacity_type_are_those_of_the_available_offerings() -> None:
    types = read(entry(offerings=[offering("zone-1"), offering("zone-2", "on-demand", Available=False)]))
    assert says(types, ZONE) == "In [zone-1]"
    assert says(types, CAPACITY_TYPE) == "In [spot]"
    assert [(column.zone, column.types, column.available) for column in types.offerings] == [
        ("zone-1", 1, 1),
        ("zone-2", 1, 0),
    ]


def test_a_label_that_others_carry_does_not_exist_on_a_type_that_lacks_it() -> None:
    types = read(entry(labels={"size": "large"}), entry("plain"))
    assert says(types, "size", 0) == "In [large]"
    assert says(types, "size", 1) == "DoesNotExist"


def test_keys_of_labels_and_offerings_count_as_well_known() -> None:
    types = read(entry(labels={"size": "large"}, offerings=[offering(also=[requirement("rack", "r1", "r2")])]))
    assert {"size", "rack", ZONE} <= types.well_known
    assert says(types, "rack") == "In [r1 r2]"


def test_a_key_that_only_part_of_a_types_offerings_name_is_left_to_the_offering() -> None:
    types = read(entry(offerings=[offering(also=[requirement("rack", "r1")]), offering("zone-2")]), entry("other"))
    assert says(types, "rack", 0) is None
    assert says(types, "rack", 1) == "DoesNotExist"


def test_old_names_of_well_known_keys_are_the_new_ones() -> None:
    old = [requirement("failure-domain.beta.kubernetes.io/zone", "zone-1"), requirement(CAPACITY_TYPE, "spot")]
    assert read(entry(offerings=[{"Price": 1, "Requirements": old}])).offerings[0].zone == "zone-1"


def test_equal_offerings_of_many_types_are_one_column() -> None:
    types = read(entry(), entry("big", offerings=[offering(price=0.2), offering("zone-2")]))
    first, second = types.offerings
    assert (first.types, first.prices) == (0b11, (0.1, 0.2))
    assert (second.types, second.prices) == (0b10, (None, 0.1))


def test_an_offering_that_lists_several_zones_is_one_for_each() -> None:
    both = {"Price": 1, "Requirements": [requirement(CAPACITY_TYPE, "spot"), requirement(ZONE, "z2", "z1")]}
    assert [column.zone for column in read(entry(offerings=[both])).offerings] == ["z1", "z2"]


def reserved(count: int = 1, **more: Any) -> dict[str, Any]:
    also = [requirement(RESERVATION, "cr-1")]
    return offering(capacity_type="reserved", also=also, ReservationCapacity=count, **more)


def column_of(types: InstanceTypes, capacity_type: str) -> OfferingColumn:
    return next(column for column in types.offerings if column.capacity_type == capacity_type)


def test_a_reserved_offering_carries_its_reservation_and_what_is_left_of_it() -> None:
    types = read(entry(), entry("held", offerings=[offering(), reserved(3)]))
    column = column_of(types, "reserved")
    assert (column.reservation_id, column.reservation_capacity) == ("cr-1", (0, 3))
    assert says(types, CAPACITY_TYPE, 1) == "In [reserved spot]"


def test_an_offering_that_is_not_reserved_denies_the_reservation_where_any_offering_has_one() -> None:
    types = read(entry(), entry("held", offerings=[offering(), reserved()]))
    assert column_of(types, "spot").requirements[RESERVATION].operator == "DoesNotExist"
    assert RESERVATION not in read(entry()).offerings[0].requirements


def test_an_exhausted_reservation_is_not_available() -> None:
    types = read(entry(offerings=[offering(), reserved(0)]))
    assert column_of(types, "reserved").available == 0
    assert says(types, CAPACITY_TYPE) == "In [spot]"


def test_field_names_are_matched_without_regard_to_case() -> None:
    lower = {"price": 0.3, "available": True, "requirements": offering()["Requirements"]}
    assert read(entry(offerings=[lower])).offerings[0].prices == (0.3,)


def test_types_keep_the_order_of_the_file() -> None:
    types = read(entry("b"), entry("a"), entry("c"))
    assert types.names == ("b", "a", "c")
    assert list(bits(types.offerings[0].types)) == [0, 1, 2]


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"", "types.json: not JSON: Expecting value"),
        (b"\xff\xfe", "types.json: not UTF-8 (byte 0)"),
        (b"[" * 100_000, "types.json: nested too deeply"),
        (b'[{"name": "a", "name": "b"}]', "the field 'name' is given twice"),
        (b"[NaN]", "NaN is no JSON number"),
        ({"items": []}, "types.json: not a list (a JSON list of instance types)"),
        ([], "types.json: no instance type"),
        ([entry(offerings=[])], "no instance type has an offering"),
        ([7], "[0]: Invalid value: 7 (an object)"),
    ],
)
def test_a_file_that_is_no_list_of_types_is_refused(data: object, fault: str) -> None:
    assert fault in faults(data)[0]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"name": ""}, "[0].name: Required value"),
        ({"name": "a b"}, "[0].name: Invalid value: 'a b' (a label value)"),
        ({"architecture": None}, "[0].architecture: Required value"),
        ({"operatingSystems": []}, "[0].operatingSystems: Required value"),
        ({"operatingSystems": "linux"}, "[0].operatingSystems: Invalid value: 'linux' (a list)"),
        ({"resources": {"memory": "1Gi"}}, "[0].resources.cpu: Required value"),
        ({"resources": {"cpu": "-1", "memory": "1Gi"}}, "[0].resources.cpu: Invalid value: '-1' (must be"),
        ({"resources": {"cpu": "two", "memory": "1Gi"}}, "[0].resources.cpu: Invalid value: 'two'"),
        ({"resources": {"cpu": True, "memory": "1Gi"}}, "[0].resources.cpu: Invalid value: True (a quantity"),
        ({"resources": {"cpu": "1", "memory": "9" * 40}}, "[0].resources.memory: Invalid value: '999"),
        ({"overhead": {"cpu": "-100m"}}, "[0].overhead.cpu: Invalid value: '-100m'"),
        ({"labels": {"size": 4}}, '[0].labels["size"]: Invalid value: 4 (a label value'),
        ({"labels": {"kubernetes.io/arch": "arm64"}}, "[0].labels[\"kubernetes.io/arch\"]: Invalid value: 'arm64'"),
        ({"offering": []}, "[0].offering: unknown field (did you mean offerings?)"),
        ({"offerings": [offering(price=-1)]}, "[0].offerings[0].Price: Invalid value: -1"),
        ({"offerings": [offering(Price="0.1")]}, "[0].offerings[0].Price: Invalid value: '0.1' (a number"),
        ({"offerings": [offering(Price=None)]}, "[0].offerings[0].Price: Required value"),
        ({"offerings": [offering(Available="yes")]}, "[0].offerings[0].Available: Invalid value: 'yes'"),
        ({"offerings": [offering(ReservationCapacity=1)]}, "[0].offerings[0].ReservationCapacity: Forbidden"),
        ({"offerings": [offering(), offering()]}, "[0].offerings: Duplicate value"),
        ({"offerings": [offering(capacity_type="ondemand")]}, "[0].offerings[0].Requirements[0]: Invalid value"),
        ({"offerings": [{"Price": 1, "Requirements": []}]}, "a requirement on topology.kubernetes.io/zone"),
        ({"offerings": [offering(also=[requirement("a", operator="Is")])]}, "Requirements[2].operator: Unsupported"),
        ({"offerings": [offering(also=[requirement("a")])]}, "Requirements[2]: Invalid value"),
        ({"offerings": [offering(also=[{"key": "a", "operator": "In", "values": [1]}])]}, "values: Invalid value: [1]"),
    ],
)
def test_every_fault_is_named_with_its_place(change: dict[str, Any], fault: str) -> None:
    assert any(fault in found for found in faults([entry() | change]))


def test_all_faults_of_a_file_are_listed_at_once() -> None:
    found = faults([entry(architecture=""), entry(), entry("third", resources={"cpu": "x"})])
    assert [text.split(": ")[1] for text in found] == [
        "[0].architecture",
        "[2].resources.memory",
        "[2].resources.cpu",
        "[1].name",
    ]
