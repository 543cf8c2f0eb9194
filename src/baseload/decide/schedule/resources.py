"""NodeResourcesFit and NodeResourcesBalancedAllocation: does a node have the room, and how good is it (3.5, 4.2-4.5).

Scores are whole numbers of 0 to 100. The balance is a share in double precision, where sums, quotients and roots come
out alike on every machine.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from baseload.decide.schedule import asks
from baseload.decide.schedule.asks import Ask
from baseload.decide.schedule.nodes import Node, evenness
from baseload.decide.schedule.profile import Profile
from baseload.decide.schedule.statuses import NODE_RESOURCES_FIT, Status

BEST: Final = 100
_HALF: Final = BEST // 2
_LEVEL: Final = BEST // 10  # points of a shape are given as 0 to 10

_PAIR: Final = (("cpu", 1), ("memory", 1))
Score = Callable[[Ask, Node], int]
N = TypeVar("N", int, npt.NDArray[np.int64])


def insufficient(ask: Ask, node: Node) -> Status | None:
    """What a node lacks for a pod, all of it; None where it has the room."""
    if ask.is_native and len(node.pods) < node.allowed_pods:
        # What nearly every look comes to.
        cpu, memory = ask.cpu, ask.memory
        if (not cpu or cpu <= node.cpu - node.asked_cpu) and (not memory or memory <= node.memory - node.asked_memory):
            return None
    reasons = ["Too many pods"] if len(node.pods) >= node.allowed_pods else []
    allocatable, asked, hopeless = node.facts.allocatable, node.asked, False
    for resource, amount in ask.amounts:
        whole = allocatable.get(resource, 0)
        if amount > whole - asked.get(resource, 0):
            reasons.append(f"Insufficient {resource}")
            hopeless = hopeless or amount > whole
    return Status(NODE_RESOURCES_FIT, tuple(reasons), not hopeless) if reasons else None


def fits_empty(ask: Ask, node: Node) -> bool:
    """Whether a pod would have room if nothing else were on the node."""
    allocatable = node.facts.allocatable
    return node.allowed_pods > 0 and all(amount <= allocatable.get(resource, 0) for resource, amount in ask.amounts)


def least_allocated(wanted: int, whole: int) -> int:
    return (whole - wanted) * BEST // whole if wanted <= whole else 0


def most_allocated(wanted: int, whole: int) -> int:
    return min(wanted, whole) * BEST // whole


def on_shape(shape: tuple[tuple[int, int], ...], utilization: int) -> int:
    """The value of a line through points (utilization, 0 to 10); flat outside of them, cut to a whole number."""
    if utilization <= shape[0][0]:
        return shape[0][1] * _LEVEL
    for (x0, y0), (x1, y1) in pairwise(shape):
        if utilization <= x1:
            rise = (y1 - y0) * _LEVEL * (utilization - x0)
            part = abs(rise) // (x1 - x0)
            return y0 * _LEVEL + (part if rise >= 0 else -part)
    return shape[-1][1] * _LEVEL


def fit_score(profile: Profile) -> Score:
    """The score of the profile's strategy."""
    if profile.scoring_strategy == "RequestedToCapacityRatio":
        return _by_ratio(profile)
    single = least_allocated if profile.scoring_strategy == "LeastAllocated" else most_allocated
    if profile.resources == _PAIR:
        return _of_two(single)
    resources = profile.resources

    def score(ask: Ask, node: Node) -> int:
        found = weights = 0
        for resource, weight in resources:
            wanted, whole = _counted(ask, node, resource)
            if whole:
                found += single(wanted, whole) * weight
                weights += weight
        return found // weights if weights else 0

    return score


def _of_two(single: Callable[[int, int], int]) -> Score:
    """The same for cpu and memory that count alike, which is what nearly everybody has."""

    def score(ask: Ask, node: Node) -> int:
        cpu, memory = node.cpu, node.memory
        if not (cpu and memory):
            whole = cpu or memory
            wanted = ask.counted_cpu + node.counted_cpu if cpu else ask.counted_memory + node.counted_memory
            return single(wanted, whole) if whole else 0
        found = single(ask.counted_cpu + node.counted_cpu, cpu)
        return (found + single(ask.counted_memory + node.counted_memory, memory)) // 2

    return score


