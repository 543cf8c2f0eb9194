"""The scheduler at the API: what it binds, when it tries again, and what people are told."""

from typing import Any

import msgspec
import pytest

from baseload.decide.schedule.profile import Profile
from baseload.embedded.actors.scheduler.scheduler import Scheduler
from baseload.embedded.actors.scheduler.settings import Settings
from baseload.embedded.store.deletion import Options
from baseload.embedded.store.record import Record
from tests.embedded.actors.acting import Stage, node, pod

NOW = Options(grace_seconds=0)


def scheduled(*profiles: Profile) -> tuple[Stage, Scheduler]:
    stage = Stage()
    settings = Settings(profiles=profiles) if profiles else Settings()
    scheduler = Scheduler(stage.cluster, stage.clock, settings)
    stage.clock.start(scheduler.run(), name="scheduler")
    return stage, scheduler


def join(stage: Stage, name: str, zone: str = "", taints: tuple[dict[str, str], ...] = (), **allocatable: str) -> None:
    """A node that is ready: a new one carries a taint until its kubelet says so."""
    tree = node(name, **allocatable)
    if zone:
        tree["metadata"]["labels"]["topology.kubernetes.io/zone"] = zone
    stage.user.merge(stage.create(tree), {"spec": {"taints": list(taints)}})


def asking(name: str, cpu: str = "1", **spec: Any) -> dict[str, Any]:
    containers = [{"name": "main", "image": "nginx:1", "resources": {"requests": {"cpu": cpu}}}]
    return pod(name, containers=containers, **spec)


def node_of(stage: Stage, name: str) -> str:
    return str(stage.tree("", "Pod", name)["spec"].get("nodeName", ""))


def condition(stage: Stage, name: str) -> dict[str, Any]:
    conditions = stage.tree("", "Pod", name)["status"].get("conditions", [])
    found: dict[str, Any] = next((held for held in conditions if held["type"] == "PodScheduled"), {})
    return found


def events(stage: Stage, about: str) -> list[tuple[str, str, str]]:
    trees = [stage.tree("", "Event", held.name) for held in stage.user.records("", "Event").values()]
    return [(t["type"], t["reason"], t["message"]) for t in trees if t["involvedObject"]["name"] == about]


def count(stage: Stage, about: str, reason: str) -> int:
    trees = [stage.tree("", "Event", held.name) for held in stage.user.records("", "Event").values()]
    told = [t for t in trees if t["involvedObject"]["name"] == about and t["reason"] == reason]
    return sum(t.get("series", {"count": 1})["count"] for t in told)


def held(stage: Stage, kind: str, name: str, group: str = "") -> Record:
    resource = stage.user.resource(group, kind)
    return stage.cluster.store.get(resource, "default" if resource.namespaced else "", name)


def test_a_pod_is_bound_and_people_are_told() -> None:
    stage, _ = scheduled()
    join(stage, "n1")
    stage.create(asking("web"))
    stage.run(1)
    assert node_of(stage, "web") == "n1"
    assert condition(stage, "web")["status"] == "True"
    assert events(stage, "web") == [("Normal", "Scheduled", "Successfully assigned default/web to n1")]


def test_pods_are_bound_one_after_the_other() -> None:
    stage, _ = scheduled()
    join(stage, "n1")
    for at in range(4):
        stage.create(asking(f"p{at}"))
    stage.run(0.025)
    assert sum(bool(node_of(stage, f"p{at}")) for at in range(4)) == 2


def test_a_pod_that_fits_nowhere_says_why() -> None:
    stage, _ = scheduled()
    for at in (1, 2):
        join(stage, f"small{at}", cpu="1")
    join(stage, "tainted", taints=({"key": "team", "effect": "NoSchedule"},))
    stage.create(asking("web", "2"))
    stage.run(1)
    text = (
        "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu. "
        "preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
    )
    told = condition(stage, "web")
    assert (told["status"], told["reason"], told["message"]) == ("False", "Unschedulable", text)
    assert told["observedGeneration"] == 1
    assert events(stage, "web") == [("Warning", "FailedScheduling", text)]


def test_full_nodes_may_have_victims_and_cordoned_ones_have_none() -> None:
    stage, _ = scheduled()
    for at in range(10):
        join(stage, f"full{at}")
        stage.create(asking(f"there{at}", "3"))
    stage.run(5)
    for at in range(2):
        join(stage, f"cordoned{at}")
        stage.user.merge(held(stage, "Node", f"cordoned{at}"), {"spec": {"unschedulable": True}})
    stage.create(asking("web", "3"))
    stage.run(1)
    assert condition(stage, "web")["message"] == (
        "0/12 nodes are available: 10 Insufficient cpu, 2 node(s) were unschedulable. preemption: 0/12 nodes are "
        "available: 10 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling."
    )


