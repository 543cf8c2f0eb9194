"""What of a journal makes its timeline, and how much of it is one line."""

from typing import Any

from baseload.journal.record import Entry
from baseload.report import timeline
from baseload.values import instant
from baseload.values.instant import SECOND

START = instant.parse("2026-01-01T00:00:00Z")


class Journal:
    """Lines at seconds from the start."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def at(
        self, seconds: float, event: str, object: str = "", reason: str = "", message: str = "", **more: Any
    ) -> None:
        moment = instant.format(START + round(seconds * SECOND))
        source = more.get("source", "api")
        self.entries.append(
            Entry(moment, len(self.entries) + 1, source, event, object, reason, message, more.get("plan"))
        )

    def created(self, seconds: float, *pods: str, of: str = "Deployment web") -> None:
        for pod in pods:
            self.at(seconds, "pod.created", f"Pod shop/{pod}", message=f"of {of}")

    def lines(self) -> list[str]:
        return timeline.lines(self.entries, START)


def test_many_alike_are_one_line_until_a_pause_or_somebody_intervenes() -> None:
    journal = Journal()
    journal.created(1, "web-1")
    journal.created(5, "web-2", "web-3")
    journal.created(30, "web-4")
    journal.at(31, "event.scale", source="scenario", message="workload web, replicas 6")
    journal.created(31, "web-5", "web-6")
    assert journal.lines() == [
        " 1s  3 pods of Deployment web created, the last at 5s",
        "30s  1 pod of Deployment web created",
        "31s  > scale workload web, replicas 6",
        "31s  2 pods of Deployment web created",
    ]


def test_what_is_there_from_the_start_is_counted_and_first_looks_are_no_news() -> None:
    journal = Journal()
    journal.at(0, "node.ready", "Node a")
    journal.created(0, "web-1", "web-2")
    journal.at(0.1, "pod.unready", "Pod shop/web-1")
    journal.at(2, "pod.ready", "Pod shop/web-1")
    journal.at(60, "pod.unready", "Pod shop/web-1")
    assert journal.lines() == ["  0s  there are 1 Node and 2 pods", "1m0s  1 pod of Deployment web not ready any more"]


def test_a_pod_waits_once_and_again_after_it_had_a_node() -> None:
    journal = Journal()
    journal.created(1, "web-1")
    why = "0/2 nodes are available: 2 Insufficient cpu. preemption: no victims"
    journal.at(2, "event.told", "Pod shop/web-1", "FailedScheduling", why)
    journal.at(40, "event.told", "Pod shop/web-1", "FailedScheduling", why)
    journal.at(41, "pod.bound", "Pod shop/web-1")
    journal.at(60, "event.told", "Pod shop/web-1", "FailedScheduling", why)
    journal.at(61, "event.told", "Pod shop/web-1", "Pulled", "an image")
    waits = "1 pod of Deployment web waits for a node: 0/2 nodes are available: 2 Insufficient cpu"
    assert journal.lines()[1:] == [f"  2s  {waits}", f"1m0s  {waits}"]


def test_a_plan_says_what_is_launched_for_whom_and_for_whom_nothing_and_why() -> None:
    journal = Journal()
    journal.created(1, "web-1", "web-2", "web-3", "web-4")
    claim = {
        "instanceType": "m5.large",
        "capacityType": "spot",
        "zone": "us-east-1a",
        "pricePerHour": 0.04,
        "pods": ["shop/web-1"],
    }
    larger = {**claim, "instanceType": "m5.xlarge", "pricePerHour": None, "pods": ["shop/web-2", "shop/web-3"]}
    refused = {
        "pods": ["shop/web-4"],
        "message": "default: the limits are reached",
        "rejections": [
            {"target": "nodePool/default", "reason": "LimitExceeded", "message": "the limits are reached"},
            {"target": "node/a", "reason": "InsufficientResources", "message": "cpu"},
        ],
    }
    plan = {"nodeClaims": [claim, claim, larger], "unschedulable": [refused]}
    journal.at(2, "provisioning.planned", "Plan 1", source="karpenter", plan=plan)
    other = {**refused, "pods": ["shop/web-1"]}
    journal.at(9, "provisioning.planned", "Plan 2", source="karpenter", plan={"unschedulable": [other]})
    assert journal.lines()[1:] == [
        "2s  planned 3 NodeClaims for 4 pods",
        "      2 x m5.large spot in us-east-1a at $0.0400, for 1 pod",
        "      1 x m5.xlarge spot in us-east-1a at an unknown price, for 2 pods",
        "2s  no node is launched for 1 pod of Deployment web: NodePool default: the limits are reached",
    ]


def test_the_steps_of_claims_and_nodes_are_told_with_their_names_while_they_are_few() -> None:
    journal = Journal()
    for number in (1, 2):
        said = f"instance i-{number}, m5.large, spot, us-east-1a, NodePool default"
        journal.at(3 + number, "nodeclaim.launched", f"NodeClaim default-{number}", message=said)
    for number in range(4):
        journal.at(20, "node.ready", f"Node n{number}")
    journal.at(50, "node.notready", "Node n1", "NodeStatusUnknown", "Kubelet stopped posting node status.")
    journal.at(70, "instance.ending", "Instance i-1", "Server.SpotInstanceTermination", "m5.large")
    assert journal.lines() == [
        "   4s  2 NodeClaims (default-1, default-2) launched: m5.large, spot, us-east-1a, NodePool default, "
        "the last at 5s",
        "  20s  4 Nodes Ready",
        "  50s  Node n1 NotReady: NodeStatusUnknown",
        "1m10s  Instance i-1 ending: Server.SpotInstanceTermination",
    ]


def test_that_a_deleted_pod_ends_is_no_news_and_one_that_is_cut_off_is() -> None:
    journal = Journal()
    journal.created(1, "web-1", "web-2")
    journal.at(5, "pod.deleted", "Pod shop/web-1")
    journal.at(6, "pod.unready", "Pod shop/web-1")
    journal.at(6, "pod.failed", "Pod shop/web-1")
    journal.at(7, "pod.cutoff", "Pod shop/web-2", "interrupted")
    assert journal.lines()[1:] == [
        "5s  1 pod of Deployment web deleted",
        "7s  1 pod of Deployment web cut off by the end of their machine: interrupted",
    ]


def test_nothing_happened_is_no_line() -> None:
    assert timeline.lines([], START) == []
