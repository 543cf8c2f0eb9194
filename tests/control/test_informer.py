"""An informer ends equal to its cluster and tells each change once, whatever happens on the way."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baseload.control.informer import Informer, Transition
from baseload.embedded.api.admission import CHAIN
from baseload.embedded.api.cluster import Cluster, furnish
from baseload.embedded.local import Local
from baseload.embedded.store.record import encode
from baseload.embedded.store.store import Store
from baseload.kube import kinds, manifests
from baseload.kube.client import objects
from baseload.kube.client.client import Client
from baseload.kube.client.http import Http
from baseload.kube.client.kubeconfig import Access, User
from baseload.kube.client.kubeconfig import Cluster as Address
from baseload.kube.client.objects import Object
from baseload.kube.client.port import Resource
from baseload.kube.client.retry import NEVER
from baseload.kube.kinds import Kind
from baseload.kube.sources import Source
from baseload.model.view import View
from baseload.timeline.virtual import VirtualClock
from baseload.values import instant
from baseload.world import embedded
from baseload.world.files import view_of
from tests.embedded.clock import Standing
from tests.kube.client.clocks import Even, Hurried
from tests.kube.client.faults import Faulty

SEEDS = st.integers(0, 2**32)
Seen = tuple[str, str, str, str]
"""(kind, name, version before, version after), "" for none"""


def kind(api_version: str, name: str) -> Kind:
    found = kinds.find(api_version, name)
    assert found is not None
    return found


POD, MAP, POOL = kind("v1", "Pod"), kind("v1", "ConfigMap"), kind("karpenter.sh/v1", "NodePool")
NODE, NAMESPACE = kind("v1", "Node"), kind("v1", "Namespace")


def seen(transition: Transition) -> Seen:
    before, after = transition.before, transition.after
    one = after or before
    assert one is not None
    return transition.kind.name, one.metadata.name, before.version if before else "", after.version if after else ""


@asynccontextmanager
async def running(informer: Informer) -> AsyncIterator[None]:
    """The informer at work, synced."""
    task = asyncio.ensure_future(informer.run())
    try:
        while not informer.is_synced:
            await asyncio.sleep(0)
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


class Changes:
    """Random changes of some pods and config maps, and what an onlooker sees of them."""

    def __init__(self, client: Client, random: Random) -> None:
        self._client, self._random = client, random
        self._held: dict[tuple[Kind, str], str] = {}
        self.expected: list[Seen] = []

    async def make(self) -> None:
        of, name = self._random.choice([POD, MAP]), self._random.choice("abcdef")
        before = self._held.get((of, name), "")
        if not before:
            after = await self._create(of, name)
        elif self._random.random() < 0.3:
            after = ""
            await self._client.delete(Resource.of(of), name, namespace="default")
        else:
            label = {"metadata": {"labels": {"draw": str(self._random.random())}}}
            changed = await self._client.patch(Resource.of(of), name, label, kind="merge", namespace="default")
            after = changed.version
        self._held[of, name] = after
        self.expected.append((of.name, name, before, after))

    async def _create(self, of: Kind, name: str) -> str:
        tree: dict[str, object] = {"apiVersion": of.api_version, "kind": of.name, "metadata": {"name": name}}
        if of is POD:
            tree["spec"] = {"containers": [{"name": "main", "image": "nginx:1"}]}
        return (await self._client.create(Resource.of(of), tree, namespace="default")).version


async def dump(client: Client, *wanted: Kind) -> manifests.Manifests:
    """The cluster as a file holds it."""
    raws = [object.raw for of in wanted for object in (await client.list(Resource.of(of))).objects]
    return manifests.of_texts([Source("dump", b'{"kind":"List","apiVersion":"v1","items":[%b]}' % b",".join(raws))])


async def equal(client: Client, informer: Informer, *, pause: float = 0) -> None:
    """Waits until the informer has all that is there, and compares."""
    for of, kept in informer.kept.items():
        wanted = {object.key: object.raw for object in (await client.list(Resource.of(of))).objects}
        for _ in range(3000):
            if {key: object.raw for key, object in kept.objects.items()} == wanted:
                break
            await asyncio.sleep(pause)
        assert {key: object.raw for key, object in kept.objects.items()} == wanted
    assert informer.view == view_of(await dump(client, *informer.kept))


def follow(seed: int, *, forgets: bool) -> tuple[list[Seen], list[Seen]]:
    """What happened and what was told, under faults drawn from a seed."""
    random = Random(seed)
    standing, clock = Standing(), Hurried()
    cluster = Cluster(Store(standing, Random(seed)), standing, CHAIN)
    furnish(cluster)
    told: list[Seen] = []

    async def run() -> list[Seen]:
        client = Client(Local(cluster, clock), clock, Even())
        changes = Changes(client, random)
        for _ in range(random.randint(0, 5)):
            await changes.make()
        faulty = Faulty(Local(cluster, clock), clock, random, trust=1.0)
        faulty.forgets = forgets
        informer = Informer(Client(faulty, clock, random), [POD, MAP, NAMESPACE])
        async with running(informer):
            informer.listen(lambda transition: told.append(seen(transition)))
            changes.expected.clear()
            faulty.trust = random.choice([0.5, 0.8, 0.95])
            for _ in range(25):
                await changes.make()
                for _ in range(random.randint(0, 10)):
                    await asyncio.sleep(0)
            faulty.trust = 1.0
            await equal(client, informer)
        return changes.expected

    return asyncio.run(run()), told


def of_kind(events: list[Seen], name: str) -> list[Seen]:
    return [event for event in events if event[0] == name]


@settings(max_examples=15)
@given(seed=SEEDS)
def test_each_change_is_told_once_and_in_order_whatever_is_lost_doubled_or_refused(seed: int) -> None:
    happened, told = follow(seed, forgets=False)
    for name in ("Pod", "ConfigMap"):
        assert of_kind(told, name) == of_kind(happened, name)


@settings(max_examples=15)
@given(seed=SEEDS)
def test_after_versions_were_forgotten_too_each_change_follows_from_the_one_before(seed: int) -> None:
    check_chains(*follow(seed, forgets=True))


@pytest.mark.long
@pytest.mark.timeout(900)
@settings(max_examples=500)
@given(seed=SEEDS, forgets=st.booleans())
def test_changes_follow_from_one_another_whatever_goes_wrong(seed: int, forgets: bool) -> None:
    check_chains(*follow(seed, forgets=forgets))


def check_chains(happened: list[Seen], told: list[Seen]) -> None:
    """Each change begins with the state that the one before ended with, and there were no other states."""
    held: dict[tuple[str, str], str] = {}
    known = {(kind, name, version) for kind, name, before, after in happened for version in (before, after)}
    for kind_name, name, before, after in told:
        assert held.get((kind_name, name), before) == before != after
        assert (kind_name, name, before) in known
        assert (kind_name, name, after) in known
        held[kind_name, name] = after


def a_virtual_day(seed: int) -> tuple[list[Seen], list[Seen], View]:
    """What happened in a simulated day of faults, what was told, and the view at its end."""
    clock, random = VirtualClock(instant.parse("2026-11-30T00:00:00Z")), Random(seed)
    cluster = Cluster(Store(clock, Random(seed)), clock, CHAIN)
    furnish(cluster)
    client = Client(Local(cluster, clock), clock, Even())
    informer = Informer(
        Client(Faulty(Local(cluster, clock), clock, random, trust=0.9), clock, random), [POD, MAP, NAMESPACE]
    )
    told: list[Seen] = []
    informer.listen(lambda transition: told.append(seen(transition)))
    changes = Changes(client, random)

    async def change() -> None:
        for _ in range(48):
            await clock.sleep(1740)
            await changes.make()

    following = clock.start(informer.run())
    clock.start(change())
    clock.run(until=clock.now() + 86_400 * instant.SECOND)
    assert {key: it.raw for kept in informer.kept.values() for key, it in kept.objects.items() if key[0]} == {
        it.key: it.raw for of in (POD, MAP) for it in listed(cluster, of)
    }
    following.cancel()
    return changes.expected, [event for event in told if event[0] != "Namespace"], informer.view


def listed(cluster: Cluster, of: Kind) -> list[Object]:
    served = cluster.kinds.named(of.group, of.name)
    assert served is not None
    return [objects.read(encode(record)) for record in cluster.store.list(served.resource).records]


def test_a_simulated_day_is_followed_and_repeats_itself() -> None:
    happened, told, view = a_virtual_day(3)
    check_chains(happened, told)
    assert a_virtual_day(3) == (happened, told, view)


class Patient(Hurried):
    """A clock whose sleeps let others at the machine."""

    async def sleep(self, seconds: float) -> None:
        await super().sleep(seconds)
        await asyncio.sleep(0.01)


@contextmanager
def serving(folder: Path, port: int) -> Iterator[str]:
    """The address of a server in a process of its own, which is killed in the end."""
    command = [sys.executable, "-m", "baseload", "serve", f"--port={port}", f"--data-dir={folder}"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        assert said.startswith("the API answers at http://"), said
        try:
            yield said.split(";")[0].split()[-1]
        finally:
            process.kill()


def test_a_server_that_is_killed_and_comes_back_is_followed_on(tmp_path: Path) -> None:
    clock = Patient()
    told: list[Seen] = []

    async def run() -> list[Seen]:
        with serving(tmp_path, 0) as address:
            client = Client(Http(Access("test", Address(server=address), User()), clock), clock, Even())
            changes = Changes(client, Random(1))
            informer = Informer(client, [POD, MAP, NAMESPACE])
            task = asyncio.ensure_future(informer.run())
            while not informer.is_synced:
                await asyncio.sleep(0.01)
            informer.listen(lambda transition: told.append(seen(transition)))
            for _ in range(10):
                await changes.make()
        with serving(tmp_path, int(address.rpartition(":")[2])):
            for _ in range(10):
                await changes.make()
            await equal(client, informer, pause=0.01)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await client.close()
        return changes.expected

    happened = asyncio.run(run())
    check_chains(happened, [event for event in told if event[0] != "Namespace"])


def test_an_object_that_nobody_can_read_is_passed_over_and_the_others_count() -> None:
    clock = Hurried()
    cluster = embedded.build(None, None, clock=Standing()).cluster

    async def run() -> None:
        client = Client(Local(cluster, clock), clock, Even())
        for name in ("a", "b"):
            node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}
            await client.create(Resource.of(NODE), node)
        informer = Informer(client, [NODE, POOL])
        async with running(informer):
            kept = informer.kept[NODE]
            broken = kept.objects["", "a"].tree() | {"status": {"allocatable": "much"}}
            kept.objects["", "a"] = objects.read(msgspec.json.encode(broken))
            assert [node.metadata.name for node in informer.view.nodes] == ["b"]

    asyncio.run(run())


def test_errors_say_what_stands_in_the_way() -> None:
    clock = Hurried()
    standing = Standing()
    cluster = Cluster(Store(standing, Random(1)), standing, CHAIN)
    furnish(cluster)

    async def run() -> None:
        informer = Informer(Client(Local(cluster, clock), clock, Even()), [POD, POOL])
        task = asyncio.ensure_future(informer.run())
        for _ in range(100):
            await asyncio.sleep(0)
        assert not informer.is_synced
        assert [str(error) for error in informer.errors] == ["the server could not find the requested resource"]
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())


def test_a_server_that_does_not_answer_at_the_beginning_is_told_too() -> None:
    clock = Hurried()
    access = Access("test", Address(server="http://127.0.0.1:1"), User())

    async def run() -> None:
        informer = Informer(Client(Http(access, clock), clock, Even(), retry=NEVER), [POD])
        task = asyncio.ensure_future(informer.run())
        while not informer.errors:
            await asyncio.sleep(0)
        assert [str(error) for error in informer.errors] == ["cannot reach http://127.0.0.1:1: Connection refused"]
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
