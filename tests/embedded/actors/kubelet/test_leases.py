"""The Leases of nodes: what a reader sees is what a kubelet that writes each renewal would have written."""

import random
from collections.abc import Coroutine
from typing import Any

import msgspec

from baseload.embedded.actors.heartbeats import Heartbeats
from baseload.embedded.actors.kubelet.settings import KubeletSettings
from baseload.embedded.actors.lifecycle import NodeLifecycle
from baseload.embedded.actors.pod_gc import PodGarbage
from baseload.embedded.actors.taint_eviction import TaintEviction
from baseload.embedded.actors.workloads.controllers import Controllers
from baseload.embedded.local import Local
from baseload.embedded.store.record import encode
from baseload.kube.client.client import Client
from baseload.kube.client.port import Resource
from baseload.kube.client.requests import Selected
from tests.embedded.actors.acting import START
from tests.embedded.actors.running import Floor, machine
from tests.embedded.actors.workloads.playing import workload

LEASES = Resource("coordination.k8s.io", "v1", "leases")
WHERE = "kube-node-lease"
S = 10**9


def client(floor: Floor) -> Client:
    return Client(Local(floor.stage.cluster, floor.stage.clock), floor.stage.clock, random.Random(1))


def read(floor: Floor, name: str) -> str:
    """The renewTime that kubectl would show."""
    found: list[str] = []

    async def get() -> None:
        held = await client(floor).get(LEASES, name, namespace=WHERE)
        found.append(msgspec.json.decode(held.raw)["spec"]["renewTime"])

    done(floor, get())
    return found[0]


def done(floor: Floor, what: Coroutine[Any, Any, None]) -> None:
    floor.stage.clock.start(what)
    floor.run(0)


