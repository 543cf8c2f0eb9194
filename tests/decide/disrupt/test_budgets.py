"""How many nodes of a pool may go at once (disruption and lifecycle spec 11)."""

from typing import Any

import msgspec
import pytest

from baseload.decide.disrupt import budgets
from baseload.decide.disrupt.budgets import UNBOUNDED, Census
from baseload.kube.types.karpenter import NodePool
from baseload.model.statenode import StateNode
from baseload.values import instant
from tests.decide.lifecycle.builders import claim, condition, node

MONDAY = "2026-11-30T"
WORKING_HOURS = {"schedule": "0 9 * * mon-fri", "duration": "8h"}


def pool(*held: dict[str, Any], **disruption: Any) -> NodePool:
    spec = {"disruption": {"budgets": list(held), **disruption}}
    return msgspec.convert({"metadata": {"name": "default"}, "spec": spec}, NodePool)


def allowed(of: NodePool, nodes: int, gone: int = 0, reason: str = "Empty", now: str = "12:00:00Z") -> int:
    return budgets.allowed(of, nodes, gone, reason, instant.parse(MONDAY + now))


@pytest.mark.parametrize(
    ("nodes", "of", "expected"),
    [("10%", 11, 2), ("1%", 1, 1), ("0%", 50, 0), ("100%", 7, 7), ("10%", 0, 0), ("3", 2, 3), ("0", 9, 0)],
)
def test_percentages_are_of_the_nodes_of_the_pool_and_round_up(nodes: str, of: int, expected: int) -> None:
    assert allowed(pool({"nodes": nodes}), of) == expected


def test_a_pool_without_a_list_has_one_budget_of_ten_percent_and_an_empty_list_bounds_nothing() -> None:
    unset = msgspec.convert({"metadata": {"name": "default"}}, NodePool)

    assert allowed(unset, 25) == 3
    assert allowed(pool({}), 25) == 3
    assert allowed(pool(), 25) == UNBOUNDED


def test_what_goes_already_is_taken_from_the_allowance_which_never_falls_below_none() -> None:
    # 20 nodes of which 3 are not initialised and one is not Ready: 10 % of 17 is 2, less 1
    assert allowed(pool({"nodes": "10%"}), 17, gone=1) == 1
    assert allowed(pool({"nodes": "10%"}), 17, gone=5) == 0
    assert budgets.limit(pool({"nodes": "10%"}), 17, "Empty", 0) == 2


def test_the_strictest_budget_of_the_reason_counts() -> None:
    of = pool({"nodes": "5"}, {"nodes": "2", "reasons": ["Drifted"]}, {"nodes": "0", "reasons": ["Empty"]})

    assert [allowed(of, 9, reason=reason) for reason in ("Underutilized", "Drifted", "Empty")] == [5, 2, 0]


def test_a_reason_that_no_budget_names_is_not_bounded() -> None:
    assert allowed(pool({"nodes": "0", "reasons": ["Drifted"]}), 9) == UNBOUNDED


@pytest.mark.parametrize(
    ("now", "expected"),
    [("08:59:59Z", 9), ("09:00:00Z", 0), ("16:59:59.999999999Z", 0), ("17:00:00Z", 9)],
)
def test_a_window_begins_with_its_time_and_is_over_at_its_end(now: str, expected: int) -> None:
    assert allowed(pool({"nodes": "9"}, {"nodes": "0", **WORKING_HOURS}), 9, now=now) == expected


def test_schedules_are_of_utc_and_of_their_days() -> None:
    of = pool({"nodes": "0", **WORKING_HOURS})
    sunday = instant.parse("2026-11-29T12:00:00Z")

    assert allowed(of, 9, now="10:30:00+02:00") == UNBOUNDED  # 08:30 in UTC
    assert budgets.allowed(of, 9, 0, "Empty", sunday) == UNBOUNDED


@pytest.mark.parametrize("now", ["00:00:00Z", "11:59:59Z", "23:59:59Z"])
def test_a_duration_beyond_the_period_holds_always(now: str) -> None:
    assert allowed(pool({"nodes": "1", "schedule": "@daily", "duration": "25h"}), 9, now=now) == 1


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"nodes": "some"}, '"some" is neither a number of nodes nor a percentage of them'),
        ({"nodes": "5", "schedule": "* * *", "duration": "1h"}, '"* * *" is not a schedule'),
        ({"nodes": "5", "schedule": "@every 1h", "duration": "1h"}, '"@every 1h" is not a schedule of a budget'),
        ({"nodes": "5", "schedule": "@daily", "duration": "long"}, '"long" is not a duration'),
        ({"nodes": "5", "schedule": "@daily"}, "schedule and duration go together"),
        ({"nodes": "5", "duration": "1h"}, "schedule and duration go together"),
    ],
)
def test_a_budget_that_cannot_be_read_stops_its_pool_for_every_reason(bad: dict[str, Any], words: str) -> None:
    of = pool({"nodes": "5"}, {"reasons": ["Drifted"], **bad})

    assert [allowed(of, 9, reason=reason) for reason in ("Underutilized", "Drifted", "Empty")] == [0, 0, 0]
    [fault] = budgets.faults(of, instant.parse(MONDAY + "12:00:00Z"))
    assert fault.startswith(f"spec.disruption.budgets[1]: {words}")


def test_a_number_that_cannot_be_read_does_no_harm_while_its_budget_does_not_hold() -> None:
    of = pool({"nodes": "some", **WORKING_HOURS})

    assert allowed(of, 9, now="18:00:00Z") == UNBOUNDED
    assert allowed(of, 9, now="12:00:00Z") == 0


def state(
    name: str, *said: dict[str, str], ready: str = "True", initialized: bool = True, deleted: str = ""
) -> StateNode:
    labels = {"karpenter.sh/nodepool": "default", "karpenter.sh/registered": "true"}
    if initialized:
        labels["karpenter.sh/initialized"] = "true"
    return StateNode(
        node(name, ready=ready, labels=labels), claim(*said, name=f"claim-{name}", deletionTimestamp=deleted)
    )


def test_nodes_count_once_initialised_and_those_not_ready_or_going_count_once_as_disrupted() -> None:
    goes = "2026-11-30T12:00:00Z"
    states = [
        state("well"),
        state("chosen"),
        state("booting", initialized=False),
        state("booting-and-not-ready", ready="False", initialized=False),
        state("not-ready", ready="Unknown"),
        state("deleting-and-not-ready", ready="False", deleted=goes),
        state("deleting", deleted=goes),
        state("drained", condition("InstanceTerminating", "True"), deleted=goes),
        StateNode(node("foreign", labels={"karpenter.sh/nodepool": "default"}), None),
    ]

    assert budgets.census(states, ("chosen",)) == {"default": Census(nodes=5, disrupted=4)}
    assert budgets.census(states) == {"default": Census(nodes=5, disrupted=3)}
