"""How each node stands to pods that ask and demand alike: whether it takes one, and how good its room would be.

This is what the node itself decides: taints, affinity, ports, room. It is kept per slot and brought up to date where
the cluster's log says that something changed; a node that others bind to costs a few additions, not a look at all.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from baseload.decide.fit.ports import clash
from baseload.decide.schedule import cluster as clusters
from baseload.decide.schedule import demands, resources, statuses
from baseload.decide.schedule.asks import Ask
from baseload.decide.schedule.cluster import Cluster
from baseload.decide.schedule.demands import Place
from baseload.decide.schedule.nodes import Node
from baseload.decide.schedule.profile import Profile
from baseload.decide.schedule.statuses import Status
from baseload.decide.schedule.tallies import Numbers

FITS: Final = 0
_EMPTY: Final = -1
_NOTHING: Final = Status("", (), False)

Mask = npt.NDArray[np.bool_]


class Judge:
    """What a profile makes of nodes, and the numbers of the answers."""

    def __init__(self, profile: Profile) -> None:
        self.profile: Final = profile
        self.statuses: Final = [_NOTHING]  # number -> status; the first is that of a node that takes the pod
        self._numbers: Final[dict[Status, int]] = {}

    def number(self, status: Status | None) -> int:
        if status is None:
            return FITS
        number = self._numbers.get(status)
        if number is None:
            number = self._numbers[status] = len(self.statuses)
            self.statuses.append(status)
        return number

    def of_node(self, place: Place, node: Node) -> Status | None:
        """What the Node object alone decides."""
        facts = node.facts
        if facts.is_unschedulable and not place.tolerates(demands.UNSCHEDULABLE):
            return statuses.UNSCHEDULABLE
        if place.node_name and place.node_name != facts.name:
            return statuses.OTHER_NAME
        if not all(place.tolerates(taint) for taint in node.hard_taints):
            return statuses.UNTOLERATED
        if not place.matches(facts.name, facts.labels):
            return statuses.OTHER_NODE
        return None

    def of_load(self, ask: Ask, place: Place, node: Node) -> Status | None:
        """What the pods on the node decide beside."""
        if place.ports and clash(place.ports, node.ports) is not None:
            return statuses.PORT_TAKEN
        return resources.insufficient(ask, node)


class Standing:
    """The nodes of one cluster for one request and place."""

    def __init__(self, ask: Ask, place: Place, judge: Judge) -> None:
        self._ask: Final = ask
        self._place: Final = place
        self._judge: Final = judge
        self._room_score: Final = resources.room_score(ask, judge.profile)
        self._version = -1
        self._static: Final[list[int]] = []
        self.codes: Numbers = np.zeros(0, np.int64)
        """Number of each node's status; -1 for empty slots"""
        self.scores: Numbers = np.zeros(0, np.int64)
        """Weighted, of what room and balance a node would have"""
        self.soft_taints: Numbers = np.zeros(0, np.int64)
        self.preferences: Numbers = np.zeros(0, np.int64)
        self.matches: Mask = np.zeros(0, np.bool_)
        """Whether a node meets nodeSelector and required node affinity"""
        self.tolerated: Mask = np.zeros(0, np.bool_)

    def refresh(self, cluster: Cluster) -> None:
        """Brings every node that changed up to date."""
        if self._version == cluster.version:
            return
        if len(self.codes) < cluster.tallies.slots:
            self._grow(cluster.tallies.slots)
        for entry in clusters.changed(cluster, self._version):
            slot = entry if entry >= 0 else ~entry
            node = cluster.nodes[slot]
            if entry < 0:
                self._read(slot, node)
            if node is not None:
                self._weigh(slot, node)
        self._version = cluster.version

    def _grow(self, slots: int) -> None:
        more = slots - len(self.codes)
        self.codes = np.concatenate((self.codes, np.full(more, _EMPTY, np.int64)))
        none = np.zeros(more, np.int64)
        self.scores = np.concatenate((self.scores, none))
        self.soft_taints = np.concatenate((self.soft_taints, none))
        self.preferences = np.concatenate((self.preferences, none))
        self.matches = np.concatenate((self.matches, np.zeros(more, np.bool_)))
        self.tolerated = np.concatenate((self.tolerated, np.zeros(more, np.bool_)))
        self._static.extend([_EMPTY] * more)

    def _read(self, slot: int, node: Node | None) -> None:
        if node is None:
            self._static[slot] = self.codes[slot] = _EMPTY
            self.matches[slot] = self.tolerated[slot] = False
            return
        place, facts = self._place, node.facts
        self._static[slot] = self.codes[slot] = self._judge.number(self._judge.of_node(place, node))
        self.matches[slot] = place.matches(facts.name, facts.labels)
        self.tolerated[slot] = all(place.tolerates(taint) for taint in node.hard_taints)
        self.soft_taints[slot] = place.soft_taints(node.soft_taints) if node.soft_taints else 0
        self.preferences[slot] = place.preference(facts.name, facts.labels) if place.preferred else 0

    def _weigh(self, slot: int, node: Node) -> None:
        if self._static[slot]:
            return
        ask, judge = self._ask, self._judge
        status = judge.of_load(ask, self._place, node)
        if status is not None:
            self.codes[slot] = judge.number(status)
            return
        self.codes[slot] = FITS
        self.scores[slot] = self._room_score(node)
