"""All topology groups of one engine: made from constraints, filled from running pods, found by the pods they select.

Groups are shared by equal constraints. A group that a relaxation brings to life counts running pods alone, not what
this pass has placed so far (QUIRK, provisioning spec 13.15). Universe: the domains that pools lend, each with the
taint lists under which it is to be had (13.3, 13.4).
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from baseload.decide.fit.constraints import Constraints, Spread, Term
from baseload.decide.fit.running import Running
from baseload.decide.fit.taints import Toleration, tolerated
from baseload.decide.fit.topology import EVERY_NODE, Group, GroupKey, GroupKind, HostGroup, NodeFilter, ZoneGroup
from baseload.values.label import HOSTNAME
from baseload.values.requirement import EMPTY, Requirements
from baseload.values.taint import Taint

Universe = Callable[[str], Mapping[str, tuple[tuple[Taint, ...], ...]]]
"""topology key -> domain -> the taint lists of the pools that lend it"""


@dataclass(frozen=True, slots=True, eq=False)
class CountedNode:
    """A Node of the API as counting sees it: its own labels and taints, and which offered nodes its pods count on."""

    name: str
    hostname: str
    labels: Mapping[str, str]  # as written
    requirements: Requirements  # the same as a requirement set, hostname included
    taints: tuple[Taint, ...]
    places: tuple[int, ...]  # of the offered nodes with its hostname: itself, and whoever bears the same label
    registers: bool  # lends its domains even when no pod runs there: offered, with a Node object
    tracked: bool  # cluster state knows it


class Groups:
    """The registry. `generation` rises whenever a group is added."""

    def __init__(
        self, running: Running, nodes: Mapping[str, CountedNode], universe: Universe, *, respect_preferences: bool
    ) -> None:
        self._running: Final = running
        self._nodes: Final = nodes
        self._universe: Final = universe
        self._respect: Final = respect_preferences
        self._groups: Final[dict[GroupKey, Group]] = {}
        self._by_pair: Final[dict[tuple[str, str, str], list[Group]]] = {}  # (namespace, label, value) -> groups
        self._by_namespace: Final[dict[str, list[Group]]] = {}  # groups whose selector names no such pair
        self._of_all: Final[dict[str, list[Group]]] = {}  # groups without a selector
        self._lent_to: Final[dict[tuple[str, tuple[Toleration, ...], bool], frozenset[str]]] = {}
        self.ambiguous = False  # whether it matters which pod came first
        self._lent_by_all: Final[dict[str, Mapping[str, int]]] = {}  # topology key -> domain -> nodes
        self.generation = 0

    def owned_by(self, demands: Constraints, namespace: str) -> tuple[Group, ...]:
        """The groups whose constraints a pod carries, made where they are new; inverse groups stand apart."""
        spreads = (spread for spread in demands.spread if spread.hard or self._respect)
        found = [self._of_spread(spread, demands, namespace) for spread in spreads]
        affinity = [*demands.affinity, *((t for _, t in demands.preferred_affinity) if self._respect else ())]
        against = [*demands.anti_affinity, *((t for _, t in demands.preferred_anti_affinity) if self._respect else ())]
        found += [self._of_term(term, GroupKind.AFFINITY, demands.tolerations) for term in affinity]
        found += [self._of_term(term, GroupKind.ANTI_AFFINITY, demands.tolerations) for term in against]
        return tuple(dict.fromkeys(found))

    def inverse_of(self, demands: Constraints) -> tuple[Group, ...]:
        """The groups by which a pod's required anti-affinity keeps others away from it."""
        terms = (self._of_term(term, GroupKind.INVERSE, demands.tolerations) for term in demands.anti_affinity)
        return tuple(dict.fromkeys(terms))

    def selecting(self, namespace: str, labels: Mapping[str, str]) -> tuple[Group, ...]:
        """Every group whose selector and namespaces match a pod, inverse ones included."""
        candidates = list(self._by_namespace.get(namespace, ()))
        for key, value in labels.items():
            candidates += self._by_pair.get((namespace, key, value), ())
        return tuple(g for g in candidates if g.selects(namespace, labels))

    def counting_all(self, namespace: str) -> Sequence[Group]:
        """The groups without a selector: they count every running pod of a namespace, and select none (QUIRK 13.5)."""
        return self._of_all.get(namespace, ())

    def _of_spread(self, spread: Spread, demands: Constraints, namespace: str) -> Group:
        alternatives = tuple(demands.selector.add(term) for term in demands.required or (EMPTY,))
        node_filter = NodeFilter(
            honor_taints=spread.honor_taints,
            honor_affinity=spread.honor_affinity,
            tolerations=demands.tolerations,
            alternatives=alternatives,
        )
        key = GroupKey(
            spread.key, GroupKind.SPREAD, frozenset((namespace,)), spread.max_skew, node_filter, spread.selector
        )
        return self._group(key, demands.tolerations, min_domains=spread.min_domains, honor=spread.honor_taints)

    def _of_term(self, term: Term, kind: GroupKind, tolerations: tuple[Toleration, ...]) -> Group:
        key = GroupKey(term.key, kind, term.namespaces, 0, EVERY_NODE, term.selector)
        return self._group(key, tolerations, min_domains=None, honor=True)

    def _group(
        self, key: GroupKey, tolerations: tuple[Toleration, ...], *, min_domains: int | None, honor: bool
    ) -> Group:
        group = self._groups.get(key)
        if group is not None:
            if not group.contested and self._would_differ(group, tolerations, min_domains, honor):
                group.contested = self.ambiguous = True
            return group
        group = HostGroup(key) if key.key == HOSTNAME else self._zone_group(key, tolerations, min_domains, honor)
        if key.kind is not GroupKind.INVERSE:  # its owners are counted one by one
            self._count_all(group, self._running.counts(key))
        self._groups[key] = group
        self._index(group)
        self.generation += 1
        return group

    def _would_differ(
        self, group: Group, tolerations: tuple[Toleration, ...], min_domains: int | None, honor: bool
    ) -> bool:
        """Whether this pod, had it been the first to carry the constraint, would have made another group of it."""
        if not isinstance(group, ZoneGroup):
            return False
        return group.min_domains != min_domains or group.permanent != self._domains(group.key, tolerations, honor)

    def _domains(self, key: str, tolerations: tuple[Toleration, ...], honor: bool) -> frozenset[str]:
        """The domains that pools lend to a pod."""
        place = (key, tolerations, honor)
        found = self._lent_to.get(place)
        if found is None:
            lent = self._universe(key).items()
            tolerable = (d for d, lists in lent if not honor or any(tolerated(t, tolerations) for t in lists))
            found = self._lent_to[place] = frozenset(tolerable)
        return found

    def _zone_group(
        self, key: GroupKey, tolerations: tuple[Toleration, ...], min_domains: int | None, honor: bool
    ) -> ZoneGroup:
        group = ZoneGroup(key, min_domains, self._domains(key.key, tolerations, honor))
        if key.kind is not GroupKind.INVERSE:  # QUIRK: those know what pools lend and where their owners are, no more
            for domain, count in self._lent(key).items():
                group.register(domain, count)
        return group

    def _lent(self, key: GroupKey) -> Mapping[str, int]:
        """How many offered nodes lend each domain; worked out once a key for the groups that look at every node."""
        nodes = (node for node in self._nodes.values() if node.registers and key.key in node.labels)
        if not key.filter.passes_all:
            return Counter(n.labels[key.key] for n in nodes if key.filter.matches(n.taints, n.requirements))
        if key.key not in self._lent_by_all:
            self._lent_by_all[key.key] = Counter(node.labels[key.key] for node in nodes)
        return self._lent_by_all[key.key]

    def domain(self, group: Group, node: CountedNode) -> str | None:
        """The domain of a Node for a group; None where it lacks the key or the group passes it over."""
        domain = node.labels.get(group.key)
        if domain is None or not group.filter.matches(node.taints, node.requirements):
            return None
        return domain

    def _count_all(self, group: Group, counts: Mapping[str, int]) -> None:
        if not (isinstance(group, ZoneGroup) and group.filter.passes_all):
            for name, count in counts.items():
                self.count_running(group, self._nodes.get(name), count)
            return
        by_domain: dict[str, int] = {}
        for name, count in counts.items():
            node = self._nodes.get(name)
            domain = node.labels.get(group.key) if node is not None else None
            if domain is not None:
                by_domain[domain] = by_domain.get(domain, 0) + count
        for domain, count in by_domain.items():
            group.count(domain, count)

    def count_running(self, group: Group, node: CountedNode | None, by: int) -> None:
        """Counts running pods on a node."""
        if node is None:
            return
        if isinstance(group, ZoneGroup) and (domain := self.domain(group, node)) is not None:
            group.count(domain, by)
        elif isinstance(group, HostGroup) and group.filter.matches(node.taints, node.requirements):
            for place in node.places:
                group.record_node(place, by)
            if not node.places:
                group.count_elsewhere(node.hostname, by)

    def _index(self, group: Group) -> None:
        pair = group.selector.index_pair() if group.selector is not None else None
        for namespace in group.namespaces:
            if pair is not None:
                self._by_pair.setdefault((namespace, *pair), []).append(group)
            elif group.selector is not None:
                self._by_namespace.setdefault(namespace, []).append(group)
            else:
                self._of_all.setdefault(namespace, []).append(group)
