"""Passes carried out one upon the other, up to the end."""

from typing import Any

import pytest

from baseload.decide.disrupt.until_stable import until_stable
from baseload.plan.disrupt import DisruptPasses
from tests.decide.disrupt.stage import (
    DRIFTED,
    HOSTNAME,
    LONG_AGO,
    PROTECTED,
    Made,
    Object,
    budget,
    changed,
    inputs,
    node,
    pod,
    pool,
)


def passes(*made: Made, **settings: Any) -> DisruptPasses:
    return until_stable(*inputs(*made, **settings))


def gone(found: DisruptPasses) -> list[list[str]]:
    """The nodes that each pass gives up."""
    return [[c.node for command in plan.commands for c in command.candidates] for plan in found.passes]


def test_the_end_is_where_a_pass_finds_nothing() -> None:
    made = [one for n in "abc" for one in (*node(n, "xlarge"), pod(f"w-{n}", n))]
    found = passes(pool(), made)

    assert gone(found) == [["a", "b", "c"], []]
    assert (found.end.nodes, found.end.stable) == (1, True)
    assert found.end.price_per_hour == pytest.approx(0.2)


def test_where_nothing_is_to_be_done_there_is_one_pass() -> None:
    found = passes(pool(), node("a"), pod("w", "a"))

    assert (gone(found), found.end.nodes, found.end.stable, found.end.loop) == ([[]], 1, True, None)


def test_one_drifted_node_after_the_other_is_no_loop() -> None:
    made = [one for n in "abc" for one in (*node(n, marks=DRIFTED), pod(f"w-{n}", n, "1500m"))]
    found = passes(pool(after="Never"), made)

    assert gone(found) == [["a"], ["b"], ["c"], []]
    assert found.end.stable
    assert [c.replacements[0].name for plan in found.passes for c in plan.commands] == [
        "default-1",
        "default-2",
        "default-3",
    ]


def test_time_goes_on_to_the_end_of_windows() -> None:
    made = [*node("a", "large"), pod("w", "a", "7"), *node("c", "large"), pod("t", "c", nodeSelector={HOSTNAME: "c"})]
    late = node("b", "small", marks={}, since="2026-03-10T11:59:30Z")
    found = passes(pool(), made, late)

    assert gone(found) == [["a"], ["b"], []]
    assert found.end.stable


def test_pods_that_a_command_leaves_without_a_node_are_provisioned_for() -> None:
    """A drifted node whose grace period passes over a protected pod: nobody plans for that, and it comes up anew."""
    drifted = node("a", marks=DRIFTED, claim={"terminationGracePeriod": "1h"})
    found = passes(pool(after="Never"), drifted, pod("w", "a", annotations=PROTECTED))

    assert gone(found) == [["a"], []]
    assert found.end.nodes == 1
    assert found.end.price_per_hour == pytest.approx(0.1)


def test_a_pod_that_nobody_makes_anew_is_gone_with_its_node() -> None:
    drifted = node("a", marks=DRIFTED, claim={"terminationGracePeriod": "1h"})
    found = passes(pool(after="Never"), drifted, pod("w", "a", owner=None, annotations=PROTECTED))

    assert (found.end.nodes, found.end.price_per_hour) == (0, 0.0)


def test_nodes_that_are_being_deleted_are_gone_in_the_end() -> None:
    found = passes(pool(), node("a", "small", deleting=True), pod("w", "a"), node("b"), pod("x", "b", "500m"))

    assert (gone(found), found.end.nodes) == ([[]], 1)


def test_a_budget_that_holds_makes_an_end_too() -> None:
    found = passes(pool(budgets=[{"nodes": "0"}]), node("a", "huge"), pod("w", "a"))

    assert (gone(found), found.end.stable) == ([[]], True)
    assert found.end.price_per_hour == pytest.approx(1.6)


def test_a_budget_of_pods_is_honoured_in_every_pass() -> None:
    found = passes(pool(), node("a", "huge"), pod("w", "a"), budget(allowed=0))

    assert gone(found) == [[]]


def test_a_replacement_runs_the_pods_and_counts_in_later_passes() -> None:
    """Two large nodes whose pods cannot share a node with each other's: one after the other becomes medium."""
    made = [one for n in "ab" for one in (*node(n, "large"), pod(f"w-{n}", n, "3"))]
    found = passes(pool(budgets=[{"nodes": "1"}]), made)

    assert [len(command.replacements) for plan in found.passes for command in plan.commands][:1] == [0]
    assert found.end.nodes == 1
    assert found.end.price_per_hour == pytest.approx(0.4)


def test_an_expired_node_that_comes_back_alike_is_no_loop() -> None:
    """Nobody launches for its pods beforehand: the provisioner does, once it goes."""
    found = passes(pool(), node("a", claim={"expireAfter": "1h"}), pod("w", "a"))

    assert gone(found) == [["a"], []]
    assert (found.end.nodes, found.end.stable, found.end.loop) == (1, True, None)
    assert found.end.price_per_hour == pytest.approx(0.1)


def test_a_claim_that_liveness_ends_does_not_stop_the_later_passes() -> None:
    stuck = changed(node("b", marks={})[1], "status", {"conditions": [_unknown("Launched")]})
    found = passes(pool(), node("a", "huge"), pod("w", "a"), stuck)

    assert gone(found) == [["a"], []]
    assert found.end.stable


def _unknown(type: str) -> Object:
    return {"type": type, "status": "Unknown", "reason": "LaunchFailed", "lastTransitionTime": LONG_AGO}
