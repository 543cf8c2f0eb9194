"""Follows a collection for good: everything there is, then every change, through whatever happens on the way.

It begins with a list or, where the server offers it, with a watch that sends what there is first. From then on it
watches from the last version that it knows, which every event and bookmark moves on. A watch that ends, breaks or is
refused is taken up again at that version, so nothing is lost; what a server sends twice is told once. Where the server
no longer holds the version (410), never had it, or makes no sense of it, the collection is read anew and replaces what
was told before.

Failures are waited out as client-go does it: 0.8 s doubling to 30 s, each stretched by chance, from the start again
after two minutes without one. Nothing here gives up; `error` is what stands in the way now.
"""

from collections.abc import Sequence
from contextlib import aclosing
from typing import Final, Protocol

from baseload.kube.client.client import Client
from baseload.kube.client.errors import ApiError, BadRequest, Gone, Invalid, Timeout, Unauthorized, Unreachable
from baseload.kube.client.objects import Event, Object
from baseload.kube.client.port import Resource
from baseload.kube.client.requests import EVERYTHING, Selected
from baseload.kube.client.retry import Backoff
from baseload.values import instant
from baseload.values.errors import BadInput

BACKOFF: Final = Backoff(0.8, 30.0)
FORGIVEN: Final = 120 * instant.SECOND  # after so long without a failure the delays start again
WATCHING: Final = 300  # seconds that a watch lasts at least; up to twice that, by chance
_SHORT: Final = instant.SECOND  # a watch that ends sooner, without an event, is a failure
_AHEAD: Final = "ResourceVersionTooLarge"


class Sink(Protocol):
    """Who is told; nothing of it may wait."""

    def replace(self, objects: Sequence[Object], version: str) -> None:
        """These are all the objects, at that version."""
        ...

    def change(self, event: Event) -> None:
        """One object came, changed or went."""
        ...

    def reached(self, version: str) -> None:
        """All changes up to a version have been told."""
        ...


class Reflector:
    """One collection's follower; `streaming` where the server sends what there is in a watch."""

    def __init__(
        self,
        client: Client,
        resource: Resource,
        sink: Sink,
        selected: Selected = EVERYTHING,
        *,
        streaming: bool = False,
    ) -> None:
        self._client, self._resource, self._sink, self._selected = client, resource, sink, selected
        self._streaming = streaming
        self._version = ""  # "" where everything has to be read anew
        self._failures = 0
        self._failed_at = 0
        self.error: ApiError | None = None

    async def run(self) -> None:
        """Follows until it is cancelled."""
        while True:
            try:
                await self._follow()
                self.error = None
            except ApiError as error:
                await self._put_off(error)
            except BadInput as error:  # credentials that do not do now: a program or a file has to be mended
                await self._put_off(Unauthorized(str(error)))

    async def _put_off(self, error: ApiError) -> None:
        self.error = error
        self._note(error)
        await self._client.clock.sleep(self._delay(error))

    async def _follow(self) -> None:
        """One watch to its end, with whatever has to come before it."""
        if not self._version and not self._streaming:
            page = await self._client.list(self._resource, self._selected)
            self._tell_all(page.objects, page.version)
        started = self._client.clock.now()
        if not await self._watch() and self._client.clock.now() - started < _SHORT:
            raise Unreachable(f"the watch of {self._resource.qualified} ended as soon as it began")

    async def _watch(self) -> int:
        """Tells what a watch tells; how many events that were."""
        seconds = int(WATCHING * (1 + self._client.chance.random()))
        initial = not self._version
        batches = self._client.changes(
            self._resource, self._selected, version=self._version, seconds=seconds, initial=initial
        )
        count = 0
        present: dict[tuple[str, str], Object] = {}
        async with aclosing(batches) as batches:
            async for batch in batches:
                count += len(batch)
                for event in batch:
                    if self._version:
                        self._take(event)
                    else:
                        self._collect(event, present)
        return count

    def _collect(self, event: Event, present: dict[tuple[str, str], Object]) -> None:
        """Keeps what comes first, until all of that has come."""
        if event.type == "BOOKMARK":
            if event.ends_initial:
                self._tell_all(list(present.values()), event.object.version)
        elif event.type == "DELETED":
            present.pop(event.object.key, None)
        else:
            present[event.object.key] = event.object

    def _take(self, event: Event) -> None:
        """Tells an event, unless it was told before."""
        self.error = None
        version = event.object.version
        if not is_later(version, self._version):
            return
        if event.type == "BOOKMARK":
            self._sink.reached(version)
        else:
            self._sink.change(event)
        self._version = version

    def _tell_all(self, objects: Sequence[Object], version: str) -> None:
        self.error = None
        self._sink.replace(objects, version)
        self._version = version

    def _note(self, error: ApiError) -> None:
        """What a failure says of how to go on."""
        makes_no_sense = isinstance(error, BadRequest | Invalid)
        if makes_no_sense and not self._version:
            self._streaming = False  # the server knows no watch that begins with what there is
        elif makes_no_sense or isinstance(error, Gone) or is_ahead(error):
            self._version = ""

    def _delay(self, error: ApiError) -> float:
        now = self._client.clock.now()
        if now - self._failed_at > FORGIVEN:
            self._failures = 0
        self._failures, self._failed_at = self._failures + 1, now
        return max(BACKOFF.delay(self._failures, self._client.chance), error.retry_after)


def is_ahead(error: ApiError) -> bool:
    """Whether the server has not come as far as the version asked for: it is another one, or an elder state of it."""
    return isinstance(error, Timeout) and any(cause.reason == _AHEAD for cause in error.causes)


def is_later(version: str, than: str) -> bool:
    """Whether a version is a later one; versions that are no numbers are later where they differ."""
    try:
        return int(version) > int(than)
    except ValueError:
        return version != than


async def offers_streaming(client: Client) -> bool:
    """Whether the server sends what there is at the beginning of a watch: since 1.32."""
    version = await client.version()
    return (version.major, version.minor) >= (1, 32)
