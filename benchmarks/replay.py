"""A day in the life of whole clusters: everything at once, from Deployments to launched machines, on a virtual clock.

    python -m benchmarks.replay                 prints the figures
    python -m benchmarks.replay --write         and writes them into docs/benchmarks.md
    python -m benchmarks.replay --quick         those of the loads that take a few minutes
    python -m benchmarks.replay --load NAME     lives through one load, hour by hour

Each load runs in a process of its own. Figures are seconds of processor time and the peak of memory; nothing is
asserted.
"""

import argparse
import gc
import json
import resource
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import msgspec

from baseload.embedded.actors import pods
from baseload.embedded.actors.client import ActorClient
from baseload.embedded.store.selection import Selection
from baseload.embedded.store.watch import Watch
from baseload.kube import bulk, manifests
from baseload.timeline.virtual import VirtualClock
from baseload.values import instant
from baseload.values.instant import SECOND
from baseload.world.living import LifeSettings, Living
from benchmarks import report

START: Final = instant.parse("2026-11-30T00:00:00Z")
DAY: Final = 24 * 3600
Tree = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Load:
    """Deployments of 80 pods on nodes of 16 vCPUs that hold about 20; each is rolled out some times a day."""

    name: str
    nodes: int
    pods: int
    rollouts: int  # of each Deployment in a day
    asked: str
    hopeless: int = 0  # pods that fit nowhere
    watchers: int = 0  # who read every event of every pod as JSON
    is_quick: bool = False  # to be lived through in a few minutes
    examples: tuple[str, ...] = ()  # folders of manifests: a cluster of each, one after the other

    @property
    def applications(self) -> int:
        return self.pods // 80


LOADS: Final = (
    Load("100", 100, 2_000, 4, "5 s", is_quick=True),
    Load("1,000", 1_000, 20_000, 4, "60 s, 600 MB", is_quick=True),
    Load("1,000, 10 watchers on all pods", 1_000, 20_000, 4, "90 s", watchers=10),
    Load("5,000", 5_000, 100_000, 1, "240 s, 1.2 GB"),
    Load("100, and 7,000 pods that fit nowhere", 100, 2_000, 4, "120 s", hopeless=7_000),
    Load("hub and preprod", 0, 0, 0, "3 s", is_quick=True, examples=("platform/hub", "platform/preprod")),
)
HEAD: Final = ("nodes", "at the end", "lifetimes", "processor time", "a lifetime", "peak memory", "asked")
EXAMPLES: Final = Path(__file__).parent.parent / "examples"
READ_EVERY: Final = 1.0  # seconds of the cluster's between two looks of a watcher


@dataclass(frozen=True, slots=True)
class Figures:
    """What one load came to."""

    state: str
    lifetimes: int
    cpu: float
    peak: float  # MiB


def node_class() -> Tree:
    terms = [{"tags": {"karpenter.sh/discovery": "benchmark"}}]
    spec = {
        "role": "nodes",
        "amiSelectorTerms": [{"alias": "al2023@latest"}],
        "subnetSelectorTerms": terms,
        "securityGroupSelectorTerms": terms,
    }
    return {"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "default"}, "spec": spec}


def pool() -> Tree:
    requirements = [
        {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["m5.4xlarge", "m6i.4xlarge"]},
        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
    ]
    ref = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "default"},
        "spec": {
            "template": {"spec": {"nodeClassRef": ref, "requirements": requirements}},
            "disruption": {"consolidateAfter": "Never"},  # `benchmarks.disrupt` has what consolidation costs
        },
    }


def deployment(number: int, replicas: int, cpu: str) -> Tree:
    name = f"app-{number}"
    spread = [
        {
            "maxSkew": 1,
            "topologyKey": "topology.kubernetes.io/zone",
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": {"app": name}},
        }
    ]
    containers = [
        {"name": "main", "image": "app:1", "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}},
    ]
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": containers, **({"topologySpreadConstraints": spread} if number % 2 else {})},
            },
        },
    }


def daemons(name: str) -> Tree:
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": "kube-system"},
        "spec": {
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {
                    "tolerations": [{"operator": "Exists"}],
                    "containers": [
                        {"name": "main", "image": "d:1", "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}}}
                    ],
                },
            },
        },
    }


