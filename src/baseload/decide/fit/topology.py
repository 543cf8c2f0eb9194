"""Topology groups: one topology constraint with its counts, shared by all pods that carry it (provisioning spec 13).

Two shapes. A `ZoneGroup` counts pods a domain of any label key. A `HostGroup` counts on kubernetes.io/hostname, where
each host is its own domain; it keeps, for each level, the mask of the hosts that hold at least so many, so that
"which hosts may take one more" is one look-up. Hosts come in two ranges, existing nodes and the claims planned in
this pass.

A group's `version` rises with each count; whoever remembers an answer compares versions.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final

from baseload.decide.fit.taints import Toleration, tolerated
from baseload.values.requirement import EMPTY, Requirement, Requirements
from baseload.values.selector import Selector
from baseload.values.taint import Taint


class GroupKind(Enum):
    """What a group constrains; the value is the words of error texts."""

    SPREAD = "topology spread"
    AFFINITY = "pod affinity"
    ANTI_AFFINITY = "pod anti-affinity"
    INVERSE = "pod anti-affinity of other pods"


@dataclass(frozen=True, slots=True)
class NodeFilter:
    """Which nodes a spread constraint looks at; for (anti-)affinity, every node. At least one alternative is there."""

    honor_taints: bool = False
    honor_affinity: bool = False
    tolerations: tuple[Toleration, ...] = ()
    alternatives: tuple[Requirements, ...] = (EMPTY,)

    @property
    def passes_all(self) -> bool:
        return not self.honor_taints and not (self.honor_affinity and all(self.alternatives))

    def matches(self, taints: tuple[Taint, ...], requirements: Requirements) -> bool:
        if self.passes_all:
            return True
        if self.honor_affinity and not any(requirements.compatible(wanted) for wanted in self.alternatives):
            return False
        return not self.honor_taints or tolerated(taints, self.tolerations)

    def reads(self, key: str) -> bool:
        return self.honor_affinity and any(key in wanted for wanted in self.alternatives)


EVERY_NODE: Final = NodeFilter()


@dataclass(frozen=True, slots=True)
class GroupKey:
    """What makes two constraints one group. `min_domains` is no part of it: the first pod's stays (QUIRK 13.1)."""

    key: str
    kind: GroupKind
    namespaces: frozenset[str]
    max_skew: int
    filter: NodeFilter
    selector: Selector | None


class Group:
    """What both shapes share."""

    __slots__ = (
        "awake",
        "contested",
        "filter",
        "key",
        "kind",
        "max_skew",
        "min_domains",
        "namespaces",
        "selector",
        "version",
    )

    def __init__(self, key: GroupKey, min_domains: int | None) -> None:
        self.key = key.key
        self.kind = key.kind
        self.namespaces = key.namespaces
        self.max_skew = key.max_skew
        self.filter = key.filter
        self.selector = key.selector
        self.min_domains = min_domains
        self.version = 0
        self.contested = False  # whether another pod that carries it would have made another group of it (QUIRK 13.1)
        self.awake = 0  # the last solve in which a pod carried the constraint; others need no counting

    def selects(self, namespace: str, labels: Mapping[str, str]) -> bool:
        return namespace in self.namespaces and self.selector is not None and self.selector.matches(labels)


