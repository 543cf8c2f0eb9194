"""Everything of a pod that decides where it may go, save its size: read once a pod spec, shared by equal pods.

`Constraints` is a value without labels, namespace or name, so that thousands of pods share one. What depends on the
pod's own labels (`matchLabelKeys`) or namespace is resolved while reading. Rules: provisioning spec 5, 13.1, 13.12.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from baseload.decide.fit.ports import HostPort
from baseload.decide.fit.taints import Toleration, tolerations_of
from baseload.kube.types import core
from baseload.kube.types.meta import LabelSelector, NodeSelectorRequirement
from baseload.values import selector as selectors
from baseload.values.requirement import EMPTY, Requirement, Requirements
from baseload.values.selector import Selector

Namespaces = Mapping[str, Mapping[str, str]]
"""namespace -> its labels"""


@dataclass(frozen=True, slots=True)
class Spread:
    """A topology spread constraint."""

    key: str
    max_skew: int
    hard: bool  # DoNotSchedule
    selector: Selector | None  # None: counts every pod of the namespace, matches none
    min_domains: int | None
    honor_affinity: bool
    honor_taints: bool


@dataclass(frozen=True, slots=True)
class Term:
    """A pod (anti-)affinity term, its namespaces resolved to names."""

    key: str
    selector: Selector | None
    namespaces: frozenset[str]


@dataclass(frozen=True, slots=True)
class Constraints:
    """The demands of a pod; those that relaxation can drop are in the order in which it looks at them."""

    selector: Requirements = EMPTY
    required: tuple[Requirements, ...] = ()  # alternatives of the required node affinity
    preferred: tuple[tuple[int, Requirements], ...] = ()  # (weight, term) of the preferred node affinity
    tolerations: tuple[Toleration, ...] = ()
    spread: tuple[Spread, ...] = ()
    affinity: tuple[Term, ...] = ()
    anti_affinity: tuple[Term, ...] = ()
    preferred_affinity: tuple[tuple[int, Term], ...] = ()
    preferred_anti_affinity: tuple[tuple[int, Term], ...] = ()
    ports: tuple[HostPort, ...] = ()

    @property
    def strict(self) -> Requirements:
        """What the pod demands without its preferences: nodeSelector and the first required term (5.2)."""
        return self.selector.add(self.required[0]) if self.required else self.selector

    @property
    def full(self) -> Requirements:
        """The strict set and the heaviest preferred term (5.1)."""
        if not self.preferred:
            return self.strict
        return self.strict.add(self.preferred[heaviest(self.preferred)][1])

    def selectors(self) -> Iterable[Selector]:
        """Every selector that reads other pods' labels."""
        terms = (*self.affinity, *self.anti_affinity)
        weighted = (*self.preferred_affinity, *self.preferred_anti_affinity)
        for selector in (
            *(s.selector for s in self.spread),
            *(t.selector for t in terms),
            *(t.selector for _, t in weighted),
        ):
            if selector is not None:
                yield selector


def heaviest(weighted: tuple[tuple[int, object], ...]) -> int:
    """The place of the heaviest entry, the first of equals."""
    return max(range(len(weighted)), key=lambda i: (weighted[i][0], -i))


def label_keys(spec: core.PodSpec) -> tuple[str, ...]:
    """The keys of the pod's own labels on which its constraints depend."""
    keys = {key for c in spec.topology_spread_constraints for key in c.match_label_keys}
    for terms in _pod_terms(spec):
        for term in terms:
            keys.update(term.match_label_keys, term.mismatch_label_keys)
    return tuple(sorted(keys))


