"""What a pod demands of its node and of the pods near it, as kube-scheduler reads it (cluster-actors 3.6-3.8).

Tolerations, ports, spread constraints and pod affinity are read as everywhere (`decide.fit.constraints`). Node affinity
is not: Karpenter adds requirements up to sets that a new node can be made by, the scheduler asks a node that exists
whether its labels and its name match.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from baseload.decide.fit import constraints
from baseload.decide.fit.constraints import Namespaces, Spread
from baseload.decide.fit.ports import HostPort
from baseload.decide.fit.taints import PREFER_NO_SCHEDULE, Toleration
from baseload.kube.types import core
from baseload.kube.types.meta import NodeSelectorRequirement
from baseload.values.selector import NOTHING, Selector
from baseload.values.selector import Term as LabelTerm
from baseload.values.taint import Taint

UNSCHEDULABLE: Final = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")
_NAME: Final = "metadata.name"


@dataclass(frozen=True, slots=True)
class NodeTerm:
    """A node selector term; one that says nothing matches no node."""

    labels: tuple[LabelTerm, ...] = ()
    names: tuple[LabelTerm, ...] = ()

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        if not self.labels and not self.names:
            return False
        held = {_NAME: name}
        return all(term.matches(labels) for term in self.labels) and all(term.matches(held) for term in self.names)

    def only(self) -> frozenset[str] | None:
        """The names that the term leaves; None where it leaves them open."""
        named = [frozenset(term.values) for term in self.names if term.operator == "In"]
        return frozenset.intersection(*named) if named else None


@dataclass(frozen=True, slots=True)
class Near:
    """A pod affinity or anti-affinity term."""

    key: str
    selector: Selector
    namespaces: frozenset[str]

    def matches(self, namespace: str, labels: Mapping[str, str]) -> bool:
        return namespace in self.namespaces and self.selector.matches(labels)


@dataclass(frozen=True, slots=True)
class Place:
    """What depends on the node alone: pods alike in this and in what they ask for share the work on each node."""

    node_name: str = ""
    selector: tuple[LabelTerm, ...] = ()
    required: tuple[NodeTerm, ...] | None = None
    preferred: tuple[tuple[int, NodeTerm], ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    ports: tuple[HostPort, ...] = ()

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """Whether a node meets nodeSelector and the required node affinity."""
        if not all(term.matches(labels) for term in self.selector):
            return False
        return self.required is None or any(term.matches(name, labels) for term in self.required)

    def only(self) -> frozenset[str] | None:
        """The nodes that are looked at at all, where every required term names some (2.9)."""
        if not self.required:
            return None
        each = [term.only() for term in self.required]
        named = [names for names in each if names is not None]
        return frozenset().union(*named) if len(named) == len(each) else None

    def tolerates(self, taint: Taint) -> bool:
        return any(toleration.lifts(taint) for toleration in self.tolerations)

    def soft_taints(self, taints: Iterable[Taint]) -> int:
        """How many PreferNoSchedule taints are not tolerated (4.6)."""
        lifting = [t for t in self.tolerations if t.effect in ("", PREFER_NO_SCHEDULE)]
        soft = (taint for taint in taints if taint.effect == PREFER_NO_SCHEDULE)
        return sum(not any(toleration.lifts(taint) for toleration in lifting) for taint in soft)

    def preference(self, name: str, labels: Mapping[str, str]) -> int:
        """The weights of the preferred terms that a node meets (4.7)."""
        return sum(weight for weight, term in self.preferred if term.matches(name, labels))


@dataclass(frozen=True, slots=True)
class Demands:
    """All of it."""

    place: Place = field(default_factory=Place)
    hard_spread: tuple[Spread, ...] = ()
    soft_spread: tuple[Spread, ...] = ()
    is_spread_by_default: bool = False
    affinity: tuple[Near, ...] = ()
    anti_affinity: tuple[Near, ...] = ()
    preferred_affinity: tuple[tuple[int, Near], ...] = ()
    preferred_anti_affinity: tuple[tuple[int, Near], ...] = ()


def read(
    spec: core.PodSpec,
    *,
    namespace: str,
    labels: Mapping[str, str],
    namespaces: Namespaces,
    default_spread: tuple[Spread, ...] = (),
) -> Demands:
    """The demands of a pod; `default_spread` is for one that has no constraints of its own."""
    held = constraints.read(
        spec, namespace=namespace, labels=labels, namespaces=namespaces, default_spread=default_spread
    )
    node = (spec.affinity.node_affinity if spec.affinity else None) or core.NodeAffinity()
    required = node.required_during_scheduling_ignored_during_execution
    preferred = node.preferred_during_scheduling_ignored_during_execution
    place = Place(
        node_name=spec.node_name,
        selector=tuple(LabelTerm.of(key, "In", (value,)) for key, value in sorted(spec.node_selector.items())),
        required=None if required is None else node_terms(required),
        preferred=tuple((entry.weight, _node_term(entry.preference)) for entry in preferred if entry.weight),
        tolerations=held.tolerations,
        ports=(*held.ports, *_of_sidecars(spec)),
    )
    return Demands(
        place=place,
        hard_spread=tuple(_counting(spread) for spread in held.spread if spread.hard),
        soft_spread=tuple(_counting(spread) for spread in held.spread if not spread.hard),
        is_spread_by_default=not spec.topology_spread_constraints,
        affinity=tuple(map(_near, held.affinity)),
        anti_affinity=tuple(map(_near, held.anti_affinity)),
        preferred_affinity=tuple((weight, _near(term)) for weight, term in held.preferred_affinity),
        preferred_anti_affinity=tuple((weight, _near(term)) for weight, term in held.preferred_anti_affinity),
    )


def node_terms(written: core.NodeSelector) -> tuple[NodeTerm, ...]:
    """The terms of a node selector, any of which is enough."""
    return tuple(map(_node_term, written.node_selector_terms))


def _node_term(written: core.NodeSelectorTerm) -> NodeTerm:
    return NodeTerm(_terms(written.match_expressions), _terms(written.match_fields))


def _terms(written: Iterable[NodeSelectorRequirement]) -> tuple[LabelTerm, ...]:
    return tuple(LabelTerm.of(entry.key, entry.operator, entry.values) for entry in written)


def _near(term: constraints.Term) -> Near:
    return Near(term.key, NOTHING if term.selector is None else term.selector, term.namespaces)


def _counting(spread: Spread) -> Spread:
    """A constraint without a selector counts nothing here; for Karpenter it counts every pod."""
    if spread.selector is not None:
        return spread
    return dataclasses.replace(spread, selector=NOTHING)


def _of_sidecars(spec: core.PodSpec) -> Iterable[HostPort]:
    for container in spec.init_containers:
        if container.restart_policy == "Always":
            for port in container.ports:
                if port.host_port:
                    yield HostPort(port.host_ip or "0.0.0.0", port.host_port, port.protocol)
