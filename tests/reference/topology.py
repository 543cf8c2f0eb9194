"""Spread, affinity and anti-affinity (§13): groups, their domains and counts, and their answers."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from . import algebra, constraints, pools, selecting
from .algebra import HOSTNAME, Manifest, Requirement, Requirements
from .catalogue import InstanceType
from .cluster import StateNode
from .selecting import Selector

Universe = dict[str, dict[str, list[list[Manifest]]]]  # key -> domain -> taint lists of pools that offer it
TaintKey = tuple[tuple[str, str], ...]

SPREAD, AFFINITY, ANTI = "topology spread", "pod affinity", "pod anti-affinity"
NO_SKEW = 2**31 - 1


@dataclass(frozen=True)
class NodeFilter:
    """§13.4: which nodes a spread constraint counts on."""

    alternatives: tuple[tuple[Requirement, ...], ...] = ()
    honor_affinity: bool = True
    honor_taints: bool = True
    tolerations: tuple[TaintKey, ...] = ()

    def matches(self, taints: Iterable[Manifest], requirements: Requirements) -> bool:
        if self.honor_affinity and self.alternatives:
            sets = [{r.key: r for r in alternative} for alternative in self.alternatives]
            if not any(algebra.compatible(requirements, one) for one in sets):
                return False
        if not self.honor_taints or not self.alternatives:
            return True
        pod: Manifest = {"spec": {"tolerations": [dict(t) for t in self.tolerations]}}
        return selecting.untolerated(pod, taints) is None


@dataclass(frozen=True)
class Identity:
    """What makes two constraints one group (§13.1); minDomains is not part of it."""

    key: str
    kind: str
    namespaces: frozenset[str]
    selector: Selector | None
    max_skew: int = NO_SKEW
    filter: NodeFilter = NodeFilter()


@dataclass
class Group:
    identity: Identity
    min_domains: int | None
    counts: dict[str, int] = field(default_factory=dict)
    owners: set[str] = field(default_factory=set)

    def selects(self, pod: Manifest) -> bool:
        inside = pod["metadata"].get("namespace", "default") in self.identity.namespaces
        return inside and selecting.selects(self.identity.selector, selecting.labels_of(pod))

    def register(self, domain: str) -> None:
        self.counts.setdefault(domain, 0)

    def record(self, domain: str) -> None:
        self.counts[domain] = self.counts.get(domain, 0) + 1

    def answer(self, pod: Manifest, reach: Requirement, candidate: Requirement) -> list[str]:
        """§13.8: the domains that suit, given the pod's strict reach P and the candidate's requirement N."""
        only = self.single_host(candidate)
        if self.identity.kind == SPREAD:
            return self.spread(pod, reach, candidate, only)
        if self.identity.kind == AFFINITY:
            return self.affinity(pod, reach, candidate, only)
        if only is not None:
            return [only] if self.counts.get(only, 0) == 0 else []
        return sorted(d for d, n in self.counts.items() if n == 0 and both(reach, candidate, d))

    def single_host(self, candidate: Requirement) -> str | None:
        if self.identity.key != HOSTNAME or candidate.complement or len(candidate.values) != 1:
            return None
        return min(candidate.values)

    def spread(self, pod: Manifest, reach: Requirement, candidate: Requirement, only: str | None) -> list[str]:
        """§13.9, ties by name."""
        own = 1 if self.selects(pod) else 0
        if only is not None:
            return [only] if self.counts.get(only, 0) + own <= self.identity.max_skew else []
        least = self.minimum(reach)
        eligible = [
            (count, domain)
            for domain, count in self.counts.items()
            if algebra.has(candidate, domain) and count + own - least <= self.identity.max_skew
        ]
        return [min(eligible)[1]] if eligible else []

    def minimum(self, reach: Requirement) -> int:
        if self.identity.key == HOSTNAME:
            return 0
        reached = [count for domain, count in self.counts.items() if algebra.has(reach, domain)]
        if self.min_domains is not None and len(reached) < self.min_domains:
            return 0
        return min(reached, default=0)

    def affinity(self, pod: Manifest, reach: Requirement, candidate: Requirement, only: str | None) -> list[str]:
        """§13.10, the bootstrap domain by name."""
        if only is not None:
            if not algebra.has(reach, only):
                return []
            return [only] if self.counts.get(only, 0) > 0 or self.may_start(pod, reach) else []
        present = sorted(d for d, n in self.counts.items() if n > 0 and both(reach, candidate, d))
        if present or not self.may_start(pod, reach):
            return present
        near = [d for d in self.counts if both(reach, candidate, d)]
        anywhere = [d for d in self.counts if algebra.has(reach, d)]
        return sorted({min(domains) for domains in (near, anywhere) if domains})

    def may_start(self, pod: Manifest, reach: Requirement) -> bool:
        unreached = not any(n > 0 and algebra.has(reach, d) for d, n in self.counts.items())
        return self.selects(pod) and unreached


def both(a: Requirement, b: Requirement, domain: str) -> bool:
    return algebra.has(a, domain) and algebra.has(b, domain)


def universe_of(pool_list: list[Manifest], types: Mapping[str, list[InstanceType]]) -> Universe:
    """§13.3."""
    universe: Universe = {}

    def lend(key: str, values: Iterable[str], taints: list[Manifest]) -> None:
        for value in values:
            universe.setdefault(key, {}).setdefault(value, []).append(taints)

    for pool in pool_list:
        delivered = types[pool["metadata"]["name"]]
        if not delivered:
            continue
        said = algebra.merged(pools.pool_requirements(pool), algebra.from_labels(pools.template_labels(pool)))
        for t in delivered:
            for key, r in algebra.merged(said, t.requirements).items():
                lend(key, r.values, pools.taints(pool))
        for key, r in said.items():
            if algebra.operator(r) == "In":
                lend(key, r.values, pools.taints(pool))
    return universe


def namespaces_of(term: Manifest, pod: Manifest, objects: list[Manifest]) -> frozenset[str]:
    """§13.12."""
    listed = list(term.get("namespaces") or ())
    selector = term.get("namespaceSelector")
    if not listed and selector is None:
        return frozenset({pod["metadata"].get("namespace", "default")})
    wanted = selecting.selector_of(selector)
    named = (o for o in objects if o["kind"] == "Namespace")
    return frozenset(listed) | {
        o["metadata"]["name"] for o in named if selecting.selects(wanted, selecting.labels_of(o))
    }


def node_filter(pod: Manifest, constraint: Manifest) -> NodeFilter:
    """§13.4."""
    selector = algebra.from_labels(pod["spec"].get("nodeSelector") or {})
    terms = constraints.required_terms(pod)
    sets = [algebra.merged(selector, algebra.from_expressions(t.get("matchExpressions") or ())) for t in terms]
    tolerations = pod["spec"].get("tolerations") or ()
    names = ("key", "operator", "value", "effect")
    written = {tuple((name, str(t[name])) for name in names if t.get(name)) for t in tolerations}
    return NodeFilter(
        alternatives=tuple(algebra.canonical(one) for one in sets or [selector]),
        honor_affinity=(constraint.get("nodeAffinityPolicy") or "Honor") == "Honor",
        honor_taints=(constraint.get("nodeTaintsPolicy") or "Ignore") == "Honor",
        tolerations=tuple(sorted(written)),
    )


class Topology:
    """All groups of one pass (§13)."""

    def __init__(
        self,
        *,
        objects: list[Manifest],
        universe: Universe,
        nodes: list[StateNode],
        offered: list[StateNode],
        passing: set[str],
        ignore_preferences: bool,
    ) -> None:
        self.objects, self.universe, self.offered = objects, universe, offered
        self.ignore_preferences, self.passing = ignore_preferences, passing
        self.pods = [o for o in objects if o["kind"] == "Pod"]
        self.nodes = {o["metadata"]["name"]: o for o in objects if o["kind"] == "Node"}
        self.groups: dict[Identity, Group] = {}
        self.inverse: dict[Identity, Group] = {}
        self.add_running(nodes)

    def add_running(self, nodes: list[StateNode]) -> None:
        """§13.14, pods that run and are not in the pass."""
        labels = {n.node["metadata"]["name"]: selecting.labels_of(n.node) for n in nodes if n.node is not None}
        for pod in self.pods:
            place = pod["spec"].get("nodeName")
            if place in labels and not selecting.is_finished(pod) and selecting.uid(pod) not in self.passing:
                self.own_inverse(pod, labels[place])

    def own_inverse(self, pod: Manifest, node_labels: Mapping[str, str]) -> None:
        for term in constraints.pod_terms(pod, "podAntiAffinity", required=True):
            identity = self.identity_of_term(pod, term, ANTI)
            if identity not in self.inverse:
                self.inverse[identity] = self.new_group(identity, None, pod)
            group = self.inverse[identity]
            if identity.key in node_labels:
                group.record(node_labels[identity.key])
            group.owners.add(selecting.uid(pod))

    def identity_of_term(self, pod: Manifest, term: Manifest, kind: str) -> Identity:
        namespaces = namespaces_of(term, pod, self.objects)
        return Identity(term["topologyKey"], kind, namespaces, selecting.selector_of(term.get("labelSelector")))

    def new_group(self, identity: Identity, min_domains: int | None, pod: Manifest) -> Group:
        """§13.4, last paragraph: the domains that the creating pod may have."""
        group = Group(identity, min_domains)
        for domain, lists in self.universe.get(identity.key, {}).items():
            if not identity.filter.honor_taints or any(selecting.untolerated(pod, t) is None for t in lists):
                group.register(domain)
        return group

    def own(self, pod: Manifest) -> None:
        """§13.2, §13.15: the pod owns the groups of its constraints as they are now, and no others."""
        name = selecting.uid(pod)
        for group in self.groups.values():
            group.owners.discard(name)
        self.own_inverse(pod, {})
        for identity, min_domains in self.constraints_of(pod):
            if identity not in self.groups:
                self.groups[identity] = self.new_group(identity, min_domains, pod)
                self.count_running(self.groups[identity])
            self.groups[identity].owners.add(name)

    def constraints_of(self, pod: Manifest) -> Iterator[tuple[Identity, int | None]]:
        """§13.2."""
        for constraint in pod["spec"].get("topologySpreadConstraints") or ():
            if not self.ignore_preferences or constraint["whenUnsatisfiable"] == "DoNotSchedule":
                yield self.identity_of_spread(pod, constraint), constraint.get("minDomains")
        for kind, name in ((AFFINITY, "podAffinity"), (ANTI, "podAntiAffinity")):
            for term in constraints.pod_terms(pod, name, required=True):
                yield self.identity_of_term(pod, term, kind), None
            if not self.ignore_preferences:
                for weighted in constraints.pod_terms(pod, name, required=False):
                    yield self.identity_of_term(pod, weighted["podAffinityTerm"], kind), None

    def identity_of_spread(self, pod: Manifest, constraint: Manifest) -> Identity:
        labels = selecting.labels_of(pod)
        keys = [key for key in constraint.get("matchLabelKeys") or () if key in labels]
        selector = constraint.get("labelSelector")
        if keys:
            more = [{"key": key, "operator": "In", "values": [labels[key]]} for key in keys]
            selector = {**(selector or {}), "matchExpressions": [*(selector or {}).get("matchExpressions", []), *more]}
        return Identity(
            constraint["topologyKey"],
            SPREAD,
            frozenset({pod["metadata"].get("namespace", "default")}),
            selecting.selector_of(selector),
            constraint["maxSkew"],
            node_filter(pod, constraint),
        )

    def count_running(self, group: Group) -> None:
        """§13.5."""
        identity = group.identity
        for state in self.offered:
            node = state.node
            domain = None if node is None else selecting.labels_of(node).get(identity.key)
            if node is not None and domain is not None and self.node_matches(group, node):
                group.register(domain)
        for pod in self.pods:
            node = self.nodes.get(pod["spec"].get("nodeName") or "")
            if node is None or not self.is_listed(identity, pod) or not self.node_matches(group, node):
                continue
            labels = selecting.labels_of(node)
            if identity.key in labels:
                group.record(labels[identity.key])
            elif identity.key == HOSTNAME:
                group.record(node["metadata"]["name"])

    def is_listed(self, identity: Identity, pod: Manifest) -> bool:
        """§13.5: a nil selector lists every pod of the namespaces."""
        if selecting.is_finished(pod) or selecting.is_terminating(pod) or selecting.uid(pod) in self.passing:
            return False
        inside = pod["metadata"].get("namespace", "default") in identity.namespaces
        listed = identity.selector is None or selecting.selects(identity.selector, selecting.labels_of(pod))
        return inside and listed

    def node_matches(self, group: Group, node: Manifest) -> bool:
        requirements = algebra.from_labels(selecting.labels_of(node))
        return group.identity.filter.matches(node["spec"].get("taints") or (), requirements)

    def register_host(self, hostname: str) -> None:
        """§13.6."""
        for group in (*self.groups.values(), *self.inverse.values()):
            if group.identity.key == HOSTNAME:
                group.register(hostname)

    def applying(self, pod: Manifest) -> list[Group]:
        """§13.7."""
        owned = [g for g in self.groups.values() if selecting.uid(pod) in g.owners]
        return owned + [g for g in self.inverse.values() if g.selects(pod)]

    def narrow(self, pod: Manifest, strict: Requirements, candidate: Requirements) -> tuple[Requirements, str | None]:
        """§13.8: the candidate's set with all answers, each computed from the set as it was; or an error."""
        result = dict(candidate)
        for group in self.applying(pod):
            key = group.identity.key
            reach, offer = strict.get(key, algebra.exists(key)), candidate.get(key, algebra.exists(key))
            domains = group.answer(pod, reach, offer)
            if not domains:
                kind = group.identity.kind
                counts = dict(sorted(group.counts.items()))
                return result, f"unsatisfiable topology constraint for {kind}, key={key}, counts={counts}"
            result = algebra.add(result, [algebra.requirement(key, "In", domains)])
        return result, None

    def record(self, pod: Manifest, taints: list[Manifest], final: Requirements) -> None:
        """§13.13."""
        for group in self.groups.values():
            if not group.selects(pod) or not group.identity.filter.matches(taints, final):
                continue
            r = final.get(group.identity.key, algebra.exists(group.identity.key))
            if group.identity.kind == ANTI or (not r.complement and len(r.values) == 1):
                for domain in r.values:
                    group.record(domain)
        for group in self.inverse.values():
            if selecting.uid(pod) in group.owners:
                for domain in final.get(group.identity.key, algebra.exists(group.identity.key)).values:
                    group.record(domain)
