"""Events that are rows until somebody reads: who sees what, and that nobody sees more or less than of objects."""

from collections.abc import Iterator
from contextlib import aclosing
from typing import Any

import msgspec
import pytest

from baseload.embedded.actors.client import ActorClient
from baseload.embedded.actors.recorder import Forgetting, Recorder
from baseload.embedded.actors.series import Series
from baseload.embedded.api.ledger import Row
from baseload.embedded.local import Local
from baseload.kube.client.port import Request
from tests.embedded.actors.acting import Stage, pod

EVENTS = "/api/v1/namespaces/default/events"


class Telling(Stage):
    """A cluster in which a kubelet tells things of a pod, and a user asks over the API."""

    def __post_init__(self) -> None:
        Stage.__post_init__(self)
        self.recorder = Recorder(ActorClient(self.cluster, "kubelet"), "kubelet", "n1")
        self.pod = Stage.create(self, pod("a"))
        self.way = Local(self.cluster, self.clock)

    def tell(self, message: str = "pulled") -> None:
        self.recorder.record(self.pod, "Normal", "Pulled", message)

    @property
    def objects(self) -> int:
        """How many Events are objects."""
        return len(self.cluster.store.table(self.user.resource("", "Event")).records)

    def ask(self, path: str = EVENTS, method: str = "GET", **query: str) -> Any:
        answer: list[Any] = []

        async def asking() -> None:
            sent = await self.way.send(Request(method, path, query), 10)
            answer.append(msgspec.json.decode(sent.body))

        self.clock.start(asking())
        self.run(0)
        return answer[0]

    def watch(self, seen: list[Any], seconds: int, **query: str) -> None:
        async def watching() -> None:
            asked = Request("GET", EVENTS, {"watch": "true", "timeoutSeconds": str(seconds), **query})
            async with aclosing(self.way.lines(asked, opening=1, idle=99)) as lines:
                async for line in lines:
                    tree = msgspec.json.decode(line)
                    if tree["type"] != "BOOKMARK":
                        seen.append((tree["type"], tree["object"]["message"], tree["object"]["count"]))

        self.clock.start(watching())
        self.run(0)


@pytest.fixture
def stage() -> Iterator[Telling]:
    one = Telling()
    yield one
    one.clock.close()


def test_an_event_becomes_an_object_when_somebody_reads_and_tells_when_it_began(stage: Telling) -> None:
    stage.tell()
    stage.run(10)
    stage.tell()
    stage.run(10)
    assert stage.objects == 0

    [listed] = stage.ask()["items"]
    assert (listed["count"], listed["firstTimestamp"], listed["lastTimestamp"]) == (
        2,
        "2026-11-30T12:00:00Z",
        "2026-11-30T12:00:10Z",
    )
    assert listed["metadata"]["creationTimestamp"] == "2026-11-30T12:00:00Z"
    uid = listed["metadata"]["uid"]
    stage.tell()
    got = stage.ask(f"{EVENTS}/{listed['metadata']['name']}")
    assert (got["count"], got["metadata"]["uid"]) == (3, uid)


def test_a_field_selector_finds_what_is_no_object_yet(stage: Telling) -> None:
    stage.tell()
    assert len(stage.ask(fieldSelector=f"involvedObject.uid={stage.pod.uid}")["items"]) == 1
    stage.tell("once more")
    assert stage.ask(fieldSelector="involvedObject.name=other")["items"] == []
    newer = stage.ask("/apis/events.k8s.io/v1/events", fieldSelector=f"regarding.uid={stage.pod.uid}")
    assert [it["note"] for it in newer["items"]] == ["pulled", "once more"]


def test_an_event_of_which_nobody_asked_goes_after_an_hour_and_never_was_an_object(stage: Telling) -> None:
    stage.clock.start(Forgetting(stage.user, stage.clock).run())
    stage.tell()
    version = stage.cluster.store.version
    stage.run(3661)
    assert stage.ask()["items"] == []
    assert stage.cluster.store.version == version


def test_an_event_that_was_read_goes_an_hour_after_it_was_told(stage: Telling) -> None:
    stage.clock.start(Forgetting(stage.user, stage.clock).run())
    stage.tell()
    stage.run(3000)
    assert len(stage.ask()["items"]) == 1
    stage.run(661)
    assert stage.ask()["items"] == []


