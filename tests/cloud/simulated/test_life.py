"""What becomes of an instance, and of the machine behind it, in time."""

import json
from dataclasses import replace
from typing import Any

import pytest

from baseload.cloud.errors import Conflict, NotFound
from baseload.cloud.machines import Follower
from baseload.cloud.port import LIVING, Instance
from baseload.values import instant
from baseload.values.instant import SECOND
from tests.cloud.simulated.clouds import START, Run

BOOT = {"running": "5s", "registers": "10s", "ready": "4s"}


def launched(run: Run, *names: str, **options: Any) -> Instance:
    return run.ask(run.cloud.launch(run.fleet(*names, **options))).instance


def told(run: Run, follower: Follower) -> list[tuple[float, str]]:
    """What became of machines, by the seconds after the start."""
    assert run.clock.now() >= START
    return [((change.at - START) / SECOND, change.what) for change in follower.take()]


def said(run: Run) -> list[dict[str, Any]]:
    """The bodies of what is in the queue, which are deleted."""
    found = []
    while messages := run.ask(run.cloud.receive(seconds=0)):
        for message in messages:
            found.append(json.loads(message.body))
            run.ask(run.cloud.delete_message(message.receipt))
    return found


def state(run: Run, instance: Instance) -> tuple[str, str]:
    described = run.ask(run.cloud.instance(instance.id))
    return described.state, described.reason


def test_a_machine_boots_when_its_instance_runs_and_knows_when_its_node_comes() -> None:
    run = Run(boot=BOOT)
    follower = run.cloud.follow()
    instance = launched(run)
    run.until(4)
    assert (state(run, instance)[0], run.cloud.machines(), follower.take()) == ("pending", (), ())
    run.until(6)

    (machine,) = run.cloud.machines()
    assert state(run, instance)[0] == machine.instance.state == "running"
    assert (machine.booted - START) / SECOND == 5
    assert (machine.registers_after, machine.ready_after) == (10 * SECOND, 4 * SECOND)
    assert told(run, follower) == [(5, "booted")]


def test_whoever_follows_machines_is_woken_in_the_moment_of_a_change() -> None:
    run = Run(boot=BOOT)
    follower = run.cloud.follow()
    woken: list[tuple[float, str]] = []

    async def following() -> None:
        while await follower.wait(3600):
            woken.extend((run.seconds, change.what) for change in follower.take())

    run.clock.start(following())
    instance = launched(run)
    run.until(50)
    run.cloud.region.terminate(instance.id)
    run.until(100)
    assert woken == [(5, "booted"), (50, "gone")]


def test_whoever_begins_to_follow_is_told_of_the_machines_that_there_are() -> None:
    run = Run(boot=BOOT)
    first, _, gone = (launched(run) for _ in range(3))
    run.until(20)
    run.cloud.region.troubles.fail(run.cloud.region.inventory.get(first.id), "Hangs")
    run.cloud.region.terminate(gone.id)
    run.until(30)
    assert told(run, run.cloud.follow()) == [(5, "booted"), (20, "hung"), (5, "booted")]


def test_a_machine_has_the_user_data_of_its_launch() -> None:
    run = Run(boot=BOOT)
    request = replace(run.fleet("m5.large"), user_data="--node-labels=a=b")
    run.ask(run.cloud.launch(request))
    run.until(10)
    assert [machine.user_data for machine in run.cloud.machines()] == ["--node-labels=a=b"]


def test_by_default_a_machine_can_be_ready_within_45_seconds_of_the_request() -> None:
    run = Run(latencies={}, seenAfter="8s")
    longest = 0
    for _ in range(300):
        asked = run.clock.now()
        instance = launched(run, "m5.large")
        run.until(run.seconds + 60)
        machine = next(it for it in run.cloud.machines() if it.instance.id == instance.id)
        assert machine.registers_after is not None
        assert machine.ready_after is not None
        longest = max(longest, machine.booted + machine.registers_after + machine.ready_after - asked)
    assert 25 < longest / SECOND < 45


def test_an_instance_ends_in_steps_and_is_forgotten_after_an_hour() -> None:
    run = Run(boot=BOOT, terminating="20s")
    follower = run.cloud.follow()
    instance = launched(run)
    run.until(10)
    run.ask(run.cloud.terminate(instance.id))
    ended = run.seconds
    assert state(run, instance) == ("shutting-down", "Client.UserInitiatedShutdown")
    run.ask(run.cloud.terminate(instance.id))
    run.until(60)
    assert state(run, instance) == ("terminated", "Client.UserInitiatedShutdown")
    assert run.ask(run.cloud.instances({})) == ()
    run.until(3599)
    assert state(run, instance)[0] == "terminated"
    run.until(3700)
    with pytest.raises(NotFound, match=f"The instance ID '{instance.id}' does not exist") as caught:
        run.ask(run.cloud.terminate(instance.id))
    assert caught.value.code == "InvalidInstanceID.NotFound"
    assert [what for _, what in told(run, follower)] == ["booted", "gone"]
    assert ended < 11


