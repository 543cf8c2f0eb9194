"""What claims are marked with, when they expire, and which nodes are repaired (spec 4.3, 4.4, 12.2, 24.1, 24.3)."""

from typing import Any

import msgspec
import pytest

from baseload.decide.lifecycle import conditions, expiration, markers, pod_events, repair, repair_policies
from baseload.decide.lifecycle.names import TERMINATION
from baseload.decide.lifecycle.repair_policies import Policy
from baseload.kube.types.core import Node
from baseload.kube.types.karpenter import NodeClaim, NodeClassReference, NodePool
from baseload.values.duration import MINUTE
from tests.decide.lifecycle.builders import at, claim, condition, node, text

LAUNCHED = condition("Launched", "True")
INITIALIZED = condition("Initialized", "True", since=100)
DRIFTED = condition("Drifted", "True", reason="AMIDrift")
CONSOLIDATABLE = condition("Consolidatable", "True")


def pool(after: str = "", **spec: Any) -> NodePool:
    tree = {"metadata": {"name": "default"}, "spec": {"disruption": {"consolidateAfter": after}, **spec}}
    return msgspec.convert(tree, NodePool)


def held(of: NodeClaim) -> dict[str, str]:
    """The marks: type -> reason."""
    both = (conditions.find(of.status.conditions, type) for type in ("Consolidatable", "Drifted"))
    return {one.type: one.reason for one in both if one is not None}


@pytest.mark.parametrize(
    ("after", "now", "expected", "again"),
    [
        ("", 100, True, None),  # 0s is the default: there is no window
        ("0s", 100, True, None),
        ("Never", 10_000, False, None),
        ("30s", 129, False, 1),
        ("30s", 130, True, None),  # at the very moment it is over
        ("1h", 200, False, 3500),
    ],
)
def test_a_node_may_be_consolidated_once_its_pods_let_it_alone_for_so_long(
    after: str, now: float, expected: bool, again: int | None
) -> None:
    step = markers.marked(claim(LAUNCHED, INITIALIZED), pool(after), None, at(now))

    assert ("Consolidatable" in held(step.claim)) is expected
    assert step.again == (None if again is None else again * 10**9)


def test_the_last_event_of_a_pod_begins_the_window_anew() -> None:
    busy = claim(LAUNCHED, INITIALIZED, CONSOLIDATABLE, status={"lastPodEventTime": text(500)})

    assert held(markers.marked(busy, pool("30s"), None, at(529)).claim) == {}
    assert held(markers.marked(busy, pool("30s"), None, at(530)).claim) == {"Consolidatable": "Consolidatable"}


def test_what_is_not_initialised_is_not_consolidatable_whatever_the_pool_says() -> None:
    booting = claim(LAUNCHED, condition("Initialized", "Unknown"), CONSOLIDATABLE)

    assert held(markers.marked(booting, pool("0s"), None, at(0)).claim) == {}
    assert markers.window_end(booting, pool("30s")) is None


def test_claims_of_static_pools_are_never_consolidatable_but_drift() -> None:
    step = markers.marked(claim(LAUNCHED, INITIALIZED), pool(replicas=1), "NodePoolDrifted", at(200))

    assert held(step.claim) == {"Drifted": "NodePoolDrifted"}


def test_drift_is_told_with_its_reason_and_taken_back_when_it_is_over_or_nothing_is_launched() -> None:
    plain, launching = claim(LAUNCHED), claim(condition("Launched", "Unknown"), DRIFTED)

    assert held(markers.marked(plain, pool("Never"), "SubnetDrift", at(0)).claim) == {"Drifted": "SubnetDrift"}
    assert held(markers.marked(claim(LAUNCHED, DRIFTED), pool("Never"), None, at(0)).claim) == {}
    assert held(markers.marked(launching, pool("Never"), "AMIDrift", at(0)).claim) == {}


