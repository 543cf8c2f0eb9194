"""Events in series, as kube-scheduler records them (the form is that of a real one's, client-go's tools/events)."""

from typing import Any, Final

from baseload.embedded.actors.client import ActorClient
from baseload.embedded.actors.series import Series
from baseload.embedded.store.deletion import Options
from baseload.embedded.store.record import Record
from baseload.values import instant
from tests.embedded.actors.acting import Stage, pod

MINUTE = 60
VAIN: Final = ("Warning", "FailedScheduling", "Scheduling", "0/1 nodes are available")


def begin() -> tuple[Stage, Series, Record]:
    stage = Stage()
    return stage, Series(ActorClient(stage.cluster, "s"), "default-scheduler"), stage.create(pod("a"))


def events(stage: Stage) -> list[dict[str, Any]]:
    return [stage.tree("", "Event", held.name) for held in stage.user.records("", "Event").values()]


def counted(stage: Stage) -> list[tuple[int, str]]:
    series = [tree.get("series", {}) for tree in events(stage)]
    return [(held.get("count", 1), held.get("lastObservedTime", "")[11:19]) for held in series]


def wait(stage: Stage, series: Series, minutes: float) -> None:
    """Lets time pass, with a look after what is counted whenever it is due."""
    end = stage.clock.now() + int(minutes * MINUTE * instant.SECOND)
    while (due := series.due()) is not None and due <= end:
        stage.clock.run(due)
        series.tend()
    stage.clock.run(end)


def test_the_first_event_has_the_form_of_the_newer_api() -> None:
    stage, series, made = begin()
    stage.run(1.5)
    series.record(made, *VAIN)
    (told,) = events(stage)
    del told["metadata"]
    assert told == {
        "apiVersion": "v1",
        "kind": "Event",
        "involvedObject": {
            "apiVersion": "v1",
            "kind": "Pod",
            "name": "a",
            "namespace": "default",
            "resourceVersion": str(made.version),
            "uid": made.uid,
        },
        "action": "Scheduling",
        "eventTime": "2026-11-30T12:00:01.500000Z",
        "firstTimestamp": None,
        "lastTimestamp": None,
        "message": "0/1 nodes are available",
        "reason": "FailedScheduling",
        "reportingComponent": "default-scheduler",
        "reportingInstance": "default-scheduler-control-plane",
        "source": {},
        "type": "Warning",
    }


def test_the_second_makes_a_series_and_the_next_are_written_each_half_hour() -> None:
    stage, series, made = begin()
    told = series.record(made, *VAIN)
    wait(stage, series, 1)
    series.again(told)
    assert counted(stage) == [(2, "12:01:00")]
    for _ in range(28):
        wait(stage, series, 1)
        series.again(told)
    assert counted(stage) == [(2, "12:01:00")]
    wait(stage, series, 1)
    assert counted(stage) == [(30, "12:29:00")]


def test_a_series_ends_after_six_minutes_of_silence_and_the_next_is_another() -> None:
    stage, series, made = begin()
    told = series.record(made, *VAIN)
    for _ in range(3):
        wait(stage, series, 0.5)
        series.again(told)
    wait(stage, series, 10)
    assert counted(stage) == [(2, "12:00:30")]  # looked for after 6 minutes, and after 12
    wait(stage, series, 1)
    assert counted(stage) == [(4, "12:01:30")]
    assert told.is_over
    series.record(made, *VAIN)
    assert [count for count, _ in counted(stage)] == [4, 1]


def test_an_object_in_another_state_has_events_of_its_own() -> None:
    stage, series, made = begin()
    series.record(made, *VAIN)
    other = stage.user.merge(made, {"metadata": {"labels": {"a": "b"}}})
    series.record(other, *VAIN)
    series.record(other, *VAIN)
    assert [count for count, _ in counted(stage)] == [1, 2]


def test_an_event_that_was_forgotten_meanwhile_is_made_anew() -> None:
    stage, series, made = begin()
    told = series.record(made, *VAIN)
    (held,) = stage.user.records("", "Event").values()
    stage.user.delete(held, Options(grace_seconds=0))
    series.again(told)
    assert counted(stage) == [(2, "12:00:00")]
