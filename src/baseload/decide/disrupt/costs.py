"""What it costs to move pods, and the price of the node that they leave (disruption and lifecycle spec 9)."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from baseload.catalog.columns import InstanceTypes
from baseload.kube.types.core import Pod
from baseload.kube.types.karpenter import NodeClaim
from baseload.values import duration, instant
from baseload.values.duration import DurationError
from baseload.values.label import CAPACITY_TYPE, CORE_WELL_KNOWN, INSTANCE_TYPE, ZONE
from baseload.values.requirement import Requirements

DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
OF_NODE: Final = 1.0
"""what it costs to give up a node, whatever runs there"""
_MOST: Final = 10.0
_COST_UNIT: Final = 2.0**27
_PRIORITY_UNIT: Final = 2.0**25
_OF_SYSTEM: Final = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
"""what an API server fills in for the classes that every cluster has; manifests written by hand may lack it"""
_NEVER: Final = "Never"
_USUAL: Final = "720h"


def of_eviction(pod: Pod) -> float:
    """What it costs to evict a pod: 1, more for what is dear or important, at most 10 and at least -10 (9.1)."""
    given = pod.metadata.annotations.get(DELETION_COST) if pod.metadata.annotations else None
    priority = pod.spec.priority
    if priority is None:
        priority = _OF_SYSTEM.get(pod.spec.priority_class_name, 0)
    if given is None and not priority:
        return 1.0
    cost = 1.0
    if given is not None:
        cost += _number(given) / _COST_UNIT
    cost += priority / _PRIORITY_UNIT
    return min(_MOST, max(-_MOST, cost))


def of_move(pods: Iterable[Pod]) -> float:
    """The cost of giving up a node from which these pods have to move; what it would even be good to evict is free."""
    return OF_NODE + sum(max(0.0, of_eviction(pod)) for pod in pods)


def is_empty(move_cost: float) -> bool:
    """QUIRK 9.4: by cost, so that pods which nobody minds losing leave a node empty."""
    return move_cost <= OF_NODE


def of_disruption(pods: Iterable[Pod], claim: NodeClaim, now: int) -> float:
    """The elder cost, which orders no consolidation any more: the pods' cost, the less the sooner the node expires."""
    return sum(map(of_eviction, pods)) * remaining_lifetime(claim, now)


def remaining_lifetime(claim: NodeClaim, now: int) -> float:
    """The share of its lifetime that a node still has; 1 where it never expires."""
    whole = _duration(claim.spec.expire_after)
    if whole is None or not claim.metadata.creation_timestamp:
        return 1.0
    left = whole - (now - instant.parse(claim.metadata.creation_timestamp))
    return min(1.0, max(0.0, left / whole)) if whole > 0 else 0.0


def of_node(labels: dict[str, str], table: InstanceTypes | None) -> float | None:
    """The price of a node by its labels, be that offering to be had or not; None where it is not known (9.5)."""
    name, zone, capacity_type = (labels.get(key, "") for key in (INSTANCE_TYPE, ZONE, CAPACITY_TYPE))
    if table is None or not (place := place_of(table, name)) or not zone or not capacity_type:
        return None
    for column in table.offerings:
        if column.types & place and column.zone == zone and column.capacity_type == capacity_type:
            return column.prices[place.bit_length() - 1]
    return None


def cheapest_of_node(labels: dict[str, str], table: InstanceTypes) -> float:
    """The lowest price among the offerings of a node's type that go with its labels, to be had or not; 0 without."""
    place = place_of(table, labels.get(INSTANCE_TYPE, ""))
    held, allowed = Requirements.of_labels(labels), CORE_WELL_KNOWN | table.well_known
    columns = (c for c in table.offerings if c.types & place and held.compatible(c.requirements, allowed))
    prices = (column.prices[place.bit_length() - 1] for column in columns)
    return min((price for price in prices if price is not None), default=0.0)


def place_of(table: InstanceTypes, name: str) -> int:
    """The mask of the type of that name; 0 where the table does not have it."""
    at = _places(table).get(name)
    return 0 if at is None else 1 << at


@lru_cache(maxsize=64)
def _places(table: InstanceTypes) -> dict[str, int]:
    return {name: at for at, name in enumerate(table.names)}


def _number(text: str) -> int:
    """An annotation's number of 32 bits; what is none counts as 0."""
    try:
        number = int(text) if text.strip() == text and "_" not in text else 0
    except ValueError:
        return 0
    return number if -(2**31) <= number < 2**31 else 0


def _duration(text: str) -> int | None:
    if text == _NEVER:
        return None
    try:
        return duration.parse(text or _USUAL)
    except DurationError:
        return None
