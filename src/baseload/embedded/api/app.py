"""The ASGI application: a path becomes a call of one function, and what it gives or raises becomes an answer.

Whatever goes wrong ends in a Status; an error that nobody thought of is a 500 in clear words, and the server goes on.
"""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote

from starlette.datastructures import QueryParams
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from baseload.embedded.api import answers, discovery, health, reviews, status
from baseload.embedded.api.answer import no_such_page
from baseload.embedded.api.answers import Answer
from baseload.embedded.api.authenticate import Authenticate, everybody
from baseload.embedded.api.authorize import attributes, impersonate
from baseload.embedded.api.authorize.attributes import Attributes
from baseload.embedded.api.authorize.impersonate import Impersonation
from baseload.embedded.api.call import Call
from baseload.embedded.api.cluster import Cluster
from baseload.embedded.api.identity import Identity
from baseload.embedded.api.measures import Measures
from baseload.embedded.api.negotiate import JSON, PLAIN, YAML, Form, compressed, indented, is_yaml
from baseload.embedded.api.published import Published
from baseload.embedded.api.refusals import Failed, NoSuchPath, TooLarge, no_such_path
from baseload.embedded.api.watch import Closing
from baseload.embedded.store.errors import BadRequest, StatusError

LARGEST: Final = 3 * 1024 * 1024
# What is too large is let go of as it comes, up to here: who is still sending would see a broken connection, no answer.
LISTENED_TO: Final = 64 * 1024 * 1024
_DISCOVERY: Final = (
    Form("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2"),
    Form("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2beta1"),
    PLAIN,
)
_log: Final = logging.getLogger(__name__)

Committed = Callable[[], Awaitable[None]]


async def at_once() -> None:
    """Nothing to wait for: objects are in memory alone."""


