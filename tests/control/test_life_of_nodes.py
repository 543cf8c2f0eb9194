"""Nodes come for pods without a place and go with their claims: API, cloud and controllers on a virtual clock."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from baseload.control.settings import Settings
from baseload.kube.client.errors import Conflict
from tests.control.stage import Stage, Tree, condition, node_class, pod, pool, running

Make = Callable[..., Stage]


@pytest.fixture
def make() -> Iterator[Make]:
    """Stages with a NodePool and an EC2NodeClass, ended after the test."""
    made: list[Stage] = []

    def stage(of_pool: Tree | None = None, **options: Any) -> Stage:
        one = Stage(**options)
        made.append(one)
        one.create(node_class())
        one.create(of_pool or pool())
        return one

    yield stage
    for one in made:
        one.close()


def events(stage: Stage) -> list[tuple[str, str]]:
    """Who was told of what."""
    return [(it["involvedObject"]["kind"], it["reason"]) for it in stage.all("Event")]


def test_a_node_class_is_resolved_and_its_pool_is_ready(make: Make) -> None:
    stage = make()
    stage.start()
    stage.run(2)

    [resolved] = stage.all("EC2NodeClass")
    assert condition(resolved, "Ready") == ("True", "Ready")
    assert [it["zone"] for it in resolved["status"]["subnets"]] != []
    assert resolved["status"]["instanceProfile"] == "nodes-profile"
    [ready] = stage.all("NodePool")
    assert condition(ready, "Ready") == ("True", "Ready")
    assert ready["metadata"]["annotations"]["karpenter.sh/nodepool-hash-version"] == "v3"


def test_a_pool_without_its_node_class_is_not_ready_and_launches_nothing(make: Make) -> None:
    stage = make()
    stage.delete("EC2NodeClass", "default")
    stage.replicas = 1
    stage.start()
    stage.run(60)

    assert condition(stage.all("NodePool")[0], "NodeClassReady") == ("False", "NodeClassNotFound")
    assert stage.all("NodeClaim") == []


def test_pods_without_a_place_get_a_node_within_a_minute(make: Make) -> None:
    stage = make()
    stage.replicas = 3
    stage.start()

    assert stage.until(lambda: running(stage) == 3, 60) < 45
    [claim] = stage.all("NodeClaim")
    assert [condition(claim, type)[0] for type in ("Launched", "Registered", "Initialized", "Ready")] == ["True"] * 4
    assert claim["status"]["capacity"]["cpu"] == "4"
    assert claim["metadata"]["labels"]["node.kubernetes.io/instance-type"] == "m5.xlarge"
    [node] = stage.all("Node")
    assert claim["status"]["nodeName"] == node["metadata"]["name"]
    assert node["metadata"]["finalizers"] == ["karpenter.sh/termination"]
    assert node["metadata"]["labels"]["karpenter.sh/initialized"] == "true"
    stage.run(10)
    [counted] = stage.all("NodePool")
    assert (counted["status"]["nodes"], counted["status"]["resources"]["cpu"]) == (1, "4")
    assert condition(counted, "NodeRegistrationHealthy")[0] == "True"
    assert len(stage.living()) == 1


def test_startup_taints_hold_a_node_back_until_its_agent_takes_them_away(make: Make) -> None:
    taint = {"key": "agent", "effect": "NoExecute"}
    stage = make(pool(startupTaints=[taint]), agent=20.0)
    stage.replicas = 1
    stage.start()

    stage.until(lambda: bool(stage.all("Node")) and "agent" in str(stage.all("Node")[0]["spec"]), 60)
    stage.until(lambda: condition(stage.all("NodeClaim")[0], "Initialized")[1] == "StartupTaintsExist", 60)
    stage.until(lambda: running(stage) == 1, 60)
    assert condition(stage.all("NodeClaim")[0], "Initialized")[0] == "True"
    assert len(stage.all("NodeClaim")) == 1


def test_the_limit_of_a_pool_holds(make: Make) -> None:
    stage = make(pool(limits={"cpu": "4"}))
    stage.replicas = 12
    stage.start()
    stage.run(120)

    assert sum(int(it["status"]["capacity"]["cpu"]) for it in stage.all("NodeClaim")) <= 4
    assert running(stage) == 5  # of 0.8 each


def test_deleting_a_claim_moves_its_pods_and_ends_its_machine(make: Make) -> None:
    stage = make()
    stage.replicas = 3
    stage.start()
    stage.until(lambda: running(stage) == 3, 60)
    [claim] = stage.all("NodeClaim")
    name = claim["metadata"]["name"]

    stage.delete("NodeClaim", name)
    stage.until(lambda: name not in [it["metadata"]["name"] for it in stage.all("NodeClaim")], 180)
    stage.until(lambda: running(stage) == 3, 120)

    assert len(stage.all("NodeClaim")) == len(stage.all("Node")) == len(stage.living()) == 1
    assert ("Pod", "Evicted") in events(stage)
    assert ("Node", "FailedDraining") in events(stage)


def test_a_claim_whose_pool_has_a_budget_of_nothing_waits_until_its_deadline(make: Make) -> None:
    stage = make(pool(terminationGracePeriod="2m"))
    stage.replicas = 1
    stage.start()
    stage.until(lambda: running(stage) == 1, 60)
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "maxUnavailable": 0},
    }
    stage.create(budget)
    told = {
        "status": {
            "disruptionsAllowed": 0,
            "currentHealthy": 1,
            "desiredHealthy": 1,
            "expectedPods": 1,
            "observedGeneration": 1,
        }
    }
    stage.patch("PodDisruptionBudget", "web", told, "status", "default")
    held, name = stage.all("Pod")[0]["metadata"]["name"], stage.all("NodeClaim")[0]["metadata"]["name"]
    began = stage.seconds

    stage.delete("NodeClaim", name)
    stage.until(lambda: held not in [it["metadata"]["name"] for it in stage.all("Pod")], 200)

    # Its grace of 30 s is all that is left 90 s after the deletion. It is tried again every 10 s by then, and a kubelet
    # here needs 3 s.
    assert 90 <= stage.seconds - began <= 104
    assert ("Pod", "Disrupted") in events(stage)
    assert ("Pod", "Evicted") not in events(stage)
    assert ("NodeClaim", "TerminationGracePeriodExpiring") in events(stage)


def test_a_protected_pod_holds_its_node_and_others_leave(make: Make) -> None:
    stage = make()
    stage.create(pod("kept", annotations={"karpenter.sh/do-not-disrupt": "true"}))
    stage.create(pod("free"))
    stage.start()
    stage.until(lambda: running(stage) == 2, 60)
    for claim in stage.all("NodeClaim"):
        stage.delete("NodeClaim", claim["metadata"]["name"])
    stage.run(300)

    assert [it["metadata"]["name"] for it in stage.all("Pod")] == ["kept"]
    assert len(stage.living()) == 1
    stage.delete("Pod", "kept", "default")
    stage.until(lambda: not stage.all("NodeClaim"), 120)
    assert stage.living() == []


def test_a_stockout_is_told_and_other_types_are_launched(make: Make) -> None:
    refused = {"call": "CreateFleet", "error": "InsufficientCapacity", "types": ["m5.*", "c5.*", "r5.*"]}
    stage = make(faults=[refused])
    stage.replicas = 1
    stage.start()
    stage.until(lambda: running(stage) == 1, 120)

    assert [it.instance_type for it in stage.living()] == ["m6g.large"]


def test_a_claim_that_cannot_be_launched_goes_and_its_offerings_are_shut_for_a_while(make: Make) -> None:
    refused = {"call": "CreateFleet", "error": "InsufficientCapacity", "from": "0s", "until": "1m"}
    stage = make(faults=[refused])
    stage.replicas = 1
    stage.start()
    stage.run(100)
    assert ("NodeClaim", "InsufficientCapacityError") in events(stage)
    assert (stage.all("NodeClaim"), stage.living()) == ([], [])

    stage.until(lambda: running(stage) == 1, 240)
    assert stage.seconds > 180


def test_a_machine_that_never_registers_is_given_up_after_15_minutes(make: Make) -> None:
    stage = make(failures=[{"kind": "NeverRegisters"}])
    stage.replicas = 1
    stage.start()
    stage.run(60)
    [claim] = stage.all("NodeClaim")
    assert condition(claim, "Registered") == ("Unknown", "NodeNotFound")

    stage.run(900)

    assert claim["metadata"]["name"] not in [it["metadata"]["name"] for it in stage.all("NodeClaim")]
    stage.run(15 * 60 + 120)
    assert condition(stage.all("NodePool")[0], "NodeRegistrationHealthy") == ("False", "RegistrationFailed")


def test_a_node_class_is_resolved_anew_when_it_names_something_else(make: Make) -> None:
    stage = make()
    stage.start()
    stage.run(600)

    stage.patch("EC2NodeClass", "default", {"spec": {"role": "others"}})

    stage.run(2)
    assert stage.all("EC2NodeClass")[0]["status"]["instanceProfile"] == "others-profile"


@pytest.mark.parametrize("quiet", [0, 1800])
def test_a_claim_goes_when_its_machine_is_gone(make: Make, quiet: int) -> None:
    stage = make()
    stage.replicas = 1
    stage.start()
    stage.until(lambda: running(stage) == 1, 60)
    stage.run(quiet)
    [lost] = stage.living()
    name = stage.all("NodeClaim")[0]["metadata"]["name"]

    stage.cloud.region.terminate(lost.id)

    stage.until(lambda: name not in [it["metadata"]["name"] for it in stage.all("NodeClaim")], 150)


def test_two_runs_of_one_seed_are_the_same_to_the_byte(make: Make) -> None:
    def story() -> str:
        stage = make()
        stage.replicas = 5
        stage.start(Settings(batch_idle=0.5))
        stage.run(60)
        stage.replicas = 2
        stage.delete("NodeClaim", stage.all("NodeClaim")[0]["metadata"]["name"])
        stage.run(120)
        return repr([stage.all(kind) for kind in ("Node", "NodeClaim", "NodePool", "Event")])

    assert story() == story()


def test_a_claim_of_another_provider_is_left_alone_and_stops_nothing(make: Make) -> None:
    stage = make()
    ref = {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"}
    claim = {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {"name": "foreign"},
        "spec": {"nodeClassRef": ref, "requirements": []},
    }
    stage.create(claim)
    registered = [{"type": "Registered", "status": "True", "reason": "Registered", "message": ""}]
    registered[0]["lastTransitionTime"] = "2026-11-30T12:00:00Z"
    stage.replicas = 1
    stage.start()
    stage.until(lambda: running(stage) == 1, 60)
    stage.patch("NodeClaim", "foreign", {"status": {"providerID": "kwok://x", "conditions": registered}}, "status")
    stage.run(300)
    assert "foreign" in [it["metadata"]["name"] for it in stage.all("NodeClaim")]


@pytest.mark.parametrize("quiet", [0, 1800])
def test_a_node_without_a_claim_is_drained_and_its_machine_left_to_the_collector(make: Make, quiet: int) -> None:
    stage = make()
    stage.replicas = 1
    stage.start()
    stage.until(lambda: running(stage) == 1, 60)
    stage.run(quiet)
    [node], [claim] = stage.all("Node"), stage.all("NodeClaim")
    stage.patch("NodeClaim", claim["metadata"]["name"], {"metadata": {"finalizers": None}})
    stage.delete("NodeClaim", claim["metadata"]["name"])
    stage.delete("Node", node["metadata"]["name"])
    stage.until(lambda: node["metadata"]["name"] not in [it["metadata"]["name"] for it in stage.all("Node")], 60)
    stage.run(200)
    assert running(stage) == 1
    assert [it.provider_id for it in stage.living()] == [it["spec"]["providerID"] for it in stage.all("Node")]


def test_a_claim_that_could_not_be_created_is_planned_for_again(make: Make) -> None:
    stage = make()
    karpenter = stage.start()
    stage.run(2)
    objects = karpenter.provisioner._objects
    create = objects.create
    refused: list[Tree] = []

    async def refusing(reading: type, tree: Tree) -> str:
        if len(refused) < 1:
            refused.append(tree)
            raise Conflict("somebody was faster")
        return await create(reading, tree)

    objects.create = refusing  # type: ignore[method-assign]
    stage.replicas = 1
    stage.until(lambda: running(stage) == 1, 60)
    assert len(refused) == 1
