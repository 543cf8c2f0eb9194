"""Whether a kubelet takes a pod that was bound to its node (cluster-actors spec 19.2-19.5).

It asks once more what the scheduler asked, of its own view of the node; the first reason alone is told. What it does
not take is Failed for good.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from baseload.decide.fit.ports import HostPort, clash
from baseload.decide.fit.taints import Toleration, first_untolerated
from baseload.decide.node.qos import SYSTEM_CRITICAL, QosClass
from baseload.kube.types.core import NodeSelectorTerm, PodSpec
from baseload.kube.types.meta import NodeSelectorRequirement
from baseload.values.errors import BadInput
from baseload.values.quantity import MILLI, UNIT
from baseload.values.requirement import Requirement
from baseload.values.taint import Taint

_ORDER: Final = ("pods", "cpu", "memory", "ephemeral-storage")
MEMORY_PRESSURE: Final = Taint("node.kubernetes.io/memory-pressure", "", "NoSchedule")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a pod fails on arrival."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Arrival:
    """What a pod asks of the node that it was bound to."""

    spec: PodSpec
    requests: Mapping[str, int]  # nano-units, pods: 1 included
    qos: QosClass
    tolerations: tuple[Toleration, ...]
    ports: tuple[HostPort, ...] = ()
    is_static: bool = False

    @property
    def is_critical(self) -> bool:
        return self.is_static or (self.spec.priority or 0) >= SYSTEM_CRITICAL


@dataclass(frozen=True, slots=True)
class Place:
    """A node as its kubelet sees it."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    allocatable: Mapping[str, int]
    used: Mapping[str, int]
    ports: Iterable[HostPort] = ()
    pressures: tuple[str, ...] = ()  # the conditions that stand, e.g. MemoryPressure


def refusal(arrival: Arrival, place: Place) -> Refusal | None:
    """Why the kubelet does not take the pod; None where it does."""
    return _by_pressure(arrival, place) or _by_room(arrival, place) or _by_rules(arrival, place)


def _by_pressure(arrival: Arrival, place: Place) -> Refusal | None:
    if not place.pressures or arrival.is_critical:
        return None
    if place.pressures == ("MemoryPressure",) and (
        arrival.qos != "BestEffort" or any(toleration.lifts(MEMORY_PRESSURE) for toleration in arrival.tolerations)
    ):
        return None
    return Refusal("Evicted", f"The node had condition: [{' '.join(place.pressures)}]. ")


def _by_room(arrival: Arrival, place: Place) -> Refusal | None:
    """What the node lacks; a resource that it does not know is not looked at."""
    asked, used_of, has_of = arrival.requests, place.used, place.allocatable
    if all(wanted <= has_of.get(name, 0) - used_of.get(name, 0) for name, wanted in asked.items()):
        return None
    for name in (*_ORDER, *sorted(name for name in asked if name not in _ORDER)):
        wanted, has = asked.get(name, 0), place.allocatable.get(name)
        if not wanted or (has is None and name not in _ORDER):
            continue
        used, has = place.used.get(name, 0), has or 0
        if wanted > has - used:
            unit = MILLI if name == "cpu" else UNIT
            amounts = f"requested: {-(-wanted // unit)}, used: {-(-used // unit)}, capacity: {has // unit}"
            return Refusal(f"OutOf{name}", f"Node didn't have enough resource: {name}, {amounts}")
    return None


def _by_rules(arrival: Arrival, place: Place) -> Refusal | None:
    spec = arrival.spec
    if (spec.node_selector or spec.affinity) and not selects(spec, place.name, place.labels):
        return _predicate("NodeAffinity", "node(s) didn't match Pod's node affinity/selector")
    if arrival.ports and clash(arrival.ports, place.ports) is not None:
        return _predicate("NodePorts", "node(s) didn't have free ports for the requested pod ports")
    pressing = [taint for taint in place.taints if taint.effect == "NoExecute"]
    if pressing and not arrival.is_static and first_untolerated(pressing, arrival.tolerations) is not None:
        return _predicate("TaintToleration", "node(s) had taints that the pod didn't tolerate")
    return None


def _predicate(name: str, why: str) -> Refusal:
    return Refusal(name, f"Predicate {name} failed: {why}")


def selects(spec: PodSpec, name: str, labels: Mapping[str, str]) -> bool:
    """Whether a node is one that the pod's selector and required affinity allow."""
    if any(labels.get(key) != value for key, value in spec.node_selector.items()):
        return False
    affinity = spec.affinity.node_affinity if spec.affinity else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    return required is None or any(_term_selects(term, name, labels) for term in required.node_selector_terms)


def _term_selects(term: NodeSelectorTerm, name: str, labels: Mapping[str, str]) -> bool:
    if not term.match_expressions and not term.match_fields:
        return False  # a term that says nothing selects nothing
    fields = {"metadata.name": name}
    return all(_holds(one, labels) for one in term.match_expressions) and all(
        _holds(one, fields) for one in term.match_fields
    )


def _holds(written: NodeSelectorRequirement, labels: Mapping[str, str]) -> bool:
    try:
        requirement = Requirement.of(written.key, written.operator, written.values)
    except BadInput:
        return False
    value = labels.get(written.key)
    return requirement.tolerates_absence if value is None else requirement.has(value)
