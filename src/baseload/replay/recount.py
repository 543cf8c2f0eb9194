"""An independent recount: the sums that the cluster's parts keep, worked out anew from the store.

What is wrong for a moment may be under way: a Node is gone before its pods are. So a fault counts where two looks in a
row find the same.
"""

from collections.abc import Iterator
from typing import Final

from baseload.embedded.actors import nodes, pods
from baseload.embedded.store.record import Record
from baseload.kube.types import core
from baseload.model import requests
from baseload.values import instant, quantity
from baseload.values.instant import SECOND
from baseload.world.living import Living

_MILLI: Final = quantity.UNIT // 1000
MOST: Final = 20
"""Faults that are told"""


class Recounts:
    """Recounts one living cluster; `found` are the faults."""

    def __init__(self, living: Living) -> None:
        self._living = living
        self._before: frozenset[str] = frozenset()
        self.count = 0
        self.found: list[str] = []

    async def run(self, every: int) -> None:
        """Looks every so many nanoseconds, until the end."""
        while True:
            await self._living.clock.sleep(every / SECOND)
            self.look()

    def look(self) -> None:
        """One recount."""
        self.count += 1
        now = frozenset(self._faults())
        for fault in sorted(now & self._before):
            if len(self.found) < MOST:
                self.found.append(f"{instant.format(self._living.clock.now())}: {fault}")
        self._before = now - self._before

    def _faults(self) -> Iterator[str]:
        store = self._living.cluster.store
        pod_kind, node_kind = store.resource_of("", "Pod"), store.resource_of("", "Node")
        assert pod_kind is not None
        assert node_kind is not None
        there = store.table(node_kind).records
        sums: dict[str, dict[str, int]] = {name: {} for name in there}
        bound: dict[str, list[str]] = {name: [] for name in there}
        for pod in store.table(pod_kind).records.values():
            if not pod.node or pods.is_over(pod):
                continue
            if pod.node not in sums:
                yield f"Pod {pod.namespace}/{pod.name} is bound to Node {pod.node}, which is not there"
                continue
            requests.add(sums[pod.node], _asked(pod))
            bound[pod.node].append(pod.uid)
        for name, asked in sums.items():
            yield from _too_much(there[name], asked)
        yield from self._of_scheduler(sums, {name: frozenset(uids) for name, uids in bound.items()})

    def _of_scheduler(self, sums: dict[str, dict[str, int]], bound: dict[str, frozenset[str]]) -> Iterator[str]:
        """What the scheduler reckons with on each node, against what is there."""
        scheduler = self._living.scheduler
        if scheduler is None:
            return  # there is none now
        cluster = scheduler.model.cluster
        for name, asked in sums.items():
            node = cluster.node(name)
            if node is None:
                yield f"the scheduler does not know Node {name}"
            elif (there := frozenset(node.pods)) != bound[name]:
                more, less = len(there - bound[name]), len(bound[name] - there)
                yield f"the scheduler has {more} pods on Node {name} that are not there, and lacks {less}"
            elif (node.asked_cpu * _MILLI, node.asked_memory * quantity.UNIT) != _cpu_and_memory(asked):
                held, right = quantity.format(node.asked_cpu * _MILLI), quantity.format(asked.get("cpu", 0))
                yield f"the scheduler reckons with {held} of cpu on Node {name}, and its pods request {right}"


def _asked(pod: Record) -> dict[str, int]:
    """What a pod requests, in whole thousandths of a core and whole bytes, as schedulers count."""
    asked = requests.of_spec(pod.body.spec(core.PodSpec))
    return {name: -(-amount // _grain(name)) * _grain(name) for name, amount in asked.items()}


def _grain(name: str) -> int:
    return _MILLI if name == "cpu" else quantity.UNIT


def _cpu_and_memory(asked: dict[str, int]) -> tuple[int, int]:
    return asked.get("cpu", 0), asked.get("memory", 0)


def _too_much(node: Record, asked: dict[str, int]) -> Iterator[str]:
    allocatable = requests.amounts(nodes.status(node).allocatable)
    for name in ("cpu", "memory", "pods"):
        if name in allocatable and asked.get(name, 0) > allocatable[name]:
            wanted, there = quantity.format(asked[name]), quantity.format(allocatable[name])
            yield f"Node {node.name}: its pods request {wanted} of {name}, and {there} is allocatable"
