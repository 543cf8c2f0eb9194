"""Calls of the API without a network: one request, one answer."""

import asyncio
import json
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.types import Message

from baseload.embedded.api.admission import CHAIN
from baseload.embedded.api.app import Api
from baseload.embedded.api.cluster import Cluster, furnish
from baseload.embedded.api.watch import Closing
from baseload.embedded.store.store import Store
from tests.embedded.clock import Standing

JSON: Final = {"content-type": "application/json"}
MERGE: Final = {"content-type": "application/merge-patch+json"}
PODS: Final = "/api/v1/namespaces/default/pods"
MAPS: Final = "/api/v1/namespaces/default/configmaps"


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer."""

    code: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def tree(self) -> Any:
        return json.loads(self.body)

    @property
    def reason(self) -> str:
        return str(self.tree.get("reason", ""))

    @property
    def message(self) -> str:
        return str(self.tree.get("message", ""))


@dataclass(slots=True)
class Server:
    """An API over a new cluster."""

    cluster: Cluster = field(init=False)
    api: Api = field(init=False)
    clock: Standing = field(default_factory=Standing)
    closing: Closing = field(default_factory=Closing)

    def __post_init__(self) -> None:
        self.cluster = Cluster(Store(self.clock, random.Random(1)), self.clock, CHAIN)
        furnish(self.cluster)
        self.api = Api(self.cluster, self.closing)

    def call(
        self, method: str, path: str, body: object = b"", headers: Mapping[str, str] = JSON, pieces: int = 1
    ) -> Answered:
        """The answer to one request; a body that is no bytes goes as JSON."""
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        return asyncio.run(self._call(method, path, sent, headers, pieces))

    async def _call(self, method: str, path: str, body: bytes, headers: Mapping[str, str], pieces: int) -> Answered:
        waiting = [body] * pieces
        said: list[Message] = []

        async def receive() -> Message:
            piece = waiting.pop()
            return {"type": "http.request", "body": piece, "more_body": bool(waiting)}

        async def send(message: Message) -> None:
            said.append(message)

        raw, _, query = path.partition("?")
        scope = {
            "type": "http",
            "method": method,
            "path": raw,
            "raw_path": raw.encode(),
            "query_string": query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }
        await self.api(scope, receive, send)
        told = {name.decode(): value.decode() for name, value in said[0]["headers"]}
        return Answered(said[0]["status"], told, b"".join(message.get("body", b"") for message in said[1:]))


def config_map(name: str, **data: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def pod(name: str) -> dict[str, Any]:
    spec = {"containers": [{"name": "main", "image": "nginx:1"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}
