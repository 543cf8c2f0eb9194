"""Claims are marked, expire and are repaired: API, cloud and controllers on a virtual clock (spec 4, 24)."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from baseload.cloud.simulated.settings import Release
from baseload.control.settings import Settings
from baseload.decide.lifecycle.repair_policies import Policy
from baseload.decide.provision.options import Options
from baseload.values import instant
from baseload.values.instant import SECOND
from tests.control.stage import Stage, Tree, condition, node_class, pod, pool, running

Make = Callable[..., Stage]
NOTHING_GOES: Tree = {"budgets": [{"nodes": "0"}]}
REPAIRS = Settings(options=Options(feature_gates={"NodeRepair": True}))


@pytest.fixture
def make() -> Iterator[Make]:
    """Stages with a NodePool whose budget lets no node go, ended after the test."""
    made: list[Stage] = []

    def stage(disruption: Tree | None = None, **template: Any) -> Stage:
        one = Stage()
        made.append(one)
        one.create(node_class())
        one.create(pool(disruption={**NOTHING_GOES, **(disruption or {})}, **template))
        return one

    yield stage
    for one in made:
        one.close()


def started(stage: Stage, replicas: int, settings: Settings | None = None) -> Stage:
    stage.replicas = replicas
    stage.start(settings)
    stage.until(lambda: running(stage) == replicas, 60)
    return stage


def claim(stage: Stage) -> Tree:
    [one] = stage.all("NodeClaim")
    return one


def events(stage: Stage) -> list[tuple[str, str]]:
    return [(it["involvedObject"]["kind"], it["reason"]) for it in stage.all("Event")]


def test_a_node_that_its_pods_let_alone_becomes_consolidatable_until_something_happens_again(make: Make) -> None:
    stage = started(make({"consolidateAfter": "40s"}), 2)
    stage.run(5)
    began = claim(stage)["status"]["lastPodEventTime"]
    assert condition(claim(stage), "Consolidatable") == ("", "")

    stage.until(lambda: condition(claim(stage), "Consolidatable")[0] == "True", 60)
    assert claim(stage)["status"]["lastPodEventTime"] == began

    stage.delete("Pod", stage.all("Pod")[0]["metadata"]["name"], "default")
    stage.run(1)
    assert claim(stage)["status"]["lastPodEventTime"] > began
    assert condition(claim(stage), "Consolidatable") == ("", "")


def test_pods_of_daemons_are_no_events(make: Make) -> None:
    stage = started(make(), 1)
    stage.run(20)
    began = claim(stage)["status"]["lastPodEventTime"]
    daemon = pod("agent", 100, labels={"app": "agent"})
    template = {"metadata": {"labels": {"app": "agent"}}, "spec": daemon["spec"]}
    spec = {"selector": {"matchLabels": {"app": "agent"}}, "template": template}
    stage.create({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent"}, "spec": spec})
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent"}
    daemon["metadata"]["ownerReferences"] = [{**owner, "uid": stage.all("DaemonSet")[0]["metadata"]["uid"]}]
    stage.create(daemon)
    stage.until(lambda: running(stage) == 2, 10)
    stage.run(5)

    assert claim(stage)["status"]["lastPodEventTime"] == began


def test_a_pool_that_is_never_to_be_consolidated_marks_nothing(make: Make) -> None:
    stage = started(make({"consolidateAfter": "Never"}), 1)
    stage.run(600)

    assert condition(claim(stage), "Consolidatable") == ("", "")


def test_a_changed_template_drifts_at_once_and_a_change_back_ends_that(make: Make) -> None:
    stage = started(make(), 1)
    assert condition(claim(stage), "Drifted") == ("", "")

    stage.patch("NodePool", "default", {"spec": {"template": {"metadata": {"labels": {"team": "b"}}}}})
    stage.run(1)
    assert condition(claim(stage), "Drifted") == ("True", "NodePoolDrifted")

    stage.patch("NodePool", "default", {"spec": {"template": {"metadata": {"labels": None}}}})
    stage.run(1)
    assert condition(claim(stage), "Drifted") == ("", "")


def test_requirements_that_the_node_does_not_meet_are_told_as_such(make: Make) -> None:
    stage = started(make(), 1)
    arm = [{"key": "kubernetes.io/arch", "operator": "In", "values": ["arm64"]}]
    stage.patch("NodePool", "default", {"spec": {"template": {"spec": {"requirements": arm}}}})
    stage.run(1)

    assert condition(claim(stage), "Drifted") == ("True", "RequirementsDrifted")


def test_a_new_image_is_drift_once_the_node_class_has_found_it(make: Make) -> None:
    stage = started(make(), 1)
    moment = round(stage.seconds * SECOND)
    stage.cloud.region.selecting.release(Release("al2023", "v20261201", moment))
    stage.until(lambda: condition(claim(stage), "Drifted") == ("True", "AMIDrift"), 70)


def test_a_node_class_that_says_something_else_drifts_its_claims(make: Make) -> None:
    stage = started(make(), 1)
    annotations = claim(stage)["metadata"]["annotations"]
    assert annotations["karpenter.k8s.aws/ec2nodeclass-hash-version"] == "v6"

    stage.patch("EC2NodeClass", "default", {"spec": {"tags": {"team": "a"}}})
    stage.run(2)
    assert condition(claim(stage), "Drifted") == ("True", "NodeClassDrift")


def test_an_expired_claim_goes_whatever_its_budget_says_and_its_pods_get_another_node(make: Make) -> None:
    stage = started(make(expireAfter="10m"), 2)
    first = claim(stage)["metadata"]["name"]
    stage.patch("NodePool", "default", {"spec": {"template": {"spec": {"expireAfter": "Never"}}}})
    stage.run(600 - stage.seconds)
    assert claim(stage)["metadata"]["name"] == first

    stage.until(lambda: first not in [it["metadata"]["name"] for it in stage.all("NodeClaim")], 100)
    stage.until(lambda: running(stage) == 2, 60)
    assert claim(stage)["spec"]["expireAfter"] == "Never"


def unwell(stage: Stage, node: Tree, status: str = "False") -> None:
    since = stage.clock.now() - stage.clock.now() % SECOND
    ready = {"type": "Ready", "status": status, "reason": "Kubelet", "lastTransitionTime": instant.format(since)}
    stage.patch("Node", node["metadata"]["name"], {"status": {"conditions": [ready]}}, "status")


def test_a_node_that_stays_unwell_is_given_up_by_force_after_its_time(make: Make) -> None:
    stage = started(make(terminationGracePeriod="1h"), 1, REPAIRS)
    stage.patch(
        "Pod",
        stage.all("Pod")[0]["metadata"]["name"],
        {"metadata": {"annotations": {"karpenter.sh/do-not-disrupt": "true"}}},
        namespace="default",
    )
    [node], first = stage.all("Node"), claim(stage)["metadata"]["name"]
    unwell(stage, node)
    stage.run(1799)
    assert claim(stage)["metadata"].get("deletionTimestamp") is None

    stage.until(lambda: first not in [it["metadata"]["name"] for it in stage.all("NodeClaim")], 60)
    stage.until(lambda: running(stage) == 1, 60)


def test_a_node_that_recovers_in_time_stays_and_so_does_any_where_repair_is_not_wanted(make: Make) -> None:
    for settings in (REPAIRS, Settings()):
        stage = started(make(), 1, settings)
        [node] = stage.all("Node")
        unwell(stage, node)
        stage.run(1000)
        if settings is REPAIRS:
            unwell(stage, node, "True")
        stage.run(3000)
        assert claim(stage)["metadata"].get("deletionTimestamp") is None


def test_repair_holds_back_and_says_so_while_too_many_nodes_of_the_pool_are_unwell(make: Make) -> None:
    policies = (Policy("Ready", "False", 60 * SECOND),)
    settings = Settings(options=Options(feature_gates={"NodeRepair": True}, repair_policies=policies))
    small = {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["m5.xlarge"]}
    stage = started(make(requirements=(small,)), 6, settings)
    first, second = stage.all("Node")
    for one in (first, second):
        unwell(stage, one)
    stage.run(120)
    assert [it["metadata"].get("deletionTimestamp") for it in stage.all("NodeClaim")] == [None, None]
    assert ("Node", "NodeRepairBlocked") in events(stage)

    unwell(stage, second, "True")
    stage.until(lambda: len(stage.living()) == 2 and running(stage) == 6 and len(stage.all("Node")) == 2, 400)
    assert first["metadata"]["name"] not in [it["metadata"]["name"] for it in stage.all("Node")]
