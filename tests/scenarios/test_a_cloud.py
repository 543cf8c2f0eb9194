"""What a cloud refuses, and machines that come to nothing: nothing is launched twice, and nothing leaks."""

from collections import Counter
from typing import Any

from tests.scenarios.living import Lived, lived, lived_otherwise, seconds


def planned_types(life: Lived) -> set[str]:
    plans: list[Any] = [entry.plan for entry in life.told("provisioning.planned")]
    return {claim["instanceType"] for plan in plans for claim in plan["nodeClaims"]}


def test_a_stockout_is_no_reason_to_wait_longer() -> None:
    there = lived_otherwise("a_stockout", cloud={"spot": {"swing": 0}}, expect=[])
    [launched] = there.told("instance.launched")
    assert launched.message.startswith("c5.2xlarge, spot")
    out = lived("a_stockout")
    assert out.figure("launches") == there.figure("launches") == 1
    assert abs(out.figure("longestPendingSeconds") - there.figure("longestPendingSeconds")) < 5


def test_the_plan_knows_for_three_minutes_which_offerings_had_nothing() -> None:
    life = lived("a_stockout-of-spot")
    plans: list[Any] = [entry.plan for entry in life.told("provisioning.planned")]
    tried = [claim["capacityType"] for plan in plans for claim in plan["nodeClaims"]]
    assert tried == ["spot", "on-demand", "spot", "on-demand", "spot"]


def test_a_pod_that_a_refusal_left_without_a_node_is_planned_for_again_ten_seconds_later() -> None:
    life = lived("a_quota")
    refused = life.told("event.told", reason="InsufficientCapacityError")
    assert {"MaxSpotInstanceCountExceeded" in entry.message for entry in refused} == {True}
    launched = [entry for entry in life.told("instance.launched") if "on-demand" in entry.message]
    assert 8 < launched[0].moment / 1e9 - refused[0].moment / 1e9 < 12


def test_bare_metal_is_not_bought_for_want_of_addresses() -> None:
    life = lived("a_subnets")
    assert planned_types(life) == {"c5.large"}
    refused = life.told("event.told", reason="InsufficientCapacityError")
    assert {"InsufficientFreeAddressesInSubnet" in entry.message for entry in refused} == {True}
    by_moment = Counter(int(moment) // 60 for moment in seconds(refused, life.report.start))
    assert sorted(by_moment) == [5, 8, 11, 14, 17], "every three minutes"


def test_the_limit_is_told_of_with_what_is_left_of_it() -> None:
    plans: list[Any] = [entry.plan for entry in lived("a_limits").told("provisioning.planned")]
    why = [pod["message"] for plan in plans for pod in plan["unschedulable"]]
    assert any("limits of NodePool default" in message for message in why), why


def test_throttled_calls_are_made_again_until_each_claim_has_its_one_machine() -> None:
    life = lived("a_throttled")
    claims = {entry.object for entry in life.told("nodeclaim.launched")}
    assert len(claims) == life.figure("launches") == 12
    assert len({entry.object for entry in life.told("instance.launched")}) == 12
    unthrottled = lived_otherwise("a_throttled", cloud={}, expect=[], duration="1m")

    def last(of: Lived) -> float:
        return seconds(of.told("nodeclaim.launched"), of.report.start)[-1]

    assert last(unthrottled) < 15 < last(life) < 40


def test_every_machine_that_came_to_nothing_has_ended() -> None:
    life = lived("a_never-registers")
    launched, ended = life.told("instance.launched"), life.told("instance.gone")
    assert len(launched) - len(ended) == 10 == life.figure("nodes.ready")
    assert {entry.reason for entry in life.told("nodeclaim.deleted")} == {"NodeNotFound"}


def test_a_claim_gets_a_quarter_of_an_hour_to_register() -> None:
    life = lived("a_never-registers")
    begun = {entry.object: entry.moment for entry in life.told("nodeclaim.created")}
    waited = [(entry.moment - begun[entry.object]) / 1e9 / 60 for entry in life.told("nodeclaim.deleted")]
    assert len(waited) == life.figure("terminations:deleted") == 11
    assert all(14.98 < minutes < 15.2 for minutes in waited), waited  # conditions know whole seconds


def test_what_can_be_seen_late_only_is_not_taken_for_gone() -> None:
    life = lived("a_late-describe")
    assert not life.told("nodeclaim.deleted")
    assert {entry.object for entry in life.told("nodeclaim.launched")} == {
        entry.object for entry in life.told("nodeclaim.initialized")
    }


def test_machines_that_fail_to_start_are_replaced_as_often_as_it_takes() -> None:
    life = lived("a_fails-to-start")
    failed = life.figure("terminations:failed")
    assert failed == life.figure("launches.unused") == life.figure("launches") - 10 >= 5
    assert failed == len(life.told("nodeclaim.deleted"))


def test_without_a_queue_nobody_hears_of_them_for_a_quarter_of_an_hour() -> None:
    heard = lived("a_fails-to-start")
    cloud = {"queue": {"exists": False}, "failures": [{"kind": "FailsToStart", "percent": 50}]}
    unheard = lived_otherwise("a_fails-to-start", cloud=cloud, expect=[])
    assert heard.figure("longestPendingSeconds") < 120
    assert unheard.figure("longestPendingSeconds") > 15 * 60
