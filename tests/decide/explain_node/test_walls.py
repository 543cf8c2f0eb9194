"""Why a node stays: the rule in its way, where it stands, and the smallest change that frees the node."""

import pytest

from baseload.plan.disrupt import Kept, Method
from baseload.plan.node_story import NodeStory, Verdict
from baseload.plan.provision import Fix
from tests.decide.explain_node.building import CAPACITY, TYPE, budget, node, one_of, pod, pool
from tests.decide.explain_node.telling import told

MARK = 'metadata.annotations["karpenter.sh/do-not-disrupt"]'


def only(story: NodeStory) -> Fix:
    assert story.change is not None
    [fix] = story.change.fixes
    return fix


def test_an_empty_node_goes_and_the_story_has_the_command() -> None:
    story = told(pool(), node("a")).of("a")
    assert story.taken is not None
    assert (story.taken.method, story.taken.command is not None) == (Method.EMPTINESS, True)
    assert (story.change, story.walls) == (None, ())
    assert story.cost_per_hour == pytest.approx(0.1)


def test_a_protected_pod_is_named_with_its_annotation_and_what_the_node_would_become_without() -> None:
    story = told(pool(), node("a", "xlarge"), pod("db", "a", mark="true")).of("a")
    assert not story.is_candidate
    assert [(r.object, r.path, r.value) for r in story.walls[0].rules] == [("Pod default/db", MARK, "true")]
    assert only(story) == Fix("Pod default/db", MARK, "true", None)
    assert story.change is not None
    assert story.change.method is Method.SINGLE_NODE
    assert [claim.instance_type for claim in story.change.command.replacements] == ["small"]
    assert story.cost_per_hour == 0.8 - 0.1


def test_protected_pods_of_a_node_have_to_be_freed_together() -> None:
    story = told(pool(), node("a", "xlarge"), pod("x", "a", mark="true"), pod("y", "a", mark="4000h")).of("a")
    assert story.change is not None
    assert {fix.object for fix in story.change.fixes} == {"Pod default/x", "Pod default/y"}
    assert [rule.until for rule in story.walls[0].rules] == [None, "2026-08-14T16:00:00Z"]


def test_protection_for_a_time_ends_by_itself() -> None:
    story = told(pool(), node("a", "xlarge"), pod("x", "a", mark="240h")).of("a")
    assert story.wait is not None
    assert story.wait.until == "2026-03-11T00:00:00Z"


def test_a_pod_made_by_a_workload_tells_where_its_mark_is_written() -> None:
    template = {"metadata": {"labels": {"app": "db"}, "annotations": {"karpenter.sh/do-not-disrupt": "true"}}}
    spec = {"selector": {"matchLabels": {"app": "db"}}, "template": {**template, "spec": pod("db")["spec"]}}
    workload = {"kind": "Deployment", "metadata": {"name": "orders", "namespace": "default"}, "spec": spec}
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "orders", "uid": "uid-orders"}
    of = {"name": "db", "namespace": "default", "ownerReferences": [owner]}
    replicas = {"kind": "ReplicaSet", "metadata": of, "spec": spec}
    story = told(pool(), node("a", "xlarge"), pod("db", "a", mark="true"), workload, replicas).of("a")
    [rule] = story.walls[0].rules
    assert rule.written_in == f"Deployment default/orders spec.template.{MARK}"
    assert story.change is not None
    assert story.change.written_in == (rule.written_in,)


def test_the_mark_of_a_node_is_the_rule_and_taking_it_off_the_change() -> None:
    marked = node("a", annotations={"karpenter.sh/do-not-disrupt": "true"})
    assert only(told(pool(), marked).of("a")) == Fix("Node a", MARK, "true", None)


