"""What passes tell of pods, in Karpenter's words."""

from dataclasses import replace

from baseload.decide.lifecycle import telling
from baseload.model.statenode import StateNode
from baseload.plan.provision import ProvisionPlan, Rejection, Unschedulable
from baseload.plan.reason import Reason
from tests.decide.lifecycle.builders import claim, node

NOTHING = ProvisionPlan((), (), (), (), (), (), 0)


def told(reason: Reason, *rejections: Rejection, message: str = "no place") -> list[str]:
    plan = replace(NOTHING, unschedulable=(Unschedulable("default/web", reason, message, rejections=rejections),))
    found = list(telling.failures(plan))
    assert all(pod == "default/web" and it.reason == "FailedScheduling" and it.type == "Warning" for pod, it in found)
    return [it.message for _, it in found]


def test_a_pod_without_a_place_is_told_the_error_of_each_pool() -> None:
    errors = (
        Rejection("nodePool/a", Reason.LIMITS, "in our words"),
        Rejection("nodePool/b", Reason.NODE_LIMIT, "in our words"),
        Rejection("nodePool/c", Reason.TAINT, "did not tolerate taint team=x:NoSchedule"),
        Rejection("nodePool/d", Reason.EMPTY_POOL, "launches nothing"),
        Rejection("node/n1", Reason.RESOURCES, "is full"),
    )
    assert told(Reason.TAINT, *errors) == [
        "Failed to schedule pod, all available instance types exceed limits for nodepool (NodePool=a); "
        "node limits have been exhausted for nodepool (NodePool=b); did not tolerate taint team=x:NoSchedule"
    ]


def test_where_no_pool_launches_anything_pods_are_told_so() -> None:
    empty = Rejection("nodePool/a", Reason.EMPTY_POOL, "launches nothing")
    words = ["Failed to schedule pod, nodepool requirements filtered out all available instance types"]
    assert told(Reason.EMPTY_POOL, empty) == told(Reason.EMPTY_POOL) == words


def test_a_pod_that_no_pass_may_look_at_is_told_why() -> None:
    assert told(Reason.VOLUME, message='persistentvolumeclaim "data" not found') == [
        'Failed to schedule pod, persistentvolumeclaim "data" not found'
    ]
    [words] = told(Reason.RESOURCE_CLAIM)
    assert words.endswith("pod has Dynamic Resource Allocation requirements that are not yet supported by Karpenter")


def test_pods_that_are_none_of_its_business_are_told_nothing() -> None:
    for reason in (Reason.OPTED_OUT, Reason.GATED, Reason.DAEMON, Reason.NO_POOL, Reason.NOT_SYNCED, Reason.RESERVED):
        assert told(reason) == []


def test_a_pod_is_told_where_it_should_go() -> None:
    held = claim()
    assert telling.on_new("default-abcde").message == "Pod should schedule on: nodeclaim/default-abcde"
    coming, there = StateNode(None, held), StateNode(node(), held)
    assert telling.on_existing(coming).message == "Pod should schedule on: nodeclaim/default-abcde"
    assert telling.on_existing(there).message == "Pod should schedule on: nodeclaim/default-abcde, node/n1"
    assert telling.on_existing(StateNode(node(), None)).message == "Pod should schedule on: node/n1"
