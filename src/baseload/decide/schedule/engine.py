"""One scheduling cycle: which node takes a pod, or why none does (cluster-actors 2, 3, 4).

What the node itself decides is kept per request and place (`standing`); what other pods decide is worked out for all
nodes at once from tallies. Then a window of the list of nodes is searched for enough that fit, and those are scored.
"""

import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np

from baseload.decide.schedule import messages, profile, spread, statuses
from baseload.decide.schedule.affinity import Neighbours
from baseload.decide.schedule.asks import Ask
from baseload.decide.schedule.cluster import Cluster
from baseload.decide.schedule.demands import Place
from baseload.decide.schedule.kinds import Kind, Pod
from baseload.decide.schedule.profile import Profile
from baseload.decide.schedule.standing import FITS, Judge, Standing
from baseload.decide.schedule.statuses import Status
from baseload.decide.schedule.tallies import Numbers

BEST: Final = 100
_RING: Final = 0xFFFFFFFF
_KEPT: Final = 1 << 11  # standings; when there are more, all are made anew
_ELSEWHERE: Final = -1
"""For the number of a status: that of nodes that a pod does not name"""


@dataclass(frozen=True, slots=True)
class Found:
    """The node that takes a pod; how many would, and how many were looked at."""

    node: str
    feasible: int
    evaluated: int


@dataclass(frozen=True)
class Unfit:
    """Why no node takes a pod."""

    nodes: int  # of the cluster
    counts: tuple[tuple[Status, int], ...] = ()
    looked_at: Callable[[], Iterable[tuple[int, Status]]] = field(default=tuple, repr=False, compare=False)
    """The slots that were looked at, and what each said"""
    elsewhere: Status | None = None  # of all others
    rejected: Status | None = None  # where it was refused before any node was looked at

    @cached_property
    def by_node(self) -> Mapping[int, Status]:
        """slot -> why, of the nodes that were looked at"""
        return dict(self.looked_at())

    @property
    def plugins(self) -> frozenset[str]:
        """Who refused: what wakes the pod is what they wait for."""
        found = {status.plugin for status, _ in self.counts}
        return frozenset(found | {self.rejected.plugin} if self.rejected else found)

    def message(self, preemption: str = "") -> str:
        if not self.nodes:
            return messages.NO_NODES
        told = "; ".join(self.rejected.reasons) if self.rejected else ""
        return messages.unfit(self.nodes, self.counts, rejected=told, preemption=preemption)


Extra = Callable[[Numbers, Pod], Numbers]
"""Filters that look at the single pod, volumes that is: the codes of all nodes with those that they bar"""


