"""What a follower of a collection tells and asks, whatever its server does."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field

import msgspec
import pytest

from baseload.kube.client import errors
from baseload.kube.client.client import Client
from baseload.kube.client.errors import ApiError, Cause
from baseload.kube.client.objects import Event, Object
from baseload.kube.client.port import Answer, Request, Resource
from baseload.kube.client.reflector import Reflector
from baseload.kube.client.retry import NEVER
from baseload.values import instant
from baseload.values.errors import BadInput, Fault
from tests.kube.client.clocks import Even, Hurried
from tests.kube.client.scripted import line, node, nodes

NODES = Resource("", "v1", "nodes")


@dataclass(slots=True)
class Listing:
    """A step: what a list answers."""

    answer: bytes | ApiError


@dataclass(slots=True)
class Watching:
    """A step: what a watch tells, how long it lasts, and how it ends."""

    lines: Sequence[bytes] = ()
    end: ApiError | BadInput | None = None
    seconds: float = 300


@dataclass(slots=True)
class Script:
    """A way that follows a script and ends the test after it."""

    steps: list[Listing | Watching]
    clock: Hurried
    server: str = "script"
    asked: list[dict[str, str]] = field(default_factory=list)

    async def send(self, request: Request, seconds: float) -> Answer:
        self.asked.append(dict(request.query))
        step = self._next()
        assert isinstance(step, Listing), "a list was asked for"
        if isinstance(step.answer, ApiError):
            raise step.answer
        return Answer(200, step.answer)

    async def lines(self, request: Request, *, opening: float, idle: float) -> AsyncGenerator[bytes, None]:
        self.asked.append(dict(request.query))
        step = self._next()
        assert isinstance(step, Watching), "a watch was asked for"
        for told in step.lines:
            yield told
        self.clock.time += int(step.seconds * instant.SECOND)
        if step.end is not None:
            raise step.end

    async def close(self) -> None:
        pass

    def _next(self) -> Listing | Watching:
        if not self.steps:
            raise asyncio.CancelledError
        return self.steps.pop(0)


@dataclass(slots=True)
class Told:
    """What a follower told, in words."""

    words: list[str] = field(default_factory=list)

    def replace(self, objects: Sequence[Object], version: str) -> None:
        self.words.append(f"all at {version}: {' '.join(f'{it.metadata.name}@{it.version}' for it in objects)}")

    def change(self, event: Event) -> None:
        self.words.append(f"{event.type} {event.object.metadata.name}@{event.object.version}")

    def reached(self, version: str) -> None:
        self.words.append(f"reached {version}")


def follow(*steps: Listing | Watching, streaming: bool = False) -> tuple[list[str], list[dict[str, str]], list[float]]:
    """What was told, what was asked, and the delays, until the script is over."""
    clock, told = Hurried(), Told()
    script = Script(list(steps), clock)

    async def run() -> None:
        client = Client(script, clock, Even(), retry=NEVER)
        await Reflector(client, NODES, told, streaming=streaming).run()

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(run())
    return told.words, script.asked, clock.slept


def listed(version: int, *items: dict[str, object]) -> Listing:
    return Listing(msgspec.json.encode(nodes(version, items)))


def bookmark(version: int, *, end: bool = False) -> bytes:
    metadata = {"resourceVersion": str(version), "annotations": {"k8s.io/initial-events-end": "true"} if end else {}}
    return line("BOOKMARK", {"kind": "Node", "apiVersion": "v1", "metadata": metadata})


def gone() -> ApiError:
    error = errors.Gone("too old resource version")
    error.code = 410
    return error


def ahead() -> ApiError:
    error = errors.Timeout("Too large resource version")
    error.causes = (Cause("ResourceVersionTooLarge", "Too large resource version"),)
    return error


def busy(seconds: float) -> ApiError:
    error = errors.TooManyRequests("later")
    error.retry_after = seconds
    return error


LOST = errors.Unreachable("the connection broke")


def test_a_list_comes_first_and_the_watch_goes_on_from_its_version() -> None:
    told, asked, slept = follow(listed(5, node("a", 3)), Watching([line("ADDED", node("b", 6))]))
    assert told == ["all at 5: a@3", "ADDED b@6"]
    assert asked[0] == {"limit": "500"}
    watch = {"watch": "true", "allowWatchBookmarks": "true", "timeoutSeconds": "300"}
    assert asked[1:] == [{**watch, "resourceVersion": "5"}, {**watch, "resourceVersion": "6"}]
    assert slept == []


@pytest.mark.parametrize("end", [None, LOST, errors.ServerFailed("etcd"), errors.Timeout("slow")])
def test_a_watch_that_ends_or_breaks_is_taken_up_where_it_was(end: ApiError | None) -> None:
    told, asked, slept = follow(
        listed(5), Watching([line("ADDED", node("a", 6)), bookmark(9)], end), Watching([line("DELETED", node("a", 11))])
    )
    assert told == ["all at 5: ", "ADDED a@6", "reached 9", "DELETED a@11"]
    assert [query.get("resourceVersion") for query in asked] == [None, "5", "9", "11"]
    assert slept == ([0.8] if end else [])


def test_what_a_server_sends_again_is_told_once() -> None:
    again = [line("ADDED", node("a", 6)), line("MODIFIED", node("a", 7))]
    told, _, _ = follow(
        listed(5), Watching(again, LOST), Watching([*again, bookmark(7), line("MODIFIED", node("a", 8))])
    )
    assert told == ["all at 5: ", "ADDED a@6", "MODIFIED a@7", "MODIFIED a@8"]


@pytest.mark.parametrize(
    "end",
    [gone(), ahead(), errors.BadRequest("invalid resource version"), errors.Invalid("resourceVersion: Invalid value")],
    ids=["410", "ahead", "400", "422"],
)
def test_a_version_that_the_server_does_not_have_is_listed_anew(end: ApiError) -> None:
    told, asked, slept = follow(
        listed(5, node("a", 3)), Watching([line("ADDED", node("b", 6))], end), listed(2, node("c", 1)), Watching()
    )
    assert told == ["all at 5: a@3", "ADDED b@6", "all at 2: c@1"]
    assert [query.get("resourceVersion") for query in asked] == [None, "5", None, "2", "2"]
    assert slept == [0.8]


@pytest.mark.parametrize("status", [{}, {"kind": "Status", "message": "too old", "reason": "Expired"}])
def test_an_error_without_a_code_is_listed_anew(status: dict[str, str]) -> None:
    told, _, slept = follow(listed(5), Watching([line("ERROR", status)]), listed(9, node("a", 7)), Watching())
    assert told == ["all at 5: ", "all at 9: a@7"]
    assert slept == [0.8]


@pytest.mark.parametrize("type", ["ADDED", "BOOKMARK"])
def test_an_event_without_a_version_is_not_told_and_the_watch_taken_up_before_it(type: str) -> None:
    bare = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "x"}}
    told, asked, slept = follow(
        listed(5), Watching([line("ADDED", node("a", 6)), line(type, bare)]), Watching([line("ADDED", node("b", 7))])
    )
    assert told == ["all at 5: ", "ADDED a@6", "ADDED b@7"]
    assert [query.get("resourceVersion") for query in asked] == [None, "5", "6", "7"]
    assert slept == [0.8]


def test_bookmarks_alone_keep_the_version_young() -> None:
    told, asked, slept = follow(listed(5), Watching([bookmark(7), bookmark(7), bookmark(6), bookmark(9)]), Watching())
    assert told == ["all at 5: ", "reached 7", "reached 9"]
    assert [query.get("resourceVersion") for query in asked] == [None, "5", "9", "9"]
    assert slept == []


def test_credentials_that_do_not_do_for_a_while_are_waited_for() -> None:
    fault = BadInput([Fault("aws ended with status 255", path="users[].user.exec")])
    told, asked, slept = follow(listed(5), Watching(end=fault), Watching([line("ADDED", node("a", 6))]))
    assert told == ["all at 5: ", "ADDED a@6"]
    assert [query.get("resourceVersion") for query in asked] == [None, "5", "5", "6"]
    assert slept == [0.8]


def test_delays_grow_to_half_a_minute_and_start_again_after_two_quiet_minutes() -> None:
    failing = [Listing(LOST)] * 8
    _, _, slept = follow(*failing, listed(5), Watching(end=LOST, seconds=1), Watching(end=LOST, seconds=121))
    assert slept == [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0, 30.0, 0.8]


def test_a_server_s_own_wait_counts_where_it_is_longer() -> None:
    _, _, slept = follow(Listing(busy(7)), Listing(busy(0.1)), listed(5))
    assert slept == [7.0, 1.6]


def test_a_watch_that_ends_as_soon_as_it_begins_is_a_failure() -> None:
    told, asked, slept = follow(listed(5), Watching(seconds=0.5), Watching([bookmark(6)], seconds=0.5))
    assert told == ["all at 5: ", "reached 6"]
    assert slept == [0.8]
    assert [query.get("resourceVersion") for query in asked] == [None, "5", "5", "6"]


def test_what_there_is_can_come_in_the_watch() -> None:
    first = [line("ADDED", node("a", 3)), line("ADDED", node("b", 4)), line("MODIFIED", node("a", 6))]
    told, asked, _ = follow(
        Watching([*first, line("DELETED", node("b", 7)), bookmark(7, end=True), line("ADDED", node("c", 8))]),
        streaming=True,
    )
    assert told == ["all at 7: a@6", "ADDED c@8"]
    assert asked[0] | {"timeoutSeconds": ""} == {
        "watch": "true",
        "allowWatchBookmarks": "true",
        "timeoutSeconds": "",
        "sendInitialEvents": "true",
        "resourceVersionMatch": "NotOlderThan",
    }
    assert asked[1]["resourceVersion"] == "8"


def test_what_came_before_the_end_of_the_first_objects_was_marked_does_not_count() -> None:
    told, _, slept = follow(
        Watching([line("ADDED", node("a", 3))], LOST), Watching([bookmark(4, end=True)]), streaming=True
    )
    assert told == ["all at 4: "]
    assert slept == [0.8]


def test_a_server_that_knows_no_such_watch_is_listed() -> None:
    invalid = errors.Invalid("sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch")
    told, asked, _ = follow(Watching(end=invalid), listed(5), Watching(), streaming=True)
    assert told == ["all at 5: "]
    assert [query.get("watch") for query in asked] == ["true", None, "true", "true"]
    assert "sendInitialEvents" not in asked[2]


def test_what_stands_in_the_way_is_known_until_it_is_over() -> None:
    clock, told = Hurried(), Told()
    forbidden = errors.Forbidden("no")
    script = Script([Listing(forbidden), listed(5), Watching()], clock)
    client = Client(script, clock, Even(), retry=NEVER)
    reflector = Reflector(client, NODES, told)
    seen: list[ApiError | None] = []
    sleep = clock.sleep

    async def sleeping(seconds: float) -> None:
        seen.append(reflector.error)
        await sleep(seconds)

    clock.sleep = sleeping  # type: ignore[method-assign]
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(reflector.run())
    assert seen == [forbidden]
    assert reflector.error is None