def read(
    spec: core.PodSpec,
    *,
    namespace: str,
    labels: Mapping[str, str],
    namespaces: Namespaces,
    default_spread: tuple[Spread, ...] = (),
) -> Constraints:
    """The constraints of a pod. `default_spread` stands in where the pod has no spread constraint of its own."""
    affinity = spec.affinity or core.Affinity()
    node = affinity.node_affinity or core.NodeAffinity()
    with_pods = affinity.pod_affinity or core.PodAffinity()
    against_pods = affinity.pod_anti_affinity or core.PodAffinity()

    def terms(found: Iterable[core.PodAffinityTerm]) -> tuple[Term, ...]:
        return tuple(_term(term, namespace, labels, namespaces) for term in found)

    def weighted(found: Iterable[core.WeightedPodAffinityTerm]) -> tuple[tuple[int, Term], ...]:
        return tuple((w.weight, _term(w.pod_affinity_term, namespace, labels, namespaces)) for w in found)

    return Constraints(
        selector=Requirements.of_labels(spec.node_selector),
        required=required_terms(spec),
        preferred=tuple(
            (p.weight, requirements_of(p.preference.match_expressions))
            for p in node.preferred_during_scheduling_ignored_during_execution
        ),
        tolerations=tolerations_of(spec.tolerations),
        spread=tuple(_spread(c, labels) for c in spec.topology_spread_constraints) or default_spread,
        affinity=terms(with_pods.required_during_scheduling_ignored_during_execution),
        anti_affinity=terms(against_pods.required_during_scheduling_ignored_during_execution),
        preferred_affinity=weighted(with_pods.preferred_during_scheduling_ignored_during_execution),
        preferred_anti_affinity=weighted(against_pods.preferred_during_scheduling_ignored_during_execution),
        ports=tuple(
            HostPort(port.host_ip or "0.0.0.0", port.host_port, port.protocol)
            for container in spec.containers
            for port in container.ports
            if port.host_port
        ),
    )


def requirements_of(expressions: Iterable[NodeSelectorRequirement]) -> Requirements:
    """Node selector expressions as a requirement set."""
    return Requirements.of(Requirement.of(e.key, e.operator, e.values, e.min_values) for e in expressions)


def required_terms(spec: core.PodSpec) -> tuple[Requirements, ...]:
    """The alternatives of a pod's required node affinity."""
    affinity = spec.affinity.node_affinity if spec.affinity else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    return tuple(requirements_of(term.match_expressions) for term in required.node_selector_terms) if required else ()


def selector_of(written: LabelSelector | None) -> Selector | None:
    """A label selector as written; None stays None and matches no pod."""
    return None if written is None else selectors.compile(written)


def spread_of(written: core.TopologySpreadConstraint, selector: Selector | None) -> Spread:
    """A spread constraint as written; which pods it counts is decided by more than what it says."""
    return Spread(
        key=written.topology_key,
        max_skew=written.max_skew,
        hard=written.when_unsatisfiable != "ScheduleAnyway",
        selector=selector,
        min_domains=written.min_domains,
        honor_affinity=written.node_affinity_policy != "Ignore",
        honor_taints=written.node_taints_policy == "Honor",
    )


def _spread(written: core.TopologySpreadConstraint, labels: Mapping[str, str]) -> Spread:
    selector = _matching(selector_of(written.label_selector), written.match_label_keys, labels, "In")
    return spread_of(written, selector)


def _term(written: core.PodAffinityTerm, namespace: str, labels: Mapping[str, str], namespaces: Namespaces) -> Term:
    selector = _matching(selector_of(written.label_selector), written.match_label_keys, labels, "In")
    selector = _matching(selector, written.mismatch_label_keys, labels, "NotIn")
    names = frozenset(written.namespaces)
    chosen = selector_of(written.namespace_selector)
    if chosen is not None:
        names |= {name for name, held in namespaces.items() if chosen.matches(held)}
    elif not names:
        names = frozenset((namespace,))
    return Term(written.topology_key, selector, names)


def _matching(
    selector: Selector | None, keys: Iterable[str], labels: Mapping[str, str], operator: str
) -> Selector | None:
    """The selector narrowed to pods that agree (or, for NotIn, disagree) with the pod's own labels on these keys."""
    for key in keys:
        if selector is not None and key in labels:
            selector = selector.with_requirement(key, operator, (labels[key],))
    return selector


def _pod_terms(spec: core.PodSpec) -> Iterable[tuple[core.PodAffinityTerm, ...]]:
    affinity = spec.affinity
    for side in (affinity.pod_affinity, affinity.pod_anti_affinity) if affinity else ():
        if side is not None:
            yield side.required_during_scheduling_ignored_during_execution
            yield tuple(w.pod_affinity_term for w in side.preferred_during_scheduling_ignored_during_execution)
