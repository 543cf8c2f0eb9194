"""The way to the embedded cluster within this process: the API's own verbs, without HTTP.

What is sent is answered at once, by the functions that answer over HTTP too, so both ways agree on every object and
every refusal. A watch reads the store's log and sleeps on a bell of the clock's: nothing here is asyncio's.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from urllib.parse import unquote

import msgspec

from baseload.embedded import events
from baseload.embedded.api import status, target
from baseload.embedded.api.answers import Answer as ApiAnswer
from baseload.embedded.api.answers import watched
from baseload.embedded.api.app import Api, Committed, at_once
from baseload.embedded.api.call import Call
from baseload.embedded.api.cluster import Cluster
from baseload.embedded.api.negotiate import PLAIN
from baseload.embedded.api.watch import AT_ONCE, Closing, Frame
from baseload.embedded.store.errors import BadRequest, StatusError
from baseload.embedded.store.log import Event as Change
from baseload.embedded.store.watch import Watch
from baseload.kube.client import errors, objects
from baseload.kube.client.objects import Event
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

    async def passed(self, seconds: float) -> None:
        """Nothing is in the way."""
        await self._committed()

    async def lines(self, request: Request, *, opening: float, idle: float) -> AsyncGenerator[bytes, None]:
        """A watch's events."""
        watch, frame, _ = await self._watching(request)
        try:
            async with aclosing(self._batches(watch, _call(request))) as batches:
                async for batch in batches:
                    for event in batch:
                        yield frame(event)
        except StatusError as error:
            yield msgspec.json.encode({"type": "ERROR", "object": status.failure(error)})

    async def events(self, request: Request) -> AsyncGenerator[Sequence[Event], None]:
        """A watch's events, without their JSON where the kind is served as it is stored."""
        watch, frame, is_plain = await self._watching(request)
        try:
            async with aclosing(self._batches(watch, _call(request))) as batches:
                async for batch in batches:
                    if is_plain:
                        yield list(map(events.event, batch))
                    else:
                        yield [objects.read_event(frame(change)) for change in batch]
        except StatusError as error:
            raise _raised(error) from error

    async def _watching(self, request: Request) -> tuple[Watch, Frame, bool]:
        """A watch, how its events are written, and whether they are as they are stored."""
        try:
            version, steps = _version(_steps(request))
            found = target.find(self._cluster.kinds, *version, steps)
            watch, frame = watched(self._cluster, found, _call(request), PLAIN)
            await self._committed()
        except StatusError as error:
            raise _raised(error) from error
        return watch, frame, found.kind.is_plain

    async def _batches(self, watch: Watch, call: Call) -> AsyncGenerator[Sequence[Change], None]:
        """What a watch reads, at once when there is something, until it ends.

        Nothing breaks a watch before its end, so a bookmark at the end does for those of each minute.
        """
        clock = self._clock
        bell = clock.bell()
        end = clock.now() + call.number("timeoutSeconds") * instant.SECOND
        try:
            while (left := (end - clock.now()) / instant.SECOND) > 0 and not watch.is_over:
                if not watch.sleep(bell.ring):
                    yield watch.read(AT_ONCE)
                else:
                    await bell.wait(left)
            if not watch.is_over:
                yield (watch.bookmark(),)
        finally:
            watch.close()

    async def close(self) -> None:
        """Nothing is held."""


def _refusal(error: StatusError) -> Answer:
    return Answer(error.code, msgspec.json.encode(status.failure(error)))


def _raised(error: StatusError) -> errors.ApiError:
    """What a client is told of a refusal."""
    return errors.of_answer(error.code, msgspec.json.encode(status.failure(error)), {})


def _call(request: Request) -> Call:
    headers = {"content-type": request.content_type, "accept": "application/json"}
    return Call(request.method, request.query, headers, request.body)


def _steps(request: Request) -> list[str]:
    return [unquote(step) for step in request.path.strip("/").split("/")]


def _version(steps: list[str]) -> tuple[tuple[str, str], list[str]]:
    """The group and version of a path, and the steps below."""
    return (("", steps[1]), steps[2:]) if steps[0] == "api" else ((steps[1], steps[2]), steps[3:])