def _by_ratio(profile: Profile) -> Score:
    shape, resources = profile.shape, profile.resources

    def score(ask: Ask, node: Node) -> int:
        found = weights = 0
        for resource, weight in resources:
            wanted, whole = _counted(ask, node, resource)
            if not whole:
                continue
            value = on_shape(shape, wanted * BEST // whole if wanted <= whole else BEST)
            if value > 0:
                found += value * weight
                weights += weight
        return (2 * found + weights) // (2 * weights) if weights else 0

    return score


def _counted(ask: Ask, node: Node, resource: str) -> tuple[int, int]:
    """What would be taken of a resource with the pod, as scores count it, and all there is; 0 where it is left out."""
    if resource == asks.CPU:
        return ask.counted_cpu + node.counted_cpu, node.cpu
    if resource == asks.MEMORY:
        return ask.counted_memory + node.counted_memory, node.memory
    wanted = ask.by_resource.get(resource, 0)
    if not wanted and asks.is_scalar(resource):
        return 0, 0
    return wanted + node.asked.get(resource, 0), node.facts.allocatable.get(resource, 0)


def balance_score(profile: Profile) -> Score | None:
    """How much more even a node's load becomes by a pod; pods that ask for nothing are to be left out (4.5)."""
    resources = profile.balanced_resources

    def score(ask: Ask, node: Node) -> int:
        after, before = [], []
        allocatable, asked, wanted = node.facts.allocatable, node.asked, ask.by_resource
        for resource in resources:
            whole, own = allocatable.get(resource, 0), wanted.get(resource, 0)
            if whole and (own or not asks.is_scalar(resource)):
                held = asked.get(resource, 0)
                before.append(min(held / whole, 1.0))
                after.append(min((held + own) / whole, 1.0))
        return improvement(evenness(after), evenness(before))

    return score if resources else None


def is_usual(profile: Profile) -> bool:
    """Whether a profile scores room and balance as the default one does, but for the weights."""
    by_both = profile.resources == _PAIR and profile.balanced_resources == ("cpu", "memory")
    return by_both and profile.scoring_strategy == "LeastAllocated"


def room_score(ask: Ask, profile: Profile) -> Callable[[Node], int]:
    """Both scores, weighted, for one request."""
    fit, balance, weights = fit_score(profile), balance_score(profile), profile.weights
    asks_for_some = any(ask.by_resource.get(resource) for resource in profile.balanced_resources)
    for_fit, for_balance = weights.node_resources_fit, weights.balanced_allocation if asks_for_some else 0

    def score(node: Node) -> int:
        found = for_fit * fit(ask, node)
        return found + for_balance * balance(ask, node) if balance is not None and for_balance else found

    if is_usual(profile):
        return _usual(ask, for_fit, for_balance, score)
    return score


def _usual(ask: Ask, for_fit: int, for_balance: int, otherwise: Callable[[Node], int]) -> Callable[[Node], int]:
    """The same for the default settings without any detour: it is worked out anew with every pod that comes or goes."""
    own_cpu, own_memory = ask.cpu, ask.memory
    counted_cpu, counted_memory = ask.counted_cpu, ask.counted_memory

    def score(node: Node) -> int:
        cpu, memory = node.cpu, node.memory
        if not (cpu and memory):
            return otherwise(node)
        left = cpu - counted_cpu - node.counted_cpu
        found = left * BEST // cpu if left > 0 else 0
        left = memory - counted_memory - node.counted_memory
        found = (found + (left * BEST // memory if left > 0 else 0)) // 2 * for_fit
        if for_balance:
            with_cpu, with_memory = (node.asked_cpu + own_cpu) / cpu, (node.asked_memory + own_memory) / memory
            after = abs(((with_cpu if with_cpu < 1 else 1.0) - (with_memory if with_memory < 1 else 1.0)) / 2)
            before = node.evenness if node.evenness >= 0 else node.even()
            found += improvement(int((1 - after) * BEST), before) * for_balance
        return found

    return score


def improvement(after: N, before: N) -> N:
    """75 where nothing changes (from 1.36)."""
    return _HALF + (_HALF + after - before) // 2