def test_a_watcher_sees_each_event_at_its_moment_and_what_was_told_before(stage: Telling) -> None:
    seen: list[Any] = []
    stage.tell()
    stage.watch(seen, 30)
    assert seen == [("ADDED", "pulled", 1)]
    stage.tell()
    stage.tell("another")
    stage.run(0)
    assert seen[1:] == [("MODIFIED", "pulled", 2), ("ADDED", "another", 1)]


def test_a_watch_from_a_version_gets_what_was_told_since_then(stage: Telling) -> None:
    seen: list[Any] = []
    stage.tell()
    version = stage.ask()["metadata"]["resourceVersion"]
    stage.run(100)
    stage.tell()
    stage.watch(seen, 30, resourceVersion=version)
    assert seen == [("MODIFIED", "pulled", 2)]


def test_events_are_rows_again_a_minute_after_the_last_watcher_left(stage: Telling) -> None:
    seen: list[Any] = []
    stage.watch(seen, 10)
    stage.run(50)
    stage.tell("while one may come back")
    assert stage.objects == 1
    stage.run(60)
    stage.tell("later")
    assert stage.objects == 1


def test_an_event_that_a_user_deleted_begins_anew_when_it_is_told_again(stage: Telling) -> None:
    stage.tell()
    stage.tell()
    [held] = stage.ask()["items"]
    stage.ask(f"{EVENTS}/{held['metadata']['name']}", "DELETE")
    assert stage.ask()["items"] == []
    stage.tell()
    [anew] = stage.ask()["items"]
    assert anew["count"] == 1
    assert anew["metadata"]["uid"] != held["metadata"]["uid"]


def test_all_events_of_a_namespace_can_be_deleted_also_those_that_are_no_objects_yet(stage: Telling) -> None:
    stage.tell()
    assert len(stage.ask(method="DELETE")["items"]) == 1
    assert stage.ask()["items"] == []


def test_what_was_told_in_a_namespace_goes_with_it_and_nothing_more_is_told_there(stage: Telling) -> None:
    stage.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})
    made = stage.create(pod("b"), "team")
    stage.recorder.record(made, "Normal", "Pulled", "pulled")
    stage.tell()
    stage.ask("/api/v1/namespaces/team", "DELETE")
    stage.recorder.record(made, "Normal", "Pulled", "pulled")
    stage.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})
    assert [it["metadata"]["namespace"] for it in stage.ask("/api/v1/events")["items"]] == ["default"]


def test_a_series_is_read_as_it_was_last_written(stage: Telling) -> None:
    series = Series(ActorClient(stage.cluster, "s"), "default-scheduler")
    for _ in range(3):
        told = series.record(stage.pod, "Warning", "FailedScheduling", "Scheduling", "no room")
        stage.run(1)
    [held] = stage.ask()["items"]
    assert (told.count, held["series"]["count"]) == (3, 2)


def test_who_follows_hears_of_each_event_though_nobody_reads(stage: Telling) -> None:
    heard: list[tuple[str, bool]] = []

    def follow(row: Row, is_new: bool) -> None:
        heard.append((row.message, is_new))

    stage.cluster.events.followers.append(follow)
    stage.tell()
    stage.tell()
    stage.tell("another")
    assert heard == [("pulled", True), ("pulled", False), ("another", True)]


def test_with_every_event_written_a_reader_of_the_store_needs_nobody(stage: Telling) -> None:
    stage.cluster.events.writes_every_event = True
    stage.tell()
    assert stage.objects == 1


def test_events_of_one_nanosecond_have_names_of_their_own(stage: Telling) -> None:
    other = Recorder(ActorClient(stage.cluster, "s"), "scheduler")
    stage.tell("one")
    other.record(stage.pod, "Normal", "Scheduled", "two")
    stage.tell("three")
    names = [it["metadata"]["name"] for it in stage.ask()["items"]]
    assert names == [f"a.{stage.clock.now() + more:x}" for more in range(3)]


def test_metrics_count_events_that_are_no_objects_yet(stage: Telling) -> None:
    event = stage.user.resource("", "Event")
    stage.tell()
    stage.ask()
    stage.tell("another")
    assert (stage.cluster.count(event), stage.objects) == (2, 1)
