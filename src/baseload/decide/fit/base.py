"""What an engine sets up once for a cluster: classes of existing nodes, templates, topology groups, shapes.

All pods that the engine will ever place are given at set-up, running ones that may be moved included. Of labels, only
the keys that some selector or requirement among them names are looked at.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from baseload.decide.fit.groups import CountedNode, Groups, Universe
from baseload.decide.fit.kinds import Kinds, node_keys, selector_keys
from baseload.decide.fit.nodes import Host, Nodes, places_by_hostname
from baseload.decide.fit.running import Running
from baseload.decide.fit.sets import Sets
from baseload.decide.fit.shape import FitPod, HostClass, Kind, projected, without_hostname
from baseload.decide.fit.taints import PREFER_NO_SCHEDULE, tolerated
from baseload.decide.fit.template import Daemon, PoolOffer, Template
from baseload.values.label import HOSTNAME, normalise
from baseload.values.requirement import Requirement, Requirements
from baseload.values.taint import Taint


@dataclass(frozen=True, slots=True)
class Rules:
    """The settings that change how pods are fitted (provisioning spec 25)."""

    respect_preferences: bool = True
    best_effort_min_values: bool = False
    reserve: bool = True  # keep the books of reserved capacity
    strict_reservations: bool = True  # and let pods wait for it rather than fall back


@dataclass(frozen=True, slots=True, eq=False)
class Cluster:
    """What an engine is set up from."""

    hosts: Sequence[Host]  # existing nodes that take part, in the order in which they are tried
    nodes: Mapping[str, CountedNode]  # every Node of the API, by name
    running: Running
    offers: Sequence[PoolOffer]  # in the order in which they are tried
    daemons: Sequence[Daemon]
    universe: Universe


class Base:
    """The set-up, which passes share and, their bookings undone, leave as it was."""

    def __init__(self, cluster: Cluster, pods: Sequence[FitPod], sets: Sets, rules: Rules) -> None:
        self.cluster: Final = cluster
        self.sets: Final = sets
        self.rules: Final = rules
        self.taint_lists: Final[list[tuple[Taint, ...]]] = []
        self._taint_numbers: Final[dict[tuple[Taint, ...], int]] = {}
        self._node_classes: Final[dict[tuple[int, int], HostClass]] = {}

        to_place = {id(pod.constraints): pod.constraints for pod in pods}
        owners = {id(bound.pod.constraints): bound.pod.constraints for bound in cluster.running.owners()}
        demands = (*to_place.values(), *owners.values())
        keys = selector_keys(demands)
        cluster.running.look_at(keys)
        self.groups: Final = Groups(
            cluster.running, cluster.nodes, cluster.universe, respect_preferences=rules.respect_preferences
        )
        self._count_owners()
        self.kinds: Final = Kinds(
            self.groups,
            keys,
            respect_preferences=rules.respect_preferences,
            soft_taints=any(t.effect == PREFER_NO_SCHEDULE for offer in cluster.offers for t in offer.taints),
        )
        kinds = dict.fromkeys(self.kinds.kind(pod) for pod in pods)
        for kind in kinds:
            self.kinds.make_groups(kind)
        daemons = (daemon.constraints for daemon in cluster.daemons)
        self.nodes: Final = Nodes(cluster.hosts)
        self._classify_nodes(node_keys((*demands, *daemons), {kind.volumes for kind in kinds}) - {HOSTNAME})
        self.limits: Final = _left(cluster)
        self.same_hostname: Final = _same_hostname(cluster)
        made = (
            Template(offer, cluster.daemons, sets, best_effort=rules.best_effort_min_values) for offer in cluster.offers
        )
        self.all_templates: Final = tuple(made)
        self.templates: Final = tuple(template for template in self.all_templates if template.mask)
        for place, template in enumerate(self.templates):
            template.place = place
            template.taints = self.taint_number(template.offer.taints)

    def taint_number(self, taints: tuple[Taint, ...]) -> int:
        number = self._taint_numbers.get(taints)
        if number is None:
            number = self._taint_numbers[taints] = len(self.taint_lists)
            self.taint_lists.append(taints)
        return number

    def tolerates(self, kind: Kind, taints: int) -> bool:
        found = kind.taints.get(taints)
        if found is None:
            found = kind.taints[taints] = tolerated(self.taint_lists[taints], kind.constraints.tolerations)
        return found

    def node_class(self, taints: int, number: int) -> HostClass:
        """The class of existing nodes with these taints and this set, made where it is new."""
        found = self._node_classes.get((taints, number))
        if found is None:
            found = self._node_classes[taints, number] = HostClass(number, taints)
            self.nodes.classes.append(found)
        return found

    def bind(self, kind: Kind) -> None:
        """Brings a kind up to date with the groups there are."""
        self.kinds.bind(kind)
        if kind.host is not None and kind.host_nodes == -1:
            kind.host_nodes = self._named(kind.host)
            kind.host_reach = self._named(kind.host_strict) if kind.host_strict is not None else -1

    def _named(self, wanted: Requirement) -> int:
        """The mask of the nodes whose hostname is wanted."""
        names = enumerate(host.hostname for host in self.nodes.hosts)
        return sum(1 << place for place, name in names if wanted.has(name))

    def _classify_nodes(self, keys: frozenset[str]) -> None:
        """Puts each node into the class of those with its taints and its labels of these keys."""
        keys = frozenset(map(normalise, keys))  # a topology key may be an old name, a set has the new one
        written: set[str] = set()
        for host in self.cluster.hosts:
            written.update(host.labels)
        wanted = sorted(key for key in written if normalise(key) in keys)
        numbers: dict[tuple[tuple[str, str], ...], int] = {}
        for place, host in enumerate(self.cluster.hosts):
            labels = projected(host.labels, wanted)
            number = numbers.get(labels)
            if number is None:
                number = self.sets.number(without_hostname(Requirements.of_labels(dict(labels))))
                numbers[labels] = number
            alike = self.node_class(self.taint_number(host.taints), number)
            alike.mask |= 1 << place
            self.nodes.class_of.append(alike)

    def _count_owners(self) -> None:
        """Running pods keep others away by their required anti-affinity, terminating ones too (13.14)."""
        for bound in self.cluster.running.owners():
            node = self.cluster.nodes.get(bound.node)
            if node is not None and node.tracked:
                for group in self.groups.inverse_of(bound.pod.constraints):
                    if group.key in node.labels:  # QUIRK 13.14: here a hostname label that lacks is not made up for
                        self.groups.count_running(group, node, 1)


def _left(cluster: Cluster) -> dict[str, dict[str, int]]:
    """What the nodes that take part leave of each pool's limits (18.1)."""
    left = {offer.name: dict(offer.limits) for offer in cluster.offers if offer.limits}
    for host in cluster.hosts:
        limits = left.get(host.pool, {})
        for resource in limits:
            limits[resource] -= host.capacity.get(resource, 0)
    return left


def _same_hostname(cluster: Cluster) -> dict[int, tuple[int, ...]]:
    """For nodes that bear another's hostname label: all that share it, which are one topology domain."""
    by_name = places_by_hostname(host.hostname for host in cluster.hosts)
    return {place: places for places in by_name.values() if len(places) > 1 for place in places}
