"""Which nodes may be given up, and what forbids it (disruption spec 6, 7, 8)."""

import pytest

from baseload.decide.disrupt.candidates import Busy
from baseload.decide.disrupt.decide import disrupt
from tests.decide.disrupt.stage import (
    CAPACITY_TYPE,
    DRIFTED,
    INSTANCE_TYPE,
    PROTECTED,
    ZONE,
    Object,
    budget,
    changed,
    gone,
    inputs,
    kept,
    node,
    plan,
    pod,
    pool,
)

UNMANAGED = node("bare")[0] | {"metadata": {"name": "bare", "labels": {}}}


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        ([UNMANAGED], "NotManaged"),
        (node("a")[1:], "NoNode"),
        (node("a", drop=["karpenter.sh/initialized"]), "NotInitialized"),
        (node("a", deleting=True), "MarkedForDeletion"),
        (node("a", annotations=PROTECTED), "DoNotDisruptNode"),
        (node("a", pool="other"), "NodePoolNotFound"),
        ([*node("a"), pod("web", "a", annotations=PROTECTED)], "DoNotDisruptPod"),
        ([*node("a"), pod("web", "a"), budget()], "PodDisruptionBudget"),
        ([*node("a"), pod("web", "a"), budget("one", 1), budget("two", 1)], "SeveralPodDisruptionBudgets"),
        ([*node("a", "odd"), pod("web", "a")], "InstanceTypeNotFound"),
        ([*node("a", drop=[CAPACITY_TYPE]), pod("web", "a")], "LabelMissing"),
        ([*node("a", drop=[ZONE]), pod("web", "a")], "LabelMissing"),
        ([*node("a", marks={}), pod("web", "a")], "NotConsolidatable"),
        (node("a", marks={}), "NotConsolidatable"),
    ],
)
def test_the_first_thing_that_forbids_a_node_is_told(made: list[Object], reason: str) -> None:
    found = plan(pool(), made)

    assert gone(found) == []
    assert list(kept(found).values()) == [reason]


@pytest.mark.parametrize(
    ("own", "reason"),
    [
        (pool(after="Never"), "ConsolidationDisabled"),
        (pool(policy="WhenEmpty"), "PolicyWhenEmpty"),
        (pool() | {"spec": pool(replicas=1)["spec"]}, "StaticNodePool"),
    ],
)
def test_what_the_pool_says_keeps_a_node_with_pods(own: Object, reason: str) -> None:
    assert kept(plan(own, node("a"), pod("web", "a"))) == {"a": reason}


def test_an_unready_node_is_a_candidate_all_the_same_though_budgets_count_it() -> None:
    unready = node("a", ready="False")

    assert gone(plan(pool(budgets=[{"nodes": "2"}]), unready)) == ["a"]
    assert kept(plan(pool(budgets=[{"nodes": "1"}]), unready)) == {"a": "NodePoolBudget"}


def test_a_node_in_a_running_command_is_left_to_it() -> None:
    found = disrupt(*inputs(pool(), node("a"), node("b")), busy=Busy(in_command=("a",)))

    assert (gone(found), kept(found)) == (["b"], {"a": "AlreadyDisrupted"})


def test_a_node_where_a_pending_pod_is_expected_is_kept() -> None:
    found = disrupt(*inputs(pool(), node("a"), node("b")), busy=Busy(nominated=("a",)))

    assert (gone(found), kept(found)) == (["b"], {"a": "Nominated"})


def test_only_the_exact_word_on_a_node_protects_it() -> None:
    assert gone(plan(pool(), node("a", annotations={"karpenter.sh/do-not-disrupt": "True"}))) == ["a"]


@pytest.mark.parametrize("value", ["false", "0s", "-5m", "soon"])
def test_what_is_no_length_of_time_protects_no_pod(value: str) -> None:
    held = pod("d", "a", owner="DaemonSet", annotations={"karpenter.sh/do-not-disrupt": value})

    assert gone(plan(pool(), node("a"), held)) == ["a"]


@pytest.mark.parametrize(("started", "goes"), [("2026-03-10T11:30:00Z", True), ("2026-03-10T11:30:01Z", False)])
def test_protection_for_a_time_is_over_at_its_very_end(started: str, goes: bool) -> None:
    held = pod("d", "a", owner="DaemonSet", started=started, annotations={"karpenter.sh/do-not-disrupt": "30m"})

    assert bool(gone(plan(pool(), node("a"), held))) is goes


def test_protection_for_a_time_holds_as_long_as_nobody_knows_when_the_pod_started() -> None:
    held = pod("d", "a", owner="DaemonSet", annotations={"karpenter.sh/do-not-disrupt": "1m"})

    assert kept(plan(pool(), node("a"), changed(held, "status.startTime", None))) == {"a": "DoNotDisruptPod"}


