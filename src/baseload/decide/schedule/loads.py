"""What nodes have and what their pods ask for, as columns: many nodes are judged at once by them.

They are brought up to date from the nodes when somebody needs them, and only where something changed. A column is an
array of whole numbers that Python fills, and numpy reads as its own.
"""

from array import array
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from baseload.decide.schedule.nodes import Node
from baseload.decide.schedule.tallies import SLOTS, Numbers

_COLUMNS: Final = 8


class Loads:
    """One entry a slot; of empty slots anything but 0."""

    def __init__(self) -> None:
        self.version = -1
        """The end of the log up to which they are right"""
        self.lacking: Final[dict[int, None]] = {}
        """The slots of nodes without any cpu or memory"""
        self._columns: list[array[int]] = []
        self.grow(SLOTS)

    def grow(self, slots: int) -> None:
        held = self._columns or [array("q") for _ in range(_COLUMNS)]
        more = array("q", [1]) * (slots - len(held[0]))
        self._columns = [column + more for column in held]
        columns: list[Numbers] = [np.frombuffer(column, np.int64) for column in self._columns]
        self.cpu, self.memory = columns[0], columns[1]
        self.asked_cpu, self.asked_memory = columns[2], columns[3]
        self.spare_cpu, self.spare_memory = columns[4], columns[5]
        """What is left beside what pods ask for, as scores count it"""
        self.free_pods = columns[6]
        self.evenness = columns[7]
        """How evenly cpu and memory are asked for, 0 to 100"""

    def refresh(self, nodes: Sequence[Node | None], slots: Iterable[int]) -> None:
        """Reads nodes that changed."""
        cpu, memory, asked_cpu, asked_memory, spare_cpu, spare_memory, free_pods, evenness = self._columns
        lacking = self.lacking
        for slot in slots:
            lacking.pop(slot, None)
            node = nodes[slot]
            if node is None:
                cpu[slot] = memory[slot] = 1
                continue
            if not (node.cpu and node.memory):
                lacking[slot] = None
            cpu[slot], memory[slot] = node.cpu, node.memory
            asked_cpu[slot], asked_memory[slot] = node.asked_cpu, node.asked_memory
            spare_cpu[slot], spare_memory[slot] = node.cpu - node.counted_cpu, node.memory - node.counted_memory
            free_pods[slot] = node.allowed_pods - len(node.pods)
            evenness[slot] = node.even()
