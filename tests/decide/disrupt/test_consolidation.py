"""Whether nodes can go, or give way to a cheaper one (disruption spec 13, 14, 18, 19)."""

from typing import Any

import pytest

from baseload.decide.disrupt.single_node import in_turns
from baseload.plan.disrupt import Method
from tests.decide.disrupt.stage import (
    CAPACITY_TYPE,
    HOSTNAME,
    LADDER,
    ON_DEMAND,
    PRICES,
    ZONE,
    ZONES,
    Object,
    budget,
    command,
    gone,
    instance_type,
    kept,
    node,
    offering,
    plan,
    pod,
    pool,
    situation,
    step,
)

BOTH = pool(requirements=())
REPELS = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": {"app": "web"}}}
        ]
    }
}
SPOT = {"key": CAPACITY_TYPE, "operator": "In", "values": ["spot"]}


def tied(name: str, node: str, cpu: str = "1", **more: Any) -> Object:
    """A pod that can run nowhere else."""
    return pod(name, node, cpu, nodeSelector={HOSTNAME: node}, **more)


def test_a_node_goes_when_its_pods_fit_elsewhere() -> None:
    found = command(plan(pool(), node("a", "large"), pod("w", "a"), node("b", "large"), tied("t", "b", "2")))

    assert (found.method, [c.node for c in found.candidates]) == (Method.SINGLE_NODE, ["a"])
    assert [(moved.pod, moved.to) for moved in found.pods] == [("default/w", "b")]
    assert found.savings_per_hour == pytest.approx(PRICES["large"])


def test_a_node_is_replaced_by_a_type_that_is_sure_to_be_cheaper() -> None:
    found = command(plan(pool(), node("a", "large"), pod("w", "a", "3")))
    [claim] = found.replacements

    assert claim.instance_types == ("medium",)
    assert found.savings_per_hour == pytest.approx(PRICES["large"] - PRICES["medium"])
    assert [(moved.pod, moved.to) for moved in found.pods] == [("default/w", "default-1")]


def test_the_same_price_is_no_improvement() -> None:
    twin = step("twin", 4, PRICES["medium"])

    assert kept(plan(pool(), node("a", "medium"), pod("w", "a", "3"), types=[*LADDER, twin])) == {"a": "NotCheaper"}


def test_an_option_is_judged_by_its_dearest_offering() -> None:
    """Worked example 7: the only other type is spot at 1.00, 0.20 and 0.40 in three zones."""
    dear = instance_type("dear", 4, [offering("on-demand", zone, 0.5) for zone in ZONES])
    uneven = instance_type("uneven", 4, [offering("spot", z, p) for z, p in zip(ZONES, (1.0, 0.2, 0.4), strict=True)])
    own = node("a", "dear", zone="zone-2")

    assert kept(plan(BOTH, own, pod("w", "a", "3"), types=[dear, uneven])) == {"a": "NotCheaper"}
    bound = pod("w", "a", "3", nodeSelector={ZONE: "zone-2"})
    [claim] = command(plan(BOTH, own, bound, types=[dear, uneven])).replacements
    assert (claim.instance_types, claim.zone) == (("uneven",), "zone-2")


def test_an_unavailable_offering_judges_nobody() -> None:
    dear = instance_type("dear", 4, [offering("on-demand", "zone-1", 0.5)])
    gone_up = [offering("spot", "zone-1", 9.0, available=False), offering("spot", "zone-2", 0.2)]
    [claim] = command(
        plan(BOTH, node("a", "dear"), pod("w", "a", "3"), types=[dear, instance_type("t", 4, gone_up)])
    ).replacements

    assert claim.instance_types == ("t",)


def test_on_demand_gives_way_to_spot_and_to_nothing_else() -> None:
    """Worked example 6: on-demand small 0.10 becomes spot, small 0.04 or medium 0.08."""
    [claim] = command(plan(BOTH, node("a", "small"), pod("w", "a"))).replacements

    assert claim.instance_types == ("small", "medium")
    assert [str(r) for r in claim.requirements if r.key == CAPACITY_TYPE] == [f"{CAPACITY_TYPE} In [spot]"]


def spot_ladder(count: int) -> list[Object]:
    """So many spot types of equal size, each a cent dearer than the one before."""
    return [instance_type(f"t{n:02}", 4, [offering("spot", "zone-1", 0.1 + n / 100)]) for n in range(count)]


@pytest.mark.parametrize(("place", "options"), [(15, 15), (14, None), (17, 15)])
def test_a_spot_node_needs_fifteen_cheaper_types_and_is_offered_the_cheapest_fifteen(
    place: int, options: int | None
) -> None:
    """Worked example 12: the 16th cheapest is replaced, the 15th stays."""
    own = node("a", f"t{place:02}", capacity_type="spot", cpu=4)
    gate = {"SpotToSpotConsolidation": True}
    found = plan(pool(requirements=[SPOT]), own, pod("w", "a"), types=spot_ladder(20), featureGates=gate)

    if options is None:
        assert kept(found) == {"a": "TooFewSpotTypes"}
    else:
        [claim] = command(found).replacements
        assert claim.instance_types == tuple(f"t{n:02}" for n in range(options))


