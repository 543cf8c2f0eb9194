"""How each node stands to pods that ask and demand alike: whether it takes one, and how good its room would be.

This is what the node itself decides: taints, affinity, ports, room. It is kept per slot and brought up to date where
the cluster's log says that something changed; a node that others bind to costs a few additions, not a look at all.
Where many changed since the last look, they are judged together, by columns.
"""

from collections.abc import Collection
from typing import Final

import numpy as np

from baseload.decide.fit.ports import clash
from baseload.decide.schedule import cluster as clusters
from baseload.decide.schedule import demands, resources, room, statuses
from baseload.decide.schedule.asks import Ask
from baseload.decide.schedule.cluster import Cluster
from baseload.decide.schedule.demands import Place
from baseload.decide.schedule.nodes import Node
from baseload.decide.schedule.profile import Profile
from baseload.decide.schedule.statuses import Status
from baseload.decide.schedule.tallies import Mask, Numbers

FITS: Final = 0
_EMPTY: Final = -1
_MANY: Final = 28  # nodes from which on columns are faster
_NOTHING: Final = Status("", (), False)


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
        self._by_columns: Final = None if place.ports else room.judging(ask, judge.profile)
        numbers = [judge.number(status) for status in room.lacks(ask)] if self._by_columns else []
        self._numbers: Final = numbers
        self._lacks: Final[Numbers] = np.array(numbers, np.int64)
        self._version = -1
        self._end = -1
        self._static: Numbers = np.zeros(0, np.int64)
        self._tainted = 0
        self.codes: Numbers = np.zeros(0, np.int64)
        """Number of each node's status; -1 for empty slots"""
        self.counts: Final[dict[int, int]] = {}
        """How many nodes have each"""
        self.scores: Numbers = np.zeros(0, np.int64)
        """Weighted, of what room and balance a node would have"""
        self.soft_taints: Numbers = np.zeros(0, np.int64)
        self.preferences: Numbers = np.zeros(0, np.int64)
        self.matches: Mask = np.zeros(0, np.bool_)
        """Whether a node meets nodeSelector and required node affinity"""
        self.tolerated: Mask = np.zeros(0, np.bool_)

    @property
    def has_soft_taints(self) -> bool:
        """Whether any node has taints that a pod would rather keep off."""
        return self._tainted > 0

    def refresh(self, cluster: Cluster) -> None:
        """Brings every node that changed up to date."""
        if self._version == cluster.version:
            return
        self._version = cluster.version
        if len(self.codes) < cluster.tallies.slots:
            self._grow(cluster.tallies.slots)
        changed, self._end = clusters.changed(cluster, self._end), cluster.end
        nodes = cluster.nodes
        if len(changed) >= _MANY and self._weigh_all(cluster, changed):
            return
        for entry in changed:
            if entry < 0:
                self._read(~entry, nodes[~entry])
            slot = max(entry, ~entry)
            node = nodes[slot]
            if node is not None:
                self._weigh(slot, node)

    def _grow(self, slots: int) -> None:
        more = slots - len(self.codes)
        none, empty = np.zeros(more, np.int64), np.full(more, _EMPTY, np.int64)
        self.codes = np.concatenate((self.codes, empty))
        self._static = np.concatenate((self._static, empty))
        self.scores = np.concatenate((self.scores, none))
        self.soft_taints = np.concatenate((self.soft_taints, none))
        self.preferences = np.concatenate((self.preferences, none))
        self.matches = np.concatenate((self.matches, np.zeros(more, np.bool_)))
        self.tolerated = np.concatenate((self.tolerated, np.zeros(more, np.bool_)))

    def _read(self, slot: int, node: Node | None) -> None:
        self._tainted -= bool(self.soft_taints[slot])
        if node is None:
            self._static[slot] = _EMPTY
            self.soft_taints[slot] = 0
            self.matches[slot] = self.tolerated[slot] = False
            self._say(slot, _EMPTY)
            return
        place, facts = self._place, node.facts
        static = self._static[slot] = self._judge.number(self._judge.of_node(place, node))
        self._say(slot, static)
        self.matches[slot] = place.matches(facts.name, facts.labels)
        self.tolerated[slot] = all(place.tolerates(taint) for taint in node.hard_taints)
        soft = self.soft_taints[slot] = place.soft_taints(node.soft_taints) if node.soft_taints else 0
        self._tainted += bool(soft)
        self.preferences[slot] = place.preference(facts.name, facts.labels) if place.preferred else 0

    def _say(self, slot: int, code: int) -> None:
        """Notes the status of a node."""
        old = int(self.codes[slot])
        if code != old:
            self.codes[slot] = code
            self._move(old, -1)
            self._move(code, 1)

    def _move(self, code: int, number: int) -> None:
        if code != _EMPTY:
            counts = self.counts
            left = counts.get(code, 0) + number
            if left:
                counts[code] = left
            else:
                del counts[code]

    def _weigh(self, slot: int, node: Node) -> None:
        if self._static[slot]:
            return
        if self._numbers:
            code = self._numbers[room.lack(self._ask, node)]
        else:
            code = self._judge.number(self._judge.of_load(self._ask, self._place, node))
        if self.codes[slot] != code:
            self._say(slot, code)
        if code == FITS:
            self.scores[slot] = self._room_score(node)

    def _weigh_all(self, cluster: Cluster, changed: Collection[int]) -> bool:
        """The same for many; whether that can be."""
        cluster.settle()
        if self._by_columns is None or cluster.loads.lacking:
            return False
        slots = np.array(list(changed), np.int64)
        if np.count_nonzero(slots < 0):
            for entry in changed:
                if entry < 0:
                    self._read(~entry, cluster.nodes[~entry])
            slots = np.unique(np.where(slots < 0, ~slots, slots))
        lacks, self.scores[slots] = self._by_columns(cluster.loads, slots)
        codes, old = self._static[slots], self.codes[slots]
        if lacks is not None:
            codes = np.where(codes == FITS, self._lacks[lacks], codes)
        moved = (codes != old).nonzero()[0]
        if len(moved):
            self.codes[slots] = codes
            for was, code in zip(old[moved].tolist(), codes[moved].tolist(), strict=True):
                self._move(was, -1)
                self._move(code, 1)
        return True
