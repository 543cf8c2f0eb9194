"""One example for each way in which a pod can be without a place, and what is said of it."""

from typing import Any

from tests.decide.explain.telling import paths, told
from tests.reference.algebra import CAPACITY_TYPE, INSTANCE_TYPE, ZONE
from tests.reference.building import apart, bound, node, node_affinity, pod, pool, spread, together
from tests.reference.drawing import expression

TAINT = {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}
REQUESTS = "spec.containers[0].resources.requests"


def change(one: Any) -> tuple[str, str, object, object] | None:
    fix = one.fix
    return None if fix is None else (fix.object, fix.path, fix.from_, fix.to)


def test_a_taint_asks_for_a_toleration() -> None:
    only = told(pool(taints=[TAINT]), pod("a")).only
    assert paths(only) == ["NodePool default spec.template.spec.taints[0]"]
    toleration = {"key": "dedicated", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}
    assert change(only) == ("Pod default/a", "spec.tolerations[0]", None, toleration)
    assert only.nearest is not None
    assert only.nearest.lacking == {"dedicated": "toleration of dedicated=gpu:NoSchedule"}


def test_two_taints_are_tolerated_in_one_field() -> None:
    only = told(pool(taints=[TAINT, {"key": "drain", "effect": "NoExecute"}]), pod("a")).only
    assert paths(only) == ["NodePool default spec.template.spec.taints"]
    assert only.fix is not None
    assert only.fix.path == "spec.tolerations"


def test_a_selector_and_a_pool_that_clash_are_both_named() -> None:
    zones = expression(ZONE, "In", "zone-1", "zone-2")
    only = told(pool("default", zones), pod("a", nodeSelector={ZONE: "zone-3"})).only
    assert paths(only) == [
        f'Pod default/a spec.nodeSelector["{ZONE}"]',
        "NodePool default spec.template.spec.requirements[0]",
    ]
    assert [(d.key, d.operator, d.values) for d in only.conflict] == [
        (ZONE, "In", ("zone-3",)),
        (ZONE, "In", ("zone-1", "zone-2")),
    ]
    path = "spec.template.spec.requirements[0].values"
    assert change(only) == ("NodePool default", path, ["zone-1", "zone-2"], ["zone-1", "zone-2", "zone-3"])


def test_a_value_that_does_not_exist_is_changed_on_the_pod() -> None:
    only = told(pool(), pod("a", nodeSelector={"kubernetes.io/arch": "amd46"})).only
    path = 'spec.nodeSelector["kubernetes.io/arch"]'
    assert change(only) == ("Pod default/a", path, "amd46", "amd64")


def test_a_label_that_no_pool_knows_is_defined_in_one() -> None:
    only = told(pool(), pod("a", nodeSelector={"team": "x"})).only
    requirement = {"key": "team", "operator": "In", "values": ["x"]}
    assert change(only) == ("NodePool default", "spec.template.spec.requirements[0]", None, requirement)


def test_an_affinity_expression_is_widened() -> None:
    only = told(
        pool("default", expression(ZONE, "NotIn", "zone-3")),
        pod("a", **node_affinity(expression(ZONE, "In", "zone-3"))),
    ).only
    assert only.fix is not None
    assert only.fix.path.endswith("nodeSelectorTerms[0].matchExpressions[0].values")
    assert only.fix.to == ["zone-3", "zone-1"]


def test_a_request_is_lowered_to_what_the_largest_node_has() -> None:
    only = told(pool(), pod("a", "20")).only
    assert only.reason == "InsufficientResources"
    assert paths(only) == [f"Pod default/a {REQUESTS}.cpu"]
    assert change(only) == ("Pod default/a", f"{REQUESTS}.cpu", "20", "16")
    assert only.nearest is not None
    assert (only.nearest.target, only.nearest.lacking) == ("nodePool/default", {"cpu": "4"})


def test_a_pool_of_small_nodes_is_opened_for_larger_ones() -> None:
    small = expression(INSTANCE_TYPE, "In", "step-1", "step-2")
    only = told(pool("default", small), pod("a", "7")).only
    path = "spec.template.spec.requirements[0].values"
    assert change(only) == ("NodePool default", path, ["step-1", "step-2"], ["step-1", "step-2", "step-8"])


def test_a_limit_is_raised_to_what_is_needed() -> None:
    objects = [pool(limits={"cpu": "8"}), pod("a", "7"), pod("b", "7")]
    only = told(*objects).only
    assert only.reason == "LimitExceeded"
    assert "NodePool default spec.limits.cpu" in paths(only)
    assert change(only) == ("NodePool default", "spec.limits.cpu", "8", "16")


