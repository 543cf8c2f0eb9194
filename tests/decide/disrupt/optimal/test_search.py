"""Sets of nodes that Karpenter's search never tries, under the rules that it has."""

from collections.abc import Iterable
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baseload.decide.disrupt.decide import disrupt
from baseload.decide.disrupt.optimal.effort import Effort
from baseload.decide.disrupt.optimal.modes import OPTIMAL, once
from baseload.decide.disrupt.optimal.search import Search
from baseload.decide.disrupt.situation import Situation
from baseload.plan.disrupt import DisruptPlan, Method
from tests.decide.disrupt import stage
from tests.decide.disrupt.optimal.tiny import Inputs, clusters
from tests.decide.disrupt.stage import Made, Object, budget, node, pod, pool

ALONE: Object = {
    "labels": {"app": "alone"},
    "affinity": {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": stage.HOSTNAME, "labelSelector": {"matchLabels": {"app": "alone"}}}
            ]
        }
    },
}


def optimal(*made: Made) -> DisruptPlan:
    return disrupt(*stage.inputs(*made), methods=OPTIMAL)


def replaced(plan: DisruptPlan) -> tuple[list[str], list[str]]:
    """The nodes that go, and the types that come."""
    return stage.gone(plan), sorted(claim.instance_type for command in plan.commands for claim in command.replacements)


def lonely(*names: str, capacity_type: str = "on-demand") -> Iterable[Made]:
    """Nodes at 0.80 with a pod each for which no other has room. Three of the pods fill a node at 1.60."""
    for name in names:
        yield node(name, "xlarge", capacity_type=capacity_type)
        yield pod(name, name, "10")


def test_three_nodes_become_one_where_two_become_none_which_karpenter_never_tries() -> None:
    made = [pool(), *lonely("a", "b", "c")]

    assert stage.plan(*made).commands == ()
    assert replaced(optimal(*made)) == (["a", "b", "c"], ["huge"])


def test_six_nodes_become_two_at_once() -> None:
    made = [pool(), *lonely("a", "b", "c", "d", "e", "f")]
    compatible, both = stage.plan(*made), optimal(*made)

    assert compatible.commands == ()
    assert replaced(both) == (["a", "b", "c", "d", "e", "f"], ["huge", "huge"])
    assert stage.command(both).savings_per_hour == pytest.approx(6 * 0.8 - 2 * 1.6)
    assert stage.command(both).method is Method.MULTI_NODE


def test_several_new_nodes_are_sure_to_cost_less_together_than_all_that_goes() -> None:
    """Two nodes at 4.00 would do as well as two at 1.60, and each of them is cheaper than all six that go."""
    dear = stage.instance_type("dear", 33, [stage.offering("on-demand", zone, 4.0) for zone in stage.ZONES])
    inputs = stage.inputs(pool(), *lonely("a", "b", "c", "d", "e", "f"), types=[*stage.LADDER, dear])
    command = stage.command(disrupt(*inputs, methods=OPTIMAL))
    assert len(command.replacements) == 2
    dearest = sum(max(price or 0.0 for price in claim.prices) for claim in command.replacements)

    assert dearest < sum(candidate.price_per_hour for candidate in command.candidates)


def test_one_node_that_cannot_move_does_not_stand_in_the_way_of_the_others() -> None:
    made = [pool(), *node("tied", "xlarge", zone="zone-2"), pod("t", "tied", "9", nodeSelector={"only": "tied"})]
    made[1]["metadata"]["labels"]["only"] = "tied"
    for name in ("a", "b", "c"):
        made += [*node(name, "large"), pod(name, name, "1", **ALONE), pod(f"{name}2", name, "1")]
    plan = optimal(*made)

    assert "tied" not in stage.gone(plan)
    assert len(stage.gone(plan)) == 3
    assert len(stage.gone(stage.plan(*made))) == 1


def test_budgets_hold_for_sets_as_for_prefixes() -> None:
    made = list(lonely("a", "b", "c", "d", "e", "f"))

    assert len(stage.gone(optimal(pool(budgets=[{"nodes": "5"}]), *made))) == 3
    assert stage.gone(optimal(pool(budgets=[{"nodes": "2"}]), *made)) == []


def test_protected_pods_and_budgets_of_pods_keep_their_nodes() -> None:
    made = list(lonely("a", "b", "c", "d", "e"))
    protected = pod("p", "a", "1", annotations=stage.PROTECTED)
    guarded = pod("g", "b", "1", labels={"app": "guarded"})
    plan = optimal(pool(), *made, protected, guarded, budget(labels={"app": "guarded"}))

    assert stage.gone(plan) == ["c", "d", "e"]


def test_a_pool_that_weighs_what_it_disrupts_is_asked() -> None:
    """A third of the price is saved for all of the pods, and Balanced wants half."""
    assert optimal(pool(policy="Balanced"), *lonely("a", "b", "c")).commands == ()


def test_spot_is_not_replaced_by_spot_unless_the_gate_is_open() -> None:
    either: Object = {"key": stage.CAPACITY_TYPE, "operator": "In", "values": ["spot"]}
    made = [pool(requirements=[either]), *lonely("a", "b", "c", capacity_type="spot")]

    assert optimal(*made).commands == ()
    inputs = stage.inputs(*made, featureGates={"SpotToSpotConsolidation": True})
    assert replaced(disrupt(*inputs, methods=OPTIMAL)) == (["a", "b", "c"], ["huge"])


def test_a_search_without_effort_keeps_what_karpenter_found() -> None:
    situation = stage.situation(pool(), *lonely("a", "b", "c"))
    search = Search(situation, None, Effort(0))
    search.run()

    assert search.best is None


@settings(max_examples=30)
@given(clusters())
def test_a_pass_never_saves_less_than_karpenters(inputs: Inputs) -> None:
    compared = once(*inputs)

    assert compared.optimal.savings_per_hour >= compared.compatible.savings_per_hour - 1e-9


@settings(max_examples=15)
@given(clusters(), st.integers(0, 1000))
def test_the_order_of_the_objects_does_not_matter(inputs: Inputs, seed: int) -> None:
    view, tables, options = inputs
    nodes, pods = list(view.nodes), list(view.pods)
    Random(seed).shuffle(nodes)
    Random(seed).shuffle(pods)
    other = replace(view, nodes=tuple(nodes), pods=tuple(pods))

    found, again = (disrupt(one, tables, options, methods=OPTIMAL) for one in (view, other))
    assert [command.candidates for command in found.commands] == [command.candidates for command in again.commands]
    assert found.savings_per_hour == again.savings_per_hour


def test_nothing_can_be_simulated_without_a_pool_that_is_ready() -> None:
    plan = optimal(pool(ready="False"), *lonely("a", "b", "c"))

    assert plan.commands == ()
    assert plan.notes
    assert Situation(*stage.inputs(pool(ready="False"))).simulator is None
