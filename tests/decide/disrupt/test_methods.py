"""Emptiness, drift and the order of methods in a pass (disruption spec 10, 15, 16, 17)."""

import pytest

from baseload.decide.disrupt.decide import METHODS
from baseload.decide.disrupt.emptiness import emptiness
from baseload.decide.disrupt.multi_node import multi_node
from baseload.decide.disrupt.single_node import single_node
from baseload.decide.disrupt.situation import Haste, Situation
from baseload.plan.disrupt import Method
from tests.decide.disrupt.stage import (
    DRIFTED,
    HOSTNAME,
    PROTECTED,
    Object,
    command,
    gone,
    inputs,
    kept,
    node,
    plan,
    pod,
    pool,
    situation,
    step,
)

UNLOVED = {"controller.kubernetes.io/pod-deletion-cost": "-2147483647"}
EARLIER = {"Drifted": "2026-03-10T09:00:00Z"}


def tied(name: str, node: str, cpu: str = "1") -> Object:
    return pod(name, node, cpu, nodeSelector={HOSTNAME: node})


def test_empty_nodes_of_all_pools_go_in_one_command() -> None:
    found = command(plan(pool("one"), pool("two"), node("a", pool="one"), node("b", "large", pool="two")))

    assert (found.reason, found.method) == ("Empty", Method.EMPTINESS)
    assert [c.node for c in found.candidates] == ["b", "a"]  # the dearer first
    assert found.savings_per_hour == pytest.approx(0.5)


def test_emptiness_takes_the_dearest_that_the_budget_lets_go() -> None:
    found = plan(pool(budgets=[{"nodes": "1"}]), node("a"), node("b", "large"))

    assert (gone(found), kept(found)) == (["b"], {"a": "NodePoolBudget"})


def test_pods_that_nobody_minds_losing_leave_a_node_empty_wherever_they_may_go() -> None:
    assert command(plan(pool(), node("a"), pod("w", "a", annotations=UNLOVED))).method is Method.EMPTINESS


def test_a_terminating_pod_counts_only_where_a_stateful_set_makes_it_anew() -> None:
    assert command(plan(pool(), node("a"), pod("w", "a", deleting=True))).method is Method.EMPTINESS
    assert gone(plan(pool(), node("a"), pod("w", "a", owner="StatefulSet", deleting=True))) == []


def test_the_policy_when_empty_and_a_zero_wait_let_empty_nodes_go() -> None:
    assert gone(plan(pool(policy="WhenEmpty", after="0s"), node("a"))) == ["a"]


def test_methods_come_in_their_order_and_the_first_that_acts_ends_the_pass() -> None:
    assert list(METHODS) == [
        Method.EMPTINESS,
        Method.STATIC_DRIFT,
        Method.DRIFT,
        Method.MULTI_NODE,
        Method.SINGLE_NODE,
    ]
    made = [*node("empty"), *node("old", marks=DRIFTED), pod("w", "old"), *node("big", "huge"), pod("x", "big")]
    assert command(plan(pool(), made)).method is Method.EMPTINESS
    assert command(plan(pool(budgets=[{"nodes": "0", "reasons": ["Empty"]}, {"nodes": "100%"}]), made)).method is (
        Method.DRIFT
    )


def test_the_node_that_drifted_first_is_replaced_alone_at_any_price() -> None:
    made = [*node("a", marks=DRIFTED), pod("w", "a", "1500m"), *node("b", marks=EARLIER), pod("x", "b", "1500m")]
    found = command(plan(pool(), made))

    assert [c.node for c in found.candidates] == ["b"]
    assert (found.replacements[0].instance_type, found.savings_per_hour) == ("small", 0.0)


def test_nodes_without_any_pod_to_move_come_first_in_drift() -> None:
    held = node("b", marks=DRIFTED, annotations={}), pod("d", "b", owner="DaemonSet")
    made = [*node("a", marks=EARLIER), pod("w", "a"), *held[0], held[1]]

    assert gone(plan(pool(after="Never"), made)) == ["b"]


