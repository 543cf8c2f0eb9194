"""The embedded cluster's API: writes from JSON with all that Kubernetes checks, lists and watches over HTTP, memory.

    python -m benchmarks.api            prints the figures
    python -m benchmarks.api --write    and writes them into docs/benchmarks.md

A write from JSON is a request without its socket: read, defaulted, admitted, checked, its managers noted, stored.
Over HTTP a server process of its own answers, so that the figures are those of one client and one core. What actors
write in the process, and what goes to disk, is in `benchmarks.store`. Nothing is asserted.
"""

import asyncio
import http.client
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from baseload.embedded.api import verbs
from baseload.embedded.api.call import Call
from baseload.embedded.api.cluster import Cluster
from baseload.embedded.api.kinds import ServedKind
from baseload.embedded.api.target import Target
from baseload.kube import bulk
from baseload.world import embedded
from benchmarks import measure, merge, report, store

HEAD: Final = ("what", "figure", "asked")
WRITES: Final = 3_000
LISTED: Final = 10_000
WATCHES: Final = 2_000
EVENTS: Final = 50
JSON: Final = {"content-type": "application/json", "user-agent": "benchmark/1"}
STRATEGIC: Final = {**JSON, "content-type": "application/strategic-merge-patch+json"}
MERGE: Final = {**JSON, "content-type": "application/merge-patch+json"}
APPLY: Final = {**JSON, "content-type": "application/apply-patch+yaml"}
APPLIED: Final = {"fieldManager": "benchmark", "force": "true"}
HEAD_OF_JSON: Final = ("Content-Type: application/json",)
PODS: Final = "/api/v1/namespaces/default/pods"


def pod(number: int, *, own_spec: bool) -> bytes:
    """A pod of about 3 kB, as a client sends it."""
    tree = msgspec.json.decode(store.pod_json(number, own_spec=own_spec))
    del tree["metadata"]["managedFields"]
    return msgspec.json.encode({"apiVersion": "v1", "kind": "Pod", **tree})


def status(number: int, pod: int) -> bytes:
    """A patch with a running pod's whole status of about 1.4 kB, with its own address, and every time another one."""
    told = msgspec.json.decode(store.status_json(number))
    address = f"10.{1 + pod // 62_500}.{pod // 250 % 250}.{pod % 250}"
    for condition in told["conditions"]:
        del condition["lastProbeTime"]
    return msgspec.json.encode({"status": {**told, "podIP": address, "podIPs": [{"ip": address}]}})


def deployment(number: int, image: str) -> bytes:
    """A Deployment of 3 kB with two containers."""
    tree = merge.deployment(image=image)
    return msgspec.json.encode(
        {**tree, "metadata": {**tree["metadata"], "name": f"d-{number}", "namespace": "default"}}
    )  # type: ignore[dict-item]


@dataclass(frozen=True, slots=True)
class Writer:
    """Requests of one kind, handed to the API without a socket."""

    cluster: Cluster
    kind: ServedKind

    def create(self, body: bytes) -> None:
        verbs.create(self.cluster, Target(self.kind, "default"), Call("POST", {}, JSON, body))

    def patch_status(self, name: str, body: bytes, headers: dict[str, str]) -> None:
        target = Target(self.kind, "default", name, "status")
        verbs.patch(self.cluster, target, Call("PATCH", {}, headers, body))

    def apply(self, name: str, body: bytes) -> None:
        verbs.patch(self.cluster, Target(self.kind, "default", name), Call("PATCH", APPLIED, APPLY, body))


def writer(group: str, name: str) -> Writer:
    cluster = embedded.build(None, None).cluster
    kind = cluster.kinds.named(group, name)
    assert kind is not None
    return Writer(cluster, kind)


def creates(*, own_specs: bool, pods: int = WRITES) -> float:
    """Pods created a second."""
    made, bodies = writer("", "Pod"), [pod(number, own_spec=own_specs) for number in range(pods)]
    made.create(pod(pods, own_spec=own_specs))
    return rate(made.create, [(body,) for body in bodies])