def test_a_limit_of_nodes_is_raised() -> None:
    running = [node("n-1", "1", labels={"karpenter.sh/nodepool": "default", INSTANCE_TYPE: "step-1"})]
    only = told(pool(limits={"nodes": "1"}), running, pod("a", "3")).only
    assert only.reason == "NodeLimitReached"
    assert change(only) == ("NodePool default", "spec.limits.nodes", "1", "2")


def test_a_hard_spread_may_be_skewed_more_rather_than_dropped() -> None:
    objects = [
        pool("default", expression(ZONE, "In", "zone-1")),
        node("far", "1", labels={ZONE: "zone-2"}),
        bound(pod("filler", "1", labels={}), "far"),
        *(pod(f"web-{i}", **spread()) for i in range(2)),
    ]
    only = told(*objects).only
    assert only.reason == "UnsatisfiableTopology"
    assert f"Pod {only.pod} spec.topologySpreadConstraints[0]" in paths(only)
    assert only.fix is not None
    assert only.fix.path.startswith("spec.")


def test_anti_affinity_becomes_a_preference_rather_than_nothing() -> None:
    running = [[node(f"n-{i}", labels={ZONE: f"zone-{i}"}), bound(pod(f"old-{i}"), f"n-{i}")] for i in (1, 2, 3)]
    only = told(pool(), *running, pod("web-1", **apart(ZONE))).only
    assert only.fix is not None
    assert only.fix.path == "spec.affinity.podAntiAffinity"
    assert isinstance(only.fix.to, dict)
    assert list(only.fix.to) == ["preferredDuringSchedulingIgnoredDuringExecution"]


def test_pods_that_keep_each_other_away_take_more_than_one_change() -> None:
    zone = expression(ZONE, "In", "zone-1")
    only = told(pool("default", zone), *(pod(f"web-{i}", **apart(ZONE)) for i in range(2))).only
    term = "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]"
    assert only.message.endswith(f"Pod default/web-1 {term}, Pod default/web-0 {term}")


def test_affinity_to_nobody_is_the_conflict() -> None:
    only = told(pool(), pod("a", **together(ZONE, {"app": "nobody"}))).only
    assert only.conflict[0].operator == "podAffinity"
    assert only.conflict[0].values == ("app=nobody",)
    assert only.nearest is not None
    assert only.nearest.lacking == {"podAffinity": ZONE}


def test_a_running_pod_that_keeps_others_away_is_named() -> None:
    objects = [pool(limits={"cpu": "0"}), node("n-1"), bound(pod("old", **apart()), "n-1"), pod("new")]
    only = told(*objects).only
    term = "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]"
    assert f"Pod default/old {term}" in paths(only)


def test_a_host_port_that_is_taken_is_the_conflict() -> None:
    port: dict[str, Any] = {"ports": [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}]}
    objects = [pool(limits={"cpu": "0"}), node("n-1"), bound(pod("old", **port), "n-1"), pod("new", **port)]
    assert "Pod default/new spec.containers[0].ports[0].hostPort" in paths(told(*objects).only)


def test_min_values_are_lowered() -> None:
    several = {**expression(INSTANCE_TYPE, "In", "step-1", "step-2"), "minValues": 2}
    only = told(pool("default", several), pod("a", "1500m")).only
    assert only.reason == "MinValuesNotMet"
    path = "spec.template.spec.requirements[0].minValues"
    assert f"NodePool default {path}" in paths(only)
    assert change(only) == ("NodePool default", path, 2, 1)


def test_a_pool_whose_requirements_leave_no_type_is_the_conflict() -> None:
    only = told(pool("default", expression("size", "Gt", "100")), pod("a")).only
    assert only.reason == "NoInstanceTypesInPool"
    assert paths(only) == ["NodePool default spec.template.spec.requirements[0]"]
    assert only.fix is not None
    assert (only.fix.path, only.fix.to) == ("spec.template.spec.requirements[0].values", ["0"])


def test_a_capacity_type_that_is_not_offered_there_is_told() -> None:
    demands = {ZONE: "zone-1", CAPACITY_TYPE: "spot"}
    only = told(pool("default", expression(CAPACITY_TYPE, "In", "on-demand")), pod("a", nodeSelector=demands)).only
    assert only.fix is not None
    assert only.fix.to == ["on-demand", "spot"]