def test_pods_that_nobody_minds_losing_are_pods_to_drift() -> None:
    made = [*node("a", marks=EARLIER), pod("w", "a"), *node("b", marks=DRIFTED), pod("x", "b", annotations=UNLOVED)]

    assert gone(plan(pool(after="Never"), made)) == ["a"]


def test_drift_may_launch_several_nodes_for_one() -> None:
    repels = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": {"app": "web"}}}
            ]
        }
    }
    found = command(
        plan(pool(), node("a", marks=DRIFTED), *(pod(f"w-{n}", "a", "500m", affinity=repels) for n in "xy"))
    )

    assert [claim.name for claim in found.replacements] == ["default-1", "default-2"]
    assert found.savings_per_hour == pytest.approx(-0.1)


def test_drift_passes_on_to_the_next_where_pods_find_no_place() -> None:
    made = [*node("a", marks=EARLIER), tied("t", "a"), *node("b", marks=DRIFTED), pod("w", "b")]
    found = plan(pool(after="Never"), made)

    assert (gone(found), kept(found)) == (["b"], {"a": "PodsWithoutPlace"})


def test_drift_asks_neither_windows_nor_the_policy() -> None:
    fresh = node("b", "large", since="2026-03-10T11:59:59Z", marks={})
    own = pool(policy="WhenEmpty")
    found = command(plan(own, node("a", marks=DRIFTED), pod("w", "a"), fresh, tied("t", "b")))

    assert [(moved.pod, moved.to) for moved in found.pods] == [("default/w", "b")]


def test_drift_without_a_ready_pool_ends_the_pass() -> None:
    made = [*node("a", marks=DRIFTED), pod("w", "a"), *node("b", "large"), tied("t", "b")]
    found = plan(pool(ready="False"), made)

    assert (gone(found), found.notes) == ([], ("no dynamic NodePool is ready, without which nothing is simulated",))
    assert {one.method for one in found.tried} == {Method.DRIFT}


def static(replicas: int, **more: object) -> Object:
    return pool(replicas=replicas, **more)  # type: ignore[arg-type]


def test_drifted_nodes_of_a_static_pool_are_replaced_one_for_one() -> None:
    made = [*node("a", marks=DRIFTED), *node("b", marks=DRIFTED), pod("w", "b")]
    found = plan(static(2), made)

    assert [(c.method, c.reason, len(c.replacements)) for c in found.commands] == [
        (Method.STATIC_DRIFT, "Drifted", 1),
        (Method.STATIC_DRIFT, "Drifted", 1),
    ]
    assert [claim.name for c in found.commands for claim in c.replacements] == ["default-1", "default-2"]
    assert found.commands[0].replacements[0].instance_types == ("small", "medium", "large", "xlarge", "huge")


@pytest.mark.parametrize(("limit", "many"), [("2", 0), ("3", 1), ("4", 2), ("1", 0)])
def test_a_static_pools_limit_of_nodes_says_how_many_at_once(limit: str, many: int) -> None:
    made = [*node("a", marks=DRIFTED), *node("b", marks=DRIFTED)]

    assert len(plan(static(2, limits={"nodes": limit}), made).commands) == many


def test_a_static_pool_with_more_nodes_than_replicas_is_mended_first() -> None:
    made = [*node("a", marks=DRIFTED), *node("b", marks=DRIFTED)]

    assert set(kept(plan(static(1), made)).values()) == {"MoreThanReplicas"}
    assert set(kept(plan(static(0), made)).values()) == {"MoreThanReplicas"}


def test_budgets_hold_for_static_drift_too() -> None:
    made = [*node("a", marks=DRIFTED), *node("b", marks=DRIFTED)]

    assert len(plan(static(2, budgets=[{"nodes": "1"}]), made).commands) == 1


def test_a_protected_pod_keeps_a_drifted_node_of_a_static_pool() -> None:
    found = plan(static(1), node("a", marks=DRIFTED), pod("w", "a", annotations=PROTECTED))

    assert kept(found) == {"a": "DoNotDisruptPod"}


