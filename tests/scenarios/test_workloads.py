"""Moments and places in the stories of workloads that their series do not show."""

import pytest

from tests.scenarios.living import lived, seconds


def test_a_pod_with_a_volume_comes_back_under_its_name_in_the_zone_of_its_volume() -> None:
    life = lived("b_volumes-follow-their-pods")
    zones = {}
    for entry in life.told("instance.launched"):
        parts = entry.message.split(", ")
        zones[parts[-1]] = parts[2]
    places: dict[str, list[str]] = {}
    for entry in life.told("pod.bound", object="Pod default/db-"):
        places.setdefault(entry.object, []).append(zones[entry.message.removeprefix("to Node ")])
    assert sorted(places) == [f"Pod default/db-{number}" for number in range(3)]
    assert sum(map(len, places.values())) == 3 + 2  # one lost its node, another was evicted
    assert all(len(set(of_one)) == 1 for of_one in places.values())
    assert len({of_one[0] for of_one in places.values()}) == 3


def test_a_job_tries_again_after_10_20_and_40_seconds() -> None:
    life = lived("b_job-back-off")
    made = seconds(life.told("pod.created", object="hopeless"), life.report.start)
    failed = seconds(life.told("pod.failed", object="hopeless"), life.report.start)
    waits = [after - before for before, after in zip(failed, made[1:], strict=False)]
    assert waits == pytest.approx([10, 20, 40], abs=1)
    assert len(failed) == len(made) == 4


def test_a_cron_job_goes_over_midnight_without_a_gap() -> None:
    life = lived("b_cronjob-round-midnight")
    made = [entry.t[:16] for entry in life.told("pod.created", object="often")]
    first = [f"2027-01-01T04:{minute}" for minute in (40, 50)]
    assert made == [*first, *(f"2027-01-01T05:{minute:02}" for minute in range(0, 40, 10))]


def test_a_pod_stays_as_long_as_it_tolerates_and_not_a_second_longer() -> None:
    life = lived("b_drain-by-taint")
    plain = seconds(life.told("pod.evicted", reason="taint", object="plain"), life.report.start)
    patient = seconds(life.told("pod.evicted", reason="taint", object="patient"), life.report.start)
    assert plain == pytest.approx([300, 300, 1200, 1200], abs=0.1)
    assert patient == pytest.approx([1800, 1800], abs=0.1)


def test_whoever_is_pushed_out_is_told_by_whom() -> None:
    life = lived("b_preemption")
    told = life.told("event.told", reason="Preempted")
    assert len({entry.object for entry in told}) == 8
    assert all(entry.message.startswith("Preempted by pod ") and " on node floor-" in entry.message for entry in told)


def test_the_first_machines_after_a_loss_come_within_ten_seconds_and_none_is_made_in_vain() -> None:
    life = lived("b_trap-43-loss-of-spot")
    launched = seconds(life.told("instance.launched"), life.report.start)
    assert min(at for at in launched if at > 600) < 600 + 10 + 1.5
    assert life.figure("launches.unused") == 0
    assert life.figure("pods.pending") == 0