def test_who_may_not_be_tried_again_is_not_and_a_node_with_room_wakes_it() -> None:
    stage, scheduler = scheduled()
    join(stage, "small", cpu="1")
    stage.create(asking("web", "2"))
    stage.run(60)
    assert scheduler.cycles == 1
    join(stage, "tiny", cpu="1")
    stage.run(5)
    assert scheduler.cycles == 1
    join(stage, "large")
    stage.run(5)
    assert (scheduler.cycles, node_of(stage, "web")) == (2, "large")


def test_a_deleted_pod_makes_room_but_one_without_a_node_wakes_nobody() -> None:
    stage, scheduler = scheduled()
    join(stage, "n1")
    stage.create(asking("first", "3"))
    stage.run(1)
    stage.create(asking("second", "3"))
    stage.create(pod("elsewhere", schedulerName="other"))
    stage.run(30)
    assert scheduler.cycles == 2
    stage.user.delete(held(stage, "Pod", "elsewhere"))
    stage.run(30)
    assert scheduler.cycles == 2
    stage.user.delete(held(stage, "Pod", "first"), NOW)
    stage.run(1)
    assert node_of(stage, "second") == "n1"


def test_after_five_minutes_a_pod_is_tried_again_without_any_event() -> None:
    stage, scheduler = scheduled()
    join(stage, "n1")
    stage.create(asking("web", "9"))
    stage.run(299)
    assert scheduler.cycles == 1
    stage.run(40)
    assert scheduler.cycles == 2
    assert count(stage, "web", "FailedScheduling") == 2


def test_without_any_node_pods_try_again_by_their_back_off() -> None:
    stage, scheduler = scheduled()
    stage.create(asking("web"))
    stage.run(40)
    assert condition(stage, "web")["message"] == "no nodes available to schedule pods"
    assert scheduler.cycles in (6, 7)  # at 0, and after 1, 2, 4, 8, 10 and 10 seconds


def test_a_gated_pod_waits_in_silence_until_its_gates_are_gone() -> None:
    stage, scheduler = scheduled()
    join(stage, "n1")
    made = stage.create(asking("web", schedulingGates=[{"name": "quota"}]))
    stage.run(10)
    assert (scheduler.cycles, events(stage, "web")) == (0, [])
    assert condition(stage, "web")["reason"] == "SchedulingGated"
    stage.user.merge(made, {"spec": {"schedulingGates": None}})
    stage.run(1)
    assert node_of(stage, "web") == "n1"


def test_the_more_important_pod_goes_first() -> None:
    stage, _ = scheduled()
    stage.create(
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 9}
    )
    join(stage, "n1", cpu="1")
    stage.create(asking("low"))
    stage.create(asking("high", priorityClassName="high"))
    stage.run(1)
    assert (node_of(stage, "low"), node_of(stage, "high")) == ("", "n1")


def test_pods_of_other_schedulers_are_left_alone() -> None:
    stage, scheduler = scheduled()
    join(stage, "n1")
    stage.create(pod("theirs", schedulerName="other"))
    stage.run(5)
    assert (scheduler.cycles, node_of(stage, "theirs")) == (0, "")


@pytest.mark.parametrize(("strategy", "expected"), [("LeastAllocated", "empty"), ("MostAllocated", "used")])
def test_a_profile_may_spread_or_pack(strategy: Any, expected: str) -> None:
    stage, _ = scheduled(Profile(scoring_strategy=strategy))
    join(stage, "used")
    stage.create(asking("first", "2"))
    stage.run(1)
    join(stage, "empty")
    stage.create(asking("second"))
    stage.run(1)
    assert node_of(stage, "second") == expected


def test_two_profiles_share_one_queue() -> None:
    stage, _ = scheduled(Profile(), Profile(scheduler_name="packing", scoring_strategy="MostAllocated"))
    join(stage, "used")
    stage.create(asking("first", "2"))
    stage.run(1)
    join(stage, "empty")
    stage.create(asking("packed", schedulerName="packing"))
    stage.run(1)
    stage.create(asking("spread"))
    stage.run(1)
    assert (node_of(stage, "packed"), node_of(stage, "spread")) == ("used", "empty")


