"""A day of the embedded cluster's actors: what a pod's life costs in each of them, and what nodes cost that only live.

    python -m benchmarks.actors [--write] [--nodes N ...] [--scheduler]

Each size runs in a process of its own: machines register, Deployments of 20 pods with a Service each come up, and are
rolled out again and again, evenly over the day. A stand-in binds pods in turn; `--scheduler` has the real one do it.
Processor time is booked on the task that runs, so that a write's time is its writer's. Nothing is asserted.
"""

import argparse
import cProfile
import gc
import json
import pstats
import random
import resource
import subprocess
import sys
import time
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import msgspec

from baseload.embedded.actors.client import ActorClient
from baseload.embedded.actors.heartbeats import Heartbeats
from baseload.embedded.actors.kubelet.kubelets import Kubelets
from baseload.embedded.actors.kubelet.machines import Machine, ScriptedMachines
from baseload.embedded.actors.lifecycle import NodeLifecycle
from baseload.embedded.actors.pod_gc import PodGarbage
from baseload.embedded.actors.recorder import Forgetting
from baseload.embedded.actors.taint_eviction import TaintEviction
from baseload.embedded.actors.workloads.controllers import Controllers
from baseload.embedded.api.admission import CHAIN
from baseload.embedded.api.cluster import Cluster, furnish
from baseload.embedded.store.store import Store
from baseload.model.requests import amounts
from baseload.timeline.virtual import Task, VirtualClock
from baseload.values import instant
from benchmarks import report

START = instant.parse("2026-11-30T00:00:00Z")
DAY = 24 * 3600
REPLICAS = 20  # of each Deployment
PARTS = ("kubelets", "workloads", "scheduler", "lifecycle", "eviction", "garbage", "events", "user")
THRESHOLDS = 50_000, 20, 50
"""Of the collector of cycles: few garbage is in cycles here, and each look at all that lives costs"""


class Booked(VirtualClock):
    """A clock that books processor time on the names of tasks."""

    def __init__(self, start: int) -> None:
        super().__init__(start)
        self.spent: dict[str, float] = defaultdict(float)

    def _resume(self, task: Task, rung: bool) -> None:
        before = time.process_time()
        super()._resume(task, rung)
        self.spent[task.name] += time.process_time() - before


@dataclass(frozen=True, slots=True)
class Load:
    """How much of a day is asked for."""

    nodes: int
    pods: int  # a node
    lives: int  # of each pod, with the first
    seconds: int = DAY
    with_scheduler: bool = False


class Day:
    """A cluster, its actors, and a user who rolls out."""

    def __init__(self, load: Load) -> None:
        self.load, self.clock = load, Booked(START)
        self.cluster = Cluster(Store(self.clock, random.Random(1)), self.clock, CHAIN)
        furnish(self.cluster)
        self.user = ActorClient(self.cluster, "user")
        self.apps = load.nodes * load.pods // REPLICAS

    def start(self) -> None:
        cluster, clock, heartbeats = self.cluster, self.clock, Heartbeats()
        machines = ScriptedMachines(tuple(_machine(index) for index in range(self.load.nodes)))
        clock.start(Controllers(cluster, clock).run(), name="workloads")
        clock.start(NodeLifecycle(cluster, clock, heartbeats).run(), name="lifecycle")
        clock.start(TaintEviction(cluster, clock).run(), name="eviction")
        clock.start(PodGarbage(cluster, clock).run(), name="garbage")
        clock.start(Forgetting(ActorClient(cluster, "apiserver"), clock).run(), name="events")
        clock.start(Kubelets(cluster, clock, machines, heartbeats=heartbeats).run(), name="kubelets")
        clock.start(self._scheduler().run() if self.load.with_scheduler else self._bind(), name="scheduler")

    def _scheduler(self) -> Any:
        from baseload.embedded.actors.scheduler.scheduler import Scheduler

        return Scheduler(self.cluster, self.clock)

    async def _bind(self) -> None:
        """Binds each pod to the next node: a scheduler that costs next to nothing."""
        client, bell, turn = ActorClient(self.cluster, "kube-scheduler"), self.clock.bell(), 0
        heard = client.subscribe("", "Pod", ("added",), bell.ring)
        while True:
            await bell.wait(DAY)
            for event in heard.take():
                client.bind(event.record, f"n{turn % self.load.nodes}")
                turn += 1

    async def use(self) -> None:
        """Creates everything, then rolls one Deployment after the other out, evenly over the day."""
        for index in range(self.apps):
            self._create("apps", _deployment(index))
            self._create("", _service(index))
        rounds = self.apps * (self.load.lives - 1)
        if not rounds:
            return
        every = (self.load.seconds - 600) / rounds
        await self.clock.sleep(300)
        resource = self.user.resource("apps", "Deployment")
        for turn in range(rounds):
            held = self.cluster.store.get(resource, _namespace(turn % self.apps), f"w{turn % self.apps}")
            image = f"nginx:{turn // self.apps + 2}"
            containers = [{**_CONTAINER, "image": image}]
            self.user.merge(held, {"spec": {"template": {"spec": {"containers": containers}}}})
            await self.clock.sleep(every)

    def _create(self, group: str, tree: dict[str, Any]) -> None:
        kind = self.user.kind(group, str(tree["kind"]))
        self.user.create(kind, tree["metadata"].get("namespace", ""), msgspec.json.encode(tree))

    def run(self) -> None:
        for index in range(0, self.apps, 50):
            self._create("", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": _namespace(index)}})
        self.start()
        self.clock.run(START + 60 * instant.SECOND)  # the nodes are Ready
        gc.collect()
        gc.freeze()
        if self.load.pods:
            self.clock.start(self.use(), name="user")
        self.clock.run(START + self.load.seconds * instant.SECOND)


_CONTAINER: dict[str, Any] = {
    "name": "main",
    "image": "nginx:1",
    "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "256Mi"}},
    "readinessProbe": {"httpGet": {"path": "/", "port": 80}},
}


def _namespace(app: int) -> str:
    return f"team-{app // 50}"


def _deployment(app: int) -> dict[str, Any]:
    labels = {"app": f"w{app}"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [_CONTAINER]}}
    spec = {"replicas": REPLICAS, "selector": {"matchLabels": labels}, "template": template}
    metadata = {"name": f"w{app}", "namespace": _namespace(app)}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


