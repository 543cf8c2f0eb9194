"""What moving pods costs, and the order that follows (disruption spec 9)."""

import pytest

from baseload.decide.disrupt import costs
from baseload.decide.disrupt.situation import ranked
from tests.decide.disrupt.stage import LADDER, Object, inputs, node, offering, pod, pool, situation

COST = costs.DELETION_COST


@pytest.mark.parametrize(
    ("made", "cost"),
    [
        (pod("plain", "a"), 1.0),
        (pod("important", "a", priority=33_554_432), 2.0),
        (pod("critical", "a", priority=2_000_000_000), 10.0),
        (pod("critical-by-name", "a", priorityClassName="system-node-critical"), 10.0),
        (pod("dear", "a", annotations={COST: str(2**27)}), 2.0),
        (pod("unloved", "a", annotations={COST: "-2147483647"}), -10.0),
        (pod("cheap", "a", annotations={COST: str(-(2**27))}), 0.0),
        (pod("odd", "a", annotations={COST: "much"}), 1.0),
        (pod("too-much", "a", annotations={COST: "2147483648"}), 1.0),
    ],
)
def test_a_pods_eviction_costs_one_and_what_makes_it_dearer(made: Object, cost: float) -> None:
    view, _, _ = inputs(pool(), node("a"), made)

    assert costs.of_eviction(view.pods[0]) == cost


def test_what_it_is_good_to_lose_makes_no_move_cheaper() -> None:
    view, _, _ = inputs(pool(), node("a"), pod("a", "a"), pod("b", "a", annotations={COST: "-2147483647"}))

    assert costs.of_move(view.pods) == 2.0


def test_the_elder_cost_shrinks_with_the_life_that_is_left() -> None:
    def cost(expires: str) -> float:
        made = situation(pool(), node("a", claim={"expireAfter": expires}), pod("w", "a"), pod("x", "a"))
        [looked] = made.looked
        assert looked.candidate is not None
        return looked.candidate.disruption_cost

    assert cost("Never") == 2.0
    assert cost("8h") == 1.0  # it is four hours old
    assert cost("3h") == 0.0


def prices(*offerings: Object) -> float | None:
    types = [{**LADDER[0], "offerings": list(offerings)}]
    view, tables, _ = inputs(pool(), node("a"), types=types)
    return costs.of_node(view.nodes[0].metadata.labels, tables["default"])


def test_a_nodes_price_is_that_of_its_offering_be_it_to_be_had_or_not() -> None:
    others = offering("on-demand", "zone-2", 0.2), offering("spot", "zone-1", 0.05)

    assert prices(*others, offering("on-demand", "zone-1", 0.11, available=False)) == 0.11


def test_a_node_without_such_an_offering_has_no_price() -> None:
    assert prices(offering("spot", "zone-1", 0.05)) is None


def test_the_dearest_for_what_it_disrupts_comes_first() -> None:
    many = [pod(f"many-{n}", "busy") for n in range(3)]
    made = situation(pool(), node("busy", "large"), *many, node("calm", "medium"), pod("one", "calm"), node("idle"))
    candidates = ranked(made.candidates(lambda _: None))

    assert [c.name for c in candidates] == ["busy", "calm", "idle"]
    assert [c.price / c.move_cost for c in candidates] == [0.1, 0.1, 0.1]


def test_a_pod_more_moves_a_node_down_the_ranking() -> None:
    made = situation(pool(), node("a", "large"), pod("x", "a"), pod("y", "a"), node("b", "large"), pod("z", "b"))

    assert [c.name for c in ranked(made.candidates(lambda _: None))] == ["b", "a"]