def test_a_budget_of_pods_is_told_with_its_numbers_and_loosened_by_the_least() -> None:
    guarded = [pod(f"db-{at}", "b" if at else "a", "1", app="db") for at in range(3)]
    held = budget("db", "db", healthy=3, expected=3, maxUnavailable=0)
    story = told(pool(), node("a", "xlarge"), node("b"), guarded, held).of("a")
    [rule] = story.walls[0].rules
    assert (rule.object, rule.path, rule.value) == ("PodDisruptionBudget default/db", "spec.maxUnavailable", 0)
    assert rule.facts == {"disruptionsAllowed": 0, "currentHealthy": 3, "desiredHealthy": 3, "expectedPods": 3}
    assert only(story) == Fix("PodDisruptionBudget default/db", "spec.maxUnavailable", 0, 1)


def test_min_available_of_as_many_as_there_are_gives_one_up() -> None:
    held = budget("db", "db", healthy=3, expected=3, minAvailable="100%")
    story = told(pool(), node("a", "xlarge"), pod("db", "a"), held).of("a")
    assert only(story) == Fix("PodDisruptionBudget default/db", "spec.minAvailable", "100%", "66%")


def test_a_pod_that_is_not_ready_is_freed_by_the_policy_for_unhealthy_pods() -> None:
    sick = pod("db", "a")
    sick["status"]["conditions"][1]["status"] = "False"
    held = budget("db", "db", healthy=0, expected=1, maxUnavailable=0)
    story = told(pool(), node("a", "xlarge"), sick, held).of("a")
    assert only(story).path == "spec.unhealthyPodEvictionPolicy"


def test_of_two_budgets_on_one_pod_one_has_to_go() -> None:
    two = [budget(name, "db", allowed=1, minAvailable=0) for name in ("one", "two")]
    story = told(pool(), node("a", "xlarge"), pod("db", "a"), two).of("a")
    assert (story.walls[0].reason, only(story).path) == (Kept.SEVERAL_BUDGETS, "")
    assert only(story).object == "PodDisruptionBudget default/two"


def test_a_pool_that_never_consolidates_would_with_a_window_that_is_over() -> None:
    story = told(pool(disruption={"consolidateAfter": "Never"}), node("a", conditions=())).of("a")
    assert only(story) == Fix("NodePool default", "spec.disruption.consolidateAfter", "Never", "24h")


def test_when_empty_keeps_a_node_with_pods() -> None:
    when_empty = pool(disruption={"consolidationPolicy": "WhenEmpty"})
    story = told(when_empty, node("a", "xlarge"), pod("web", "a")).of("a")
    assert (story.walls[0].reason, story.walls[0].pods) == (Kept.POLICY, ("default/web",))
    assert only(story).to == "WhenEmptyOrUnderutilized"


def test_a_window_tells_until_when_and_which_shorter_one_would_be_over() -> None:
    recent = node("a", conditions=(), touched="2026-03-10T11:50:00Z")
    story = told(pool(disruption={"consolidateAfter": "15m"}), recent).of("a")
    assert story.walls[0].rules[0].until == "2026-03-10T12:05:00Z"
    assert only(story) == Fix("NodePool default", "spec.disruption.consolidateAfter", "15m", "10m")
    assert story.wait is not None
    assert (story.wait.until, story.wait.method) == ("2026-03-10T12:05:00Z", Method.EMPTINESS)


def test_a_budget_of_the_pool_is_told_with_its_schedule_and_when_it_ends() -> None:
    closed = {"nodes": "0", "schedule": "0 9 * * mon-fri", "duration": "8h", "reasons": ["Empty"]}
    open_ = {"nodes": "50%"}
    story = told(pool(disruption={"budgets": [open_, closed]}), node("a"), node("b", ready="False")).of("a")
    rules = story.walls[0].rules
    assert [rule.path for rule in rules] == [f"spec.disruption.budgets[{at}].nodes" for at in (0, 1)]
    assert rules[1].facts == {
        "nodes": 2,
        "allowed": 0,
        "disrupted": 1,
        "schedule": "0 9 * * mon-fri",
        "duration": "8h",
        "reasons": ["Empty"],
    }
    assert rules[1].until == "2026-03-10T17:00:00Z"
    assert story.change is not None
    assert [fix.to for fix in story.change.fixes] == ["51%", "2"]


