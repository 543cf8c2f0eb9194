"""Choosing nodes for pods, one after the other: the scheduler's engine alone, and the scheduler at an embedded API.

    python -m benchmarks.schedule [--write]

The engine: pods of some workloads, spread by default, come to nodes of three zones; from 20 pods a node on, one goes
for each that comes. The scheduler: pods of 25 applications come four at a time, and as many go; a cycle takes a pod
off the queue, brings the model up to date, chooses a node, binds the pod and tells of it. In vain: 7,000 pods that fit
nowhere, in cycles that follow one another without end, while every second a pod goes and another comes.

On a machine that others use, each figure is the best of some rounds. Nothing is asserted; the figures are for reading.
"""

import argparse
import random
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from baseload.decide.fit.constraints import spread_of
from baseload.decide.schedule import nodes
from baseload.decide.schedule.cluster import Cluster
from baseload.decide.schedule.engine import Engine, Found
from baseload.decide.schedule.kinds import Kind, Pod
from baseload.embedded.store.record import Record
from baseload.kube import bulk
from baseload.kube.types import core
from baseload.values.selector import Selector
from benchmarks import measure, report
from benchmarks.scheduled import HOSTNAME, ZONE, Scheduled, Template

PODS_EACH = 20
APPLICATIONS: Final = 25
FILLED: Final = 5  # pods a node before the scheduler is measured
ROUNDS: Final = 12
IN_VAIN: Final = 7_000
MINUTES: Final = 6
CYCLES: Final = 8_640_000  # of a day, at 10 ms each
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


def of_engine(count: int, workloads: int, pods: int) -> float:
    """Microseconds a pod."""
    made = engine(count)
    of = kinds(made, workloads)
    waiting = [Pod(f"u{at}", "default", f"p{at}", of[at % workloads]) for at in range(pods)]
    warm, size = pods // 5, pods // 10
    place(made, waiting[:warm], count * PODS_EACH)
    rounds = [waiting[at : at + size] for at in range(warm, pods, size)]
    return min(measure.timed(lambda one=one: place(made, one, count * PODS_EACH))[0] for one in rounds) / size * 1e6  # type: ignore[misc]


def near(side: str, key: str) -> Callable[[str], dict[str, Any]]:
    """Required affinity or anti-affinity of an application's pods to one another."""

    def spec(name: str) -> dict[str, Any]:
        term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": name}}}
        return {"affinity": {side: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}

    return spec


def evenly(name: str) -> dict[str, Any]:
    """An application whose zones must not differ by more than 5 pods."""
    constraint = {"topologyKey": ZONE, "maxSkew": 5, "whenUnsatisfiable": "DoNotSchedule"}
    return {"topologySpreadConstraints": [{**constraint, "labelSelector": {"matchLabels": {"app": name}}}]}


MIXES: Final[dict[str, Callable[[str], dict[str, Any]]]] = {
    "spread by default": lambda _: {},
    "spread evenly or not at all": evenly,
    "no two of one application on a node": near("podAntiAffinity", HOSTNAME),
    "all of one application in a zone": near("podAffinity", ZONE),
}


def of_scheduler(nodes: int, mix: Callable[[str], dict[str, Any]]) -> float:
    """Microseconds a cycle."""
    stage, chance = Scheduled(nodes), random.Random(1)
    applications = [stage.application(f"a{at:02}", 100 + 20 * at, **mix(f"a{at:02}")) for at in range(APPLICATIONS)]
    running = [stage.create(applications[at // 40 % APPLICATIONS]) for at in range(nodes * FILLED)]
    stage.run(len(running) * 0.0102)
    stage.start(running)
    stage.run(1)
    return min(churn(stage, applications, running, chance) for _ in range(ROUNDS))


def churn(stage: Scheduled, applications: Sequence[Template], running: list[Record], chance: random.Random) -> float:
    seconds = cycles = 0.0
    for _ in range(50):
        chosen = applications[chance.randrange(APPLICATIONS)]
        made = [stage.create(chosen) for _ in range(4)]
        before = stage.seconds, stage.cycles
        stage.run(0.05)
        seconds, cycles = seconds + stage.seconds - before[0], cycles + stage.cycles - before[1]
        stage.start(made)
        for _ in made:
            stage.end(running.pop(chance.randrange(len(running))))
        running += made
    return seconds / cycles * 1e6


def in_vain(classes: int) -> float:
    """Microseconds for each try in vain, what comes of the pods that go and come included."""
    stage, chance = Scheduled(200), random.Random(1)
    small = [stage.application(f"a{at}", 100 + 20 * at) for at in range(10)]
    hopeless = [stage.application(f"h{at}", 17_000 + 100 * at) for at in range(classes)]
    running = [stage.create(small[at % 10]) for at in range(2_000)]
    for at in range(IN_VAIN):
        stage.create(hopeless[at % classes])
    stage.run(600)

    def minute() -> float:
        seconds, cycles = stage.seconds, stage.cycles
        for _ in range(60):
            stage.end(running.pop(chance.randrange(len(running))))
            running.append(stage.create(small[chance.randrange(10)]))
            stage.run(1)
        return (stage.seconds - seconds) / (stage.cycles - cycles) * 1e6

    return min(minute() for _ in range(MINUTES))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the figures into docs/benchmarks.md")
    chosen = parser.parse_args()
    bulk.keep()
    rows = []
    for count, workloads, pods in LOADS:
        found = of_engine(count, workloads, pods)
        rows.append((f"engine: {count:,} nodes, {workloads} workloads", f"{found:.0f} µs", ""))
    for count in (100, 1_000, 5_000):
        asked = "60 µs" if count == 1_000 else ""
        found = of_scheduler(count, MIXES["spread by default"])
        rows.append((f"cycle: {count:,} nodes, spread by default", f"{found:.0f} µs", asked))
    for name, mix in list(MIXES.items())[1:]:
        rows.append((f"cycle: 1,000 nodes, {name}", f"{of_scheduler(1_000, mix):.0f} µs", ""))
    for classes in (1, 25):
        found = in_vain(classes)
        day = f"{found:.1f} µs, {found * CYCLES / 1e6:.0f} s a day"
        rows.append((f"in vain: {IN_VAIN:,} pods of {classes} kinds", day, "40 s a day"))
    report.tell("schedule", report.table(("load", "a pod", "asked"), rows), write=chosen.write)


if __name__ == "__main__":
    main()