def test_a_reader_sees_the_renewal_that_was_due_last() -> None:
    floor = Floor(machine("n1", registers_at=START + 3 * S + S // 2))
    floor.run(64)
    assert read(floor, "n1") == "2026-11-30T12:01:03.500000Z"
    assert read(floor, "n1") == "2026-11-30T12:01:03.500000Z"
    floor.run(10)
    assert read(floor, "n1") == "2026-11-30T12:01:13.500000Z"


def test_nothing_is_written_while_nobody_reads() -> None:
    floor = Floor()
    floor.run(60)
    before = floor.stage.cluster.store.version
    floor.run(3600)
    assert floor.stage.cluster.store.version == before
    read(floor, "n1")
    assert floor.stage.cluster.store.version == before + 1


def test_a_silent_kubelet_is_seen_to_have_renewed_up_to_its_silence() -> None:
    floor = Floor()
    floor.run(95)
    floor.machines.hang("n1")
    floor.run(100)
    assert read(floor, "n1") == "2026-11-30T12:01:30.000000Z"
    floor.machines.recover("n1")
    floor.run(15)
    assert read(floor, "n1") == "2026-11-30T12:03:25.000000Z"


def test_a_lease_that_was_deleted_is_there_again_with_the_next_renewal() -> None:
    floor = Floor()
    floor.run(15)
    read(floor, "n1")
    kind = floor.stage.user.resource("coordination.k8s.io", "Lease")
    floor.stage.user.delete(floor.stage.cluster.store.get(kind, WHERE, "n1"))
    floor.run(4)
    assert floor.stage.cluster.store.find(kind, WHERE, "n1") is None
    floor.run(1)
    assert read(floor, "n1") == "2026-11-30T12:00:20.000000Z"


def test_a_list_brings_all_up_to_date() -> None:
    floor = Floor(*(machine(f"n{number}") for number in range(3)))
    floor.run(25)
    told: list[str] = []

    async def list_all() -> None:
        page = await client(floor).list(LEASES)
        told.extend(msgspec.json.decode(held.raw)["spec"]["renewTime"] for held in page.objects)

    done(floor, list_all())
    assert told == ["2026-11-30T12:00:20.000000Z"] * 3


def test_who_watches_is_told_of_every_renewal_and_nothing_is_written_when_he_has_gone() -> None:
    floor = Floor(machine("n1"), machine("n2", registers_at=START + 5 * S))
    floor.run(20)
    told: list[tuple[int, str, str]] = []

    async def watch() -> None:
        page = await client(floor).list(LEASES, Selected(WHERE))
        async for event in client(floor).watch(LEASES, Selected(WHERE), version=page.version, seconds=40):
            if event.type != "BOOKMARK":
                spec = msgspec.json.decode(event.object.raw)["spec"]
                told.append(((floor.stage.clock.now() - START) // S, spec["holderIdentity"], spec["renewTime"][14:19]))

    done(floor, watch())
    floor.run(39.5)
    assert told == [
        (25, "n2", "00:25"),
        (30, "n1", "00:30"),
        (35, "n2", "00:35"),
        (40, "n1", "00:40"),
        (45, "n2", "00:45"),
        (50, "n1", "00:50"),
        (55, "n2", "00:55"),
    ]
    floor.run(120)
    before = floor.stage.cluster.store.version
    floor.run(600)
    assert floor.stage.cluster.store.version == before


def hour(*, writes_every_renewal: bool) -> tuple[list[Any], int]:
    """An hour of machines that hang, recover and go; all objects without their versions, and how many writes it took.

    Where each renewal is written, the node lifecycle knows of nothing but these writes.
    """
    settings = KubeletSettings(writes_every_renewal=writes_every_renewal)
    chance = random.Random(7)
    machines = [machine(f"n{i}", registers_at=START + chance.randrange(20 * S)) for i in range(12)]
    floor = Floor(*machines, settings=settings)
    cluster, clock = floor.stage.cluster, floor.stage.clock
    clock.start(Controllers(cluster, clock).run(), priority=1)
    heartbeats = Heartbeats() if writes_every_renewal else floor.heartbeats
    clock.start(NodeLifecycle(cluster, clock, heartbeats).run(), priority=2)
    clock.start(TaintEviction(cluster, clock).run(), priority=3)
    clock.start(PodGarbage(cluster, clock).run(), priority=4)
    clock.start(_bind(floor), priority=5)
    floor.run(60)
    floor.stage.create(workload("Deployment", "web", 30))
    for _ in range(12):
        floor.run(chance.randrange(1, 200))
        name = f"n{chance.randrange(6)}"
        if name in floor.kubelets.nodes:
            fate = floor.machines.end if chance.randrange(4) == 0 else floor.machines.hang
            fate(name)
        floor.run(chance.randrange(1, 100))
        if name in floor.kubelets.nodes:
            floor.machines.recover(name)
    clock.run(START + 3600 * S)
    for kind in (("coordination.k8s.io", "Lease"), ("", "Event")):
        cluster.refresh(floor.stage.user.resource(*kind), "", "")
    tables = [cluster.store.table(resource) for resource in cluster.store.resources]
    found = [_bare(msgspec.json.decode(encode(held))) for table in tables for held in table.records.values()]
    return found, cluster.store.version


async def _bind(floor: Floor) -> None:
    """Binds pods to Ready nodes in turn."""
    user, bell, turn = floor.stage.user, floor.stage.clock.bell(), 0
    heard = user.subscribe("", "Pod", ("added",), bell.ring)
    while True:
        await bell.wait(3600)
        ready = [f"n{i}" for i in range(12) if floor.said(f"n{i}", "Node").get("Ready") == "True"]
        for event in heard.take():
            user.bind(event.record, ready[turn % len(ready)])
            turn += 1


def _bare(tree: Any) -> Any:
    """Without resourceVersions, which are not given at the same moments."""
    if isinstance(tree, dict):
        return {key: _bare(value) for key, value in tree.items() if key != "resourceVersion"}
    return [_bare(one) for one in tree] if isinstance(tree, list) else tree


def test_an_hour_is_the_same_whether_each_renewal_is_written_or_none() -> None:
    lazy, few = hour(writes_every_renewal=False)
    eager, many = hour(writes_every_renewal=True)

    assert many - few > 3000
    assert len(lazy) == len(eager)
    for one, other in zip(lazy, eager, strict=True):
        assert one == other
    gone = [tree for tree in lazy if tree["kind"] == "Event" and tree["reason"] == "TaintManagerEviction"]
    assert gone, "nothing happened in that hour"