def test_min_values_keep_more_than_fifteen_spot_types_where_they_need_them() -> None:
    make = "acme.example/make"
    types = spot_ladder(20)
    for number, type_ in enumerate(types):
        type_["labels"] = {make: "rare" if number == 17 else "common"}
    varied = {"key": make, "operator": "Exists", "minValues": 2}
    own = node("a", "t19", capacity_type="spot", cpu=4)
    found = plan(
        pool(requirements=[SPOT, varied]),
        own,
        pod("w", "a"),
        types=types,
        featureGates={"SpotToSpotConsolidation": True},
    )

    [claim] = command(found).replacements
    assert len(claim.instance_types) == 18


def test_spot_stays_while_the_gate_is_closed_but_may_be_deleted() -> None:
    own = pool(requirements=[SPOT])

    assert kept(plan(own, node("a", "large", capacity_type="spot"), pod("w", "a"))) == {"a": "SpotToSpotDisabled"}
    there = node("b", "large", capacity_type="spot")
    assert gone(plan(own, node("a", "large", capacity_type="spot"), pod("w", "a"), there, tied("t", "b"))) == ["a"]


def test_spot_that_has_to_become_on_demand_takes_the_ordinary_way() -> None:
    found = plan(pool(), node("a", "huge", capacity_type="spot"), pod("w", "a"))  # 0.64 on spot

    assert command(found).replacements[0].instance_types == ("small", "medium", "large")


def test_together_they_become_no_type_that_one_of_them_is_at_no_lower_price() -> None:
    """Worked example 1: two large ones together would be a large one again; one fits on the other, so that goes."""
    busy = [pod(f"busy-{n}", "b", "2") for n in range(3)]
    found = command(plan(pool(), node("a", "large"), pod("w", "a"), node("b", "large"), *busy))

    assert (found.method, [c.node for c in found.candidates]) == (Method.SINGLE_NODE, ["a"])


def test_a_type_that_one_of_them_is_bounds_what_they_may_become() -> None:
    """Worked example 2: three xlarge with a CPU each become one medium or large."""
    made = [one for n in "abc" for one in (*node(n, "xlarge"), pod(f"w-{n}", n))]
    found = command(plan(pool(), made))

    assert (found.method, len(found.candidates)) == (Method.MULTI_NODE, 3)
    assert found.replacements[0].instance_types == ("medium", "large")


def test_the_cheapest_of_their_types_is_not_launched_anew_for_them() -> None:
    """Worked example 3: xlarge, xlarge, small with half a CPU each: the two fit on the small one."""
    made = [one for n, t in zip("abc", ("xlarge", "xlarge", "small"), strict=True) for one in node(n, t)]
    found = command(plan(pool(), made, *(pod(f"w-{n}", n, "500m") for n in "abc")))

    assert (found.method, [c.node for c in found.candidates], found.replacements) == (Method.MULTI_NODE, ["a", "b"], ())


def test_prefixes_alone_are_tried_the_half_first() -> None:
    """Worked example 4: huge, xlarge, large with an immovable pod, medium: three fail, two go."""
    types = ("huge", "xlarge", "large", "medium")
    made = [one for n, t in zip("abcd", types, strict=True) for one in node(n, t)]
    pods = [tied(f"w-{n}", n) if n == "c" else pod(f"w-{n}", n) for n in "abcd"]
    found = command(plan(pool(), made, pods))

    assert (found.method, [c.node for c in found.candidates]) == (Method.MULTI_NODE, ["a", "b"])


def test_an_immovable_first_one_defeats_the_search_and_single_nodes_go_on() -> None:
    """Worked example 5."""
    made = [*node("a", "huge"), tied("w-a", "a"), *node("b", "large"), pod("w-b", "b"), *node("c"), tied("w-c", "c")]
    found = command(plan(pool(), made))

    assert (found.method, [c.node for c in found.candidates]) == (Method.SINGLE_NODE, ["b"])


def test_a_multi_node_search_sees_only_what_budgets_let_go() -> None:
    made = [one for n in "abc" for one in (*node(n, "xlarge"), pod(f"w-{n}", n))]
    found = plan(pool(budgets=[{"nodes": "2"}]), made)

    assert len(command(found).candidates) == 2
    assert kept(found)["c"] == "NodePoolBudget"


def test_a_budget_for_another_reason_is_none() -> None:
    own = pool(budgets=[{"nodes": "0", "reasons": ["Empty", "Drifted"]}])

    assert gone(plan(own, node("a", "large"), pod("w", "a"))) == ["a"]
    assert kept(plan(own, node("a", "large"))) == {"a": "NodePoolBudget"}


def test_many_become_one_at_most() -> None:
    loners = [pod(f"w-{n}", "a", affinity=REPELS) for n in range(2)]

    assert kept(plan(pool(), node("a", "huge"), loners)) == {"a": "MoreThanOneNode"}