def status_patches(headers: dict[str, str]) -> float:
    """Patches of pods' statuses a second, by the one who wrote them before."""
    made, names = writer("", "Pod"), [f"pod-{number}" for number in range(WRITES)]
    for number, name in enumerate(names):
        made.create(pod(number, own_spec=False))
        made.patch_status(name, status(number, number), headers)
    patches = [(name, status(number + 7, number), headers) for number, name in enumerate(names)]
    return rate(made.patch_status, patches)


def applies() -> dict[str, float]:
    """Server-side applies of a Deployment a second: new, with another image, as they are."""
    made, found = writer("apps", "Deployment"), {}
    for what, image in (("new", "app:1"), ("another image", "app:2"), ("unchanged", "app:2")):
        bodies = [(f"d-{number}", deployment(number, image)) for number in range(WRITES // 3)]
        found[what] = rate(made.apply, bodies)
    return found


def rate(call: Callable[..., None], arguments: Sequence[tuple[object, ...]]) -> float:
    """Calls a second of processor time, with the garbage collector as a server has it."""
    bulk.keep()

    def run() -> None:
        for argument in arguments:
            call(*argument)

    return len(arguments) / measure.timed(run)[0]


@contextmanager
def server() -> Iterator[tuple[int, int]]:
    """A server process: its port and its process number."""
    with tempfile.TemporaryDirectory() as name:
        config = Path(name) / "config"
        words = [sys.executable, "-m", "baseload", "serve", "--kubeconfig", str(config)]
        process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        told = next(line for line in process.stderr if "answers at" in line)
        try:
            yield int(told.partition(";")[0].rpartition(":")[2]), process.pid
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(30)


def over_http() -> list[tuple[str, str, str]]:
    """One client on one connection: creates, status patches, applies and lists."""
    rows = []
    with server() as (port, _):
        client = http.client.HTTPConnection("127.0.0.1", port)

        def ask(method: str, path: str, headers: dict[str, str], body: bytes | None = None) -> bytes:
            client.request(method, path, body, headers)
            answer = client.getresponse()
            data = answer.read()
            if answer.status >= 300:
                raise SystemExit(f"{method} {path}: {answer.status}: {data[:300]!r}")
            return data

        def timed(what: str, calls: Sequence[tuple[str, str, dict[str, str], bytes]]) -> None:
            start = time.perf_counter()
            for call in calls:
                ask(*call)
            rows.append((what, f"{len(calls) / (time.perf_counter() - start):,.0f} a second", ""))

        timed("HTTP: creates, spec seen before", [("POST", PODS, JSON, pod(n, own_spec=False)) for n in range(LISTED)])
        patches = [("PATCH", f"{PODS}/pod-{n}/status", STRATEGIC, status(n, n)) for n in range(WRITES)]
        timed("HTTP: status patches", patches)
        path = "/apis/apps/v1/namespaces/default/deployments/d-{}?fieldManager=benchmark"
        timed("HTTP: applies", [("PATCH", path.format(n), APPLY, deployment(n, "app:1")) for n in range(WRITES // 3)])
        for what, accept, asked in (("JSON", "application/json", "1 s"), ("table", TABLE, "")):
            start = time.perf_counter()
            data = ask("GET", PODS, {"accept": accept})
            took = time.perf_counter() - start
            rows.append((f"HTTP: list of 10,000 pods, {what}", f"{took:.2f} s, {len(data) / 1e6:.1f} MB", asked))
        client.close()
    return rows


TABLE: Final = "application/json;as=Table;v=v1;g=meta.k8s.io"


async def watched() -> tuple[float, int, float]:
    """Events a second over all watches, how many were missed or doubled, and kB of memory for an open watch."""
    with server() as (port, process):
        before = _resident(process)
        connections = [await asyncio.open_connection("127.0.0.1", port, limit=1 << 20) for _ in range(WATCHES)]
        path = "/api/v1/namespaces/default/configmaps?watch=true"
        for _, stream in connections:
            stream.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        for reader, _ in connections:
            await reader.readuntil(b"\r\n\r\n")
        memory = (_resident(process) - before) / WATCHES
        gone: list[int] = []

        async def read(reader: asyncio.StreamReader) -> None:
            seen: list[int] = []
            while len(seen) < EVENTS:
                line = await reader.readuntil(b"\n")
                at = line.find(b'"name":"event-')
                if at >= 0:
                    seen.append(int(line[at + 14 : line.index(b'"', at + 14)]))
            gone.append(sum(seen[n] != n for n in range(EVENTS)))

        async def write() -> None:
            reader, stream = await asyncio.open_connection("127.0.0.1", port)
            for number in range(EVENTS):
                body = msgspec.json.encode({"metadata": {"name": f"event-{number}"}, "data": {"x": "y" * 400}})
                lines = ("POST /api/v1/namespaces/default/configmaps HTTP/1.1", "Host: localhost", *HEAD_OF_JSON)
                head = "\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""])
                stream.write(head.encode() + body)
                await reader.readuntil(b"\r\n\r\n")
            stream.close()

        start = time.perf_counter()
        await asyncio.gather(write(), *(read(reader) for reader, _ in connections))
        took = time.perf_counter() - start
        for _, stream in connections:
            stream.close()
    return WATCHES * EVENTS / took, sum(gone), memory


def _resident(process: int) -> float:
    """A process's resident memory in kB."""
    pages = int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1024


def fill(*, own_specs: bool, pods: int, nodes: int) -> None:
    """Fills a cluster as HTTP clients would, and prints the process's peak memory in MiB."""
    cluster = embedded.build(None, None).cluster
    kinds = {name: cluster.kinds.named("", name) for name in ("Node", "Pod")}
    node, pod_kind = kinds["Node"], kinds["Pod"]
    assert node is not None
    assert pod_kind is not None
    writers = Writer(cluster, node), Writer(cluster, pod_kind)
    for number in range(nodes):
        labels = {f"label.example/{i}": f"value-{i}" for i in range(20)}
        tree = {"metadata": {"name": f"node-{number}", "labels": labels}, "spec": {"providerID": f"aws:///{number}"}}
        verbs.create(cluster, Target(node), Call("POST", {}, JSON, msgspec.json.encode(tree)))
        images = [{"names": [f"registry.example/image-{i}:1"], "sizeBytes": i} for i in range(50)]
        told = msgspec.json.encode({"status": {"capacity": {"cpu": "4"}, "images": images}})
        verbs.patch(cluster, Target(node, "", f"node-{number}", "status"), Call("PATCH", {}, MERGE, told))
    for number in range(pods):
        writers[1].create(pod(number, own_spec=own_specs))
        writers[1].patch_status(f"pod-{number}", status(number, number), MERGE)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def memory(kind: str, pods: int, nodes: int) -> float:
    """Peak MiB of a process of its own that fills a cluster."""
    words = [sys.executable, "-m", "benchmarks.api", "--fill", kind, str(pods), str(nodes)]
    return float(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)


def tell() -> str:
    rows = [
        ("creates from JSON, spec seen before", f"{creates(own_specs=False):,.0f} a second", "25,000"),
        ("creates from JSON, every spec new", f"{creates(own_specs=True):,.0f} a second", "3,000"),
        ("status patches from JSON, merge", f"{status_patches(MERGE):,.0f} a second", "8,000"),
        ("status patches from JSON, strategic", f"{status_patches(STRATEGIC):,.0f} a second", ""),
    ]
    rows += [(f"server-side apply, {what}", f"{found:,.0f} a second", "1,000") for what, found in applies().items()]
    rows += over_http()
    events, wrong, size = asyncio.run(watched())
    told = "each once, in order" if not wrong else f"{wrong} missed or out of order"
    rows.append(
        (f"{WATCHES:,} open watches", f"{events:,.0f} events a second, {told}; {size:.0f} kB a watch", "each once")
    )
    rows += [
        ("5,000 nodes, 100,000 pods, specs shared", f"{memory('shared', 100_000, 5_000):,.0f} MiB", "1.2 GB"),
        ("5,000 nodes, 100,000 pods, every spec different", f"{memory('own', 100_000, 5_000):,.0f} MiB", "2 GB"),
    ]
    growth = [(f"{pods:,}", f"{1e6 / creates(own_specs=True, pods=pods):.0f} µs") for pods in (1_000, 10_000, 50_000)]
    return f"{report.table(HEAD, rows)}\n\n{report.table(('pods at once', 'a create, spec new'), growth)}"


def main() -> None:
    report.command("api", __doc__ or "", tell, fill)


if __name__ == "__main__":
    main()
