"""A node as the scheduler sees it: what was read from it, and the sums of the pods on it."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from baseload.decide.fit.ports import HostPort
from baseload.decide.fit.taints import PREFER_NO_SCHEDULE, taints_of
from baseload.decide.schedule import asks
from baseload.decide.schedule.kinds import Pod
from baseload.kube.types import core
from baseload.values.label import REGION, ZONE
from baseload.values.taint import Taint

PODS: Final = "pods"


@dataclass(frozen=True, slots=True)
class Facts:
    """What a Node object says that the scheduler looks at."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    is_unschedulable: bool
    allocatable: Mapping[str, int]  # scheduler's units

    @property
    def zone(self) -> str:
        """By which the list of nodes alternates (2.6)."""
        return f"{self.labels.get(REGION, '')}:\0:{self.labels.get(ZONE, '')}"


def facts(name: str, labels: Mapping[str, str], spec: core.NodeSpec, status: core.NodeStatus) -> Facts:
    """The reading of a Node."""
    return Facts(name, labels, taints_of(spec.taints), spec.unschedulable, asks.of_resources(status.allocatable))


@dataclass(eq=False, slots=True)
class Node:
    """A node with its pods; only the cluster changes it."""

    slot: int
    facts: Facts
    hard_taints: tuple[Taint, ...] = ()
    soft_taints: tuple[Taint, ...] = ()
    allowed_pods: int = 0
    cpu: int = 0
    memory: int = 0
    asked: dict[str, int] = field(default_factory=dict)
    asked_cpu: int = 0
    asked_memory: int = 0
    counted_cpu: int = 0
    counted_memory: int = 0
    evenness: int = -1
    """What `even` found; -1 where pods came or went since"""
    pods: dict[str, Pod] = field(default_factory=dict)  # uid -> pod
    ports: dict[HostPort, int] = field(default_factory=dict)

    def read(self, new: Facts) -> None:
        self.facts = new
        self.evenness = -1
        self.hard_taints = tuple(taint for taint in new.taints if taint.effect != PREFER_NO_SCHEDULE)
        self.soft_taints = tuple(taint for taint in new.taints if taint.effect == PREFER_NO_SCHEDULE)
        self.allowed_pods = new.allocatable.get(PODS, 0)
        self.cpu, self.memory = new.allocatable.get(asks.CPU, 0), new.allocatable.get(asks.MEMORY, 0)

    def book(self, pod: Pod, sign: int) -> None:
        """Adds a pod (1) or takes it away (-1)."""
        if sign > 0:
            self.pods[pod.uid] = pod
        else:
            del self.pods[pod.uid]
        ask, asked = pod.kind.ask, self.asked
        for resource, amount in ask.amounts:
            asked[resource] = asked.get(resource, 0) + sign * amount
        self.evenness = -1
        self.asked_cpu += sign * ask.cpu
        self.asked_memory += sign * ask.memory
        self.counted_cpu += sign * ask.counted_cpu
        self.counted_memory += sign * ask.counted_memory
        for port in pod.kind.demands.place.ports:
            self._listen(port, sign)

    def even(self) -> int:
        """How evenly cpu and memory are asked for, 0 to 100 (4.5); of no use where the node lacks one."""
        found = self.evenness
        if found < 0:
            cpu, memory = self.asked_cpu / (self.cpu or 1), self.asked_memory / (self.memory or 1)
            found = self.evenness = evenness((cpu if cpu < 1 else 1.0, memory if memory < 1 else 1.0))
        return found

    def _listen(self, port: HostPort, sign: int) -> None:
        count = self.ports.get(port, 0) + sign
        if count:
            self.ports[port] = count
        else:
            del self.ports[port]


def evenness(shares: Sequence[float]) -> int:
    """100 where all resources are used alike, the less the further apart they are."""
    if len(shares) == 2:
        spread = abs((shares[0] - shares[1]) / 2)
    elif len(shares) > 2:
        # Added one by one: Python's own sum of floats is another one from 3.12 on.
        total = squares = 0.0
        for share in shares:
            total += share
        mean = total / len(shares)
        for share in shares:
            squares += (share - mean) * (share - mean)
        spread = math.sqrt(squares / len(shares))
    else:
        spread = 0.0
    return int((1 - spread) * 100)


def alternating(zones: Mapping[str, Iterable[str]]) -> list[str]:
    """The names of all nodes, one of each zone in turn (2.6)."""
    waiting = [iter(names) for names in zones.values()]
    ordered: list[str] = []
    while waiting:
        left = []
        for names in waiting:
            name = next(names, None)
            if name is not None:
                ordered.append(name)
                left.append(names)
        waiting = left
    return ordered
