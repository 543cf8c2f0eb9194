"""Events as client-go folds and holds them back."""

from baseload.embedded.actors.client import ActorClient
from baseload.embedded.actors.recorder import BURST, Forgetting, Recorder
from tests.embedded.actors.acting import Stage, pod


def events(stage: Stage) -> list[tuple[int, str]]:
    trees = [stage.tree("", "Event", held.name) for held in stage.user.records("", "Event").values()]
    return [(tree["count"], tree["message"]) for tree in trees]


def test_equal_events_are_one_that_counts() -> None:
    stage = Stage()
    recorder, made = Recorder(ActorClient(stage.cluster, "s"), "default-scheduler"), stage.create(pod("a"))
    for _ in range(3):
        recorder.record(made, "Warning", "FailedScheduling", "0/1 nodes are available")
        stage.run(10)
    recorder.record(made, "Normal", "Scheduled", "Successfully assigned default/a to n1")

    (first, second) = (stage.tree("", "Event", held.name) for held in stage.user.records("", "Event").values())
    assert (first["count"], first["firstTimestamp"], first["lastTimestamp"]) == (
        3,
        "2026-11-30T12:00:00Z",
        "2026-11-30T12:00:20Z",
    )
    assert first["involvedObject"]["uid"] == made.uid
    assert (first["source"], first["type"], second["count"]) == (
        {"component": "default-scheduler"},
        "Warning",
        1,
    )


def test_ten_that_differ_in_their_message_alone_are_told_together() -> None:
    stage = Stage()
    recorder, made = Recorder(ActorClient(stage.cluster, "s"), "kubelet", "n1"), stage.create(pod("a"))
    for number in range(12):
        recorder.record(made, "Warning", "Unhealthy", f"failed {number}")

    told = events(stage)
    assert told[:9] == [(1, f"failed {number}") for number in range(9)]
    assert told[9:] == [(3, "(combined from similar events): failed 11")]


def test_after_ten_quiet_minutes_messages_are_told_one_by_one_again_and_equal_ones_still_counted() -> None:
    stage = Stage()
    recorder, made = Recorder(ActorClient(stage.cluster, "s"), "kubelet", "n1"), stage.create(pod("a"))
    for number in range(9):
        recorder.record(made, "Warning", "Unhealthy", f"failed {number}")
    stage.run(601)
    recorder.record(made, "Warning", "Unhealthy", "failed 3")
    recorder.record(made, "Warning", "Unhealthy", "another")

    told = events(stage)
    assert (2, "failed 3") in told
    assert told[9:] == [(1, "another")]


def test_an_object_that_is_forgotten_and_told_of_again_begins_anew() -> None:
    stage = Stage()
    recorder, made = Recorder(ActorClient(stage.cluster, "s"), "kubelet", "n1"), stage.create(pod("a"))
    recorder.record(made, "Normal", "Pulled", "pulled")
    recorder.forget(made)
    recorder.record(made, "Normal", "Pulled", "pulled")
    assert events(stage) == [(1, "pulled"), (1, "pulled")]


def test_one_source_says_25_things_of_one_object_and_then_one_in_five_minutes() -> None:
    stage = Stage()
    recorder, made = Recorder(ActorClient(stage.cluster, "s"), "kubelet", "n1"), stage.create(pod("a"))
    for _ in range(BURST + 5):
        recorder.record(made, "Warning", "BackOff", "Back-off restarting")
    assert events(stage) == [(25, "Back-off restarting")]

    stage.run(300)
    for _ in range(2):
        recorder.record(made, "Warning", "BackOff", "Back-off restarting")
    assert events(stage) == [(26, "Back-off restarting")]


def test_an_event_is_forgotten_within_a_minute_after_the_hour_since_it_was_last_told() -> None:
    stage = Stage()
    client = ActorClient(stage.cluster, "s")
    recorder, made = Recorder(client, "kubelet", "n1"), stage.create(pod("a"))
    stage.clock.start(Forgetting(client, stage.clock).run())
    recorder.record(made, "Normal", "Pulled", "pulled")
    stage.run(1800)
    recorder.record(made, "Normal", "Pulled", "pulled")
    stage.run(3599)
    assert events(stage) == [(2, "pulled")]
    stage.run(61)
    assert events(stage) == []
