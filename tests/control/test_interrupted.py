"""Controllers that are killed between any two writes: another goes on, no machine is leaked, none launched twice."""

from collections.abc import AsyncGenerator, Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest

from baseload.cloud.port import Fleet, Instance, Launched
from baseload.control.karpenter import Karpenter
from baseload.control.settings import Settings
from baseload.embedded.local import Local
from baseload.kube.client.port import Answer, Request
from tests.control.stage import Stage, node_class, pool, running

WORKLOAD = 3
DOWN = 5.0  # seconds until a killed one is started again


class Killed(Exception):
    """The process is gone."""


@dataclass(slots=True)
class Fate:
    """Counts writes and calls, and kills instead of the one after so many."""

    after: int | None = None
    done: list[str] = field(default_factory=list)

    def strike(self, what: str) -> None:
        if len(self.done) == self.after:
            self.after = None
            raise Killed
        self.done.append(what)


@dataclass(slots=True)
class Watched:
    """The way to the cluster; every write is fate's."""

    way: Local
    fate: Fate
    server: str = "the cluster"

    async def send(self, request: Request, seconds: float) -> Answer:
        if request.method != "GET":
            self.fate.strike(f"{request.method} {request.path}")
        return await self.way.send(request, seconds)

    def lines(self, request: Request, *, opening: float, idle: float) -> AsyncGenerator[bytes, None]:
        return self.way.lines(request, opening=opening, idle=idle)

    async def close(self) -> None:
        await self.way.close()


class WatchedCloud:
    """The cloud; every call that changes something is fate's."""

    def __init__(self, stage: Stage, fate: Fate) -> None:
        self._cloud, self._fate = stage.cloud, fate

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cloud, name)

    async def launch(self, fleet: Fleet) -> Launched:
        self._fate.strike("CreateFleet")
        return await self._cloud.launch(fleet)

    async def terminate(self, id: str) -> None:
        self._fate.strike("TerminateInstances")
        await self._cloud.terminate(id)


async def karpenter(stage: Stage, fate: Fate) -> None:
    """Karpenter, and another one after each that is killed."""
    cloud: Any = WatchedCloud(stage, fate)
    while True:
        client = stage.client("karpenter", Watched(Local(stage.cluster, stage.clock), fate))
        try:
            await Karpenter(client, cloud, Settings()).run()
        except Killed:
            await stage.clock.sleep(DOWN)


def story(after: int | None) -> tuple[Stage, Fate, list[Instance]]:
    """Three pods come, the claim of their node is deleted, they move, and in the end all is given up."""
    stage, fate = Stage(), Fate(after)
    stage.create(node_class())
    stage.create(pool())
    stage.replicas = WORKLOAD
    stage.begin(karpenter(stage, fate), "karpenter")
    stage.until(lambda: running(stage) == WORKLOAD, 200)
    [first] = stage.all("NodeClaim")
    name = first["metadata"]["name"]
    stage.delete("NodeClaim", name)
    stage.until(lambda: name not in [it["metadata"]["name"] for it in stage.all("NodeClaim")], 400)
    stage.until(lambda: running(stage) == WORKLOAD, 200)
    kept = stage.living()
    for claim in stage.all("NodeClaim"):
        stage.replicas = 0
        stage.delete("NodeClaim", claim["metadata"]["name"])
    stage.until(lambda: not stage.all("NodeClaim") and not stage.living(), 400)
    return stage, fate, kept


def interrupted(points: Iterable[int]) -> int:
    """How many runs were killed at these points, each of which came out well."""
    runs = 0
    for after in points:
        stage, _, kept = story(after)
        assert len(kept) == 1, after
        launched = [it.instance.tags["baseload.dev/nodeclaim-uid"] for it in stage.cloud.region.inventory]
        assert len(launched) == len(set(launched)) == 2, after
        assert stage.all("Node") == []
        stage.close()
        runs += 1
    return runs


def undisturbed() -> list[str]:
    """The writes and calls of the run that nobody disturbs."""
    stage, fate, _ = story(None)
    stage.close()
    assert fate.done.count("CreateFleet") == 2
    assert len(fate.done) > 30
    return fate.done


def test_killed_between_two_writes_nothing_is_leaked_and_nothing_launched_twice() -> None:
    done = undisturbed()
    launched = [at for at, what in enumerate(done, 1) if what == "CreateFleet"]  # and nobody has noted it yet

    assert interrupted((*launched, *range(2, len(done), 15))) > 5


@pytest.mark.long
@pytest.mark.timeout(900)
def test_the_same_at_every_point() -> None:
    count = len(undisturbed())

    assert interrupted(range(count + 1)) == count + 1
