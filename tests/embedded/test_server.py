"""What a client may do to the server, byte by byte: each misuse ends in a Status, and the server goes on."""

import json
import random
import resource
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from baseload.embedded import server as servers
from baseload.embedded.api.admission import CHAIN
from baseload.embedded.api.cluster import Cluster, furnish
from baseload.embedded.connection import Limits
from baseload.embedded.store.store import Store
from tests.embedded.clock import Standing

QUICK = Limits(head=0.2, body=0.2, linger=0.2, connections=20)
HEAD = b"GET /readyz HTTP/1.1\r\nhost: localhost\r\n"
LAST = b"connection: close\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Heard:
    """What came back on a connection until its end."""

    raw: bytes

    @property
    def code(self) -> int:
        return int(self.raw.split(b" ", 2)[1])

    @property
    def codes(self) -> list[int]:
        return [int(part[:3]) for part in self.raw.split(b"HTTP/1.1 ")[1:]]

    @property
    def status(self) -> tuple[int, str, str]:
        """Code, reason and message of a Status."""
        tree = json.loads(self.raw.partition(b"\r\n\r\n")[2])
        assert (tree["kind"], tree["status"]) == ("Status", "Failure")
        assert tree["code"] == self.code
        return tree["code"], tree["reason"], tree["message"]


@dataclass(frozen=True, slots=True)
class Server:
    """A server on a port."""

    port: int

    def connect(self) -> socket.socket:
        return socket.create_connection((servers.LOOPBACK, self.port), timeout=10)

    def says(self, *pieces: bytes) -> Heard:
        """What is heard after some bytes, until the server ends the connection."""
        with self.connect() as client:
            for piece in pieces:
                client.sendall(piece)
            return hear(client)


def hear_ok(client: socket.socket) -> None:
    """Takes the answer to a question for the server's health."""
    heard = b""
    while not heard.endswith(b"\r\n\r\nok"):
        piece = client.recv(65536)
        assert piece, heard
        heard += piece


def hear(client: socket.socket) -> Heard:
    heard = b""
    while piece := client.recv(65536):
        heard += piece
    return Heard(heard)


@pytest.fixture
def served() -> Iterator[Server]:
    clock = Standing()
    cluster = Cluster(Store(clock, random.Random(1)), clock, CHAIN)
    furnish(cluster)
    answers = threading.Event()
    stops: list[servers.Stop] = []

    def started(stop: servers.Stop) -> None:
        stops.append(stop)
        answers.set()

    with servers.listening(0) as listener:
        thread = threading.Thread(target=servers.serve, args=(cluster, listener, started, QUICK))
        thread.start()
        assert answers.wait(20)
        yield Server(listener.getsockname()[1])
        assert listener.fileno() != -1
        for stop in stops:
            stop()
        thread.join(20)
    assert not thread.is_alive()


def test_headers_that_never_end_are_waited_for_a_while(served: Server) -> None:
    slow = (408, "Timeout", "the request's headers did not arrive in time")

    assert served.says(b"").status == slow
    assert served.says(b"GET / HT").status == slow
    assert served.says(HEAD).status == slow
    assert served.says(HEAD + b"\r\n", HEAD).codes == [200, 408]


def test_a_body_that_trickles_is_waited_for_a_while(served: Server) -> None:
    head = b"POST /api/v1/namespaces HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"

    heard = served.says(head + b"content-length: 50\r\n\r\n", b"{")
    assert heard.status == (408, "Timeout", "the request's body did not arrive in time")
    assert served.says(head + b"transfer-encoding: chunked\r\n\r\n", b"1\r\n{").code == 408


def test_bytes_one_by_one_do_not_put_the_deadline_off(served: Server) -> None:
    with served.connect() as client:
        client.settimeout(0.02)
        heard = b""
        for _ in range(400):
            try:
                client.sendall(b"x")
                heard = client.recv(65536)
                break
            except TimeoutError:
                continue
        assert b" 408 " in heard


def test_idle_connections_and_watches_are_left_alone(served: Server) -> None:
    with served.connect() as idle, served.connect() as watch:
        idle.sendall(HEAD + b"\r\n")
        hear_ok(idle)
        watch.sendall(b"GET /api/v1/namespaces?watch=1&resourceVersion=0 HTTP/1.1\r\nhost: localhost\r\n\r\n")
        assert watch.recv(1) == b"H"
        assert served.says(b"").code == 408  # as long as the deadlines of the others are

        idle.sendall(HEAD + LAST)
        assert hear(idle).raw.endswith(b"ok")
        body = b'{"metadata":{"name":"late"}}'
        length = str(len(body)).encode()
        made = served.says(
            b"POST /api/v1/namespaces HTTP/1.1\r\nhost: localhost\r\ncontent-length: " + length + b"\r\n" + LAST + body
        )
        assert made.code == 201
        heard = b""
        while b"late" not in heard:
            heard += watch.recv(65536)


