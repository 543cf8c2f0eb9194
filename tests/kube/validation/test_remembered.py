"""A part that was found sound is not looked at again; one with faults is, each time at its own place."""

from collections.abc import Iterator

from baseload.kube.validation.fault import Fault, Tree, required
from baseload.kube.validation.remembered import once

looked: list[object] = []


@once
def needs_name(given: Tree, path: str, least: int) -> Iterator[Fault]:
    looked.append(given)
    if len(given.get("name", "")) < least:
        yield required(f"{path}.name")


def test_a_sound_part_is_looked_at_once_and_with_other_surroundings_again() -> None:
    looked.clear()
    for least in (1, 1, 1, 2):
        assert list(needs_name({"name": "ab"}, "spec", least)) == []

    assert len(looked) == 2


def test_a_fault_is_told_each_time_where_it_is() -> None:
    assert [fault.path for at in ("a", "b", "a") for fault in needs_name({}, at, 1)] == ["a.name", "b.name", "a.name"]


def test_numbers_and_truths_that_python_takes_for_equal_are_different_parts() -> None:
    looked.clear()
    for value in (1, True, 1.0, "1"):
        list(needs_name({"name": "x", "value": value}, "spec", 1))

    assert len(looked) == 4


def test_no_more_parts_are_remembered_than_there_is_room_for() -> None:
    for number in range(10_000):
        list(needs_name({"name": f"n-{number}"}, "spec", 1))
    looked.clear()
    for number in range(10_000):
        list(needs_name({"name": f"n-{number}"}, "spec", 1))

    assert len(looked) >= 10_000 - (1 << 12)