class Engine:
    """Cycles on one cluster under one profile. `seed` decides among equals."""

    def __init__(self, cluster: Cluster, settings: Profile = profile.DEFAULT, *, seed: int = 0) -> None:
        self.cluster: Final = cluster
        self.settings: Final = settings
        self.judge: Final = Judge(settings)
        self.neighbours: Final = Neighbours(cluster)
        self.first = 0
        """Where in the list of nodes the next search begins"""
        self._seed: Final = zlib.crc32(b"%d" % seed)
        self._standings: Final[dict[tuple[Ask, Place], Standing]] = {}
        self._of_kind: Final[dict[Kind, Standing]] = {}
        self._parts: Final[dict[Kind, tuple[int, tuple[spread.Part, spread.Part] | None]]] = {}
        self._salts: Final[dict[str, int]] = {}
        self._names: Final[dict[Kind, tuple[tuple[str, ...] | None]]] = {}  # the nodes that pods name, in order
        self._places: Numbers = np.zeros(0, np.int64)
        self._placed = -1
        number = self.judge.number
        self._skewed, self._no_domain = number(statuses.SKEWED), number(statuses.NO_DOMAIN)
        self._not_near, self._too_near = number(statuses.NOT_NEAR), number(statuses.TOO_NEAR)
        self._shunned = number(statuses.SHUNNED)

    def standing(self, kind: Kind) -> Standing:
        """How each node stands to a kind by itself, up to date."""
        known = self._of_kind.get(kind)
        if known is None:
            place = kind.ask, kind.demands.place
            known = self._standings.get(place)
            if known is None:
                known = self._standings[place] = Standing(*place, self.judge)
            self._of_kind[kind] = known
        known.refresh(self.cluster)
        return known

    def codes(self, pod: Pod, extra: Extra | None = None) -> Numbers:
        """The number of each node's status, by slot."""
        return self._codes(pod, self.standing(pod.kind), extra)

    def _codes(self, pod: Pod, standing: Standing, extra: Extra | None) -> Numbers:
        kind, codes = pod.kind, standing.codes
        if extra is not None and pod.claims:
            codes = extra(codes, pod)
        if kind.demands.hard_spread:
            codes = spread.bar(codes, self.cluster, kind, standing, self._skewed, self._no_domain)
        return self.neighbours.bar(codes, kind, self._not_near, self._too_near, self._shunned)

    def outlook(self, pod: Pod) -> Mapping[int, int] | None:
        """How many nodes say what to a pod, by the number of their status; it stays right till the cluster changes.

        A pod that finds no place is told the same as long as that is the same. None where more than that decides: its
        claims, or pods whose place it might take. To a pod that names nodes the others say nothing.
        """
        kind, cluster = pod.kind, self.cluster
        named = self._named(kind)
        if pod.claims or (named is not None and not len(named)):
            return None
        if named is None and self._is_on_its_own(kind):
            counts: Mapping[int, int] = self.standing(kind).counts
        else:
            order = cluster.order if named is None else named
            codes = self._said_by(kind, order) if self._is_on_its_own(kind) else self.codes(pod)[order]
            counts = {code: number for code, number in enumerate(np.bincount(codes).tolist()) if number}
            if named is not None:
                counts = {**counts, _ELSEWHERE: len(cluster.slots) - len(named)}
        if min(cluster.priorities, default=pod.priority) < pod.priority:
            table = self.judge.statuses
            if any(table[code].resolvable for code in counts if code != _ELSEWHERE):
                return None
        return counts

    def passes(self, kind: Kind) -> None:
        """A pod that fails as one before it: the next search begins where it would after this one."""
        named, nodes = self._named(kind), len(self.cluster.slots)
        if named is not None and nodes:
            self.first = (self.first + len(named)) % nodes

    def _is_on_its_own(self, kind: Kind) -> bool:
        """Whether no other pods but those on a node decide whether it takes one."""
        demands = kind.demands
        if demands.hard_spread or demands.affinity or demands.anti_affinity:
            return False
        return not self.neighbours.is_shunned(kind)

    def _named(self, kind: Kind) -> Numbers | None:
        """The nodes that a pod names, by their names; None where it leaves them open."""
        known = self._names.get(kind)
        if known is None:
            place = kind.demands.place
            only = place.only() if place.required else None
            known = self._names[kind] = (None if only is None else tuple(sorted(only)),)
        slots = self.cluster.slots
        names = known[0]
        return None if names is None else np.array([slots[name] for name in names if name in slots], np.int64)

    def _said_by(self, kind: Kind, slots: Numbers) -> Numbers:
        """The numbers of what some nodes say to a pod that is on its own."""
        nodes, judge, ask, place = self.cluster.nodes, self.judge, kind.ask, kind.demands.place
        said = np.zeros(len(slots), np.int64)
        for at, slot in enumerate(slots.tolist()):
            node = nodes[slot]
            assert node is not None
            said[at] = judge.number(judge.of_node(place, node) or judge.of_load(ask, place, node))
        return said

    def status(self, pod: Pod, slot: int, extra: Extra | None = None, nominated: Iterable[Pod] = ()) -> Status | None:
        """What one node says."""
        name = self.cluster.at(slot).facts.name
        here = [other for other in nominated if other.node == name]
        codes = self._with_nominated(self.codes(pod, extra), pod, extra, here)
        code = int(codes[slot])
        return None if code == FITS else self.judge.statuses[code]

    def choose(self, pod: Pod, *, extra: Extra | None = None, nominated: Iterable[Pod] = ()) -> Found | Unfit:
        """The node that takes a pod. `nominated` are pods of at least its priority that other nodes are promised to."""
        cluster, kind = self.cluster, pod.kind
        nodes = len(cluster.slots)
        if not nodes:
            return Unfit(0)
        first, order = self.first % nodes, self._named(kind)
        if order is not None and not self._names[kind][0]:
            return Unfit(nodes, rejected=statuses.NAMES_CONFLICT)
        if order is not None and not nominated and not pod.claims and self._is_on_its_own(kind):
            codes = np.zeros(cluster.tallies.slots, np.int64)
            codes[order] = self._said_by(kind, order)
        else:
            standing = self.standing(kind)
            codes = self._codes(pod, standing, extra)
            if nominated:
                codes = self._with_nominated(codes, pod, extra, nominated)
                standing.refresh(cluster)
        if order is None:
            order = cluster.round[first : first + nodes]
        slots, evaluated = self._search(codes, order)
        self.first = (first + evaluated) % nodes
        if not len(slots):
            return self._unfit(order, codes[order], nodes)
        slot = int(slots[0]) if len(slots) == 1 else self._best(pod, self.standing(kind), slots)
        return Found(cluster.at(slot).facts.name, len(slots), evaluated)

    def _search(self, codes: Numbers, order: Numbers) -> tuple[Numbers, int]:
        """The first nodes that fit, as many as are to be found; and how many nodes were looked at for that."""
        nodes = len(order)
        if not nodes:
            return order, 0  # none of those that the pod names is there
        most = profile.nodes_to_find(nodes, self.settings.percentage_of_nodes_to_score)
        window = order[:most]
        said = codes[window]
        if not said[said.argmax()]:  # all say the least, which is that they fit
            return window, most
        fitting = (codes[order] == FITS).nonzero()[0]
        if len(fitting) > most:
            fitting = fitting[:most]
            return order[fitting], int(fitting[-1]) + 1
        return order[fitting], nodes

    def scores(self, kind: Kind, slots: Numbers) -> Numbers:
        """The weighted sum of all scores of feasible nodes (2.10)."""
        return self._scores(kind, self.standing(kind), slots)

    def _scores(self, kind: Kind, standing: Standing, slots: Numbers) -> Numbers:
        weights = self.settings.weights
        total = standing.scores[slots]  # a copy
        place = kind.demands.place
        if weights.taint_toleration:
            total += weights.taint_toleration * _by_soft_taints(standing, slots)
        if weights.node_affinity and place.preferred:
            wanted = standing.preferences[slots]
            most = int(wanted.max())
            if most:
                total += weights.node_affinity * (BEST * wanted // most)
        if weights.pod_topology_spread and kind.demands.soft_spread:
            total += weights.pod_topology_spread * self._evenness(kind, standing, slots)
        if weights.inter_pod_affinity:
            near = self.neighbours.scores(kind, slots)
            if near is not None:
                total += weights.inter_pod_affinity * near
        return total

    def _evenness(self, kind: Kind, standing: Standing, slots: Numbers) -> Numbers:
        """How far soft spread constraints draw a pod."""
        cluster, lenient = self.cluster, self.settings.is_spread_by_system
        known = self._parts.get(kind)
        if known is None or known[0] != cluster.facts:
            two = spread.parts(cluster, kind, standing, lenient=lenient)
            known = self._parts[kind] = cluster.facts, two
        found = None if known[1] is None else spread.by_table(known[1], slots)
        return spread.scores(cluster, kind, standing, slots, lenient=lenient) if found is None else found

    def forget(self) -> None:
        """Drops what is remembered of kinds and nodes that may be gone; the cluster's own part is apart."""
        self.neighbours.forget()
        self._of_kind.clear()
        self._parts.clear()
        self._salts.clear()
        self._names.clear()
        if len(self._standings) > _KEPT:
            self._standings.clear()

    def _best(self, pod: Pod, standing: Standing, slots: Numbers) -> int:
        """The node with the highest score; of equal ones, the first after the pod's own place on a ring of names."""
        total = self._scores(pod.kind, standing, slots)
        tied = slots[total == total[total.argmax()]]
        if len(tied) == 1:
            return int(tied[0])
        if self._placed != self.cluster.membership:
            self._place()
        own = zlib.crc32(pod.uid.encode(), self._seed)
        return int(tied[((self._places[tied] - own) & _RING).argmin()])

    def _place(self) -> None:
        """The places of nodes on the ring of names, where nodes came or went."""
        cluster = self.cluster
        self._placed = cluster.membership
        self._places = np.zeros(cluster.tallies.slots, np.int64)
        for name, slot in cluster.slots.items():
            salt = self._salts.get(name)
            if salt is None:
                salt = self._salts[name] = zlib.crc32(name.encode(), self._seed)
            self._places[slot] = salt

    def _with_nominated(self, codes: Numbers, pod: Pod, extra: Extra | None, nominated: Iterable[Pod]) -> Numbers:
        """Nodes that are promised to others have to take the pod both with those and without them (2.7)."""
        cluster = self.cluster
        by_node: dict[str, list[Pod]] = {}
        for other in nominated:
            if other.uid != pod.uid and other.node in cluster.slots and other.uid not in cluster.pods:
                by_node.setdefault(other.node, []).append(other)
        for name, others in by_node.items():
            slot = cluster.slots[name]
            for other in others:
                cluster.put_pod(other)
            with_them = int(self.codes(pod, extra)[slot])
            for other in others:
                cluster.drop_pod(other.uid)
            if with_them != FITS:
                codes = codes.copy()
                codes[slot] = with_them
        return codes

    def _unfit(self, slots: Numbers, codes: Numbers, nodes: int) -> Unfit:
        table = self.judge.statuses
        by_code = np.bincount(codes)
        counts = [(table[code], int(by_code[code])) for code in np.flatnonzero(by_code).tolist()]
        others = nodes - len(slots)
        elsewhere = statuses.NOT_LOOKED_AT if others else None
        if elsewhere is not None:
            counts.append((elsewhere, others))

        def looked_at() -> Iterable[tuple[int, Status]]:
            return zip(slots.tolist(), (table[code] for code in codes.tolist()), strict=True)

        return Unfit(nodes, tuple(counts), looked_at, elsewhere)


def _by_soft_taints(standing: Standing, slots: Numbers) -> Numbers | int:
    """The fewer taints that the pod would rather keep off, the better (4.6)."""
    if not standing.has_soft_taints:
        return BEST
    taints = standing.soft_taints[slots]
    most = int(taints.max())
    return BEST - BEST * taints // most if most else BEST