@pytest.mark.parametrize(
    ("sent", "code", "reason"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400, "BadRequest"),
        (b"GET\r\n\r\n", 400, "BadRequest"),
        (b"GET / HTTP/1.1\r\n\r\n", 400, "BadRequest"),
        (b"GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n", 400, "BadRequest"),
        (b"GET / HTTP/1.1\r\nhost: a\r\nbad header\r\n\r\n", 400, "BadRequest"),
        (b"GET / HTTP/1.1\r\nhost: a\r\nx: a\x00b\r\n\r\n", 400, "BadRequest"),
        (b"GET / HTTP/1.1\r\nhost: a\r\nx: " + b"y" * 200_000 + b"\r\n\r\n", 431, "RequestHeaderFieldsTooLarge"),
        (b"GET /" + b"y" * 200_000 + b" HTTP/1.1\r\nhost: a\r\n\r\n", 431, "RequestHeaderFieldsTooLarge"),
        (b"POST /api/v1/pods HTTP/1.1\r\nhost: a\r\ncontent-length: x\r\n\r\n", 400, "BadRequest"),
        (b"POST /api/v1/pods HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n", 400, "BadRequest"),
        (b"POST /api/v1/pods HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip\r\n\r\n", 501, "NotImplemented"),
        (b"POST /api/v1/pods HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", 400, "BadRequest"),
    ],
)
def test_what_is_no_http_is_refused_with_a_status(served: Server, sent: bytes, code: int, reason: str) -> None:
    told = served.says(sent).status

    assert told[:2] == (code, reason)
    assert told[2].startswith("Invalid HTTP request received: ")
    assert served.says(HEAD + LAST).raw.endswith(b"ok")


def test_requests_may_follow_each_other_without_waiting(served: Server) -> None:
    heard = served.says((HEAD + b"\r\n") * 5 + HEAD + LAST)

    assert heard.codes == [200] * 6


def test_the_elder_protocol_is_spoken_too(served: Server) -> None:
    heard = served.says(b"GET /readyz HTTP/1.0\r\n\r\n")

    assert (heard.code, heard.raw[-2:]) == (200, b"ok")


def test_a_client_that_asks_first_is_told_to_go_on(served: Server) -> None:
    body = b'{"metadata":{"name":"asked"}}'
    head = b"POST /api/v1/namespaces HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\n"
    with served.connect() as client:
        client.sendall(head + b"content-length: " + str(len(body)).encode() + b"\r\n" + LAST)
        assert client.recv(12) == b"HTTP/1.1 100"
        client.sendall(body)
        assert hear(client).codes == [201]


@pytest.mark.parametrize(("method", "code"), [("HEAD", 200), ("OPTIONS", 405), ("BREW", 405), ("TRACE", 405)])
def test_other_methods_are_answered_too(served: Server, method: str, code: int) -> None:
    path = "/readyz" if method == "HEAD" else "/api/v1/namespaces"

    heard = served.says(f"{method} {path} HTTP/1.1\r\nhost: localhost\r\n".encode() + LAST)

    assert heard.code == code
    if method == "HEAD":
        assert heard.raw.endswith(b"\r\n\r\n")


def test_there_is_room_for_the_files_of_all_connections() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (500, before[1]))
        servers.make_room(1_000)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] >= min(1_000, before[1])
        servers.make_room(10)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] >= min(1_000, before[1])  # what there is, stays
        servers.make_room(10**9)
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (before[1], before[1])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_connection_too_many_is_refused_and_the_next_finds_room(served: Server) -> None:
    with ExitStack() as stack:
        for _ in range(QUICK.connections):
            client = stack.enter_context(served.connect())
            client.sendall(HEAD + b"\r\n")
            hear_ok(client)
        refused = served.says(HEAD + LAST)
        assert refused.status == (
            503,
            "ServiceUnavailable",
            "the server has as many connections as it takes: try again later",
        )
        assert b"retry-after: 1" in refused.raw.lower()
        client.sendall(HEAD + LAST)
        assert hear(client).raw.endswith(b"ok")
        assert served.says(HEAD + LAST).raw.endswith(b"ok")


@pytest.mark.parametrize(
    ("headers", "what"),
    [
        ("host: evil.example:80", "Host evil.example:80"),
        ("host: 127.0.0.1.evil.example", "Host 127.0.0.1.evil.example"),
        ("host: 192.168.1.7:8001", "Host 192.168.1.7:8001"),
        ("host: ", "Host "),
        ("host: [", "Host ["),
        ("host: localhost\r\norigin: https://evil.example", "Origin https://evil.example"),
        ("host: localhost\r\norigin: null", "Origin null"),
    ],
)
def test_a_web_page_of_another_place_is_refused_whatever_it_asks(served: Server, headers: str, what: str) -> None:
    body = b'{"metadata":{"name":"by-page"}}'
    head = f"POST /api/v1/namespaces HTTP/1.1\r\n{headers}\r\ncontent-length: {len(body)}\r\n".encode()

    told = f"{what} is not this machine: without --tls only 127.0.0.1, localhost, ::1 are answered"
    assert served.says(head + LAST + body).status == (403, "Forbidden", told)
    assert served.says(b"GET /api/v1/namespaces/by-page HTTP/1.1\r\nhost: localhost\r\n" + LAST).code == 404


@pytest.mark.parametrize(
    "host", ["127.0.0.1:1234", "LOCALHOST", "[::1]:80", "localhost:1\r\norigin: http://localhost:3000"]
)
def test_whoever_means_this_machine_is_answered(served: Server, host: str) -> None:
    assert served.says(f"GET /readyz HTTP/1.1\r\nhost: {host}\r\n".encode() + LAST).code == 200
