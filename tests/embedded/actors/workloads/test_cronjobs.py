"""CronJobs: the latest time that has come, and what still runs."""

from typing import Any

from baseload.embedded.actors.workloads.cronjobs import Due, due, outdated
from baseload.values import cron, instant
from tests.embedded.actors.workloads.playing import Play
from tests.embedded.actors.workloads.test_jobs import job

FIVE = cron.parse("*/5 * * * *")


def at(text: str) -> int:
    return instant.parse(f"2026-11-30T{text}Z")


def cron_job(**spec: Any) -> dict[str, Any]:
    held = {"schedule": "*/5 * * * *", "jobTemplate": {"spec": job()["spec"]}, **spec}
    return {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "tick"}, "spec": held}


def jobs(play: Play) -> list[str]:
    return sorted(held.name for held in play.user.records("batch", "Job").values())


def name(text: str) -> str:
    return f"tick-{at(text) // (60 * instant.SECOND)}"


def test_of_the_times_that_were_missed_only_the_latest_is_run() -> None:
    told = due(FIVE, since=at("12:01:00"), now=at("12:23:00"), deadline=None)

    assert told == Due(at("12:20:00"), is_behind=False)


def test_a_time_before_the_deadline_is_not_seen_at_all() -> None:
    assert due(FIVE, since=at("12:01:00"), now=at("12:23:00"), deadline=120).time is None
    assert due(FIVE, since=at("12:01:00"), now=at("12:21:30"), deadline=120).time == at("12:20:00")


def test_more_than_a_hundred_missed_times_are_told_of_and_the_latest_is_run_all_the_same() -> None:
    now = at("12:00:00")

    assert due(FIVE, since=now - 101 * 300 * instant.SECOND, now=now, deadline=None) == Due(now, is_behind=True)
    assert due(FIVE, since=now - 100 * 300 * instant.SECOND, now=now, deadline=None) == Due(now, is_behind=False)
    assert not due(FIVE, since=now - 101 * 300 * instant.SECOND, now=now, deadline=600).is_behind


def test_a_job_is_made_for_each_time_under_its_minute() -> None:
    play = Play()
    play.kubelet.exits = lambda pod: 0
    play.create(cron_job())
    play.run(610)

    assert jobs(play) == [name("12:05:00"), name("12:10:00")]
    tree = play.tree("batch", "Job", name("12:10:00"))
    assert tree["metadata"]["annotations"] == {
        "batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-11-30T12:10:00Z"
    }
    assert tree["metadata"]["ownerReferences"][0]["kind"] == "CronJob"
    told = play.tree("batch", "CronJob", "tick")["status"]
    assert told == {"lastScheduleTime": "2026-11-30T12:10:00Z", "lastSuccessfulTime": "2026-11-30T12:10:01Z"}
    events = play.events("tick")
    assert ("Normal", "SuccessfulCreate", f"Created job {name('12:05:00')}") in events
    assert ("Normal", "SawCompletedJob", f"Saw completed job: {name('12:05:00')}, condition: Complete") in events


def test_forbid_skips_a_time_until_the_running_job_has_ended() -> None:
    play = Play()
    play.create(cron_job(concurrencyPolicy="Forbid"))
    play.run(610)
    assert jobs(play) == [name("12:05:00")]
    assert any(reason == "JobAlreadyActive" for _, reason, _ in play.events("tick"))
    (running,) = play.tree("batch", "CronJob", "tick")["status"]["active"]
    assert running["name"] == name("12:05:00")

    play.user.delete(next(iter(play.user.records("batch", "Job").values())))
    play.run(10)
    assert jobs(play) == [name("12:10:00")]


def test_replace_deletes_the_running_job() -> None:
    play = Play()
    play.create(cron_job(concurrencyPolicy="Replace"))
    play.run(610)

    assert jobs(play) == [name("12:10:00")]
    assert ("Normal", "SuccessfulDelete", f"Deleted job {name('12:05:00')}") in play.events("tick")


def test_allow_lets_them_run_beside_each_other() -> None:
    play = Play()
    play.create(cron_job())
    play.run(610)

    assert len(play.tree("batch", "CronJob", "tick")["status"]["active"]) == 2


def test_a_suspended_one_runs_a_missed_time_when_it_is_resumed() -> None:
    play = Play()
    play.create(cron_job(suspend=True))
    play.run(1000)
    assert jobs(play) == []
    play.patch("batch", "CronJob", "tick", {"spec": {"suspend": False}})
    play.run(1)

    assert jobs(play) == [name("12:15:00")]


def test_finished_jobs_are_kept_up_to_their_limits() -> None:
    play = Play()
    play.kubelet.exits = lambda pod: 0
    play.create(cron_job(successfulJobsHistoryLimit=2))
    play.run(1810)

    assert jobs(play) == [name(f"12:{minute}:00") for minute in (25, 30)]
    assert outdated([("3", "c"), ("1", "a"), ("2", "b")], 1) == ["a", "b"]
