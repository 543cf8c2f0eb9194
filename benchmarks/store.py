"""The embedded cluster's store, in process: writes by each path, durable writes, and memory.

    python -m benchmarks.store            prints the figures
    python -m benchmarks.store --write    and writes them into docs/benchmarks.md

A typed write is one that an actor in the process makes: create, bind, two statuses, mark and remove, a pod's life.
Watchers are cursors that sleep, are woken, and keep a copy of what they are told. Nothing is asserted.
"""

import asyncio
import gc
import itertools
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from baseload.embedded.store import journal, parse, record
from baseload.embedded.store.deletion import Options
from baseload.embedded.store.record import Record
from baseload.embedded.store.resource import Resource
from baseload.embedded.store.store import Store
from baseload.embedded.store.turns import Turns
from baseload.embedded.store.watch import Watch
from benchmarks import measure, report

POD: Final = Resource(
    "",
    "v1",
    "Pod",
    "pods",
    has_node=True,
    grace=lambda found, asked: 0 if not found.node else 30 if asked is None else asked,
)
NODE: Final = Resource("", "v1", "Node", "nodes", namespaced=False, has_generation=False)
NAMESPACE: Final = Resource("", "v1", "Namespace", "namespaces", namespaced=False, has_spec_finalizers=True)
NOW: Final = Options(grace_seconds=0)
HEAD: Final = ("what", "figure", "asked")
PODS: Final = 20_000
BATCH: Final = 100  # writes between two looks of the watchers


class Status(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """An actor's reading of a status, much abridged."""

    phase: str
    pod_i_p: str = ""
    start_time: str = ""


class WallClock:
    def now(self) -> int:
        return time.time_ns()


class Copier:
    """A watcher that sleeps until it is woken, and keeps a copy of all objects."""

    def __init__(self, store: Store) -> None:
        self.watch: Watch = store.watch(POD, version=store.version)
        self.copy: dict[str, Record] = {}
        self.is_awake = False
        self.sleep()

    def sleep(self) -> None:
        self.is_awake = False
        self.watch.sleep(self.wake)

    def wake(self) -> None:
        self.is_awake = True

    def follow(self) -> None:
        while self.watch.is_behind:
            for event in self.watch.read():
                if event.type == "DELETED":
                    del self.copy[event.record.key]
                else:
                    self.copy[event.record.key] = event.record
        self.sleep()


def new_store(folder: Path | None = None) -> Store:
    kept = None if folder is None else journal.open(folder)
    store = Store(WallClock(), random.Random(1), journal=kept)
    for kind in (NAMESPACE, NODE, POD):
        store.serve(kind)
    store.create(parse.parse(NAMESPACE, b'{"metadata":{"name":"default"}}'))
    store.commit()
    return store


def spec(number: int | None) -> dict[str, object]:
    """A pod's spec of about 2.5 kB; one of its own for each number."""
    variables = [{"name": f"SETTING_{i}", "value": f"value-{i}-of-{number or 0}"} for i in range(24)]
    probe = {"httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"}, "periodSeconds": 10, "timeoutSeconds": 1}
    container = {
        "name": "main",
        "image": "registry.example/app:1.4.2",
        "env": variables,
        "ports": [{"containerPort": 8080, "protocol": "TCP"}],
        "resources": {"requests": {"cpu": "250m", "memory": "512Mi"}, "limits": {"memory": "512Mi"}},
        "livenessProbe": probe,
        "readinessProbe": probe,
        "volumeMounts": [{"name": "token", "mountPath": "/var/run/secrets", "readOnly": True}],
    }
    return {
        "containers": [container],
        "volumes": [{"name": "token", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}],
        "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}],
        "serviceAccountName": "default",
        "schedulerName": "default-scheduler",
    }


def pod_json(number: int, *, own_spec: bool) -> bytes:
    """A pod of about 3.6 kB, as a client sends it."""
    metadata = {
        "name": f"pod-{number}",
        "namespace": "default",
        "labels": {"app": "web", "pod-template-hash": "6d4cf56db6", "tier": "front"},
        "annotations": {"checksum/config": "0123456789abcdef" * 4},
        "managedFields": [{"manager": "kubectl", "operation": "Update", "fieldsV1": {"f:spec": {"f:x": {}}}}] * 6,
    }
    return msgspec.json.encode({"metadata": metadata, "spec": spec(number if own_spec else None)})