def _service(app: int) -> dict[str, Any]:
    spec = {"selector": {"app": f"w{app}"}, "ports": [{"port": 80}]}
    metadata = {"name": f"w{app}", "namespace": _namespace(app)}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}


def _machine(index: int) -> Machine:
    capacity = amounts({"cpu": "16", "memory": "64Gi", "pods": "110"})
    allocatable = amounts({"cpu": "15890m", "memory": "61Gi", "pods": "110"})
    labels = {"topology.kubernetes.io/zone": "abc"[index % 3], "topology.kubernetes.io/region": "r"}
    return Machine(f"n{index}", capacity, allocatable, labels=labels)


# -- one day in this process


def one(load: Load, *, profile: bool) -> dict[str, Any]:
    """Runs a day; what it cost."""
    gc.set_threshold(*THRESHOLDS)
    day, profiler = Day(load), cProfile.Profile() if profile else None
    before = time.process_time()
    if profiler is not None:
        profiler.runcall(day.run)
        pstats.Stats(profiler, stream=sys.stderr).sort_stats("tottime").print_stats(45)
    else:
        day.run()
    return {
        "cpu": time.process_time() - before,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "parts": {name: day.clock.spent.get(name, 0.0) for name in PARTS},
        "steps": day.clock.steps,
        "writes": day.cluster.store.version,
        "pods": len(day.user.records("", "Pod")),
        "events": len(day.user.records("", "Event")),
    }


# -- all of them


def _measured(load: Load) -> dict[str, Any]:
    words = [sys.executable, "-m", "benchmarks.actors", "--one", msgspec.json.encode(load).decode()]
    found: dict[str, Any] = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
    return found


def figures(sizes: list[int], *, with_scheduler: bool) -> str:
    head = ("", *(f"{nodes:,} nodes" for nodes in sizes))
    idle = [_measured(Load(nodes, 0, 1, with_scheduler=with_scheduler)) for nodes in sizes]
    loads = [Load(nodes, 20, 2 if nodes > 2_000 else 5, with_scheduler=with_scheduler) for nodes in sizes]
    full = [_measured(load) for load in loads]
    lives = [load.nodes * load.pods * load.lives for load in loads]
    rows = [
        ["a day without pods, processor s", *(f"{run['cpu']:.1f}" for run in idle)],
        ["pod lifetimes in a day", *(f"{count:,}" for count in lives)],
        ["processor s", *(f"{run['cpu']:.1f}" for run in full)],
        ["µs a lifetime", *(f"{_per(run['cpu'], count):.0f}" for run, count in zip(full, lives, strict=True))],
        *(
            [f"of these {part}", *(f"{_per(run['parts'][part], n):.0f}" for run, n in zip(full, lives, strict=True))]
            for part in PARTS
        ),
        ["writes a lifetime", *(f"{run['writes'] / n:.1f}" for run, n in zip(full, lives, strict=True))],
        ["peak memory, MiB", *(f"{run['peak']:.0f}" for run in full)],
    ]
    return report.table(head, rows)


def _per(seconds: float, count: int) -> float:
    return 1e6 * seconds / max(count, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the figures into docs/benchmarks.md")
    parser.add_argument("--nodes", nargs="+", type=int, default=[100, 1_000, 5_000])
    parser.add_argument("--scheduler", action="store_true", help="with the real scheduler")
    parser.add_argument("--profile", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        print(json.dumps(one(msgspec.json.decode(chosen.one, type=Load), profile=chosen.profile)))
        return
    report.tell("actors", figures(chosen.nodes, with_scheduler=chosen.scheduler), write=chosen.write)


if __name__ == "__main__":
    main()
