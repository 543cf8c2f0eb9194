"""Which pod a kubelet evicts when memory runs short, and what it says of it (cluster-actors spec 22)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from baseload.decide.node.qos import SYSTEM_CRITICAL
from baseload.values import quantity
from baseload.values.instant import SECOND

INTERVAL: Final = 10 * SECOND  # between two looks; one pod is evicted in each
TRANSITION: Final = 300 * SECOND  # how long a pressure condition outlasts its cause
GRACE: Final = SECOND  # that a pod gets on a hard threshold
THRESHOLD: Final = 100 * 2**20  # bytes: memory.available below which pods are evicted
MIB: Final = 2**20


@dataclass(frozen=True, slots=True)
class Use:
    """A container's memory in bytes."""

    name: str
    used: int
    request: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """A running pod; `key` says which, and breaks ties."""

    key: tuple[str, ...]
    priority: int
    containers: tuple[Use, ...]
    is_static: bool = False

    @property
    def excess(self) -> int:
        return sum(use.used - use.request for use in self.containers)

    @property
    def is_critical(self) -> bool:
        return self.is_static or self.priority >= SYSTEM_CRITICAL


def ranked(pods: Iterable[Candidate]) -> list[Candidate]:
    """The pods that may be evicted, the first one first.

    Those above their request come first, then lower priorities, then the larger excess. Classes of service play no
    part, and no budget is asked.
    """
    able = [pod for pod in pods if not pod.is_critical]
    return sorted(able, key=lambda pod: (pod.excess <= 0, pod.priority, -pod.excess, pod.key))


def message(uses: Sequence[Use], available: int, threshold: int = THRESHOLD) -> str:
    """What an evicted pod's status says."""
    said = [
        f"The node was low on resource: memory. Threshold quantity: {_amount(threshold)}, "
        f"available: {_amount(available)}. "
    ]
    said += [
        f"Container {use.name} was using {_amount(use.used)}, request is {_amount(use.request)}, "
        "has larger consumption of memory. "
        for use in uses
        if use.used > use.request
    ]
    return "".join(said)


def _amount(count: int) -> str:
    """Bytes as the kubelet's statistics have them, whole kibibytes."""
    return quantity.format(max(count, 0) // 1024 * 1024 * quantity.UNIT, "BinarySI")
