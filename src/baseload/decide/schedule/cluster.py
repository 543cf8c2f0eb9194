"""The cluster as the scheduler keeps it: nodes, the pods on them (assumed ones included), and what changed since.

Each node has a slot, a place in every array; slots are used again. `log` tells which slots changed, so that whoever
keeps something per node brings just those up to date: a slot where its pods changed, ~slot where the node itself did.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Final

import numpy as np

from baseload.decide.fit.constraints import Namespaces, Spread
from baseload.decide.schedule import asks, demands, kinds
from baseload.decide.schedule.asks import Ask
from baseload.decide.schedule.kinds import Kind, Pod
from baseload.decide.schedule.loads import Loads
from baseload.decide.schedule.nodes import Facts, Node, alternating
from baseload.decide.schedule.tallies import Axis, Numbers, Tallies
from baseload.kube.types.core import PodSpec

_LOG: Final = 1 << 16  # entries that are kept; who is further behind looks at every node
_TALLIES: Final = 1 << 10  # above this, tallies are made anew when they are needed


class Cluster:
    """Nodes and pods. `hard_weight` is the profile's hardPodAffinityWeight."""

    def __init__(self, hard_weight: int = 1) -> None:
        self._hard_weight: Final = hard_weight
        self.nodes: Final[list[Node | None]] = []  # by slot
        self.slots: Final[dict[str, int]] = {}  # name -> slot
        self.pods: Final[dict[str, Pod]] = {}  # uid -> pod with a node
        self.tallies: Final = Tallies()
        self.log: Final[list[int]] = []
        self.priorities: Final[dict[int, int]] = {}  # priority -> pods that have it
        self.membership = 0  # rises with each node that comes or goes
        self.facts = 0  # rises with every change of what a node is, its coming and going included
        self.version = 0  # rises with every change
        self.start = 0  # number of the log's first entry
        self.loads: Final = Loads()
        self._free: Final[list[int]] = []
        self._zones: Final[dict[str, dict[str, None]]] = {}
        self._order: Numbers | None = None
        self._axes: Final[dict[str, Axis]] = {}
        self._lacking: Final[dict[str, tuple[int, bool]]] = {}
        self._homeless: Final[dict[str, dict[str, Pod]]] = {}  # node that is not there -> pods
        self._kinds: Final[dict[tuple[object, ...], Kind]] = {}
        self._asks: Final[dict[Ask, Ask]] = {}

    # -- nodes

    @property
    def round(self) -> Numbers:
        """The slots of all nodes, in the order in which they are looked at, twice: a turn from anywhere is a slice."""
        if self._order is None:
            order = np.array([self.slots[name] for name in alternating(self._zones)], np.int64)
            self._order = np.concatenate((order, order))
        return self._order

    @property
    def order(self) -> Numbers:
        """The same once."""
        return self.round[: len(self.slots)]

    @property
    def end(self) -> int:
        """The number of the log's next entry."""
        return self.start + len(self.log)

    @property
    def kinds(self) -> int:
        """How many kinds of pods are known."""
        return len(self._kinds)

    def node(self, name: str) -> Node | None:
        slot = self.slots.get(name)
        return None if slot is None else self.nodes[slot]

    def at(self, slot: int) -> Node:
        node = self.nodes[slot]
        assert node is not None, "an empty slot was asked for"
        return node

    def set_node(self, new: Facts) -> bool:
        """A node as it is now; whether that is news."""
        node = self.node(new.name)
        if node is None:
            self._add(new)
            return True
        old = node.facts
        if old == new:
            return False
        node.read(new)
        if old.zone != new.zone:
            self._leave_zone(old)
            self._zones.setdefault(new.zone, {})[new.name] = None
            self._order = None
        for key, axis in self._axes.items():
            axis.put(node.slot, new.labels.get(key))
        self._note(~node.slot)
        return True

    def drop_node(self, name: str) -> None:
        slot = self.slots.get(name)
        if slot is None:
            return
        node = self.at(slot)
        for pod in list(node.pods.values()):
            self._book(pod, node, -1)
            self._homeless.setdefault(name, {})[pod.uid] = pod
        del self.slots[name]
        self.nodes[slot] = None
        self._free.append(slot)
        self._leave_zone(node.facts)
        self._order = None
        self.membership += 1
        for axis in self._axes.values():
            axis.put(slot, None)
        self._note(~slot)

    def axis(self, key: str) -> Axis:
        """The domains of a topology key."""
        axis = self._axes.get(key)
        if axis is None:
            axis = self._axes[key] = Axis(self.tallies.slots)
            for node in self.nodes:
                if node is not None:
                    axis.put(node.slot, node.facts.labels.get(key))
        return axis

    def lacks(self, key: str) -> bool:
        """Whether some node has no such label."""
        known = self._lacking.get(key)
        if known is None or known[0] != self.facts:
            having = np.count_nonzero(self.axis(key).domain >= 0)
            known = self._lacking[key] = self.facts, bool(having < len(self.slots))
        return known[1]

    def settle(self) -> None:
        """Brings the columns up to date."""
        loads = self.loads
        if loads.version != self.end:
            loads.refresh(self.nodes, [max(entry, ~entry) for entry in changed(self, loads.version)])
            loads.version = self.end

    # -- pods

    def kind(
        self,
        namespace: str,
        labels: Mapping[str, str],
        spec: PodSpec,
        *,
        namespaces: Namespaces,
        default_spread: tuple[Spread, ...] = (),
    ) -> Kind:
        """The kind of a pod."""
        read = demands.read(
            spec, namespace=namespace, labels=labels, namespaces=namespaces, default_spread=default_spread
        )
        ask = asks.of_pod(spec)
        ask = self._asks.setdefault(ask, ask)
        key = tuple(sorted(labels.items()))
        place = namespace, key, ask, read
        found = self._kinds.get(place)
        if found is None:
            carried = kinds.carried_by(read, self._hard_weight)
            found = self._kinds[place] = Kind(namespace, dict(labels), key, ask, read, carried)
        return found

    def put_pod(self, pod: Pod) -> None:
        """A pod on its node as it is now, be the node there or not."""
        old = self.pods.get(pod.uid)
        if old is not None:
            if old.kind is pod.kind and old.node == pod.node and old.priority == pod.priority:
                self._replace(old, pod)
                return
            self.drop_pod(pod.uid)
        self.pods[pod.uid] = pod
        self.priorities[pod.priority] = self.priorities.get(pod.priority, 0) + 1
        node = self.node(pod.node)
        if node is None:
            self._homeless.setdefault(pod.node, {})[pod.uid] = pod
        else:
            self._book(pod, node, 1)

    def drop_pod(self, uid: str) -> Pod | None:
        """A pod is gone; what was known of it."""
        pod = self.pods.pop(uid, None)
        if pod is None:
            return None
        self.priorities[pod.priority] -= 1
        if not self.priorities[pod.priority]:
            del self.priorities[pod.priority]
        node = self.node(pod.node)
        if node is not None:
            self._book(pod, node, -1)
        else:
            homeless = self._homeless[pod.node]
            del homeless[uid]
            if not homeless:
                del self._homeless[pod.node]
        return pod

    def forget(self, waiting: Iterable[Kind]) -> None:
        """Drops the kinds that no pod on a node has, and none of those that wait."""
        self.tallies.forget_unused(_TALLIES)
        used = {id(pod.kind) for pod in self.pods.values()} | {id(kind) for kind in waiting}
        for place in [place for place, kind in self._kinds.items() if id(kind) not in used]:
            del self._kinds[place]

    # -- inside

    def _add(self, new: Facts) -> None:
        slot = self._free.pop() if self._free else len(self.nodes)
        node = Node(slot, new)
        node.read(new)
        if slot == len(self.nodes):
            self.nodes.append(node)
            if slot >= self.tallies.slots:
                self._grow(2 * self.tallies.slots)
        else:
            self.nodes[slot] = node
        self.slots[new.name] = slot
        self._zones.setdefault(new.zone, {})[new.name] = None
        self._order = None
        self.membership += 1
        for key, axis in self._axes.items():
            axis.put(slot, new.labels.get(key))
        self._note(~slot)
        for pod in self._homeless.pop(new.name, {}).values():
            self._book(pod, node, 1)

    def _grow(self, slots: int) -> None:
        self.tallies.grow(slots)
        self.loads.grow(slots)
        for axis in self._axes.values():
            axis.grow(slots)

    def _book(self, pod: Pod, node: Node, sign: int) -> None:
        node.book(pod, sign)
        self.tallies.count(pod.kind, node.slot, sign, is_terminating=pod.is_terminating)
        self._note(node.slot)

    def _replace(self, old: Pod, new: Pod) -> None:
        """A pod began to end, or the like: its node bears what it bore."""
        del self.pods[new.uid]
        self.pods[new.uid] = new
        self.version += 1
        node = self.node(new.node)
        held = self._homeless[new.node] if node is None else node.pods
        del held[new.uid]
        held[new.uid] = new
        if node is not None and old.is_terminating != new.is_terminating:
            self.tallies.count(old.kind, node.slot, -1, is_terminating=old.is_terminating)
            self.tallies.count(new.kind, node.slot, 1, is_terminating=new.is_terminating)

    def _leave_zone(self, facts: Facts) -> None:
        names = self._zones[facts.zone]
        del names[facts.name]
        if not names:
            del self._zones[facts.zone]

    def _note(self, entry: int) -> None:
        self.version += 1
        if entry < 0:
            self.facts += 1
        self.log.append(entry)
        if len(self.log) > 2 * _LOG:
            del self.log[:_LOG]
            self.start += _LOG


def changed(cluster: Cluster, since: int) -> Collection[int]:
    """The entries since a version, each once and in a fixed order; every node where that is too long ago."""
    if since < cluster.start:
        return [~slot for slot in range(len(cluster.nodes))]
    entries = cluster.log[since - cluster.start :]
    return entries if len(entries) < 2 else dict.fromkeys(entries)
