"""Silent nodes, taints, zones and stays, with the worked examples (cluster-actors spec 17, 28.31-28.33)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baseload.decide.fit.taints import Toleration
from baseload.decide.node import silence, taints
from baseload.decide.node.silence import Looks, Renewals
from baseload.decide.node.taints import FOR_EVER, LEAVE, Stay
from baseload.values.taint import Taint

S = 10**9
UNREACHABLE = Taint(taints.UNREACHABLE, "", "NoExecute")


def step_by_step(renewals: Renewals, looks: Looks) -> int:
    """The controller as it runs: a look each period, the deadline from the look that first saw the last renewal."""
    now, last_seen, seen_at = looks.began, -1, looks.began
    while True:
        if now >= renewals.began:
            last = renewals.last(now)
            if last != last_seen:
                last_seen, seen_at = last, now
            if now > seen_at + silence.GRACE:
                return now
        now += looks.period


@given(st.integers(0, 10**11), st.integers(0, 10**12), st.integers(0, 20 * S))
def test_the_moment_of_unknown_is_that_of_a_controller_that_looks_each_time(began: int, lives: int, phase: int) -> None:
    looks = Looks(began - phase)
    renewals = Renewals(began, began + lives)

    last = renewals.last(began + lives)
    assert silence.unknown_at(last, looks) == step_by_step(renewals, looks)
    assert 50 * S < silence.unknown_at(last, looks) - last <= 60 * S


def test_a_node_is_unknown_50_to_55_seconds_after_its_last_renewal_was_seen() -> None:
    looks = Looks(0)
    assert silence.unknown_at(100 * S, looks) == 155 * S
    assert silence.unknown_at(101 * S, looks) == 160 * S
    assert Renewals(3 * S, 47 * S).last(10**15) == 43 * S
    assert silence.known_at(101 * S, looks) == 105 * S


def test_conditions_taint_a_node() -> None:
    assert taints.no_schedule({"Ready": "True"}, is_unschedulable=False) == ()
    assert taints.no_schedule({"Ready": "False"}, is_unschedulable=True) == (taints.NOT_READY, taints.UNSCHEDULABLE)
    assert taints.no_schedule({"Ready": "Unknown", "MemoryPressure": "Unknown"}, is_unschedulable=False) == (
        taints.UNREACHABLE,
    )
    assert taints.no_schedule({"Ready": "True", "MemoryPressure": "True"}, is_unschedulable=False) == (
        "node.kubernetes.io/memory-pressure",
    )
    assert taints.no_schedule({}, is_unschedulable=False) == ()
    assert [taints.no_execute(ready) for ready in ("True", "False", "Unknown")] == [
        "",
        taints.NOT_READY,
        taints.UNREACHABLE,
    ]


@pytest.mark.parametrize(
    ("bad", "size", "state", "seconds"),
    [
        (3, 4, "PartialDisruption", None),
        (2, 3, "Normal", 10),
        (40, 60, "PartialDisruption", 100),
        (5, 10, "Normal", 10),
        (4, 4, "FullDisruption", 10),
        (1, 1, "FullDisruption", 10),
        (0, 4, "Normal", 10),
    ],
)
def test_how_fast_a_zone_is_emptied(bad: int, size: int, state: str, seconds: int | None) -> None:
    found = taints.zone_state([False] * bad + [True] * (size - bad))

    assert found == state
    assert taints.pace(found, size) == (None if seconds is None else seconds * S)


def test_where_no_node_at_all_is_ready_none_is_emptied() -> None:
    assert taints.pace("FullDisruption", 4, are_all_full=True) is None


def tolerating(key: str, seconds: int | None = None) -> tuple[Toleration, int | None]:
    return Toleration(key, "Exists", "", "NoExecute"), seconds


def test_a_pod_stays_as_long_as_its_shortest_toleration() -> None:
    custom = Taint("custom", "", "NoExecute")

    assert taints.stay([UNREACHABLE], [tolerating(taints.UNREACHABLE, 60)]) == Stay(60)
    assert taints.stay([UNREACHABLE, custom], [tolerating(taints.UNREACHABLE, 60)]) == LEAVE
    assert taints.stay([UNREACHABLE, custom], [tolerating(taints.UNREACHABLE, 60), tolerating("custom", 5)]) == Stay(5)
    assert taints.stay([UNREACHABLE], [tolerating("", None)]) == FOR_EVER
    assert taints.stay([UNREACHABLE], [tolerating(taints.UNREACHABLE, -3)]) == LEAVE
    assert taints.stay([UNREACHABLE], [tolerating("", 9), tolerating(taints.UNREACHABLE, 1)]) == Stay(9)
    assert taints.stay([Taint("a", "", "NoSchedule")], []) == FOR_EVER