def test_a_budget_that_ends_frees_its_node_then() -> None:
    closed = {"nodes": "0", "schedule": "0 9 * * mon-fri", "duration": "8h"}
    story = told(pool(disruption={"budgets": [closed]}), node("a")).of("a")
    assert story.wait is not None
    assert story.wait.until == "2026-03-10T17:00:00Z"


def test_the_usual_budget_of_a_pool_that_has_none_is_written_out() -> None:
    story = told(pool(disruption={"budgets": None}), node("a"), node("b", ready="False")).of("a")
    assert story.walls[0].rules[0].path == "spec.disruption.budgets"
    assert only(story).to == [{"nodes": "51%"}]


def test_a_budget_that_cannot_be_read_stops_everything_and_is_to_go() -> None:
    broken = pool(disruption={"budgets": [{"nodes": "100%"}, {"nodes": "1", "schedule": "@daily"}]})
    story = told(broken, node("a")).of("a")
    assert only(story).path == "spec.disruption.budgets[1]"


def test_the_cheapest_replacement_is_told_with_its_price_and_the_type_to_allow() -> None:
    narrow = pool("default", one_of(TYPE, "large", "xlarge"))
    story = told(narrow, node("a", "large"), pod("web", "a")).of("a")
    facts = story.walls[0].facts
    assert (story.walls[0].reason, facts["cheapest"], facts["cheapestPricePerHour"]) == (Kept.NOT_CHEAPER, "large", 0.4)
    assert only(story).to == ["large", "xlarge", "small"]


def test_spot_is_proposed_where_nothing_else_helps() -> None:
    story = told(pool(), node("a", "small"), pod("web", "a")).of("a")
    assert only(story).to == ["on-demand", "spot"]


def test_min_values_are_lowered_no_further_than_needed() -> None:
    wide = pool("default", one_of(TYPE, "small", "medium", "large", minValues=3))
    story = told(wide, node("a", "large"), pod("web", "a")).of("a")
    assert only(story) == Fix("NodePool default", "spec.template.spec.requirements[1].minValues", 3, 2)


def test_spot_for_spot_needs_its_gate_and_fifteen_types() -> None:
    spot = pool("default", one_of(CAPACITY, "spot"))
    found = told(spot, node("a", "xlarge", capacity="spot"), pod("web", "a")).of("a")
    assert [wall.reason for wall in found.walls] == [Kept.SPOT_GATE, Kept.SPOT_TYPES]
    assert (found.walls[1].facts["cheaperTypes"], found.walls[1].facts["neededTypes"]) == (3, 15)
    assert found.change is None


def test_balanced_refuses_and_the_usual_policy_would_not() -> None:
    balanced = pool(disruption={"consolidationPolicy": "Balanced"})
    crowd = [pod(f"web-{at}", "a", "100m") for at in range(9)]
    story = told(balanced, node("a"), node("b", "xlarge"), crowd, pod("big", "b", "10")).of("a")
    assert (story.walls[0].reason, only(story).to) == (Kept.SCORE, "WhenEmptyOrUnderutilized")


def test_a_pod_that_fits_nowhere_tells_who_refused_it_and_what_would_place_it() -> None:
    tied = pod("db", "a", nodeSelector={"disk": "local"})
    story = told(pool(), node("a", "xlarge"), node("b"), tied, pod("web", "b")).of("a")
    assert (story.walls[0].reason, story.walls[0].pods) == (Kept.NO_PLACE, ("default/db",))
    [(_, refused)] = story.walls[0].rejections
    assert {one.target for one in refused} == {"nodePool/default", "node/b"}
    assert story.change is not None


