"""How workloads are scripted, and what they use then."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baseload.decide.node import behaviour, use
from baseload.decide.node.behaviour import Behaviour
from baseload.decide.node.use import Amount
from baseload.values import quantity
from baseload.values.errors import BadInput

S = 10**9
MI = 2**20 * quantity.UNIT


def test_what_is_not_written_has_its_default() -> None:
    found = behaviour.read({"startsAfter": "5s", "exitCode": 3, "exitsAfter": 0.5})

    assert found == Behaviour(starts_after=5 * S, exit_code=3, exits_after=S // 2)
    assert (found.answers_after, found.stops_after, found.stop_code) == (S, S, 143)


def test_sixty_percent_of_the_request_are_used_by_default() -> None:
    plain = Behaviour()

    assert plain.memory_at(0, 100 * MI) == plain.memory_peak(100 * MI) == 60 * MI
    assert plain.memory_at(0, 0) == 150 * MI
    assert plain.cpu.at(0, 500) == 300


def test_annotations_of_a_pod_say_it_too() -> None:
    found = behaviour.annotated(
        {"baseload.dev/starts-after": "3", "baseload.dev/real-memory": "200Mi", "other": "x", "baseload.dev/owner": "y"}
    )

    assert found.starts_after == 3 * S
    assert found.memory_at(0, 10 * MI) == 200 * MI
    assert behaviour.annotated({"other": "x"}) is behaviour.DEFAULT


def test_use_goes_in_straight_lines_between_its_moments() -> None:
    found = behaviour.read({"memory": "0s:100Mi,10s:200Mi,20s:50%"})

    assert [found.memory_at(at * S, 600 * MI) // MI for at in (0, 5, 10, 15, 20, 99)] == [100, 150, 200, 250, 300, 300]
    assert found.memory_peak(600 * MI) == 300 * MI


def test_a_rise_levels_off_at_its_peak() -> None:
    found = behaviour.read({"memory": "100Mi..1100Mi/120s"})

    assert [found.memory_at(at * S, 0) // MI for at in (0, 120, 240, 660, 10**6)] == [100, 732, 965, 1100, 1100]


def test_every_fault_is_told_with_its_place() -> None:
    with pytest.raises(BadInput) as caught:
        behaviour.read({"startAfter": 1, "exitCode": 300, "stopsAfter": "x", "memory": "5s:1Gi,5s:2Gi", "cpu": "-1"})

    assert [(fault.path, fault.message) for fault in caught.value.faults] == [
        ("startAfter", "is not known here"),
        ("exitCode", "is no whole number from 0 to 255"),
        ("stopsAfter", caught.value.faults[2].message),
        ("memory", "has moments that do not rise: write each later one after the earlier"),
        ("cpu", '"-1" is less than nothing'),
    ]
    assert "startsAfter" in caught.value.faults[0].allowed


@given(st.integers(0, 2000), st.integers(0, 2000), st.integers(0, 10**12))
def test_use_lies_between_its_ends(base: int, peak: int, age: int) -> None:
    curve = use.levelling(Amount(own=base), Amount(own=peak))

    assert min(base, peak) <= curve.at(age, 0) <= max(base, peak) == curve.peak(0)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("exits-after", "1" * 400, "is longer than 100 years: leave it out where it never comes"),
        ("starts-after", "9" * 20, "is longer than 100 years: leave it out where it never comes"),
        ("real-memory", f"{'1' * 400}%", f'"{"1" * 60}..." is no share: write "60%", at most 1000000%'),
    ],
)
def test_an_annotation_that_no_number_can_hold_is_a_fault_and_ends_no_kubelet(name: str, value: str, told: str) -> None:
    with pytest.raises(BadInput) as caught:
        behaviour.annotated({f"baseload.dev/{name}": value})

    assert [fault.message for fault in caught.value.faults] == [told]


@pytest.mark.parametrize("value", [float("inf"), float("nan"), 10**400])
def test_a_duration_that_is_no_time_is_a_fault(value: float) -> None:
    with pytest.raises(BadInput):
        behaviour.read({"exitsAfter": value})
