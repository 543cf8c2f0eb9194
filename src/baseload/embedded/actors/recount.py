"""What pods ask of each node, counted anew from the store: a check of who keeps such sums, the scheduler first of all.

A scheduler's sums agree with themselves even where it forgot something. So whoever drives a run looks from time to
time whether they are those of the pods that are there, and whether a node bears more than it has.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from baseload.decide.schedule.cluster import Cluster
from baseload.decide.schedule.nodes import Node
from baseload.embedded.actors import nodes, pods
from baseload.embedded.store.record import Body, Record
from baseload.kube.types.core import PodSpec
from baseload.model import requests
from baseload.values import quantity

PODS: Final = requests.PODS


@dataclass(slots=True)
class Sums:
    """Of one node: its pods, and what they ask for, cpu in thousandths and all else in whole pieces."""

    pods: int = 0
    asked: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Over:
    """A node that bears more than it has."""

    node: str
    resource: str
    asked: int
    allocatable: int


@dataclass(frozen=True, slots=True)
class Recount:
    """All nodes, those without pods included, in the order of their names."""

    sums: Mapping[str, Sums]
    over: tuple[Over, ...]
    homeless: tuple[str, ...]
    """Keys of pods that are bound to a node that is not there"""


def recount(node_records: Iterable[Record], pod_records: Iterable[Record]) -> Recount:
    """The sums of all pods that have a node and have not ended."""
    held = sorted(node_records, key=lambda record: record.name)
    sums = {record.name: Sums() for record in held}
    homeless: list[str] = []
    known: dict[int, tuple[Body, Mapping[str, int]]] = {}
    for record in pod_records:
        if not record.node or pods.is_over(record):
            continue
        if record.node not in sums:
            homeless.append(record.key)
            continue
        asked = known.get(id(record.body))
        if asked is None:
            asked = known[id(record.body)] = record.body, scaled(requests.of_spec(record.body.spec(PodSpec)))
        of_node = sums[record.node]
        of_node.pods += 1
        for resource, amount in asked[1].items():
            of_node.asked[resource] = of_node.asked.get(resource, 0) + amount
    over = tuple(one for record in held for one in _over(record, sums[record.name]))
    return Recount(sums, over, tuple(sorted(homeless)))


def scaled(amounts: Mapping[str, int]) -> dict[str, int]:
    """What is asked for, but pods: thousandths of a cpu, and whole pieces of all else, rounded up."""
    units = {name: quantity.MILLI if name == "cpu" else quantity.UNIT for name in amounts}
    return {name: -(-amount // units[name]) for name, amount in amounts.items() if amount and name != PODS}


def differing(found: Recount, cluster: Cluster) -> tuple[str, ...]:
    """The nodes of which a scheduler keeps other sums; pods that it has assumed and not bound yet count for it."""
    kept = {name: cluster.at(slot) for name, slot in cluster.slots.items()}
    names = [name for name in sorted({*found.sums, *kept}) if not _agree(found.sums.get(name), kept.get(name))]
    return tuple(names)


def _agree(counted: Sums | None, kept: Node | None) -> bool:
    if counted is None or kept is None:
        return False
    asked = {resource: amount for resource, amount in kept.asked.items() if amount}
    return counted.pods == len(kept.pods) and counted.asked == asked


def _over(record: Record, sums: Sums) -> Iterable[Over]:
    written = requests.amounts(nodes.status(record).allocatable)
    allocatable = {**scaled(written), PODS: written.get(PODS, 0) // quantity.UNIT}
    for resource, asked in sorted({**sums.asked, PODS: sums.pods}.items()):
        if asked > allocatable.get(resource, 0):
            yield Over(record.name, resource, asked, allocatable.get(resource, 0))
