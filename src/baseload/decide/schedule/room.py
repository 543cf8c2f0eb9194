"""Room and balance of many nodes at once, for pods that ask for cpu and memory under the default settings.

The same rules as in `resources`, which says them for one node, on whole numbers and doubles that come out alike.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

from baseload.decide.schedule.asks import Ask
from baseload.decide.schedule.loads import Loads
from baseload.decide.schedule.nodes import Node
from baseload.decide.schedule.profile import Profile
from baseload.decide.schedule.resources import BEST, improvement, is_usual
from baseload.decide.schedule.statuses import NODE_RESOURCES_FIT, Status
from baseload.decide.schedule.tallies import Numbers

Judging = Callable[[Loads, Numbers], tuple[Numbers | None, Numbers]]
"""(columns, slots) -> what each node lacks, as a number of `lacks`, None where none lacks anything; and the scores

Not for nodes that have no cpu or no memory at all.
"""
_PODS: Final = 1
_CPU: Final = 2
_MEMORY: Final = 4
_ALL_CPU: Final = 8  # more than the node has at all
_ALL_MEMORY: Final = 16


def lacks(ask: Ask) -> list[Status | None]:
    """What a node says that lacks something, by the sum of what it lacks."""
    words = ((_PODS, "Too many pods"), (_CPU, "Insufficient cpu"), (_MEMORY, "Insufficient memory"))
    found: list[Status | None] = [None]
    for number in range(1, 2 * _ALL_MEMORY):
        reasons = tuple(word for bit, word in words if number & bit)
        found.append(Status(NODE_RESOURCES_FIT, reasons, not number & (_ALL_CPU | _ALL_MEMORY)))
    return found


def lack(ask: Ask, node: Node) -> int:
    """What a node lacks for cpu and memory, as a number of `lacks`."""
    found = _PODS if len(node.pods) >= node.allowed_pods else 0
    cpu, memory = ask.cpu, ask.memory
    if cpu and cpu > node.cpu - node.asked_cpu:
        found += _CPU + _ALL_CPU if cpu > node.cpu else _CPU
    if memory and memory > node.memory - node.asked_memory:
        found += _MEMORY + _ALL_MEMORY if memory > node.memory else _MEMORY
    return found


def judging(ask: Ask, profile: Profile) -> Judging | None:
    """How many nodes are judged at once; None where they have to be one by one."""
    if not ask.is_native or not is_usual(profile):
        return None
    for_fit, for_balance = profile.weights.node_resources_fit, profile.weights.balanced_allocation
    if not (ask.cpu or ask.memory):
        for_balance = 0

    asked_cpu, asked_memory = ask.cpu, ask.memory
    counted_cpu, counted_memory = ask.counted_cpu, ask.counted_memory

    def judge(loads: Loads, slots: Numbers) -> tuple[Numbers | None, Numbers]:
        cpu, memory = loads.cpu[slots], loads.memory[slots]
        with_cpu, with_memory = loads.asked_cpu[slots] + asked_cpu, loads.asked_memory[slots] + asked_memory
        free_pods = loads.free_pods[slots]
        fitting = free_pods > 0
        if asked_cpu:
            fitting &= with_cpu <= cpu
        if asked_memory:
            fitting &= with_memory <= memory
        found: Numbers | None = None
        if np.count_nonzero(fitting) < len(slots):
            found = (free_pods <= 0) * _PODS
            if asked_cpu:
                found += (with_cpu > cpu) * _CPU + (cpu < asked_cpu) * _ALL_CPU
            if asked_memory:
                found += (with_memory > memory) * _MEMORY + (memory < asked_memory) * _ALL_MEMORY
        of_cpu = np.maximum(loads.spare_cpu[slots] - counted_cpu, 0) * BEST // cpu
        of_memory = np.maximum(loads.spare_memory[slots] - counted_memory, 0) * BEST // memory
        scores: Numbers = ((of_cpu + of_memory) >> 1) * for_fit
        if for_balance:
            shares = np.minimum(with_cpu / cpu, 1.0) - np.minimum(with_memory / memory, 1.0)
            after = ((1 - np.abs(shares / 2)) * BEST).astype(np.int64)
            scores += improvement(after, loads.evenness[slots]) * for_balance
        return found, scores

    return judge
