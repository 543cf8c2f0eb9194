"""The bound is one: by hand where the best end is plain, and whatever values are proposed for the pods."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baseload.decide.disrupt.optimal.bound import best_values, bound, worth
from baseload.decide.disrupt.optimal.demand import demand
from baseload.decide.disrupt.optimal.linear import maximum
from baseload.decide.disrupt.situation import Situation
from tests.decide.disrupt import stage
from tests.decide.disrupt.optimal.tiny import Inputs, clusters, ends
from tests.decide.disrupt.stage import Made, node, pod, pool


def bound_of(*made: Made) -> float:
    return bound(stage.situation(*made))


def test_what_stays_is_in_it_at_its_price() -> None:
    protected: list[Made] = [node("a", "xlarge"), pod("p", "a", "1", annotations=stage.PROTECTED)]

    assert bound_of(pool(), *protected) == pytest.approx(0.8)
    assert bound_of(pool(after="Never"), node("a", "xlarge"), pod("p", "a")) == pytest.approx(0.8)
    assert bound_of(pool(policy="WhenEmpty"), node("a", "xlarge"), pod("p", "a")) == pytest.approx(0.8)
    assert bound_of(pool(budgets=[{"nodes": "0"}]), node("a", "xlarge"), pod("p", "a")) == pytest.approx(0.8)


def test_what_may_pass_is_not() -> None:
    for_a_while = {"karpenter.sh/do-not-disrupt": "1h"}
    sometimes = [{"nodes": "0", "schedule": "@daily", "duration": "1h"}]

    assert bound_of(pool(), node("a", "xlarge"), pod("p", "a", annotations=for_a_while)) < 0.8
    assert bound_of(pool(budgets=sometimes), node("a", "xlarge"), pod("p", "a")) < 0.8
    assert bound_of(pool(), node("a", "xlarge", marks=stage.DRIFTED), pod("p", "a")) < 0.8


def test_pods_ask_at_least_their_share_of_the_cheapest_node_of_all() -> None:
    """7 CPU at 0.05 each, whatever the types are that hold them."""
    pods = [pod(f"p{number}", "a") for number in range(7)]

    assert bound_of(pool(), node("a", "huge"), *pods) == pytest.approx(0.35)


def test_the_room_of_nodes_that_stay_is_free() -> None:
    stays: list[Made] = [node("s", "large"), pod("p", "s", "1", annotations=stage.PROTECTED)]
    pods = [pod(f"p{number}", "a") for number in range(9)]

    assert bound_of(pool(), *stays, node("a", "huge"), *pods) == pytest.approx(0.4 + 2 * 0.05)


def test_pods_that_only_dear_nodes_take_cost_what_these_do() -> None:
    dear = stage.instance_type("dear", 4, [stage.offering("on-demand", "zone-1", 4.0)], disk="fast")
    picky = pod("p", "a", "2", nodeSelector={"node.kubernetes.io/instance-type": "dear"})
    types = [*stage.LADDER, dear]

    made: list[Made] = [pool(), node("a", "dear"), picky, pod("q", "a", "1")]
    assert bound(stage.situation(*made, types=types)) == pytest.approx(2.0 + 0.05)


def test_pods_that_cost_nothing_to_evict_are_not_counted() -> None:
    worthless = {"controller.kubernetes.io/pod-deletion-cost": "-2147483647"}

    assert bound_of(pool(), node("a", "large"), pod("p", "a", "4", annotations=worthless)) == 0


def test_without_a_pool_that_launches_only_what_stays_is_certain() -> None:
    made: list[Made] = [
        node("a", "large"),
        pod("p", "a"),
        node("b", "small"),
        pod("q", "b", annotations=stage.PROTECTED),
    ]

    assert bound_of(pool(ready="False"), *made) == pytest.approx(0.1)


def test_values_that_make_a_node_worth_more_than_its_price_are_cut_down_first() -> None:
    """A node at 4.00 could go for one at 0.20; to value its pod at 4.00 does not make the end dearer."""
    dear = stage.instance_type("dear", 4, [stage.offering("on-demand", "zone-1", 4.0)])
    made: list[Made] = [pool(), node("a", "dear"), pod("p", "a", "4")]
    wanted = demand(stage.situation(*made, types=[*stage.LADDER, dear]))

    assert worth(wanted, {(0, "cpu"): 1e-9}) == pytest.approx(0.2)


@settings(max_examples=15)
@given(clusters(), st.data())
def test_any_values_of_the_pods_give_a_bound_and_the_best_that_are_found_no_worse_a_one(
    inputs: Inputs, data: st.DataObject
) -> None:
    wanted = demand(Situation(*inputs))
    keys = [(number, resource) for number, asked in enumerate(wanted.classes) for resource in sorted(asked)]
    values = {key: data.draw(st.floats(-1, 1)) / 1e9 for key in keys}
    drawn, best = worth(wanted, values), worth(wanted, best_values(wanted))

    assert drawn <= min(ends(*inputs)) + 1e-6
    assert drawn <= best + 1e-6


def test_the_program_is_solved_and_one_without_an_end_comes_to_one() -> None:
    assert maximum([3, 5], [[1, 0], [0, 2], [3, 2]], [4, 12, 18]) == pytest.approx([2, 6])
    assert maximum([1, 1], [[1, 0]], [1]) == pytest.approx([1, 0])
    assert maximum([], [], []) == []
