"""Which container the kernel kills when memory is out (cluster-actors spec 23)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from baseload.values.instant import SECOND

QosClass = Literal["Guaranteed", "Burstable", "BestEffort"]

PROTECTED: Final = -997  # Guaranteed and node-critical containers
UNPROTECTED: Final = 1000  # BestEffort
SYSTEM_CRITICAL: Final = 2_000_000_000
NODE_CRITICAL: Final = 2_000_001_000
"""Priorities from which a pod is critical, to the cluster or to its node"""
NEARLY_EMPTY: Final = 0.005  # share of the machine's memory below which the kernel kills (24.3)
FOR: Final = 2 * SECOND  # so long, as (24.3) has it


def oom_score_adj(qos: QosClass, request: int, memory: int, priority: int = 0) -> int:
    """The adjustment of a container that requests so many bytes, on a machine of so many."""
    if qos == "Guaranteed" or priority >= NODE_CRITICAL:
        return PROTECTED
    if qos == "BestEffort":
        return UNPROTECTED
    return min(max(1000 - 1000 * request // memory, 1000 + PROTECTED), UNPROTECTED - 1)


@dataclass(frozen=True, slots=True)
class Victim:
    """A running container as the kernel sees it; `key` says which, and breaks ties."""

    key: tuple[str, ...]
    used: int  # bytes
    adjustment: int


def chosen(running: Iterable[Victim], memory: int) -> Victim | None:
    """The container that is killed: the largest share of memory in per mille and its adjustment together."""
    return min(running, key=lambda one: (-(1000 * one.used // memory + one.adjustment), one.key), default=None)
