"""What a pod asks for, in the scheduler's units: thousandths of a cpu, bytes, pieces (cluster-actors 3.5, 4.2).

Scores of free room count every container as asking for something, so that pods without requests do not pile up; the
balance of a node is judged by what was really asked for.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import msgspec

from baseload.kube.types.core import Container, PodSpec
from baseload.kube.types.meta import Quantity, Resources
from baseload.model import requests
from baseload.values import quantity

CPU: Final = "cpu"
MEMORY: Final = "memory"
STORAGE: Final = "ephemeral-storage"
NATIVE: Final = (CPU, MEMORY, STORAGE)
UNASKED: Final[Mapping[str, Quantity]] = {CPU: "100m", MEMORY: "200Mi"}
"""What a container without a request counts for where free room is scored (4.2)"""


@dataclass(frozen=True)
class Ask:
    """A pod's request: (resource, amount) with cpu, memory and ephemeral storage first, amounts above 0 only."""

    amounts: tuple[tuple[str, int], ...] = ()
    cpu: int = 0
    memory: int = 0
    counted_cpu: int = 0
    """As `cpu`, with something for each container that asks for none"""
    counted_memory: int = 0
    is_native: bool = True
    """Whether it is for cpu and memory alone"""

    @cached_property
    def by_resource(self) -> Mapping[str, int]:
        return dict(self.amounts)


def of_pod(spec: PodSpec) -> Ask:
    """What a pod of that spec asks for."""
    amounts = scaled(requests.of_spec(spec))
    counted = scaled(requests.of_spec(_counted(spec)))
    ordered = [name for name in NATIVE if amounts.get(name)]
    ordered += sorted(name for name in amounts if name not in NATIVE and name != requests.PODS and amounts[name])
    return Ask(
        amounts=tuple((name, amounts[name]) for name in ordered),
        cpu=amounts.get(CPU, 0),
        memory=amounts.get(MEMORY, 0),
        counted_cpu=counted.get(CPU, 0),
        counted_memory=counted.get(MEMORY, 0),
        is_native=all(name in (CPU, MEMORY) for name in ordered),
    )


def of_resources(resources: Resources) -> dict[str, int]:
    """Written amounts, of a node's allocatable say."""
    return scaled(requests.amounts(resources))


def scaled(amounts: Mapping[str, int]) -> dict[str, int]:
    """Nano-units in the scheduler's units, rounded up."""
    return {name: -(-amount // _unit(name)) for name, amount in amounts.items()}


def is_scalar(resource: str) -> bool:
    """Whether it is an extended resource, huge pages or the like, which scores leave out where it is not asked for."""
    return resource not in NATIVE


def _unit(resource: str) -> int:
    return quantity.MILLI if resource == CPU else quantity.UNIT


def _counted(spec: PodSpec) -> PodSpec:
    containers, inits = map(_asking, spec.containers), map(_asking, spec.init_containers)
    return msgspec.structs.replace(spec, containers=tuple(containers), init_containers=tuple(inits))


def _asking(container: Container) -> Container:
    held = {**UNASKED, **container.resources.requests}
    return msgspec.structs.replace(container, resources=msgspec.structs.replace(container.resources, requests=held))