def test_several_faults_at_once_are_listed() -> None:
    objects = [pool(), pod("a", "20", nodeSelector={"team": "x"})]
    only = told(*objects).only
    assert (only.conflict, only.fix) == ((), None)
    assert "several things are wrong at once and no single field mends them" in only.message
    assert (
        "Pod default/a spec.nodeSelector.team, Pod default/a spec.containers[0].resources.requests.cpu" in only.message
    )


def test_without_a_ready_pool_nothing_can_be_changed_on_the_pod() -> None:
    only = told(pool(replicas=1), pod("a")).only
    assert only.reason == "NoNodePool"
    assert paths(only) == ["NodePool default spec.replicas"]
    assert only.nearest is None


def test_scheduling_gates_are_removed() -> None:
    only = told(pool(), pod("a", schedulingGates=[{"name": "wait"}])).only
    assert (only.reason, only.nearest) == ("SchedulingGated", None)
    assert paths(only) == ["Pod default/a spec.schedulingGates"]
    assert change(only) == ("Pod default/a", "spec.schedulingGates", [{"name": "wait"}], None)


def test_a_pod_that_the_scheduler_has_yet_to_try_needs_no_change() -> None:
    waiting = {"type": "PodScheduled", "status": "False", "reason": "SchedulerError"}
    one = {**pod("a"), "status": {"conditions": [waiting]}}
    only = told(pool(), one).only
    assert only.reason == "NotMarkedUnschedulable"
    assert "no single field is to be changed for it: the scheduler has yet to try it" in only.message


def test_a_pod_about_to_take_a_preempted_place_needs_no_change() -> None:
    only = told(pool(), {**pod("a"), "status": {"nominatedNodeName": "n-1"}}).only
    assert (only.reason, only.fix) == ("Nominated", None)


def test_a_pod_of_a_daemon_set_needs_no_change() -> None:
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "u", "controller": True}
    one = pod("a")
    one["metadata"]["ownerReferences"] = [owner]
    only = told(pool(), one).only
    assert (only.reason, only.fix) == ("OwnedByDaemonSet", None)


def test_a_pod_that_opts_out_may_opt_in_again() -> None:
    only = told(pool(), pod("a", **node_affinity(expression("karpenter.sh/nodepool", "DoesNotExist")))).only
    assert only.reason == "OptedOut"
    assert only.fix is not None
    assert only.fix.to is None


def test_an_unknown_capacity_type_is_changed_to_a_known_one() -> None:
    only = told(pool(), pod("a", nodeSelector={CAPACITY_TYPE: "spto"})).only
    assert only.reason == "InvalidRequirement"
    assert only.fix is not None
    assert only.fix.to == "on-demand"


def test_a_claim_on_a_volume_that_is_misspelt_is_put_right() -> None:
    claim: dict[str, Any] = {
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data-0", "namespace": "default"},
        "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "late"},
    }
    late = {
        "kind": "StorageClass",
        "metadata": {"name": "late"},
        "provisioner": "ebs.csi.aws.com",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "dta-0"}}
    only = told(pool(), claim, late, pod("a", volumes=[volume])).only
    assert only.reason == "UnusableVolume"
    assert change(only) == ("Pod default/a", "spec.volumes[0].persistentVolumeClaim.claimName", "dta-0", "data-0")


def test_a_claim_without_a_class_gets_one_that_waits_for_its_pod() -> None:
    claim: dict[str, Any] = {
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data-0", "namespace": "default"},
        "spec": {"accessModes": ["ReadWriteOnce"]},
    }
    late = {
        "kind": "StorageClass",
        "metadata": {"name": "late"},
        "provisioner": "ebs.csi.aws.com",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data-0"}}
    only = told(pool(), claim, late, pod("a", volumes=[volume])).only
    ref = "PersistentVolumeClaim default/data-0"
    assert change(only) == (ref, "spec.storageClassName", None, "late")


def test_an_unlaunched_claim_of_a_node_calls_for_no_change() -> None:
    claim = {"kind": "NodeClaim", "metadata": {"name": "c"}, "spec": {}, "status": {}}
    only = told(pool(), claim, pod("a")).only
    assert only.reason == "ClusterStateNotSynced"
    assert "the next pass places it" in only.message


def test_pods_alike_are_each_told_in_their_own_fields() -> None:
    objects = [pool(taints=[TAINT]), *(pod(f"web-{i}") for i in range(3))]
    found = told(*objects)
    assert [u.fix.object for u in found.plan.unschedulable if u.fix] == [f"Pod default/web-{i}" for i in range(3)]
