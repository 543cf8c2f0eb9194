"""What messages of the interruption queue mean, and what is done about them."""

from typing import Any

import msgspec
import pytest

from baseload.cloud.port import InstanceStatus
from baseload.cloud.simulated import messages
from baseload.decide.lifecycle import interruption
from baseload.decide.lifecycle.interruption import Notice
from tests.decide.lifecycle.builders import NOON, at, claim, text

ID = "i-0123456789abcdef0"


def event(detail_type: str, detail: Any, *, source: str = "aws.ec2", version: str = "0") -> str:
    tree = {"version": version, "source": source, "detail-type": detail_type, "detail": detail}
    return msgspec.json.encode(tree).decode()


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (messages.spot_interruption("1", "us-east-1", ID, NOON), "spot_interrupted"),
        (messages.rebalance("1", "us-east-1", ID, NOON), "rebalance_recommendation"),
        (messages.state_change("1", "us-east-1", ID, NOON, "stopping"), "instance_stopped"),
        (messages.state_change("1", "us-east-1", ID, NOON, "stopped"), "instance_stopped"),
        (messages.state_change("1", "us-east-1", ID, NOON, "shutting-down"), "instance_terminated"),
        (messages.state_change("1", "us-east-1", ID, NOON, "terminated"), "instance_terminated"),
        (messages.retirement("1", "us-east-1", ID, NOON, NOON), "scheduled_change"),
        (
            event("EC2 Capacity Reservation Instance Interruption Warning", {"instance-id": ID}),
            "capacity_reservation_interrupted",
        ),
    ],
)
def test_messages_are_told_apart_by_source_and_detail_type(body: str, kind: interruption.Kind) -> None:
    assert interruption.notice_of(body) == Notice(kind, (ID,))


@pytest.mark.parametrize(
    "body",
    [
        "",
        "no JSON",
        "[]",
        event("Something Else", {"instance-id": ID}),
        event("EC2 Spot Instance Interruption Warning", {"instance-id": ID}, version="1"),
        event("EC2 Spot Instance Interruption Warning", {"instance-id": ID}, source="aws.rds"),
        messages.state_change("1", "us-east-1", ID, NOON, "running"),
        event("AWS Health Event", {"service": "RDS", "eventTypeCategory": "scheduledChange"}, source="aws.health"),
        event("AWS Health Event", {"service": "EC2", "eventTypeCategory": "issue"}, source="aws.health"),
    ],
)
def test_what_is_unknown_or_unreadable_means_nothing(body: str) -> None:
    assert interruption.notice_of(body) is None


def test_a_scheduled_change_means_every_affected_entity() -> None:
    detail = {
        "service": "EC2",
        "eventTypeCategory": "scheduledChange",
        "affectedEntities": [{"entityValue": "i-1"}, {"entityValue": "i-2"}],
    }
    body = event("AWS Health Event", detail, source="aws.health")
    assert interruption.notice_of(body) == Notice("scheduled_change", ("i-1", "i-2"))


def test_a_failed_check_counts_after_two_minutes_and_a_scheduled_event_at_once() -> None:
    statuses = (
        InstanceStatus("i-1", instance_check_failed=at(0)),
        InstanceStatus("i-2", system_check_failed=at(1)),
        InstanceStatus("i-3", events=("instance-retirement",)),
    )
    assert interruption.notices_of(statuses, at(119)) == (Notice("event_status", ("i-3",)),)
    assert interruption.notices_of(statuses, at(120)) == (
        Notice("instance_status", ("i-1",)),
        Notice("event_status", ("i-3",)),
    )
    assert Notice("system_status", ("i-2",)) in interruption.notices_of(statuses, at(121))


def test_a_broken_machine_holds_nothing_and_an_earlier_deadline_stays() -> None:
    mark = "karpenter.sh/nodeclaim-termination-timestamp"
    assert interruption.made_to_end(claim(), "instance_status", at(5)).metadata.annotations == {mark: text(5)}
    dated = claim(annotations={mark: text(600)})
    assert interruption.made_to_end(dated, "system_status", at(5)) is dated
    plain = claim()
    assert interruption.made_to_end(plain, "spot_interrupted", at(5)) is plain
    assert interruption.made_to_end(plain, "event_status", at(5)) is plain


def test_a_spot_interruption_alone_shuts_its_offering() -> None:
    labels = {"node.kubernetes.io/instance-type": "m5.large", "topology.kubernetes.io/zone": "us-east-1a"}
    held = claim(labels=labels)
    assert interruption.refused(held, "spot_interrupted") == ("m5.large", "us-east-1a", "spot")
    assert interruption.refused(held, "instance_stopped") is None
    assert interruption.refused(claim(labels={}), "spot_interrupted") is None


def test_a_recommendation_is_told_and_no_more() -> None:
    assert not interruption.ends("rebalance_recommendation")
    assert interruption.ends("spot_interrupted")
    assert interruption.told("rebalance_recommendation").type == "Normal"


def test_a_reservation_that_ends_shuts_its_offering_and_one_that_is_not_the_machine_s_nothing() -> None:
    labels = {"node.kubernetes.io/instance-type": "m5.large", "topology.kubernetes.io/zone": "us-east-1a"}
    reserved = claim(labels={**labels, "karpenter.sh/capacity-type": "reserved"})

    assert interruption.refused(reserved, "capacity_reservation_interrupted") == ("m5.large", "us-east-1a", "reserved")
    assert interruption.refused(claim(labels=labels), "capacity_reservation_interrupted") is None