def status_json(number: int) -> bytes:
    """A running pod's status of about 1.4 kB."""
    types = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    at = f"2026-11-30T12:{number // 60 % 60:02}:{number % 60:02}Z"
    conditions = [{"type": type, "status": "True", "lastProbeTime": None, "lastTransitionTime": at} for type in types]
    container = {
        "name": "main",
        "ready": True,
        "restartCount": 0,
        "image": "registry.example/app:1.4.2",
        "started": True,
    }
    return msgspec.json.encode(
        {
            "phase": "Running",
            "conditions": conditions,
            "containerStatuses": [
                {
                    **container,
                    "imageID": "registry.example/app@sha256:" + "ab" * 32,
                    "containerID": f"containerd://{number:064x}",
                    "state": {"running": {"startedAt": at}},
                    "lastState": {},
                }
            ],
            "hostIP": "10.0.0.1",
            "podIP": f"10.1.{number // 250 % 250}.{number % 250}",
            "podIPs": [{"ip": f"10.1.{number // 250 % 250}.{number % 250}"}],
            "startTime": at,
            "qosClass": "Burstable",
        }
    )


def lives(store: Store, pods: int) -> Iterable[Callable[[], object]]:
    """The writes of pods' lives, six each, those of one step for all pods before those of the next."""
    template = parse.parse(POD, pod_json(0, own_spec=False))
    shared, body, managed = template.shared, template.body, template.managed
    starting, ready = (
        Status("Pending", "", "2026-11-30T12:00:00Z"),
        Status("Running", "10.0.0.1", "2026-11-30T12:00:00Z"),
    )
    change, names = store.change, [f"pod-{number}" for number in range(pods)]
    for name in names:
        yield partial(store.create, Record(POD, "default", name, shared, body, managed=managed))
    for number, name in enumerate(names):
        node = f"node-{number % 1_000}"
        yield partial(change, POD, "default", name, partial(Record.bound, node=node))
    for status in (starting, ready):
        for name in names:
            yield partial(change, POD, "default", name, partial(Record.with_status, status=status), "status")
    for options in (Options(), NOW):
        for name in names:
            yield partial(store.delete, POD, "default", name, options)


def typed(pods: int, watchers: int) -> float:
    """Typed writes a second, what the watchers do included."""
    store = new_store()
    followers = [Copier(store) for _ in range(watchers)]
    writes = list(lives(store, pods))

    def run() -> None:
        for number, write in enumerate(writes):
            write()
            if followers and number % BATCH == 0:
                for follower in followers:
                    follower.follow()

    return len(writes) / _seconds(run)


def creates(*, own_specs: bool, pods: int = PODS) -> float:
    """Creates from JSON a second."""
    store, texts = new_store(), [pod_json(number, own_spec=own_specs) for number in range(pods)]

    def run() -> None:
        for text in texts:
            store.create(parse.parse(POD, text))

    return pods / _seconds(run)


def status_patches() -> float:
    """Merge patches of a status from JSON a second: decode both, merge, encode."""
    store = new_store()
    for number in range(PODS):
        draft = parse.parse(POD, pod_json(number, own_spec=False))
        store.create(draft.with_status(status_json(number)))
    patches = [b'{"status":%b}' % status_json(number + 7) for number in range(PODS)]

    def merge(old: Record, patch: bytes) -> Record:
        status = msgspec.json.decode(record.section(old.status))
        status.update(msgspec.json.decode(patch)["status"])
        return old.with_status(msgspec.json.encode(status))

    def run() -> None:
        for number, patch in enumerate(patches):
            store.change(POD, "default", f"pod-{number}", partial(merge, patch=patch), "status")

    return PODS / _seconds(run)


def encodes() -> float:
    """Microseconds for the JSON of one pod."""
    store = new_store()
    made = store.create(parse.parse(POD, pod_json(0, own_spec=False)).with_status(status_json(0)))
    return _seconds(lambda: [record.encode(made) for _ in range(PODS)]) / PODS * 1e6


@dataclass(frozen=True, slots=True)
class Durable:
    """Writes that were on disk before they were answered."""

    clients: int
    rate: float
    half: float  # ms
    worst: float  # ms, of 99 in 100


def durable(folder: Path, clients: int, seconds: float) -> Durable:
    """Clients that each wait for their acknowledgement before they write again; 5 kB a pod."""
    store = new_store(folder)
    waits: list[float] = []

    async def client(turns: Turns, number: int, until: float) -> None:
        name = f"pod-{number}"
        store.create(parse.parse(POD, pod_json(number, own_spec=False)))
        for step in itertools.count():
            start = time.perf_counter()
            store.change(POD, "default", name, partial(Record.with_status, status=status_json(step)), "status")
            await turns.committed()
            now = time.perf_counter()
            waits.append(now - start)
            if now > until:
                return

    async def run() -> float:
        turns, start = Turns(store), time.perf_counter()
        await asyncio.gather(*(client(turns, number, start + seconds) for number in range(clients)))
        taken = time.perf_counter() - start
        turns.close()
        return taken

    taken = asyncio.run(run())
    hundredths = statistics.quantiles(waits, n=100)
    return Durable(clients, len(waits) / taken, hundredths[49] * 1e3, hundredths[98] * 1e3)