def test_another_reason_for_drift_leaves_a_claim_its_place_in_the_order() -> None:
    after = markers.marked(claim(LAUNCHED, DRIFTED), pool("Never"), "SubnetDrift", at(900)).claim

    assert held(after) == {"Drifted": "SubnetDrift"}
    assert conditions.since(after.status.conditions, "Drifted") == at(0)


def test_a_claim_that_is_deleted_keeps_its_marks_and_one_that_says_so_already_is_not_written() -> None:
    doomed = claim(LAUNCHED, DRIFTED, deletionTimestamp=text(0))
    marked = claim(LAUNCHED, INITIALIZED, DRIFTED, CONSOLIDATABLE)

    assert markers.marked(doomed, pool(), None, at(1)).claim is doomed
    assert markers.marked(marked, pool(), "AMIDrift", at(500)).claim is marked


def test_events_of_pods_are_noted_to_the_second_and_not_more_often_than_every_ten() -> None:
    first = pod_events.noted(claim(), at(3.7))
    quiet = pod_events.noted(first, at(12.9))
    later = pod_events.noted(first, at(13))

    assert first.status.last_pod_event_time == text(3)
    assert quiet is first
    assert later.status.last_pod_event_time == text(13)


@pytest.mark.parametrize(
    ("expire_after", "now", "expected"),
    [
        ("1h", 3599, False),
        ("1h", 3600, True),
        ("Never", 10**9, False),
        ("", 720 * 3600 - 1, False),
        ("", 720 * 3600, True),
    ],
)
def test_a_claim_expires_by_its_own_word_counted_from_its_creation(
    expire_after: str, now: float, expected: bool
) -> None:
    of = claim(spec={"expireAfter": expire_after})

    assert expiration.is_expired(of, at(now)) is expected


def test_a_claim_that_is_deleted_does_not_expire() -> None:
    assert not expiration.is_expired(claim(spec={"expireAfter": "1s"}, deletionTimestamp=text(0)), at(100))


POLICIES = (Policy("Ready", "False", 30 * MINUTE), Policy("DiskOK", "False", 10 * MINUTE))


def unwell(*said: dict[str, str]) -> Node:
    return node(status={"conditions": list(said)})


def test_the_earliest_end_of_toleration_counts() -> None:
    both = unwell(condition("Ready", "False", since=0), condition("DiskOK", "False", since=900))

    assert repair.repaired_at(both, POLICIES) == at(900 + 600)
    assert repair.repaired_at(unwell(condition("Ready", "Unknown")), POLICIES) is None
    assert repair.repaired_at(unwell(condition("Ready", "Unknown")), repair_policies.AWS) == at(1800)


@pytest.mark.parametrize(("well", "bad", "held_back"), [(2, 1, False), (1, 2, True), (8, 2, False), (7, 3, True)])
def test_nothing_is_repaired_while_more_than_a_fifth_rounded_up_is_unwell(well: int, bad: int, held_back: bool) -> None:
    nodes = [unwell(condition("Ready", "True"))] * well + [unwell(condition("Ready", "False"))] * bad

    assert repair.is_held_back(nodes, POLICIES) is held_back


@pytest.mark.parametrize(("before", "after"), [(None, 60), (600, 60), (30, 30)])
def test_a_repaired_node_is_given_no_time_whatever_grace_it_had(before: float | None, after: float) -> None:
    annotations = {} if before is None else {TERMINATION: text(before)}

    assert repair.made_to_end(claim(annotations=annotations), at(60)).metadata.annotations[TERMINATION] == text(after)


def test_policies_are_those_of_the_provider() -> None:
    assert (
        repair_policies.policies_of(NodeClassReference("karpenter.kwok.sh", "KWOKNodeClass", "d"))[0].tolerated
        == 10 * MINUTE
    )
    aws = repair_policies.policies_of(NodeClassReference("karpenter.k8s.aws", "EC2NodeClass", "d"))
    assert {it.type for it in aws if it.tolerated == 10 * MINUTE} == {"AcceleratedHardwareReady"}
