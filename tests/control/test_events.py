"""What pods, pools and nodes are told, how often, and how much of it at once."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from baseload.act.event_objects import EventObjects
from baseload.act.events import BURST, WAITING, Events
from baseload.kube.types.core import Pod
from baseload.plan.lifecycle import Told
from tests.control.stage import Stage, node_class, pod, pool, running

WARNED = Told("FailedDraining", "Failed to drain node, 2 pods are waiting to be evicted", "Warning")


@pytest.fixture
def stage() -> Iterator[Stage]:
    one = Stage()
    yield one
    one.close()


def writer(stage: Stage) -> Events:
    events = Events(stage.clock, EventObjects(stage.client("karpenter")))
    stage.begin(events.run(), "events")
    return events


def some(stage: Stage, name: str = "web") -> Pod:
    return msgspec.convert({"metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}"}}, Pod)


def told(stage: Stage, reason: str) -> list[dict[str, Any]]:
    return [it for it in stage.all("Event") if it["reason"] == reason]


def test_one_reason_is_told_of_an_object_once_in_two_minutes_whatever_the_words(stage: Stage) -> None:
    events = writer(stage)
    events.tell(some(stage), WARNED)
    stage.run(100)
    events.tell(
        some(stage), Told("FailedDraining", "Failed to drain node, 1 pods are waiting to be evicted", "Warning")
    )
    events.tell(some(stage, "other"), WARNED)
    stage.run(1)
    assert Counter(it["involvedObject"]["name"] for it in told(stage, "FailedDraining")) == {"web": 1, "other": 1}


def test_faults_of_one_reason_are_told_each_by_their_words(stage: Stage) -> None:
    events = writer(stage)
    for words in ("cpu is short", "memory is short", "cpu is short"):
        events.tell(some(stage), Told("FailedConsistencyCheck", words, "Warning", each_by_words=True))
    stage.run(1)
    assert [it["count"] for it in told(stage, "FailedConsistencyCheck")] == [1, 1]


def test_an_equal_event_is_counted_in_the_one_that_is_there(stage: Stage) -> None:
    events = writer(stage)
    for _ in range(3):
        events.tell(some(stage), WARNED)
        stage.run(121)
    [it] = told(stage, "FailedDraining")
    assert (it["count"], it["source"]["component"]) == (3, "karpenter")
    assert it["lastTimestamp"] > it["firstTimestamp"]


def test_an_event_that_the_api_has_forgotten_is_told_anew(stage: Stage) -> None:
    events = writer(stage)
    events.tell(some(stage), WARNED)
    stage.run(121)
    stage.delete("Event", told(stage, "FailedDraining")[0]["metadata"]["name"], "default")
    events.tell(some(stage), WARNED)
    stage.run(1)
    assert [it["count"] for it in told(stage, "FailedDraining")] == [1]


def test_ten_nominations_are_told_at_once_and_five_a_second(stage: Stage) -> None:
    events = writer(stage)
    for number in range(40):
        events.tell(some(stage, f"web-{number}"), Told("Nominated", "Pod should schedule on: x", is_paced=True))
    stage.run(1)
    assert len(told(stage, "Nominated")) == BURST
    for number in range(40, 80):
        events.tell(some(stage, f"web-{number}"), Told("Nominated", "Pod should schedule on: x", is_paced=True))
    stage.run(1)
    assert len(told(stage, "Nominated")) == BURST + 5


def test_of_what_is_told_at_once_no_more_is_written_than_waits(stage: Stage) -> None:
    events = writer(stage)
    for number in range(WAITING + 100):
        events.tell(some(stage, f"web-{number}"), Told("FailedScheduling", "Failed to schedule pod", "Warning"))
    stage.run(1)
    assert len(told(stage, "FailedScheduling")) == WAITING


def test_pods_are_told_where_they_should_go_and_the_claim_is_there(stage: Stage) -> None:
    stage.create(node_class())
    stage.create(pool())
    stage.replicas = 3
    stage.start()
    stage.until(lambda: running(stage) == 3, 60)
    [claim] = stage.all("NodeClaim")
    words = {it["message"].partition(",")[0] for it in told(stage, "Nominated")}
    assert words == {f"Pod should schedule on: nodeclaim/{claim['metadata']['name']}"}
    assert {it["involvedObject"]["name"] for it in told(stage, "Nominated")} == {"web-1", "web-2", "web-3"}


def test_a_pod_that_no_limit_leaves_room_for_is_told_every_15_minutes(stage: Stage) -> None:
    stage.create(node_class())
    stage.create(pool(limits={"cpu": "1"}))
    stage.create(pod("web"))
    stage.start()
    stage.run(60)
    [it] = told(stage, "FailedScheduling")
    assert it["message"] == (
        "Failed to schedule pod, all available instance types exceed limits for nodepool (NodePool=default)"
    )
    stage.run(30 * 60)
    assert told(stage, "FailedScheduling")[0]["count"] == 3


def test_a_pool_that_can_launch_nothing_says_so(stage: Stage) -> None:
    impossible = {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["m9.none"]}
    stage.create(node_class())
    stage.create(pool(requirements=(impossible,)))
    stage.create(pod("web"))
    stage.start()
    stage.run(20)
    [it] = told(stage, "NoCompatibleInstanceTypes")
    assert it["involvedObject"]["kind"] == "NodePool"
    assert it["message"] == "NodePool requirements filtered out all compatible available instance types"
    [it] = told(stage, "FailedScheduling")
    assert it["message"] == ("Failed to schedule pod, nodepool requirements filtered out all available instance types")