def disk(folder: Path, seconds: float) -> float:
    """Appends of 4 kB with fdatasync a second: what the disk allows one who waits."""
    descriptor, block = os.open(folder / "raw", os.O_CREAT | os.O_WRONLY), bytes(4096)
    count, start = 0, time.perf_counter()
    while time.perf_counter() < start + seconds:
        os.write(descriptor, block)
        os.fdatasync(descriptor)
        count += 1
    os.close(descriptor)
    return count / seconds


def fill(*, own_specs: bool, pods: int, nodes: int) -> None:
    """Fills a store as HTTP clients would, and prints the process's peak memory."""
    store = new_store()
    for number in range(nodes):
        labels = {f"label.example/{i}": f"value-{i}" for i in range(20)}
        tree = {"metadata": {"name": f"node-{number}", "labels": labels}, "spec": {"providerID": f"aws:///{number}"}}
        images = [{"names": [f"registry.example/image-{i}:1"], "sizeBytes": i} for i in range(50)]
        status = msgspec.json.encode({"capacity": {"cpu": "4"}, "images": images, "nodeInfo": {"id": number}})
        store.create(parse.parse(NODE, msgspec.json.encode(tree)).with_status(status))
    for number in range(pods):
        store.create(parse.parse(POD, pod_json(number, own_spec=own_specs)))
        node = f"node-{number % max(nodes, 1)}"
        store.change(POD, "default", f"pod-{number}", partial(Record.bound, node=node))
        status = status_json(number)
        store.change(POD, "default", f"pod-{number}", partial(Record.with_status, status=status), "status")
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def memory(kind: str, pods: int, nodes: int) -> float:
    """Peak MiB of a process of its own that fills a store."""
    words = [sys.executable, "-m", "benchmarks.store", "--fill", kind, str(pods), str(nodes)]
    return float(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)


def _seconds(work: Callable[[], object]) -> float:
    """Processor seconds of one call, with the thresholds of the garbage collector as a server sets them."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    return measure.timed(work)[0]


def tell() -> str:
    rows = [
        ("typed writes, nobody watching", f"{typed(PODS, 0):,.0f} a second", "150,000"),
        ("typed writes, 10 watchers", f"{typed(PODS, 10):,.0f} a second", "40,000"),
        ("creates from JSON, spec seen before", f"{creates(own_specs=False):,.0f} a second", "25,000"),
        ("creates from JSON, every spec new", f"{creates(own_specs=True):,.0f} a second", "3,000"),
        ("status patches from JSON", f"{status_patches():,.0f} a second", "8,000"),
        ("a pod of 5 kB as JSON", f"{encodes():.1f} µs", "10 µs"),
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        many = durable(folder / "many", 64, 4)
        before, one, after = disk(folder, 2), durable(folder / "one", 1, 4), disk(folder, 2)
        raw = (before + after) / 2  # a shared disk's own rate wanders
    rows += [
        ("the disk: 4 kB and fdatasync", f"{raw:,.0f} a second", ""),
        ("durable writes, 1 client", _told(one), f"half the disk's: {raw / 2:,.0f}"),
        ("durable writes, 64 clients", _told(many), "8,000, 99 % in 50 ms"),
        ("5,000 nodes, 100,000 pods, specs shared", f"{memory('shared', 100_000, 5_000):,.0f} MiB", "1.2 GB"),
        ("5,000 nodes, 100,000 pods, every spec different", f"{memory('own', 100_000, 5_000):,.0f} MiB", "2 GB"),
    ]
    growth = [(f"{pods:,}", f"{6e6 / typed(pods, 0):.1f} µs") for pods in (1_000, 10_000, 100_000)]
    return f"{report.table(HEAD, rows)}\n\n{report.table(('pods at once', 'life of a pod'), growth)}"


def _told(figures: Durable) -> str:
    return f"{figures.rate:,.0f} a second, half in {figures.half:.1f} ms, 99 % in {figures.worst:.1f} ms"


def main() -> None:
    report.command("store", __doc__ or "", tell, fill)


if __name__ == "__main__":
    main()