def test_replicas_of_one_deployment_keep_their_distance_by_its_replica_set() -> None:
    stage, _ = scheduled()
    for name, zone in (("a1", "a"), ("b1", "b")):
        join(stage, name, zone)
    template = {"metadata": {"labels": {"app": "web"}}, "spec": asking("x")["spec"]}
    spec = {"replicas": 4, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    owner = stage.create({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web"}, "spec": spec})
    reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": owner.uid, "controller": True}
    for at in range(4):
        tree = asking(f"web-{at}", "10m")
        tree["metadata"] |= {"labels": {"app": "web"}, "ownerReferences": [reference]}
        stage.create(tree)
    stage.run(1)
    assert sorted(node_of(stage, f"web-{at}") for at in range(4)) == ["a1", "a1", "b1", "b1"]


def with_priorities() -> tuple[Stage, Scheduler]:
    stage, scheduler = scheduled()
    for name, value in (("low", 10), ("mid", 50), ("high", 100)):
        tree = {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
        }
        stage.create(tree)
    return stage, scheduler


def test_an_important_pod_takes_the_place_of_a_lesser_one() -> None:
    stage, _ = with_priorities()
    join(stage, "n1")
    stage.create(asking("victim", "3", priorityClassName="low"))
    stage.create(asking("spared", "500m", priorityClassName="low"))
    stage.run(1)
    vip = stage.create(asking("vip", "3", priorityClassName="high"))
    stage.run(1)

    victim = stage.tree("", "Pod", "victim")
    assert victim["metadata"]["deletionGracePeriodSeconds"] == 30
    marked = next(held for held in victim["status"]["conditions"] if held["type"] == "DisruptionTarget")
    assert (marked["reason"], marked["message"]) == (
        "PreemptionByScheduler",
        "default-scheduler: preempting to accommodate a higher priority pod",
    )
    assert ("Normal", "Preempted", f"Preempted by pod {vip.uid} on node n1") in events(stage, "victim")
    assert "deletionTimestamp" not in stage.tree("", "Pod", "spared")["metadata"]
    assert stage.tree("", "Pod", "vip")["status"]["nominatedNodeName"] == "n1"
    assert condition(stage, "vip")["message"] == (
        "0/1 nodes are available: 1 Insufficient cpu. preemption: found a potential placement for pod on node n1, "
        "preempting 1 victims"
    )

    stage.run(20)
    assert node_of(stage, "vip") == ""
    stage.user.delete(held(stage, "Pod", "victim"), NOW)
    stage.run(1)
    told = stage.tree("", "Pod", "vip")
    assert (told["spec"]["nodeName"], told["status"].get("nominatedNodeName", "")) == ("n1", "")


def test_while_the_victim_ends_nobody_else_is_preempted() -> None:
    stage, _ = with_priorities()
    join(stage, "n1")
    for at in range(2):
        stage.create(asking(f"low{at}", "2", priorityClassName="low"))
    stage.run(1)
    stage.create(asking("vip", "2", priorityClassName="high"))
    stage.run(1)
    join(stage, "small", cpu="100m")  # gives the pod another try
    join(stage, "other", cpu="3", pods="0")
    stage.run(60)
    ending = [at for at in range(2) if "deletionTimestamp" in stage.tree("", "Pod", f"low{at}")["metadata"]]
    assert len(ending) == 1


def test_a_pod_that_failed_since_a_node_was_promised_to_another_is_tried_again_when_that_has_gone() -> None:
    stage, _ = with_priorities()
    join(stage, "n1", cpu="4")
    stage.create(asking("victim", "3", priorityClassName="low"))
    stage.run(1)
    stage.create(asking("vip", "3", priorityClassName="high"))
    for at in range(3):  # each gives it another try, and a longer back-off
        stage.run(10)
        join(stage, f"other{at}", taints=({"key": "t", "effect": "NoSchedule"},), cpu="3")
    stage.run(2)
    stage.create(asking("waits", "3", priorityClassName="low"))
    stage.run(2)
    stage.user.delete(held(stage, "Pod", "victim"), NOW)
    stage.run(20)
    assert (node_of(stage, "vip"), node_of(stage, "waits")) == ("n1", "")

    stage.user.delete(held(stage, "Pod", "vip"), NOW)
    stage.run(20)
    assert node_of(stage, "waits") == "n1"


def test_a_pod_that_must_not_preempt_says_so() -> None:
    stage, _ = scheduled()
    polite = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "polite"},
        "value": 5,
        "preemptionPolicy": "Never",
    }
    stage.create(polite)
    join(stage, "n1")
    stage.create(asking("low", "3"))
    stage.run(1)
    stage.create(asking("vip", "3", priorityClassName="polite"))
    stage.run(1)
    assert condition(stage, "vip")["message"] == (
        "0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never."
    )


def test_a_run_is_repeated_to_the_byte() -> None:
    def journal() -> bytes:
        stage, _ = scheduled()
        for at in range(6):
            join(stage, f"n{at}")
        for at in range(30):
            stage.create(asking(f"p{at}", "900m"))
        stage.run(30)
        places = [(held.key, held.node, held.version) for held in stage.user.records("", "Pod").values()]
        return msgspec.json.encode([places, [events(stage, f"p{at}") for at in range(30)]])

    assert journal() == journal()
