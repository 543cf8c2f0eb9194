"""Watches: events in their order, initial events, bookmarks, and their end."""

import asyncio
import json
from typing import Any

from starlette.types import Message

from baseload.embedded.api import verbs
from baseload.embedded.api.call import Call
from baseload.embedded.api.target import Target
from tests.embedded.api.calling import MAPS, MERGE, Server, config_map


class Reader:
    """A client that watches, and leaves when it is told to."""

    def __init__(self, server: Server, query: str) -> None:
        self._server, self._query = server, query
        self._left = asyncio.Event()
        self._events: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._task = asyncio.ensure_future(self._run())

    async def event(self) -> tuple[str, str]:
        """The next event: its type, and the object's name."""
        event = await self.whole()
        return event["type"], event["object"]["metadata"].get("name", "")

    async def whole(self) -> dict[str, Any]:
        return await asyncio.wait_for(self._events.get(), 5)

    async def leave(self) -> None:
        self._left.set()
        await self.end()

    async def end(self) -> None:
        await asyncio.wait_for(self._task, 5)

    async def _run(self) -> None:
        scope = {
            "type": "http",
            "method": "GET",
            "path": MAPS,
            "raw_path": MAPS.encode(),
            "query_string": f"watch=true&{self._query}".encode(),
            "headers": [],
        }
        await self._server.api(scope, self._receive, self._send)

    async def _receive(self) -> Message:
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        for line in message.get("body", b"").splitlines():
            self._events.put_nowait(json.loads(line))


def write(server: Server, method: str, name: str, body: object = b"") -> None:
    """A write within the loop."""
    kind = server.cluster.kinds.named("", "ConfigMap")
    assert kind is not None
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    if method == "POST":
        verbs.create(server.cluster, Target(kind, "default"), Call(method, body=sent))
    elif method == "PATCH":
        verbs.patch(server.cluster, Target(kind, "default", name), Call(method, headers=MERGE, body=sent))
    else:
        verbs.delete(server.cluster, Target(kind, "default", name), Call(method))


def test_events_come_in_order_from_the_version_of_a_list() -> None:
    server = Server()
    server.call("POST", MAPS, config_map("old"))
    version = server.call("GET", MAPS).tree["metadata"]["resourceVersion"]

    async def watch() -> list[tuple[str, str]]:
        reader = Reader(server, f"resourceVersion={version}")
        await asyncio.sleep(0)
        write(server, "POST", "a", config_map("a"))
        write(server, "PATCH", "a", {"data": {"x": "1"}})
        write(server, "DELETE", "a")
        events = [await reader.event() for _ in range(3)]
        await reader.leave()
        return events

    assert asyncio.run(watch()) == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]


def test_a_watch_list_begins_with_what_is_there_and_marks_its_end() -> None:
    server = Server()
    server.call("POST", MAPS, config_map("a"))

    async def watch() -> tuple[tuple[str, str], dict[str, Any]]:
        query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
        reader = Reader(server, f"{query}&fieldSelector=metadata.name%3Da")
        first, mark = await reader.event(), await reader.whole()
        await reader.leave()
        return first, mark

    first, mark = asyncio.run(watch())
    assert first == ("ADDED", "a")
    assert mark["type"] == "BOOKMARK"
    assert mark["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


def test_a_watch_ends_with_its_time_and_with_the_server() -> None:
    server = Server()

    async def watch() -> None:
        await Reader(server, "timeoutSeconds=1").end()
        reader = Reader(server, "")
        await asyncio.sleep(0.01)
        server.closing.set()
        await reader.end()

    asyncio.run(watch())


def test_a_version_that_is_no_longer_held_is_gone() -> None:
    server = Server()
    kind = server.cluster.kinds.named("", "ConfigMap")
    assert kind is not None
    server.cluster.store.table(kind.resource).log.floor = 1_000  # as after many writes

    answer = server.call("GET", f"{MAPS}?watch=true&resourceVersion=1")

    assert (answer.code, answer.reason) == (410, "Expired")