def test_a_node_inside_its_window_that_would_take_the_pods_tells_when_it_does() -> None:
    pinned = pool("warm", disruption={"consolidateAfter": "1h"})
    warm = node("w", "large", of="warm", conditions=(), touched="2026-03-10T11:50:00Z")
    cold = pool("cold", limits={"cpu": "2"})
    held = pod("held", "w", mark="true")
    objects = (pinned, warm, cold, node("a", of="cold"), pod("web", "a"), held)
    story = told(*objects).of("a")
    assert story.wait is not None
    assert story.wait.until == "2026-03-10T12:50:00Z"
    assert only(story) == Fix("NodePool warm", "spec.disruption.consolidateAfter", "1h", "10m")


def test_a_pending_pod_that_takes_the_room_is_told_apart_from_one_that_does_not() -> None:
    room = pool("pinned", disruption={"consolidateAfter": "Never"})
    objects = (pool(), room, node("a"), node("b", of="pinned"), pod("web", "a"), pod("db", "b", "500m"))
    waiting = [pod("big", cpu="1500m"), pod("lost", cpu="1", nodeSelector={"team": "none"})]
    story = told(*objects, waiting).of("a")
    assert {(one.pod, one.is_in_the_way) for one in story.pending} == {("default/big", True), ("default/lost", False)}


def test_a_node_that_is_not_initialised_tells_the_taint_that_it_waits_for() -> None:
    taint = {"key": "example.com/agent", "effect": "NoSchedule"}
    booting = node("a", initialized=False, conditions=(), taints=[taint], claim={"startupTaints": [taint]})
    story = told(pool(), booting).of("a")
    assert (story.walls[0].reason, story.walls[0].facts["waitsFor"]) == (Kept.UNINITIALIZED, "StartupTaintsExist")
    assert (story.change, story.cost_per_hour) == (None, 0)


def test_a_node_of_a_static_pool_goes_by_drift_alone_within_the_limit_of_nodes() -> None:
    fixed = pool("fixed", replicas=2, limits={"nodes": "3"}, disruption={})
    drifted = [node(name, of="fixed", conditions=("Drifted",)) for name in ("a", "b")]
    found = told(fixed, *drifted)
    assert found.of("a").taken is not None
    assert only(found.of("b")) == Fix("NodePool fixed", "spec.limits.nodes", "3", "4")


def test_without_a_ready_pool_nothing_is_simulated_and_no_change_is_claimed() -> None:
    story = told(pool(ready=False), node("a"), node("b"), pod("web", "a")).of("a")
    assert [wall.reason for wall in story.walls] == [Kept.NO_READY_POOL]
    assert story.change is None


def test_a_node_whose_turn_has_not_come_tells_with_what_the_pass_ends() -> None:
    story = told(pool(), node("a"), node("b"), pod("web", "b")).of("b")
    [single] = [one for one in story.methods if one.method is Method.SINGLE_NODE]
    assert (single.verdict, single.message) == (Verdict.LATER, "the pass ends with Emptiness of a")


def test_walls_behind_one_another_are_told_in_turn_and_changed_together() -> None:
    closed = pool(disruption={"budgets": [{"nodes": "0"}], "consolidationPolicy": "WhenEmpty"})
    story = told(closed, node("a", "xlarge"), pod("web", "a", mark="true")).of("a")
    assert [wall.reason for wall in story.walls] == [Kept.POD_MARK, Kept.POLICY, Kept.BUDGET]
    assert story.change is not None
    assert len(story.change.fixes) == 3


def test_a_node_that_carries_the_mark_of_a_command_says_so() -> None:
    taint = {"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}
    story = told(pool(), node("a", taints=[taint], conditions=("Consolidatable", "DisruptionReason"))).of("a")
    assert story.note.startswith("it carries the taint karpenter.sh/disrupted (DisruptionReason ")
    assert told(pool(), node("a")).of("a").note == ""