class Day:
    """One load on one cluster."""

    def __init__(self, load: Load, example: str = "") -> None:
        self.load = load
        self.clock = VirtualClock(START)
        found = manifests.load([str(EXAMPLES / example)]) if example else None
        self.living = Living(self.clock, LifeSettings(), manifests=found)
        self.user = ActorClient(self.living.cluster, "user")
        self.living.start(self.clock)
        self.read = 0  # bytes, by all watchers
        self._before = 0

    def create(self, tree: Tree) -> None:
        kind = self.user.kind(str(tree["apiVersion"]).rpartition("/")[0], tree["kind"])
        namespace = tree["metadata"].get("namespace", "default") if kind.resource.namespaced else ""
        self.user.create(kind, namespace, msgspec.json.encode(tree))

    def run(self, *, said: bool = False) -> Figures:
        load, clock = self.load, self.clock
        clock.run(START + 1 * SECOND)
        self._begin()
        gc.collect()
        gc.freeze()
        for hour in range(DAY // 3600):
            before = time.process_time()
            clock.run(START + (hour + 1) * 3600 * SECOND)
            if said:
                print(f"{hour + 1:3} h  {time.process_time() - before:6.2f} s  {self.state()}", flush=True)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        lifetimes = load.applications * 80 * (load.rollouts + 1)
        return Figures(self.state(), lifetimes, time.process_time(), peak)

    def _begin(self) -> None:
        load = self.load
        if not load.examples:
            for tree in (node_class(), pool(), daemons("agent"), daemons("logs")):
                self.create(tree)
        for number in range(load.applications):
            self.create(deployment(number, 80, "700m" if number % 3 else "800m"))
        if load.hopeless:
            self.create(deployment(10**6, load.hopeless, "100"))
        self.clock.start(self._rollouts(), name="user", priority=1000)
        for _ in range(load.watchers):
            store, kind = self.user.store, self.user.resource("", "Pod")
            watch = store.watch(kind, Selection(), version=store.version, initial_events=False)
            self.clock.start(self._watching(watch), name="watcher", priority=1000)

    async def _watching(self, watch: Watch) -> None:
        while True:
            await self.clock.sleep(READ_EVERY)
            while watch.is_behind:
                self.read += sum(len(watch.frame(event)) for event in watch.read())

    async def _rollouts(self) -> None:
        load, deployments = self.load, self.user.resource("apps", "Deployment")
        await self.clock.sleep(1800)
        every = (DAY - 3600) / max(load.rollouts * load.applications, 1)
        for turn in range(load.rollouts):
            for number in range(load.applications):
                held = self.user.store.get(deployments, "default", f"app-{number}")
                change = {"spec": {"template": {"metadata": {"annotations": {"turn": str(turn)}}}}}
                self.user.merge(held, change)
                await self.clock.sleep(every)

    def state(self) -> str:
        held = self.user.records("", "Pod").values()
        ready = sum(pods.is_ready(pod) for pod in held)
        nodes = len(self.user.records("", "Node"))
        return f"{nodes:,} nodes, {len(held):,} pods, {ready:,} ready"


def lived(load: Load) -> Figures:
    """One load in a process of its own."""
    words = [sys.executable, "-m", "benchmarks.replay", "--load", load.name, "--json"]
    done = subprocess.run(words, stdout=subprocess.PIPE, check=True)
    return Figures(**json.loads(done.stdout))


def row(load: Load, found: Figures) -> tuple[str, ...]:
    each = f"{found.cpu / found.lifetimes * 1e6:,.0f} µs" if found.lifetimes else ""
    times = f"{found.lifetimes:,}" if found.lifetimes else ""
    return load.name, found.state, times, f"{found.cpu:.1f} s", each, f"{found.peak:,.0f} MiB", load.asked


def figures(*, quick: bool) -> str:
    rows, found = [], {}
    for load in LOADS:
        if quick and not load.is_quick:
            continue
        found[load.name] = lived(load)
        rows.append(row(load, found[load.name]))
        print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    small, large = (found[name].cpu / found[name].lifetimes for name in ("100", "1,000"))
    return (
        report.table(HEAD, rows)
        + f"\n\nA lifetime on 1,000 nodes costs {large / small:.1f} times one on 100 (asked: 2)."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="a day in the life of whole clusters")
    parser.add_argument("--write", action="store_true", help="write the figures into docs/benchmarks.md")
    parser.add_argument("--quick", action="store_true", help="only the loads that take a few minutes")
    parser.add_argument("--load", choices=[load.name for load in LOADS], help="this load alone, hour by hour")
    parser.add_argument("--json", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if not chosen.load:
        flags = "--quick " if chosen.quick else ""
        report.tell("replay", figures(quick=chosen.quick), write=chosen.write, flags=flags)
        return
    bulk.keep()
    load = next(load for load in LOADS if load.name == chosen.load)
    found: Figures | None = None
    for example in load.examples or ("",):
        day = Day(load, example)
        one = day.run(said=not chosen.json)
        found = one if found is None else replace(one, state=f"{found.state}; {one.state}")
        day.clock.close()
    assert found is not None
    told = f"{found.cpu:.1f} s, {found.peak:,.0f} MiB, {found.lifetimes:,} lifetimes"
    print(json.dumps(asdict(found)) if chosen.json else told)


if __name__ == "__main__":
    main()
