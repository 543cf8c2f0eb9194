"""The way to the embedded cluster within this process: the API's own verbs, without HTTP.

What is sent is answered at once, by the functions that answer over HTTP too, so both ways agree on every object and
every refusal. A watch reads the store's log and sleeps on a bell of the clock's: nothing here is asyncio's.
"""

from collections.abc import AsyncGenerator
from urllib.parse import unquote

import msgspec

from baseload.embedded.api import status, target
from baseload.embedded.api.answers import Answer as ApiAnswer
from baseload.embedded.api.answers import watched
from baseload.embedded.api.app import Api, Committed, at_once
from baseload.embedded.api.call import Call
from baseload.embedded.api.cluster import Cluster
from baseload.embedded.api.negotiate import PLAIN
from baseload.embedded.api.watch import AT_ONCE, BOOKMARK_EVERY, Closing, Frame
from baseload.embedded.store.errors import BadRequest, StatusError
from baseload.embedded.store.watch import Watch
from baseload.kube.client import errors
from baseload.kube.client.port import Answer, Request
from baseload.values import instant
from baseload.values.clock import Clock


class Local:
    """The way to a cluster in this process; `committed` waits until what was written is durable."""

    def __init__(self, cluster: Cluster, clock: Clock, committed: Committed = at_once) -> None:
        self._cluster, self._clock, self._committed = cluster, clock, committed
        self._api = Api(cluster, Closing(), committed)

    @property
    def server(self) -> str:
        return "the embedded cluster"

    async def send(self, request: Request, seconds: float) -> Answer:
        """Answers at once; only what must be on disk is waited for."""
        try:
            answer = self._api.answer(_steps(request), _call(request))
            await self._committed()
        except StatusError as error:
            return _refusal(error)
        except RecursionError:
            return _refusal(BadRequest("the object is nested too deeply"))
        assert isinstance(answer, ApiAnswer), "a watch is read by lines"
        return Answer(answer.code, answer.body, answer.headers)

    async def lines(self, request: Request, *, opening: float, idle: float) -> AsyncGenerator[bytes, None]:
        """A watch's events."""
        call = _call(request)
        try:
            watch, frame = self._opened(request, call)
            await self._committed()
        except StatusError as error:
            raise errors.of_answer(error.code, msgspec.json.encode(status.failure(error)), {}) from error
        bell = self._clock.bell()
        end = self._clock.now() + call.number("timeoutSeconds") * instant.SECOND
        try:
            while (left := (end - self._clock.now()) / instant.SECOND) > 0 and not watch.is_over:
                if not watch.sleep(bell.ring):
                    for event in watch.read(AT_ONCE):
                        yield frame(event)
                elif not await bell.wait(min(left, BOOKMARK_EVERY)):
                    yield frame(watch.bookmark())
        except StatusError as error:
            yield msgspec.json.encode({"type": "ERROR", "object": status.failure(error)})
        finally:
            watch.close()

    async def close(self) -> None:
        """Nothing is held."""

    def _opened(self, request: Request, call: Call) -> tuple[Watch, Frame]:
        version, steps = _version(_steps(request))
        found = target.find(self._cluster.kinds, *version, steps)
        return watched(self._cluster, found, call, PLAIN)


def _refusal(error: StatusError) -> Answer:
    return Answer(error.code, msgspec.json.encode(status.failure(error)))


def _call(request: Request) -> Call:
    headers = {"content-type": request.content_type, "accept": "application/json"}
    return Call(request.method, request.query, headers, request.body)


def _steps(request: Request) -> list[str]:
    return [unquote(step) for step in request.path.strip("/").split("/")]


def _version(steps: list[str]) -> tuple[tuple[str, str], list[str]]:
    """The group and version of a path, and the steps below."""
    return (("", steps[1]), steps[2:]) if steps[0] == "api" else ((steps[1], steps[2]), steps[3:])
