"""A client of a new embedded cluster, over each of the ways there are."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import ExitStack

import pytest

from baseload.embedded.local import Local
from baseload.kube.client.client import Client
from baseload.kube.client.http import Http
from baseload.kube.client.kubeconfig import Access, Cluster, User
from baseload.timeline.wall import WallClock
from baseload.world import embedded
from tests.embedded.clock import Standing
from tests.kube.client.clocks import Even
from tests.servers.embedded import answering

Scenario = Callable[[Client], Awaitable[None]]
Play = Callable[[Scenario], None]


@pytest.fixture(params=["local", "http"])
def play(request: pytest.FixtureRequest) -> Play:
    """Plays a scenario with a client."""

    def played(scenario: Scenario) -> None:
        world = embedded.build(None, None, clock=Standing())
        with ExitStack() as stack:
            over_http = request.param == "http"
            address = stack.enter_context(answering(world.cluster)) if over_http else ""

            async def run() -> None:
                clock = WallClock()
                way = Http(Access("test", Cluster(server=address), User()), clock) if over_http else None
                client = Client(way or Local(world.cluster, clock), clock, Even())
                try:
                    await scenario(client)
                finally:
                    await client.close()

            asyncio.run(run())

    return played
