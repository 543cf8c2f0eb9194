"""A client of a new cluster: in process, over HTTP, and, among the long tests, of a real server where there is one."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from baseload.embedded.api.cluster import Cluster
from baseload.kube.client import kubeconfig
from baseload.kube.client.client import Client
from baseload.timeline.wall import WallClock
from baseload.world import clients, embedded
from tests.embedded.clock import Standing
from tests.kube.client.clocks import Even
from tests.servers import real
from tests.servers.embedded import Embedded, answering
from tests.servers.port import Server

Scenario = Callable[[Client], Awaitable[None]]
Play = Callable[[Scenario], None]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "play" in metafunc.fixturenames:
        ways = [pytest.param("local"), pytest.param("http")]
        embedded_only = metafunc.definition.get_closest_marker("embedded_only")
        if real.assets() is not None and embedded_only is None:
            ways.append(pytest.param("real", marks=pytest.mark.long))
        metafunc.parametrize("play", ways, indirect=True)


@pytest.fixture
def play(request: pytest.FixtureRequest, tmp_path: Path) -> Play:
    """Plays a scenario with a client."""

    def played(scenario: Scenario) -> None:
        with ExitStack() as stack:
            if request.param == "real":
                server: Server = request.getfixturevalue("real_server")
                request.getfixturevalue("real_server").etcd.restore()
                asyncio.run(_run(scenario, over_http(server)))
                return
            cluster = embedded.build(None, None, clock=Standing()).cluster
            if request.param == "local":
                asyncio.run(_run(scenario, lambda: in_process(cluster)))
                return
            address = stack.enter_context(answering(cluster))
            asyncio.run(_run(scenario, over_http(Embedded(address, Standing()))))

    def over_http(server: Server) -> Callable[[], Client]:
        file = tmp_path / "config"
        server.write_kubeconfig(file)
        return lambda: clients.over_http(kubeconfig.find(file=file), WallClock(), Even())

    return played


def in_process(cluster: Cluster) -> Client:
    return clients.in_process(cluster, WallClock(), Even())


async def _run(scenario: Scenario, client_of: Callable[[], Client]) -> None:
    client = client_of()
    try:
        await scenario(client)
    finally:
        await client.close()
