"""Managers are read from JSON as it is kept as they are from its tree; what is odd is left to the tree's reader."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from baseload.kube.merge import fieldset, managers

Entry = dict[str, Any]
PART: Entry = {"f:a": {}, "f:b": {".": {}, 'k:{"name":"x"}': {".": {}, "f:name": {}}, 'k:{"name":"y"}': {".": {}}}}
FIELDS = st.sampled_from([PART, {"f:spec": PART, "f:status": PART}, {"f:x": {"v:2": {}, "v:10": {}, "i:1": {}}}])


@st.composite
def entries_kept(draw: st.DrawFn) -> list[Entry]:
    """Entries as they are kept."""
    kept = []
    for _ in range(draw(st.integers(0, 3))):
        entry: Entry = {"manager": draw(st.sampled_from(["a", "b"]))}
        entry["operation"] = draw(st.sampled_from(["Apply", "Update"]))
        entry["apiVersion"] = draw(st.sampled_from(["v1", "v2"]))
        entry["time"] = draw(st.sampled_from(["2026-11-30T12:00:00Z", "2026-11-30T13:00:00Z"]))
        entry |= {"fieldsType": "FieldsV1", "fieldsV1": draw(FIELDS)}
        kept.append(entry | draw(st.sampled_from([{}, {"subresource": "status"}])))
    return kept


ENTRY: Entry = {"manager": "a", "operation": "Update", "apiVersion": "v1", "time": "2026-11-30T12:00:00Z"}
ENTRY |= {"fieldsType": "FieldsV1", "fieldsV1": PART}


@given(entries_kept())
def test_both_readers_read_the_same_and_both_writers_write_the_same(entries: list[Entry]) -> None:
    read = managers.read(entries)
    kept = managers.decoded(msgspec.json.encode(entries))

    assert kept is not None
    assert kept.managers == read
    assert managers.encoded(managers.tell(kept.managers)) == msgspec.json.encode(managers.written(read))


@given(entries_kept())
def test_entries_that_were_just_written_are_known_as_they_would_be_read(entries: list[Entry]) -> None:
    written = managers.read(entries)
    raw = managers.remembered(written, managers.tell(written))

    known = managers.decoded(raw)

    assert known is not None
    assert managers.encoded(known.told) == raw
    assert known.managers == managers.read(msgspec.json.decode(raw)) == written
    assert all(fieldset.encoded(entry.fields) == entry.json for entry in known.managers.values())


@pytest.mark.parametrize(
    "odd",
    [
        {"more": 1},
        {"operation": "Patch"},
        {"apiVersion": ""},
        {"time": "yesterday"},
        {"time": None},
        {"fieldsType": "FieldsV2"},
        {"fieldsV1": {"a": {}}},
        {"fieldsV1": []},
        {"subresource": ""},
        {"manager": 1},
    ],
    ids=str,
)
def test_what_is_odd_is_left_to_the_reader_of_trees(odd: Entry) -> None:
    assert managers.decoded(msgspec.json.encode([ENTRY])) is not None
    assert managers.decoded(msgspec.json.encode([{**ENTRY, **odd}])) is None


def test_entries_are_the_same_whatever_their_times_and_the_order_of_their_fields() -> None:
    turned = {**ENTRY, "time": "2026-11-30T13:00:00Z", "fieldsV1": dict(reversed(PART.items()))}
    one, other = (managers.decoded(msgspec.json.encode([entry])) for entry in (ENTRY, turned))
    less = managers.decoded(msgspec.json.encode([{**ENTRY, "fieldsV1": {"f:a": {}}}]))
    assert one is not None
    assert other is not None
    assert less is not None

    assert managers.tell_the_same(one.told, other.told)
    assert not managers.tell_the_same(one.told, less.told)
    assert not managers.tell_the_same(one.told, [])


@given(st.permutations(["f:a", "f:b", 'k:{"n":"x"}', 'k:{"n":"y"}', "v:2", "v:10", "i:1"]))
def test_a_set_is_read_in_any_order_and_written_in_one(steps: list[str]) -> None:
    level: Entry = {step: {} for step in steps}
    deep = {step: {".": {}, **level} for step in steps}  # long enough to be remembered in parts
    fields, told = fieldset.read(msgspec.json.encode({"f:status": deep}))

    assert fields == fieldset.parse({"f:status": deep})
    assert list(msgspec.json.decode(told)["f:status"]) == fieldset.in_order(steps)
    assert told == fieldset.encoded(fields) == fieldset.read(told)[1]