@pytest.mark.parametrize(("phase", "goes"), [("Running", False), ("Pending", True)])
def test_a_node_inside_its_window_takes_only_pods_that_have_not_started(phase: str, goes: bool) -> None:
    """The pod cannot be elsewhere: it is the cheapest node already."""
    fresh = node("b", "large", since="2026-03-10T11:59:30Z", marks={})
    found = plan(pool(), node("a"), pod("w", "a", "1500m", phase=phase), fresh, tied("t", "b", "4"))

    assert (gone(found) == ["a"]) is goes


def test_the_window_is_over_at_its_very_end() -> None:
    for since, goes in (("2026-03-10T11:59:00Z", True), ("2026-03-10T11:59:01Z", False)):
        fresh = node("b", "large", since=since, marks={})
        found = plan(pool(), node("a"), pod("w", "a", "1500m"), fresh, tied("t", "b", "4"))
        assert (gone(found) == ["a"]) is goes


def test_a_node_of_a_pool_that_launches_nothing_has_no_window() -> None:
    other = pool("other", ready="False")
    fresh = node("b", "large", pool="other", since="2026-03-10T11:59:30Z", marks={})

    assert gone(plan(pool(), other, node("a"), pod("w", "a", "1500m"), fresh, tied("t", "b", "4"))) == ["a"]


def test_a_node_that_boots_is_no_safe_place() -> None:
    booting = node("b", "large", drop=["karpenter.sh/initialized"], marks={})

    assert kept(plan(pool(), node("a"), pod("w", "a", "1500m"), booting))["a"] == "PodsWithoutPlace"


def test_pods_of_nodes_that_are_being_deleted_have_to_have_a_place_too() -> None:
    leaving = [*node("c", "large", deleting=True), pod("l", "c", "40")]
    found = plan(pool(), node("a", "large"), pod("w", "a"), node("b", "large"), tied("t", "b"), leaving)

    assert kept(found)["a"] == "PodsWithoutPlace"


def test_a_pending_pod_without_hope_is_no_obstacle_and_one_with_hope_takes_the_room() -> None:
    made = [*node("a"), pod("w", "a"), *node("b"), tied("t", "b", "500m")]

    assert gone(plan(pool(), made, pod("p", None, "100"))) == ["a"]
    assert gone(plan(pool(), made, pod("p", None, "1500m"))) == []


def test_without_a_ready_pool_nothing_is_simulated() -> None:
    made = [*node("a", "large"), pod("w", "a"), *node("b", "large"), tied("t", "b")]
    found = plan(pool(ready="False"), made)

    assert gone(found) == []
    assert set(kept(found).values()) == {"NoReadyNodePool"}


def test_a_node_at_its_pools_limit_can_be_replaced_but_not_of_one_above_it() -> None:
    made = [*node("a", "large"), pod("w", "a")]

    assert gone(plan(pool(limits={"cpu": "8"}), made)) == ["a"]
    assert kept(plan(pool(limits={"cpu": "7"}), made)) == {"a": "OverLimit"}


def test_an_unknown_price_lets_a_node_be_deleted_but_not_replaced() -> None:
    """Its offering is not among those of its type."""
    types = [{**LADDER[2], "offerings": LADDER[2]["offerings"][1:]}, *LADDER[:2]]
    own = [*node("a", "large"), pod("w", "a")]

    assert kept(plan(pool(), own, types=types)) == {"a": "NotCheaper"}
    assert gone(plan(pool(), own, node("b", "medium"), tied("t", "b"), types=types)) == ["a"]


def test_anti_affinity_of_pods_that_stay_keeps_moved_ones_away() -> None:
    resident = tied("t", "b", labels={"app": "other"}, affinity=REPELS)

    assert "a" not in gone(plan(pool(), node("a"), pod("w", "a", "1500m"), node("b", "large"), resident))


def test_a_pod_that_no_budget_ever_lets_go_is_not_planned_for() -> None:
    never = budget(maxUnavailable=0)
    grace = {"terminationGracePeriod": "1h"}
    drifted = node("a", marks={"Drifted": "2026-03-10T10:00:00Z"}, claim=grace)

    assert command(plan(pool(), drifted, pod("w", "a"), never)).replacements == ()
    waits = budget(allowed=0)  # no allowance now, but not by what it says
    assert len(command(plan(pool(), drifted, pod("w", "a"), waits)).replacements) == 1


def test_pools_take_turns_one_node_each() -> None:
    names = {"a": "one", "b": "one", "c": "one", "d": "two", "e": "two"}
    made = [one for n, p in names.items() for one in (*node(n, "large", pool=p), pod(f"w-{n}", n))]
    found = situation(pool("one"), pool("two"), made).candidates(lambda _: None)

    assert [c.name for c in in_turns(found)] == ["a", "d", "b", "e", "c"]
    assert [c.name for c in in_turns(found, ["two"])] == ["d", "a", "e", "b", "c"]


def test_min_values_that_the_cheaper_types_miss_keep_a_node() -> None:
    varied = {"key": "node.kubernetes.io/instance-type", "operator": "Exists", "minValues": 3}
    own = pool(requirements=[ON_DEMAND, varied])

    assert kept(plan(own, node("a", "large"), pod("w", "a"))) == {"a": "MinValuesNotMet"}
    assert gone(plan(own, node("a", "xlarge"), pod("w", "a"))) == ["a"]