class ZoneGroup(Group):
    """Counts by domain. `counts` has the domains that the group knows, in no order that decides."""

    __slots__ = ("_lowest", "_single", "counts", "occupied", "permanent", "registered")

    def __init__(self, key: GroupKey, min_domains: int | None, universe: frozenset[str]) -> None:
        super().__init__(key, min_domains)
        self.permanent = universe  # domains that pools lend
        self.occupied = 0  # domains with a count above 0
        self.counts: dict[str, int] = dict.fromkeys(sorted(universe), 0)
        self.registered: dict[str, int] = {}  # domain -> existing nodes that lend it
        self._single: dict[str, Requirement] = {}
        self._lowest: dict[Requirement | None, tuple[int, int]] = {}  # reach -> (version, minimum)

    def register(self, domain: str, nodes: int = 1) -> None:
        """Existing nodes lend a domain."""
        self.registered[domain] = self.registered.get(domain, 0) + nodes
        self.counts.setdefault(domain, 0)

    def count(self, domain: str, by: int = 1) -> None:
        before = self.counts.get(domain, 0)
        self.counts[domain] = before + by
        self.occupied += not before
        self.version += 1

    def forget(self, domain: str, *, nodes: int = 0, pods: int = 0) -> None:
        """Takes back what a removed node lent and held; a domain that nothing is left of is unknown again."""
        if nodes:
            self.registered[domain] -= nodes
        before = self.counts[domain]
        left = self.counts[domain] = before - pods
        self.occupied -= before > 0 and not left
        self.version += 1
        if not left and domain not in self.permanent and not self.registered.get(domain):
            del self.counts[domain]

    def ceiling(self, reach: Requirement | None, own: int) -> int:
        """The count up to which a domain may take one more pod of the spread; `reach` is the pod's strict demand."""
        held = self._lowest.get(reach)
        if held is None or held[0] != self.version:
            counts = self.counts.values() if reach is None else [c for d, c in self.counts.items() if reach.has(d)]
            few = self.min_domains is not None and len(counts) < self.min_domains
            held = self._lowest[reach] = (self.version, 0 if few else min(counts, default=0))
        return self.max_skew + held[1] - own

    def may_bootstrap(self, reach: Requirement | None, own: bool) -> bool:
        """Whether a pod that matches its own affinity may be the first: nothing counted anywhere within its reach."""
        if not own or not self.occupied:
            return own
        return reach is not None and not any(c > 0 and reach.has(d) for d, c in self.counts.items())

    def allows(self, domain: str, reach: Requirement | None, own: int) -> bool:
        """Whether a host whose domain is decided may take the pod."""
        count = self.counts.get(domain)
        if self.kind is GroupKind.SPREAD:
            return count is not None and count <= self.ceiling(reach, own)
        if reach is not None and not reach.has(domain):
            return False
        if self.kind is GroupKind.AFFINITY:
            return count is not None and (count > 0 or self.may_bootstrap(reach, bool(own)))
        return count == 0

    def answer(self, held: Requirement, reach: Requirement | None, own: int) -> Requirement | None:
        """The domains that a host still open between several must narrow to; None: there is none."""
        if self.kind is GroupKind.SPREAD:
            return self._least_filled(held, self.ceiling(reach, own))
        if self.kind is GroupKind.AFFINITY:
            return self._occupied(held, reach, own=bool(own))
        empty = [d for d, c in self.counts.items() if not c and held.has(d) and (reach is None or reach.has(d))]
        return Requirement.of(self.key, "In", empty) if empty else None

    def _least_filled(self, held: Requirement, ceiling: int) -> Requirement | None:
        best: tuple[int, str] | None = None
        for domain, count in self.counts.items():
            if count <= ceiling and (best is None or (count, domain) < best) and held.has(domain):
                best = (count, domain)
        return self._only(best[1]) if best else None

    def _only(self, domain: str) -> Requirement:
        found = self._single.get(domain)
        if found is None:
            found = self._single[domain] = Requirement.of(self.key, "In", (domain,))
        return found

    def _occupied(self, held: Requirement, reach: Requirement | None, *, own: bool) -> Requirement | None:
        within = [d for d in self.counts if reach is None or reach.has(d)]
        occupied = [d for d in within if self.counts[d] > 0 and held.has(d)]
        if occupied:
            return Requirement.of(self.key, "In", occupied)
        if not within or not self.may_bootstrap(reach, own):
            return None
        first = min(within)
        return Requirement.of(self.key, "In", {min((d for d in within if held.has(d)), default=first), first})


class HostGroup(Group):
    """Counts by host. A host is a place in one of two ranges: existing nodes, and planned claims.

    `elsewhere` counts pods on nodes that are not offered (being deleted, say): no candidate, yet affinity sees them.
    """

    __slots__ = ("claims", "elsewhere", "levels", "nodes", "top")

    def __init__(self, key: GroupKey) -> None:
        super().__init__(key, None)
        self.nodes: dict[int, int] = {}  # node -> pods
        self.claims: dict[int, int] = {}  # planned claim -> pods
        self.elsewhere: dict[str, int] = {}  # hostname -> pods
        self.top = self.max_skew + 1 if self.kind is GroupKind.SPREAD else 1
        self.levels: list[list[int]] = [[0] * (self.top + 1), [0] * (self.top + 1)]  # [nodes, claims][level] -> mask

    def record_node(self, node: int, by: int = 1) -> None:
        """Counts pods on a node, or takes them back."""
        before = self.nodes.get(node, 0)
        after = self.nodes[node] = before + by
        levels, bit = self.levels[0], 1 << node
        for level in range(min(before, self.top) + 1, min(after, self.top) + 1):
            levels[level] |= bit
        for level in range(min(after, self.top) + 1, min(before, self.top) + 1):
            levels[level] &= ~bit
        self.version += 1

    def count_elsewhere(self, hostname: str, pods: int) -> None:
        self.elsewhere[hostname] = self.elsewhere.get(hostname, 0) + pods
        self.version += 1

    def record_claim(self, claim: int) -> None:
        after = self.claims[claim] = self.claims.get(claim, 0) + 1
        if after <= self.top:
            self.levels[1][after] |= 1 << claim
        self.version += 1

    def forget_claims(self) -> None:
        self.claims.clear()
        self.levels[1] = [0] * (self.top + 1)
        self.version += 1

    def may_bootstrap(self, reach: Requirement | None, nodes: int) -> bool:
        """Whether a pod that matches its own affinity may be the first: no host within its reach holds a counted pod.

        `reach` is the pod's strict demand on hostnames, `nodes` the mask of the nodes that meet it.
        """
        if self.levels[0][1] & nodes or any(c and (reach is None or reach.has(h)) for h, c in self.elsewhere.items()):
            return False
        return not self.levels[1][1] or (reach is not None and not reach.complement)

    def blocked(self, claims: int, own: int) -> int:
        """The mask of hosts that may not take one more (spread, anti-affinity); `claims`: 1 for claims, 0 for nodes."""
        if self.kind is not GroupKind.SPREAD:
            return self.levels[claims][1]
        level = self.max_skew + 1 - own
        return self.levels[claims][level] if level > 0 else -1