def test_a_new_instance_is_described_only_after_a_while_but_can_be_ended_at_once() -> None:
    run = Run(seenAfter="3s")
    instance = launched(run)
    with pytest.raises(NotFound, match="does not exist"):
        run.ask(run.cloud.instance(instance.id))
    assert run.ask(run.cloud.instances({"cluster": "test"})) == ()
    run.until(3)
    assert run.ask(run.cloud.instance(instance.id)).id == instance.id
    assert [it.id for it in run.ask(run.cloud.instances({"cluster": "*"}))] == [instance.id]
    other = launched(run)
    run.ask(run.cloud.terminate(other.id))


def test_instances_are_found_by_their_tags_and_states() -> None:
    run = Run()
    first, second = launched(run), launched(run)
    run.ask(run.cloud.tag(first.id, {"Name": "node-1"}))
    run.ask(run.cloud.terminate(second.id))

    assert [it.id for it in run.ask(run.cloud.instances({"cluster": "test"}))] == [first.id, second.id]
    assert [it.id for it in run.ask(run.cloud.instances({"cluster": "test"}, states=LIVING))] == [first.id]
    assert [it.tags for it in run.ask(run.cloud.instances({"Name": "node-1"}))] == [
        {"cluster": "test", "Name": "node-1"}
    ]
    assert run.ask(run.cloud.instances({"Name": "node-2"})) == ()


def test_a_spot_notice_comes_exactly_two_minutes_before_the_end() -> None:
    run = Run(boot=BOOT, queue={"visibility": "10m"})
    follower = run.cloud.follow()
    instance = launched(run, kind="spot")
    run.until(100)
    run.cloud.region.troubles.interrupt(run.cloud.region.inventory.get(instance.id))
    notice = said(run)[-1]
    run.until(219.999)
    assert state(run, instance)[0] == "running"
    run.until(300)

    assert notice["detail-type"] == "EC2 Spot Instance Interruption Warning"
    assert (notice["version"], notice["source"]) == ("0", "aws.ec2")
    assert notice["detail"] == {"instance-id": instance.id, "instance-action": "terminate"}
    assert instant.parse(notice["time"]) == START + 100 * SECOND
    assert told(run, follower) == [(5, "booted"), (220, "gone")]
    assert state(run, instance)[1] == "Server.SpotInstanceTermination"


def test_spot_lives_are_drawn_with_a_rebalance_recommendation_ahead() -> None:
    run = Run(spot={"swing": 0, "life": "1h", "rebalanceAhead": "10m"}, queue={"retention": "24h"})
    spot, other = launched(run, kind="spot"), launched(run)
    run.until(2 * 3600)

    told_of = [(message["time"], message["detail-type"], message["detail"]["instance-id"]) for message in said(run)]
    assert [it for it in told_of if "State-change" not in it[1]] == [
        ("2026-11-30T12:50:00Z", "EC2 Instance Rebalance Recommendation", spot.id),
        ("2026-11-30T13:00:00Z", "EC2 Spot Instance Interruption Warning", spot.id),
    ]
    assert [it.id for it in run.ask(run.cloud.instances({}))] == [other.id]


def test_only_spot_instances_can_be_interrupted() -> None:
    run = Run()
    record = run.cloud.region.inventory.get(launched(run).id)
    with pytest.raises(Conflict, match="is no spot instance that runs"):
        run.cloud.region.troubles.interrupt(record)


def test_every_change_of_state_is_told_in_the_queue() -> None:
    run = Run(boot=BOOT, terminating="20s")
    instance = launched(run)
    run.until(10)
    run.ask(run.cloud.terminate(instance.id))
    run.until(60)

    messages = said(run)
    assert {message["detail-type"] for message in messages} == {"EC2 Instance State-change Notification"}
    assert [message["detail"]["state"] for message in messages] == ["pending", "running", "shutting-down", "terminated"]
    assert messages[0]["resources"] == [f"arn:aws:ec2:us-east-1:000000000000:instance/{instance.id}"]
    assert len({message["id"] for message in messages}) == 4


