"""A server on loopback that answers by a script: each request takes the next step, then its connection ends."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

import msgspec

from baseload.kube.client.client import Client
from baseload.kube.client.http import Http
from baseload.kube.client.kubeconfig import Access, Cluster, User
from baseload.kube.client.retry import Retry
from baseload.timeline.wall import WallClock
from tests.kube.client.clocks import Even, Hurried

Step = bytes | Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Seen:
    """A request as it came."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(urlsplit(self.target).query).items()}


@dataclass(slots=True)
class Scripted:
    """What is left of the script, and what was asked."""

    steps: list[Step]
    address: str = ""
    seen: list[Seen] = field(default_factory=list)

    def client(self, clock: Hurried | WallClock | None = None, *, deadline: float = 30, tries: int = 6) -> Client:
        """A client of the server, who waits for nothing unless he is given a clock that does."""
        chosen = clock or Hurried()
        way = Http(Access("test", Cluster(server=self.address), User(token="sesame")), chosen)
        return Client(way, chosen, Even(), deadline=deadline, retry=Retry(tries=tries))


@asynccontextmanager
async def scripted(*steps: Step, tls: ssl.SSLContext | None = None) -> AsyncIterator[Scripted]:
    """A server with a script; without a step left it closes connections without a word."""
    script = Scripted(list(steps))

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            script.seen.append(await _request(reader))
            step = script.steps.pop(0) if script.steps else b""
            if isinstance(step, bytes):
                writer.write(step)
                await writer.drain()
            else:
                await step(writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    port = server.sockets[0].getsockname()[1]
    script.address = f"{'https' if tls else 'http'}://127.0.0.1:{port}"
    try:
        yield script
    finally:
        server.close()
        await server.wait_closed()


async def _request(reader: asyncio.StreamReader) -> Seen:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *rest = head.strip().split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in rest)}
    return Seen(method, target, headers, await reader.readexactly(int(headers.get("content-length", 0))))


def answer(code: int, tree: object, **headers: str) -> bytes:
    """A whole answer."""
    body = tree if isinstance(tree, bytes) else msgspec.json.encode(tree)
    more = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {code} X\r\ncontent-length: {len(body)}\r\nconnection: close\r\n{more}\r\n".encode() + body


def refusal(code: int, reason: str, message: str = "why", **headers: str) -> bytes:
    """A Status."""
    return answer(code, {"kind": "Status", "message": message, "reason": reason, "code": code}, **headers)


def stream(*pieces: bytes, ended: bool = True) -> bytes:
    """An answer in pieces, properly ended or broken off."""
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
    return b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + chunks + (b"0\r\n\r\n" if ended else b"")


def node(name: str, version: int, **labels: str) -> dict[str, object]:
    metadata = {"name": name, "uid": f"uid-{name}", "resourceVersion": str(version), "labels": labels}
    return {"kind": "Node", "apiVersion": "v1", "metadata": metadata}


def line(type: str, object: object) -> bytes:
    """A line of a watch."""
    return msgspec.json.encode({"type": type, "object": object}) + b"\n"


def nodes(version: int, items: Sequence[dict[str, object]], token: str = "") -> dict[str, object]:
    """A list, whose items do not say what they are."""
    bare = [{key: value for key, value in item.items() if key == "metadata"} for item in items]
    metadata = {"resourceVersion": str(version), "continue": token}
    return {"kind": "NodeList", "apiVersion": "v1", "metadata": metadata, "items": bare}