@pytest.mark.parametrize(
    "harmless",
    [
        pod("done", "a", phase="Succeeded", annotations=PROTECTED),
        pod("going", "a", deleting=True, annotations=PROTECTED),
        pod("static", "a", owner="Node"),
        pod("daemon", "a", owner="DaemonSet"),
    ],
    ids=["finished", "terminating", "static", "daemon"],
)
def test_pods_that_do_not_come_up_elsewhere_leave_a_node_empty(harmless: Object) -> None:
    assert gone(plan(pool(), node("a"), harmless)) == ["a"]


def test_a_protected_static_pod_blocks_all_the_same() -> None:
    assert kept(plan(pool(), node("a"), pod("s", "a", owner="Node", annotations=PROTECTED))) == {"a": "DoNotDisruptPod"}


def test_a_budget_on_a_static_pod_has_no_say() -> None:
    assert gone(plan(pool(), node("a"), pod("s", "a", owner="Node"), budget())) == ["a"]


def test_a_budget_that_selects_nothing_guards_nobody_and_an_empty_selector_everybody() -> None:
    daemon = pod("d", "a", owner="DaemonSet")
    everything, nothing = budget(), budget()
    everything["spec"]["selector"] = {}
    del nothing["spec"]["selector"]

    assert kept(plan(pool(), node("a"), daemon, everything)) == {"a": "PodDisruptionBudget"}
    assert gone(plan(pool(), node("a"), daemon, nothing)) == ["a"]


def test_a_budget_of_another_namespace_guards_nobody() -> None:
    elsewhere = changed(budget(), "metadata.namespace", "kube-system")

    assert gone(plan(pool(), node("a"), pod("d", "a", owner="DaemonSet"), elsewhere)) == ["a"]


def test_unhealthy_pods_may_be_let_go_but_only_where_they_are_said_to_be() -> None:
    always = budget(minAvailable=1, unhealthyPodEvictionPolicy="AlwaysAllow")

    assert gone(plan(pool(), node("a"), pod("d", "a", owner="DaemonSet", ready="False"), always)) == ["a"]
    assert gone(plan(pool(), node("a"), pod("d", "a", owner="DaemonSet", ready="Unknown"), always)) == []


def test_a_grace_period_of_the_claim_lets_drift_pass_over_pods_but_not_over_the_node_or_consolidation() -> None:
    grace = {"terminationGracePeriod": "1h"}
    held = pod("web", "a", annotations=PROTECTED)

    assert gone(plan(pool(), node("a", marks=DRIFTED, claim=grace), held)) == ["a"]
    assert kept(plan(pool(), node("a", marks=DRIFTED), held)) == {"a": "DoNotDisruptPod"}
    assert kept(plan(pool(), node("a", "large", claim=grace), held)) == {"a": "DoNotDisruptPod"}
    marked = node("a", marks=DRIFTED, claim=grace, annotations=PROTECTED)
    assert kept(plan(pool(), marked, held)) == {"a": "DoNotDisruptNode"}


def test_the_grace_period_of_the_pool_alone_waives_nothing() -> None:
    own = pool()
    own["spec"]["template"]["spec"]["terminationGracePeriod"] = "1h"

    assert kept(plan(own, node("a", marks=DRIFTED), pod("web", "a", annotations=PROTECTED))) == {"a": "DoNotDisruptPod"}


def test_the_label_of_the_node_says_whether_it_is_initialised_not_the_condition() -> None:
    unsaid = node("a")
    unsaid[1]["status"]["conditions"] = [c for c in unsaid[1]["status"]["conditions"] if c["type"] != "Initialized"]

    assert gone(plan(pool(), unsaid)) == ["a"]


def test_a_claim_that_is_still_launching_stops_the_whole_pass() -> None:
    launching = changed(node("b")[1], "status.providerID", "")
    found = plan(pool(), node("a"), launching)

    assert gone(found) == []
    assert found.notes == ("NodeClaim nc-b is not launched yet, which stops all disruption",)


def test_taints_that_a_command_left_behind_are_gone_before_the_pass() -> None:
    stale = node("b", taints=[{"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}], cpu=8)

    assert gone(
        plan(pool(), node("a", "small"), pod("web", "a"), stale, pod("tied", "b", nodeSelector=_tied("b")))
    ) == ["a"]


def _tied(name: str) -> dict[str, str]:
    return {"kubernetes.io/hostname": name}


def test_a_node_of_an_unknown_type_is_still_deleted_when_empty() -> None:
    assert gone(plan(pool(), node("a", "odd"))) == ["a"]
    assert gone(plan(pool(), node("a", drop=[INSTANCE_TYPE, ZONE, CAPACITY_TYPE]))) == ["a"]