@pytest.mark.parametrize(
    ("failure", "changes", "ends"),
    [
        ({"kind": "FailsToStart"}, [], ("terminated", "Server.InternalError")),
        ({"kind": "Dies", "after": "1m"}, [(5, "booted"), (65, "gone")], ("terminated", "Server.InternalError")),
        ({"kind": "Stops", "after": "1m"}, [(5, "booted"), (65, "gone")], ("stopped", "Server.InternalError")),
        ({"kind": "Hangs", "after": "1m"}, [(5, "booted"), (65, "hung")], ("running", "")),
        (
            {"kind": "HostFails", "after": "1m", "lasts": "30s"},
            [(5, "booted"), (65, "hung"), (95, "recovered")],
            ("running", ""),
        ),
        (
            {"kind": "Retires", "after": "1m", "lasts": "2m"},
            [(5, "booted"), (185, "gone")],
            ("stopped", "Server.ScheduledStop"),
        ),
    ],
    ids=lambda it: it["kind"] if isinstance(it, dict) else "",
)
def test_machines_fail_as_scripted(
    failure: dict[str, Any], changes: list[tuple[float, str]], ends: tuple[str, str]
) -> None:
    run = Run(boot=BOOT, failures=[failure])
    follower = run.cloud.follow()
    instance = launched(run)
    run.until(600)

    assert told(run, follower) == changes
    assert state(run, instance) == ends


@pytest.mark.parametrize(("kind", "after"), [("NeverRegisters", (None, None)), ("NeverReady", (10 * SECOND, None))])
def test_a_machine_may_boot_and_its_node_never_come(kind: str, after: tuple[int | None, int | None]) -> None:
    run = Run(boot=BOOT, failures=[{"kind": kind}])
    launched(run)
    run.until(60)

    (machine,) = run.cloud.machines()
    assert (machine.registers_after, machine.ready_after) == after


def test_failures_strike_a_share_of_the_machines_that_are_meant() -> None:
    run = Run(failures=[{"kind": "NeverRegisters", "percent": 25, "types": ["m5.*"]}])
    for _ in range(100):
        launched(run, "m5.large")
        launched(run, "c5.large")
    run.until(60)

    struck = [it.instance.instance_type for it in run.cloud.machines() if it.registers_after is None]
    assert set(struck) == {"m5.large"}
    assert 15 <= len(struck) <= 35


def test_failed_checks_and_scheduled_events_show_in_the_status() -> None:
    run = Run(boot=BOOT)
    hung, host, retired, _ = (launched(run) for _ in range(4))
    run.until(10)
    troubles, inventory = run.cloud.region.troubles, run.cloud.region.inventory
    troubles.fail(inventory.get(hung.id), "Hangs")
    troubles.fail(inventory.get(host.id), "HostFails")
    troubles.fail(inventory.get(retired.id), "Retires")
    now = run.clock.now()

    assert [
        (it.instance, it.instance_check_failed, it.system_check_failed, it.events)
        for it in run.ask(run.cloud.statuses())
    ] == [
        (hung.id, now, None, ()),
        (host.id, now, now, ()),
        (retired.id, None, None, ("instance-retirement",)),
    ]
    (announced,) = (message for message in said(run) if message["source"] == "aws.health")
    assert (announced["detail-type"], announced["detail"]["service"]) == ("AWS Health Event", "EC2")
    assert announced["detail"]["eventTypeCategory"] == "scheduledChange"
    assert announced["detail"]["affectedEntities"] == [{"entityValue": retired.id}]


def test_a_zone_that_is_down_gives_nothing_and_what_it_has_hangs_until_all_is_over() -> None:
    outages = [{"zone": "z1", "from": "1m", "until": "3m"}, {"zone": "z1", "from": "2m", "until": "5m"}]
    run = Run(boot=BOOT, outages=outages)
    follower = run.cloud.follow()
    instance = launched(run, zones=("z1",))
    run.until(90)
    assert launched(run).zone == "z2"
    assert run.ask(run.cloud.statuses())[0].system_check_failed == START + 60 * SECOND
    run.until(400)

    changes = [(at, what) for at, what in told(run, follower) if what in ("hung", "recovered")]
    assert changes == [(60, "hung"), (300, "recovered")]
    assert (state(run, instance)[0], launched(run).zone) == ("running", "z1")


def test_a_machine_that_boots_in_a_zone_that_is_down_hangs_at_once() -> None:
    run = Run(boot=BOOT, outages=[{"zone": "z1", "from": "3s", "until": "1m"}])
    follower = run.cloud.follow()
    launched(run, zones=("z1",))
    run.until(100)
    assert told(run, follower) == [(5, "booted"), (5, "hung"), (60, "recovered")]


def test_a_machine_with_two_causes_to_hang_hangs_once_until_both_are_gone() -> None:
    run = Run(boot=BOOT)
    follower = run.cloud.follow()
    record = run.cloud.region.inventory.get(launched(run, zones=("z1",)).id)
    run.until(10)
    run.cloud.region.troubles.fail(record, "Hangs", 60 * SECOND)
    run.cloud.region.troubles.zone_down("z1")
    run.until(100)
    run.cloud.region.troubles.zone_up("z1")
    assert told(run, follower) == [(5, "booted"), (10, "hung"), (100, "recovered")]
