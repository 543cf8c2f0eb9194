"""All that stands in the way of one node, for whoever asks."""

from baseload.decide.disrupt.account import Account, account
from baseload.decide.disrupt.moves import Move
from baseload.plan.disrupt import Kept, Method, Tried
from baseload.plan.reason import Reason
from tests.decide.disrupt.stage import DRIFTED, HOSTNAME, PROTECTED, Made, node, pod, pool, situation


def told(name: str, *made: Made) -> Account:
    found = account(situation(*made), name)
    assert found is not None
    return found


def test_nobody_tells_of_a_node_that_is_not_there() -> None:
    assert account(situation(pool()), "a") is None


def test_what_forbids_every_method_is_told_alone() -> None:
    found = told("a", pool(), node("a", annotations=PROTECTED))

    assert (found.block and found.block[0], found.attempts) == (Kept.NODE_MARK, ())


def test_each_method_says_why_it_passes_a_node_over() -> None:
    found = told("a", pool(), node("a"), pod("w", "a", annotations=PROTECTED))

    assert {why[0] for why in found.passed_over.values()} == {Kept.POD_MARK}
    assert set(found.passed_over) == set(Method) - {Method.FORCEFUL}


def test_a_node_that_could_go_is_a_move_and_budgets_are_told_beside_it() -> None:
    found = told("a", pool(budgets=[{"nodes": "0"}]), node("a", "large"), pod("w", "a"))
    [move] = found.attempts

    assert isinstance(move, Move)
    assert found.allowance[Method.SINGLE_NODE] == 0


def test_everybody_who_refuses_a_pod_is_told_the_window_among_them() -> None:
    tied = pod("t", "c", nodeSelector={HOSTNAME: "c"})
    full = node("b", cpu=1), pod("x", "b", nodeSelector={HOSTNAME: "b"})
    fresh = node("c", "large", since="2026-03-10T11:59:50Z", marks={})
    found = told("a", pool(limits={"cpu": "8"}), node("a"), pod("w", "a"), *full, fresh, tied)
    [attempt] = found.attempts

    assert isinstance(attempt, Tried)
    assert attempt.pods == ("default/w",)
    [(name, rejections)] = attempt.rejections
    assert (name, {one.target: one.reason for one in rejections}) == (
        "default/w",
        {"nodePool/default": Reason.LIMITS, "node/b": Reason.RESOURCES, "node/c": Reason.WINDOW},
    )


def test_a_drifted_node_is_tried_by_drift_and_by_consolidation() -> None:
    marks = DRIFTED | {"Consolidatable": "2026-03-10T10:00:00Z"}
    found = told("a", pool(), node("a", marks=marks), pod("w", "a", "1500m"))

    assert [type(one) for one in found.attempts] == [Move, Tried]
