"""A cluster that is looked at for a while: its nodes, pods, NodeClaims and NodePools, followed by watches.

Its time is the server's own, as the Date of its answers says: a clock here may be wrong, and that of a simulated
cluster runs as fast as it likes. The same request tells whether the server still answers.
"""

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Final

from baseload.control.informer import Informer
from baseload.control.observed import CLAIM, NODE, POD, POOL
from baseload.decide import overview as overviews
from baseload.decide.overview import Sort
from baseload.kube.client import errors, kubeconfig, requests
from baseload.kube.client.errors import ApiError, NotFound, Unauthorized
from baseload.kube.client.kubeconfig import Access
from baseload.kube.client.port import Resource
from baseload.kube.client.retry import Retry
from baseload.kube.kinds import Kind
from baseload.plan.overview import Overview
from baseload.timeline.wall import WallClock
from baseload.values.errors import BadInput, Fault, Unreachable
from baseload.values.instant import SECOND
from baseload.values.selector import Selector
from baseload.world import clients
from baseload.world.prices import Prices

_KARPENTERS: Final = (CLAIM, POOL)  # that a cluster may do without
_PATIENCE: Final = Retry(tries=3)  # somebody waits at a terminal
_PATIENT: Final = 10.0  # seconds for an answer that says that the server is there


class Watched:
    """One cluster, as far as it was told; made by `watching`."""

    def __init__(self, access: Access) -> None:
        clock = WallClock()
        self.name: Final = f"context {access.context}" if access.context else "the cluster of this pod"
        self._client: Final = clients.over_http(access, clock, random.SystemRandom(), retry=_PATIENCE)
        self._informer: Final = Informer(self._client, (NODE, POD, *_KARPENTERS))
        self._prices: Final = Prices()
        self._ahead = 0  # nanoseconds that the server's clock is ahead of this machine's
        self._lost: tuple[float, ApiError] | None = None  # since when it does not answer, and why

    @property
    def server(self) -> str:
        return self._client.way.server

    @property
    def now(self) -> int:
        """The server's time."""
        return time.time_ns() + self._ahead

    @property
    def problem(self) -> str:
        """What stands in the way of seeing the cluster as it is now; "" where nothing does."""
        if self._lost is not None:
            since, error = self._lost
            return f"no connection for {time.monotonic() - since:.0f}s, trying again: {error}"
        return next((f"{kind.plural}: {error}" for kind, error in self._failing()), "")

    def overview(self, *, selector: Selector | None = None, sort: Sort = "name") -> Overview:
        """The cluster now."""
        return overviews.overview(self._informer.view, self.now, self._prices, selector=selector, sort=sort)

    async def first(self) -> None:
        """Waits until everything was read once. Raises BadInput or Unreachable where that cannot be."""
        while True:
            for kind, error in self._failing():
                raise _refused(self.name, error, f"{Resource.of(kind).qualified}: ")
            lacking = [kind for kind, kept in self._informer.kept.items() if not kept.is_synced]
            if all(kind in self._informer.failing for kind in lacking):
                return
            await asyncio.sleep(0.02)

    async def look(self) -> None:
        """Asks whether the server is there, and what time it has. Raises what a client raises where it is not."""
        answer = await self._client.way.send(requests.raw("/version"), _PATIENT)
        if answer.code == 401:
            raise errors.of_answer(answer.code, answer.body, answer.headers)
        with suppress(ValueError):
            said = parsedate_to_datetime(answer.headers.get("date", ""))
            self._ahead = int(said.timestamp()) * SECOND - time.time_ns()

    async def follow(self, every: float) -> None:
        """Keeps all of it up to date until it is cancelled."""
        await self._client.clock.together(self._informer.run(), self._look_on(every))

    async def close(self) -> None:
        await self._client.close()

    async def _look_on(self, every: float) -> None:
        while True:
            await asyncio.sleep(every)
            try:
                await self.look()
                self._lost = None
            except ApiError as error:
                self._lost = (self._lost[0] if self._lost else time.monotonic()), error
            except BadInput as error:  # credentials that do not do now
                self._lost = (self._lost[0] if self._lost else time.monotonic()), Unauthorized(str(error))

    def _failing(self) -> list[tuple[Kind, ApiError]]:
        """The kinds that cannot be read; that a cluster has no Karpenter is no fault."""
        failing = self._informer.failing.items()
        return [(kind, error) for kind, error in failing if not (kind in _KARPENTERS and isinstance(error, NotFound))]


@asynccontextmanager
async def watching(context: str | None, file: str | None, *, every: float = 1.0) -> AsyncIterator[Watched]:
    """The cluster of a context, followed meanwhile, after everything was read once.

    Raises BadInput where the kubeconfig or the rights do not do, Unreachable where no answer comes.
    """
    access = kubeconfig.find(context, None if file is None else Path(file))
    watched = Watched(access)
    try:
        try:
            await watched.look()
        except ApiError as error:
            raise _refused(watched.name, error) from error
        following = asyncio.create_task(watched.follow(every), name="follow")
        try:
            await watched.first()
            yield watched
        finally:
            following.cancel()
            with suppress(asyncio.CancelledError):
                await following
    finally:
        await watched.close()


def _refused(name: str, error: ApiError, what: str = "") -> BadInput | Unreachable:
    """What a command ends with where a cluster cannot be read."""
    if isinstance(error, Unauthorized):
        message = f"the server does not know who asks: {error}"
        return BadInput([Fault(message, object=name, allowed="log in again, or mend the user of the context")])
    if isinstance(error, errors.Forbidden):
        allowed = "whoever asks needs the verbs list and watch"
        return BadInput([Fault(f"{what}{error}", object=name, allowed=allowed)])
    return Unreachable(f"{name}: {what}{error}")
