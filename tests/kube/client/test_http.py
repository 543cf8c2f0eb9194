"""What a client does about servers and networks that misbehave."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from contextlib import aclosing

import pytest

from baseload.kube.client import errors
from baseload.kube.client.http import Http
from baseload.kube.client.kubeconfig import Access, Cluster, User
from baseload.kube.client.lines import Splitter
from baseload.kube.client.port import Request, Resource
from baseload.kube.client.requests import PODS
from baseload.timeline.wall import WallClock
from baseload.values.errors import BadInput
from tests.kube.client.clocks import Hurried
from tests.kube.client.scripted import Scripted, Step, answer, line, node, nodes, refusal, scripted, stream

NODES = Resource("", "v1", "nodes")


def play(scenario: Callable[[Scripted], Awaitable[None]], *steps: Step) -> None:
    """Plays a scenario against a server with a script."""

    async def run() -> None:
        async with scripted(*steps) as server:
            await scenario(server)

    asyncio.run(run())


def test_a_request_is_written_as_a_server_expects_it() -> None:
    async def scenario(server: Scripted) -> None:
        client = server.client()
        await client.patch(NODES, "n1", {"spec": {"unschedulable": True}}, kind="merge")
        asked = server.seen[0]
        assert (asked.method, asked.path) == ("PATCH", "/api/v1/nodes/n1")
        assert asked.query == {"fieldManager": "baseload"}
        assert asked.body == b'{"spec":{"unschedulable":true}}'
        assert asked.headers["content-type"] == "application/merge-patch+json"
        assert asked.headers["accept"] == "application/json"
        assert asked.headers["user-agent"].startswith("baseload/")

    play(scenario, answer(200, node("n1", 1)))


def test_no_token_is_sent_in_the_clear() -> None:
    async def scenario(server: Scripted) -> None:
        await server.client().get(NODES, "n1")
        assert "authorization" not in server.seen[0].headers

    play(scenario, answer(200, node("n1", 1)))


def test_a_server_that_is_busy_is_asked_again_when_it_says() -> None:
    async def scenario(server: Scripted) -> None:
        clock = Hurried()
        created = await server.client(clock).create(NODES, node("n1", 1))
        assert created.metadata.name == "n1"
        assert clock.slept == [7.0]
        assert [seen.method for seen in server.seen] == ["POST", "POST"]

    play(scenario, refusal(429, "TooManyRequests", retry_after="7"), answer(201, node("n1", 1)))


def test_an_eviction_is_left_to_the_caller() -> None:
    async def scenario(server: Scripted) -> None:
        with pytest.raises(errors.TooManyRequests) as refused:
            await server.client().evict("web", namespace="default")
        assert refused.value.retry_after == 10
        assert len(server.seen) == 1

    play(scenario, refusal(429, "TooManyRequests", retry_after="10"))


def test_reading_is_tried_again_with_growing_delays_and_then_given_up() -> None:
    async def scenario(server: Scripted) -> None:
        clock = Hurried()
        with pytest.raises(errors.ServerFailed, match=r"^why$"):
            await server.client(clock, tries=4).get(NODES, "n1")
        assert clock.slept == [0.1, 0.2, 0.4]

    play(scenario, *[refusal(500, "InternalError")] * 4)


def test_a_create_is_not_repeated_after_an_error_that_may_have_come_late() -> None:
    async def scenario(server: Scripted) -> None:
        client = server.client()
        with pytest.raises(errors.ServerFailed):
            await client.create(NODES, node("n1", 1))
        with pytest.raises(errors.Unreachable) as lost:
            await client.create(NODES, node("n1", 1))
        assert lost.value.was_sent
        assert len(server.seen) == 2

    play(scenario, refusal(500, "InternalError"), b"")


def test_a_json_patch_is_not_repeated_and_an_apply_is() -> None:
    async def scenario(server: Scripted) -> None:
        client = server.client()
        with pytest.raises(errors.Unreachable):
            await client.patch(NODES, "n1", [{"op": "add", "path": "/a", "value": 1}], kind="json")
        assert len(server.seen) == 1
        assert (await client.apply(NODES, "n1", node("n1", 1))).version == "2"
        assert len(server.seen) == 3

    play(scenario, b"", b"", answer(200, node("n1", 2)))


def test_a_connection_that_breaks_within_an_answer_is_made_again() -> None:
    async def scenario(server: Scripted) -> None:
        assert (await server.client().get(NODES, "n1")).version == "3"
        assert len(server.seen) == 2

    play(scenario, answer(200, node("n1", 3))[:-10], answer(200, node("n1", 3)))


def test_whatever_never_reached_a_server_is_tried_again() -> None:
    async def run() -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = f"http://127.0.0.1:{taken.getsockname()[1]}"
        clock = Hurried()
        client = Scripted([], address).client(clock, tries=3)
        with pytest.raises(errors.Unreachable, match=rf"^cannot reach {address}: Connection refused$") as refused:
            await client.create(NODES, node("n1", 1))
        assert not refused.value.was_sent
        assert clock.slept == [0.1, 0.2]

    asyncio.run(run())


def test_a_server_that_does_not_answer_is_given_up_at_the_deadline() -> None:
    async def silent(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n")
        await writer.drain()
        await asyncio.sleep(5)

    async def scenario(server: Scripted) -> None:
        with pytest.raises(errors.Timeout, match="gave no answer in time"):
            await server.client(WallClock(), deadline=0.1).get(NODES, "n1")

    play(scenario, silent)


def test_a_redirect_is_not_followed() -> None:
    async def scenario(server: Scripted) -> None:
        with pytest.raises(errors.BadRequest, match="302"):
            await server.client().get(NODES, "n1")

    play(scenario, answer(302, b"", location="https://example.org/"))


def test_an_answer_that_is_no_object_is_the_server_s_failure() -> None:
    async def scenario(server: Scripted) -> None:
        with pytest.raises(errors.ServerFailed, match="no JSON"):
            await server.client().get(NODES, "n1")
        with pytest.raises(errors.ServerFailed, match="cannot be read"):
            await server.client().get(NODES, "n1")

    play(scenario, answer(200, b"<html>"), answer(200, b"[]"))


def test_a_list_whose_version_is_let_go_of_is_read_at_once() -> None:
    async def scenario(server: Scripted) -> None:
        page = await server.client().list(NODES, limit=1)
        assert [(object.metadata.name, object.kind) for object in page.objects] == [("a", "Node"), ("b", "Node")]
        assert page.version == "9"
        assert [seen.query.get("limit") for seen in server.seen] == ["1", "1", None]
        assert [seen.query.get("continue") for seen in server.seen] == [None, "t", None]

    first = answer(200, nodes(4, [node("a", 3)], token="t"))
    whole = answer(200, nodes(9, [node("a", 3), node("b", 8)]))
    play(scenario, first, refusal(410, "Expired"), whole)


def test_a_list_that_comes_to_no_end_is_given_up() -> None:
    async def scenario(server: Scripted) -> None:
        with pytest.raises(errors.ServerFailed, match="the list of nodes comes to no end"):
            await server.client().list(NODES)

    play(scenario, *[answer(200, nodes(5, [node("a", 1)], token="same"))] * 2)


def test_lines_of_a_watch_come_whole_however_they_are_cut() -> None:
    async def scenario(server: Scripted) -> None:
        async with aclosing(server.client().watch(NODES, version="1")) as events:
            told = [(event.type, event.object.version) async for event in events]
        assert told == [("ADDED", "2"), ("MODIFIED", "3"), ("BOOKMARK", "9")]

    lines = line("ADDED", node("a", 2)) + line("MODIFIED", node("a", 3)) + b"\n" + line("BOOKMARK", node("", 9))
    play(scenario, stream(lines[:10], lines[10:60], lines[60:200], lines[200:]))


@pytest.mark.parametrize(
    ("steps", "kind", "words"),
    [
        (stream(line("ADDED", node("a", 2)), b'{"type":"MODI'), errors.Unreachable, "broke within a line"),
        (stream(line("ADDED", node("a", 2)), ended=False), errors.Unreachable, "the connection to .* broke"),
        (stream(line("ADDED", node("a", 2)), b"nonsense\n"), errors.ServerFailed, "no JSON"),
        (stream(line("ADDED", node("a", 2)), line("ODD", {})), errors.ServerFailed, "unknown type: 'ODD'"),
        (
            stream(line("ADDED", node("a", 2)), line("ERROR", {"kind": "Status", "code": 410, "message": "too old"})),
            errors.Gone,
            "^too old$",
        ),
    ],
)
def test_what_a_watch_told_before_it_broke_counts(steps: bytes, kind: type[Exception], words: str) -> None:
    async def scenario(server: Scripted) -> None:
        async with aclosing(server.client().watch(NODES, version="1")) as events:
            assert (await anext(events)).object.version == "2"
            with pytest.raises(kind, match=words):
                await anext(events)

    play(scenario, steps)


def test_a_watch_that_is_refused_says_why() -> None:
    async def scenario(server: Scripted) -> None:
        async with aclosing(server.client().watch(NODES, version="1")) as events:
            with pytest.raises(errors.Forbidden, match=r"^no$"):
                await anext(events)

    play(scenario, refusal(403, "Forbidden", "no"))


def test_a_line_without_end_is_cut_off() -> None:
    splitter = Splitter(longest=10)
    assert list(splitter.take(b"abcdefgh\nij")) == [b"abcdefgh"]
    with pytest.raises(errors.ServerFailed, match="a line of more than 10 bytes"):
        list(splitter.take(b"klmnopqrs"))


def test_an_answer_without_end_is_cut_off() -> None:
    async def scenario(server: Scripted) -> None:
        way = Http(Access("test", Cluster(server=server.address), User()), WallClock(), largest=100)
        try:
            with pytest.raises(errors.ServerFailed, match="sent an answer of more than 100 bytes"):
                await way.send(Request("GET", "/api/v1/nodes/n1"), 5)
            assert (await way.send(Request("GET", "/version"), 5)).body == b'{"major":"1"}'
        finally:
            await way.close()

    play(scenario, answer(200, {"metadata": {"name": "n" * 100}}), answer(200, {"major": "1"}))


def test_requests_go_through_the_proxy_of_the_kubeconfig() -> None:
    async def scenario(server: Scripted) -> None:
        cluster = Cluster(server="http://cluster.example:6443", proxy_url=server.address)
        way = Http(Access("test", cluster, User()), WallClock())
        client = server.client()
        client.way = way
        assert (await client.get(PODS, "web", namespace="default")).version == "1"
        assert server.seen[0].target == "http://cluster.example:6443/api/v1/namespaces/default/pods/web"
        await client.close()

    play(scenario, answer(200, node("web", 1)))


def test_the_environment_s_proxy_is_not_asked_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")

    async def scenario(server: Scripted) -> None:
        assert (await server.client().get(PODS, "web", namespace="default")).version == "1"

    play(scenario, answer(200, node("web", 1)))


def test_the_environment_s_proxy_is_asked_for_other_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(server: Scripted) -> None:
        monkeypatch.setenv("HTTP_PROXY", server.address)
        client = server.client()
        client.way = Http(Access("test", Cluster(server="http://cluster.example:6443"), User()), WallClock())
        assert (await client.get(PODS, "web", namespace="default")).version == "1"
        assert server.seen[0].target == "http://cluster.example:6443/api/v1/namespaces/default/pods/web"
        monkeypatch.setenv("HTTP_PROXY", "ftp://ann:sesame@proxy")
        client.way = Http(Access("test", Cluster(server="http://cluster.example:6443"), User()), WallClock())
        with pytest.raises(BadInput) as bad:
            await client.get(PODS, "web", namespace="default")
        assert str(bad.value) == 'context test: HTTP_PROXY: unsupported scheme "ftp", must be http, https, or socks5'

    play(scenario, answer(200, node("web", 1)))


def test_a_peer_that_is_gone_without_a_word_is_asked_for_by_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    options: list[tuple[int, ...]] = []
    monkeypatch.setattr(socket.socket, "setsockopt", lambda _, *option: options.append(option), raising=False)

    async def scenario(server: Scripted) -> None:
        await server.client().get(PODS, "web", namespace="default")
        assert (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1) in options

    play(scenario, answer(200, node("web", 1)))


def test_no_text_of_a_way_holds_a_secret() -> None:
    user = User(token="sesame", password="sesame", client_key_data="sesame")
    access = Access("test", Cluster(server="https://name:sesame@127.0.0.1:1"), user)
    way = Http(access, WallClock())
    assert "sesame" not in f"{way!r} {way.server} {user!r} {access!r}"
    assert way.server == "https://127.0.0.1:1"
