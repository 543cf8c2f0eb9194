"""Choosing nodes for pods, one after the other: the scheduler's engine alone, without a queue or an API.

    python -m benchmarks.schedule [--write]

Pods of some workloads, spread by default, come to nodes of three zones; from 20 pods a node on, one goes for each that
comes. Nothing is asserted; the figures are for reading.
"""

import argparse
import random
from collections.abc import Sequence

import msgspec

from baseload.decide.fit.constraints import spread_of
from baseload.decide.schedule import nodes
from baseload.decide.schedule.cluster import Cluster
from baseload.decide.schedule.engine import Engine, Found
from baseload.decide.schedule.kinds import Kind, Pod
from baseload.kube.types import core
from baseload.values.selector import Selector
from benchmarks import measure, report

PODS_EACH = 20
LOADS = ((100, 1, 5_000), (1_000, 1, 5_000), (1_000, 30, 5_000), (5_000, 30, 5_000))


def engine(count: int) -> Engine:
    made = Engine(Cluster())
    for at in range(count):
        labels = {"kubernetes.io/hostname": f"n{at}", "topology.kubernetes.io/zone": f"z{at % 3}"}
        status = core.NodeStatus(allocatable={"cpu": "16", "memory": "64Gi", "pods": "110"})
        made.cluster.set_node(nodes.facts(f"n{at}", labels, core.NodeSpec(), status))
    return made


def kinds(made: Engine, workloads: int) -> list[Kind]:
    found = []
    for at in range(workloads):
        requests = {"cpu": f"{50 + at * 10}m", "memory": f"{64 + at * 16}Mi"}
        containers = [{"name": "main", "resources": {"requests": requests}}]
        spec = msgspec.convert({"containers": containers}, core.PodSpec)
        selector = Selector.of({"app": f"a{at}"})
        spread = tuple(spread_of(written, selector) for written in made.settings.default_constraints)
        found.append(made.cluster.kind("default", {"app": f"a{at}"}, spec, namespaces={}, default_spread=spread))
    return found


def place(made: Engine, pods: Sequence[Pod], most: int) -> None:
    chance, running = random.Random(1), list[Pod]()
    for pod in pods:
        found = made.choose(pod)
        assert isinstance(found, Found)
        pod.node = found.node
        made.cluster.put_pod(pod)
        running.append(pod)
        if len(running) > most:
            made.cluster.drop_pod(running.pop(chance.randrange(len(running))).uid)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the figures into docs/benchmarks.md")
    chosen = parser.parse_args()
    rows = []
    for count, workloads, pods in LOADS:
        made = engine(count)
        of = kinds(made, workloads)
        waiting = [Pod(f"u{at}", "default", f"p{at}", of[at % workloads]) for at in range(pods)]
        place(made, waiting[: 2 * workloads], count * PODS_EACH)
        rest = waiting[2 * workloads :]
        seconds, _ = measure.timed(lambda made=made, rest=rest, count=count: place(made, rest, count * PODS_EACH))  # type: ignore[misc]
        rows.append((f"{count:,} nodes, {workloads} workloads", f"{seconds / len(rest) * 1e6:.0f} µs"))
    report.tell("schedule", report.table(("load", "a pod"), rows), write=chosen.write)


if __name__ == "__main__":
    main()