@dataclass(slots=True)
class Api:
    """The application over one cluster; `committed` waits until what was written is durable."""

    cluster: Cluster
    closing: Closing
    committed: Committed = at_once
    published: Published = field(init=False)
    measures: Measures = field(default_factory=Measures)
    authenticate: Authenticate = everybody
    impersonation: Impersonation = field(init=False)

    def __post_init__(self) -> None:
        for kind in reviews.kinds():
            self.cluster.kinds.add(kind)
        self.published = Published(self.cluster.kinds)
        self.impersonation = Impersonation(self.cluster.authorizer)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await _refuse_other(scope, receive, send)
            return
        await self.measures.measured(self.cluster, self._respond, scope, receive, send)

    async def _respond(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        headers = dict(request.headers)
        warnings: list[str] = []
        try:
            steps, query = _steps(scope), request.query_params
            identity = self._admitted(scope, attributes.of_request(scope["method"], scope["path"], steps, query))
            call = Call(scope["method"], query, headers, await _body(request), warnings, identity)
            answer = self.answer(steps, call)
            await self.committed()
        except ClientDisconnect:
            return
        except StatusError as error:
            answer = _refusal(error)
        except RecursionError:
            answer = _refusal(BadRequest("the object is nested too deeply"))
        except Exception as error:  # noqa: BLE001  # a defect of ours answers 500 and does not end the server
            _log.exception("%s %s", scope["method"], scope["path"])
            answer = _refusal(Failed(f"Internal error occurred: {type(error).__name__}"))
        await _send(answer, headers, warnings, scope, receive, send)

    def _admitted(self, scope: Scope, asked: Attributes) -> Identity:
        """Who asks, where he may; before anything of the request is looked at but its head."""
        identity = self.authenticate(scope)
        other = impersonate.wanted(scope["headers"])
        if other is not None:
            identity = self.impersonation.acting(identity, other, asked)
        self.cluster.authorizer.check(identity, asked)
        return identity

    def answer(self, steps: list[str], call: Call) -> Answer | ASGIApp:
        try:
            return self._answer(steps, call)
        except NoSuchPath:
            if self._is_outside(steps):
                return no_such_page()
            raise

    def _is_outside(self, steps: list[str]) -> bool:
        """Whether a path that names nothing is not even of a group."""
        match steps:
            case ["apis", group, *_]:
                return all(kind.view.group != group for kind in self.cluster.kinds)
            case ["api" | "apis", *_]:
                return False
        return True

    def _answer(self, steps: list[str], call: Call) -> Answer | ASGIApp:
        match steps:
            case ["api" | "apis" as root]:
                return self.published.discovered(root, call)
            case ["api", "v1"]:
                return _found(discovery.resources(self.cluster.kinds, "", "v1"))
            case ["apis", group]:
                return _found(discovery.group(self.cluster.kinds, group))
            case ["apis", group, version]:
                return _found(discovery.resources(self.cluster.kinds, group, version))
            case ["api", "v1", *rest]:
                return answers.of_target(self.cluster, self.closing, ("", "v1"), rest, call)
            case ["apis", group, version, *rest]:
                return answers.of_target(self.cluster, self.closing, (group, version), rest, call)
            case ["openapi", *rest]:
                return self.published.described(rest, call)
            case ["metrics"] if call.method == "GET":
                return self.measures.answer(self.cluster, call.headers.get("accept", ""))
        return health.answer(steps, call, self.cluster, self.closing)


def _found(tree: discovery.Tree | None) -> Answer:
    if tree is None:
        raise no_such_path()
    return answers.json(tree)


def _steps(scope: Scope) -> list[str]:
    raw = scope.get("raw_path") or scope["path"].encode()
    path = unquote(raw.partition(b"?")[0].decode("latin-1")).removeprefix("/").rstrip("/")
    steps = path.split("/") if path else []
    if len(steps) > 1 and "" in steps:
        raise no_such_path()
    return steps


async def _body(request: Request) -> bytes:
    """The body, as far as the API reads."""
    if request.method in ("GET", "HEAD", "OPTIONS"):
        return b""
    pieces: list[bytes] = []
    size = 0
    async for piece in request.stream():
        size += len(piece)
        if size > LISTENED_TO:
            break
        if size <= LARGEST:
            pieces.append(piece)
    if size > LARGEST:
        raise TooLarge(f"Request entity too large: limit is {LARGEST}")
    return b"".join(pieces)


def _refusal(error: StatusError) -> Answer:
    answer = answers.json(status.failure(error), code=error.code)
    if error.retry_after:
        answer.headers["retry-after"] = str(error.retry_after)
    return answer


async def _send(
    answer: Answer | ASGIApp, headers: dict[str, str], warnings: list[str], scope: Scope, receive: Receive, send: Send
) -> None:
    if not isinstance(answer, Answer):
        await answer(scope, receive, send)
        return
    body = answer.body
    media_type = answer.media_type
    if media_type.startswith(JSON) and "etag" not in answer.headers:
        if body and is_yaml(headers):
            from baseload.embedded.api import yaml_answer  # few ask for it

            body, media_type = yaml_answer.written(body), YAML
        else:
            body = indented(body, headers, QueryParams(scope["query_string"]))
    body, extra = compressed(body, headers)
    told = {
        "content-type": media_type,
        "content-length": str(len(body)),
        "cache-control": "no-cache, private",
        **extra,
        **answer.headers,
    }
    lines = [(name.encode(), value.encode("latin-1", "replace")) for name, value in told.items()]
    lines += [(b"warning", b"299 - " + _quoted(text)) for text in warnings]
    await send({"type": "http.response.start", "status": answer.code, "headers": lines})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


def _quoted(text: str) -> bytes:
    return b'"' + text.replace("\\", "\\\\").replace('"', '\\"').encode("ascii", "replace") + b'"'


async def _refuse_other(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers what is no HTTP request: the life of the server, and WebSockets, which nothing here speaks yet."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1011})
        return
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
