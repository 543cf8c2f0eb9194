"""Whatever is given to the catalogue's readers, they read it or say what is wrong with it."""

import contextlib
import gzip
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from baseload.catalog import ec2_file, kwok, where
from baseload.catalog.columns import InstanceTypes
from baseload.values.errors import BadInput, Fault
from baseload.values.label import CAPACITY_TYPE, ZONE
from tests.catalog.test_kwok import entry, offering

FIELDS = [*entry(), *offering(), "overhead", "labels", "Available", "ReservationCapacity", "key", "operator", "values"]
VALUES = [
    "cpu",
    "memory",
    "pods",
    "hugepages-2Mi",
    CAPACITY_TYPE,
    ZONE,
    "In",
    "NotIn",
    "Gt",
    "reserved",
    "1",
    "4Gi",
    "-1",
]
NAMES = [*FIELDS, *VALUES]
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(NAMES) | st.text(max_size=8)
JSON = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


def read(content: object) -> InstanceTypes | list[Fault]:
    try:
        return kwok.read(json.dumps(content).encode(), "types.json")
    except BadInput as error:
        return list(error.faults)


def is_answer(answer: InstanceTypes | list[Fault]) -> bool:
    """Whether an answer is a table, or says what is wrong and where."""
    if isinstance(answer, InstanceTypes):
        return len(answer) > 0
    return bool(answer) and all(fault.file == "types.json" and fault.message for fault in answer)


@given(JSON)
def test_any_json_is_read_or_refused(content: object) -> None:
    assert is_answer(read([content]))


@given(st.sampled_from(list(entry())), JSON)
def test_any_value_of_a_field_is_read_or_refused(field: str, value: object) -> None:
    assert is_answer(read([entry(), entry("other") | {field: value}]))


@given(st.sampled_from([*offering(), "ReservationCapacity", "Available"]), JSON)
def test_any_value_in_an_offering_is_read_or_refused(field: str, value: object) -> None:
    assert is_answer(read([entry(offerings=[offering("zone-2"), offering() | {field: value}])]))


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for read_ in (kwok.read, ec2_file.decode):
        with contextlib.suppress(BadInput):
            read_(data, "file")
        with contextlib.suppress(BadInput):
            read_(gzip.compress(data), "file")


@given(JSON)
def test_any_content_of_a_catalogue_file_is_read_or_refused(content: object) -> None:
    figures = {"v": 1, "generated": "", "sources": {}, "names": ["a"], "columns": content, "regions": {"r": content}}
    with contextlib.suppress(BadInput):
        ec2_file.decode(gzip.compress(json.dumps(figures).encode()), "file")


@given(st.text(alphabet="a1 ,()=!<>InotGt-./", max_size=24))
def test_any_requirement_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(BadInput):
        where.parse([text], {"a", "a1"})


OFFERS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["spot", "on-demand"]), st.booleans()),
    unique_by=lambda offer: offer[:2],
    min_size=1,
)


@given(st.lists(OFFERS, min_size=1, max_size=4))
def test_columns_hold_what_the_entries_say(offers: list[list[tuple[str, str, bool]]]) -> None:
    entries: list[dict[str, Any]] = [
        entry(str(i), offerings=[offering(zone, kind, price=i + 1, Available=open_) for zone, kind, open_ in found])
        for i, found in enumerate(offers)
    ]
    types = read(entries)
    assert isinstance(types, InstanceTypes)
    columned = {
        (column.zone, column.capacity_type, i): (bool(column.available >> i & 1), column.prices[i])
        for column in types.offerings
        for i in range(len(types))
        if column.types >> i & 1
    }
    assert columned == {
        (zone, kind, i): (open_, i + 1) for i, found in enumerate(offers) for zone, kind, open_ in found
    }