def test_nothing_is_remembered_where_a_budget_held_something_back() -> None:
    made = [*node("a"), pod("w", "a")]

    assert single_node(situation(pool(), made)).is_settled
    assert multi_node(situation(pool(), made)).is_settled
    shut = pool(budgets=[{"nodes": "0"}])
    assert not single_node(situation(shut, made)).is_settled
    assert not multi_node(situation(shut, made)).is_settled
    assert not emptiness(situation(pool(), made)).is_settled, "it had no candidates, so it remembers nothing"


def timed_out(after: int) -> tuple[Haste, list[int]]:
    """A deadline that passes once it was asked so many times."""
    asked: list[int] = []

    def passed() -> bool:
        asked.append(1)
        return len(asked) > after

    return Haste(multi_node=passed, single_node=passed), asked


def test_a_multi_node_search_out_of_time_takes_the_last_that_it_found() -> None:
    made = [one for n in "abcde" for one in (*node(n, "xlarge"), pod(f"w-{n}", n, "500m"))]
    full = multi_node(situation(pool(), made)).moves[0]
    haste, _ = timed_out(1)
    hasty = multi_node(Situation(*inputs(pool(), made), haste=haste))

    assert len(full.candidates) == 5
    assert len(hasty.moves[0].candidates) == 3
    nothing = multi_node(Situation(*inputs(pool(), made), haste=timed_out(0)[0]))
    assert (nothing.moves, nothing.is_settled) == ((), True)


def test_a_single_node_search_out_of_time_names_the_pools_that_it_did_not_reach() -> None:
    made = [one for n in "ab" for one in (*node(n, pool=n), tied(f"w-{n}", n))]
    pools = pool("a"), pool("b")
    found = single_node(Situation(*inputs(*pools, made), haste=timed_out(1)[0]))

    assert (found.unreached, found.is_settled) == (("b",), False)
    again = single_node(Situation(*inputs(*pools, made), haste=Haste(unreached=found.unreached)))
    assert [one.node for one in again.tried] == ["b", "a"]


def test_a_hundred_and_one_nodes_at_most_are_looked_at_together() -> None:
    made = [one for n in range(130) for one in (*node(f"n{n:03}", "xlarge"), pod(f"w-{n}", f"n{n:03}", "100m"))]

    assert len(command(plan(pool(), made)).candidates) == 101


def test_names_of_replacements_pass_over_those_that_nodes_have() -> None:
    found = command(plan(pool(), node("default-1", "large"), pod("w", "default-1", "3")))

    assert [claim.name for claim in found.replacements] == ["default-2"]
    assert [moved.to for moved in found.pods] == ["default-2"]


def balanced(**more: object) -> Object:
    return pool(policy="Balanced", **more)  # type: ignore[arg-type]


def test_balanced_accepts_half_of_the_price_for_all_that_is_disrupted() -> None:
    """One node, one pod, 0.80 to 0.40: half the cost for all of the disruption, which is exactly enough."""
    assert gone(plan(balanced(), node("a", "xlarge"), pod("w", "a", "7"))) == ["a"]


def test_balanced_refuses_less_than_half() -> None:
    types = [step("large", 8, 0.6), step("xlarge", 16, 0.8)]
    found = plan(balanced(), node("a", "xlarge"), pod("w", "a", "7"), types=types)

    assert kept(found) == {"a": "ScoreTooLow"}
    assert gone(plan(pool(), node("a", "xlarge"), pod("w", "a", "7"), types=types)) == ["a"]


def test_balanced_weighs_a_cheap_crowded_node_against_its_pool() -> None:
    crowd = [pod(f"w-{n}", "a", "100m") for n in range(9)]
    made = [*node("a", "small"), *crowd, *node("b", "huge"), tied("t", "b")]

    assert kept(plan(balanced(), made))["a"] == "ScoreTooLow"
    assert gone(plan(pool(), made)) == ["a"]


def test_of_two_equal_nodes_balanced_lets_one_go() -> None:
    made = [*node("a", "large"), pod("w", "a"), *node("b", "large"), pod("x", "b", "4")]

    assert len(gone(plan(balanced(), made))) == 1


def test_emptiness_and_drift_are_not_scored() -> None:
    assert gone(plan(balanced(), node("a"))) == ["a"]
    assert gone(plan(balanced(), node("a", marks=DRIFTED), pod("w", "a"))) == ["a"]
