"""What stands between a controller's process and the world: an API server that is slow or down, and its own end.

Each life of a process has a way and a cloud of its own here. Writes and cloud calls that change something are counted
over all lives; where the process is to end at one of them, that is not done, and nothing that this life does is done
any more.
"""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Final

from baseload.cloud.port import Cloud, Fleet, Launched
from baseload.kube.client.errors import Timeout, Unreachable
from baseload.kube.client.objects import Event
from baseload.kube.client.port import Answer, Direct, Passable, Request, Way
from baseload.replay.weather import Sky
from baseload.values.clock import Clock
from baseload.values.instant import SECOND

_NEVER: Final = 1e9


class Fate:
    """Counts what a controller does, and ends it in place of what comes after so much more."""

    def __init__(self) -> None:
        self.done = 0
        self._until: list[tuple[int, Callable[[], None]]] = []

    def strike_after(self, more: int, end: Callable[[], None]) -> None:
        """Has the process end then, by `end`."""
        self._until.append((self.done + more, end))
        self._until.sort(key=lambda one: one[0])

    def strikes(self) -> bool:
        """Whether the process ends now, in place of what it is about to do."""
        if self._until and self.done >= self._until[0][0]:
            self._until.pop(0)[1]()
            return True
        self.done += 1
        return False


class Life:
    """One life of a process: over when fate strikes, whatever its tasks still try."""

    def __init__(self, fate: Fate, clock: Clock) -> None:
        self._fate, self._clock = fate, clock
        self._is_over = False

    async def do(self, *, changes: bool) -> None:
        """Waits for ever where the life is over."""
        if not self._is_over and changes and self._fate.strikes():
            self._is_over = True
        while self._is_over:
            await self._clock.sleep(_NEVER)


class WatchedWay:
    """The way to the cluster in one life."""

    def __init__(self, way: Way, clock: Clock, life: Life, sky: Sky) -> None:
        self._way, self._clock, self._life, self._sky = way, clock, life, sky

    @property
    def server(self) -> str:
        return self._way.server

    async def send(self, request: Request, seconds: float) -> Answer:
        """What is written is fate's; no answer comes while the server is down, or later than is waited for."""
        await self._through(seconds, changes=request.method != "GET")
        return await self._way.send(request, seconds)

    async def passed(self, seconds: float) -> None:
        """As a request that changes something, without one; the way must be one within the process."""
        assert isinstance(self._way, Passable)
        await self._through(seconds, changes=True)
        await self._way.passed(seconds)

    async def _through(self, seconds: float, *, changes: bool) -> None:
        sky = self._sky
        if sky.outages:
            await self._clock.sleep(seconds)
            raise Timeout(f"{self.server} did not answer within {seconds:g} s")
        await self._life.do(changes=changes)
        if delay := sky.delay:
            if delay >= seconds * SECOND:
                await self._clock.sleep(seconds)
                raise Timeout(f"{self.server} did not answer within {seconds:g} s")
            await self._clock.sleep(delay / SECOND)

    async def lines(self, request: Request, *, opening: float, idle: float) -> AsyncGenerator[bytes, None]:
        """A watch breaks when the server is down."""
        self._refuse()
        sky = self._sky
        async with aclosing(self._way.lines(request, opening=opening, idle=idle)) as lines:
            async for line in lines:
                if sky.outages or sky.delays:
                    await self._come()
                yield line

    async def events(self, request: Request) -> AsyncGenerator[Sequence[Event], None]:
        """The same without lines; the way must be one within the process."""
        assert isinstance(self._way, Direct)
        self._refuse()
        sky = self._sky
        async with aclosing(self._way.events(request)) as batches:
            async for batch in batches:
                if sky.outages or sky.delays:
                    await self._come()
                yield batch

    async def close(self) -> None:
        await self._way.close()

    async def _come(self) -> None:
        self._refuse()
        if delay := self._sky.delay:
            await self._clock.sleep(delay / SECOND)

    def _refuse(self) -> None:
        if self._sky.outages:
            raise Unreachable(f"{self.server} does not answer", was_sent=True)


class WatchedCloud:
    """The cloud in one life; calls that change something are fate's."""

    def __init__(self, cloud: Cloud, life: Life) -> None:
        self._cloud, self._life = cloud, life

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cloud, name)

    async def launch(self, fleet: Fleet) -> Launched:
        await self._life.do(changes=True)
        return await self._cloud.launch(fleet)

    async def terminate(self, id: str) -> None:
        await self._life.do(changes=True)
        await self._cloud.terminate(id)

    async def tag(self, id: str, tags: Mapping[str, str]) -> None:
        await self._life.do(changes=True)
        await self._cloud.tag(id, tags)

    async def delete_message(self, receipt: str) -> None:
        await self._life.do(changes=True)
        await self._cloud.delete_message(receipt)
