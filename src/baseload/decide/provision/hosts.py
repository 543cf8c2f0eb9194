"""The existing nodes as fitting sees them: what is left of each, in the order in which they are tried (spec 10)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from baseload.decide.fit.groups import CountedNode
from baseload.decide.fit.nodes import Host, places_by_hostname
from baseload.decide.fit.taints import taints_of
from baseload.decide.fit.template import Daemon
from baseload.decide.provision.daemons import expected_on, still_to_come
from baseload.decide.provision.memory import Ground, Memory
from baseload.decide.provision.occupants import NOBODY, Occupants, occupants
from baseload.decide.provision.readings import Readings
from baseload.kube.types.core import Node
from baseload.kube.types.storage import CSINode, CSINodeDriver
from baseload.model.requests import Amounts
from baseload.model.statenode import StateNode
from baseload.model.view import View
from baseload.values.label import HOSTNAME
from baseload.values.requirement import Requirements


def offered(view: View) -> tuple[StateNode, ...]:
    """The nodes that may take pods: initialised ones first, then those that boot, each by name."""
    states = (state for state in view.state_nodes if not state.marked_for_deletion)
    return tuple(sorted(states, key=lambda state: (not state.initialized, state.name)))


def occupied(
    view: View, readings: Readings, memory: Memory | None = None, leaving: frozenset[int] = frozenset()
) -> Mapping[str, Occupants]:
    """Node -> what its pods come to; without those that leave it, which are told by their ids."""
    memory = memory or Memory()
    found: dict[str, Occupants] = {}
    for name, pods in view.pods_on.items():
        if leaving:
            pods = tuple(pod for pod in pods if id(pod) not in leaving)
        found[name] = memory.occupants.value(name, pods, partial(occupants, pods, readings))
    return found


def hosts(
    states: Sequence[StateNode],
    view: View,
    readings: Readings,
    daemons: Sequence[Daemon],
    on: Mapping[str, Occupants],
    memory: Memory | None = None,
) -> tuple[Host, ...]:
    """`on`: who is on which node."""
    csi_nodes = {n.metadata.name: n for n in view.csi_nodes}
    memory = memory or Memory()
    return tuple(_remembered(state, readings, daemons, on, csi_nodes, memory) for state in states)


def _remembered(
    state: StateNode,
    readings: Readings,
    daemons: Sequence[Daemon],
    on: Mapping[str, Occupants],
    csi_nodes: Mapping[str, CSINode],
    memory: Memory,
) -> Host:
    name = state.node.metadata.name if state.node else ""
    held, csi_node = on.get(name, NOBODY), csi_nodes.get(name)

    def make(before: Ground | None) -> Ground:
        limits = _attach_limits(csi_node.spec.drivers) if csi_node else {}
        expected = _expected(state, daemons, before)
        return Ground(_host(state, held, readings, expected, limits), expected, state, daemons)

    if csi_node is not None and held.have_claims:
        return make(None).host  # volumes are other objects, which may have changed
    return memory.hosts.value(state.name, (state.node, state.claim, csi_node, held, *daemons), make).host


def _expected(state: StateNode, daemons: Sequence[Daemon], before: Ground | None) -> Amounts:
    """What the pods of DaemonSets ask of a node."""
    if not daemons:
        return {}
    if before is not None and list(before.daemons) == list(daemons):
        there = before.state
        if there.labels == state.labels and there.taints == state.taints:
            return before.expected
    return expected_on(daemons, taints_of(state.taints), Requirements.of_labels(state.labels))


def counted_nodes(view: View, states: Sequence[StateNode], memory: Memory | None = None) -> Mapping[str, CountedNode]:
    """Every Node of the API by name, as topology counts on it."""
    memory = memory or Memory()
    tracked = {state.node.metadata.name for state in view.state_nodes if state.node is not None}
    lending = {state.node.metadata.name for state in states if state.node is not None}
    places = places_by_hostname(state.hostname for state in states)
    found: dict[str, CountedNode] = {}
    for node in view.nodes:
        name = node.metadata.name
        counted = memory.counted.value(name, (node,), partial(_counted, node))
        now = places.get(counted.hostname, ()), name in lending, name in tracked
        if now != (counted.places, counted.registers, counted.tracked):
            counted = replace(counted, places=now[0], registers=now[1], tracked=now[2])
        found[name] = counted
    return found


def _counted(node: Node, before: CountedNode | None = None) -> CountedNode:
    """A node by itself: whether it lends its domains, and to whom, is not its own affair."""
    labels = node.metadata.labels
    known = before.requirements if before is not None and before.labels == labels else None
    return CountedNode(
        name=node.metadata.name,
        hostname=labels.get(HOSTNAME) or node.metadata.name,
        labels=labels,
        requirements=known or Requirements.of_labels(labels),
        taints=taints_of(node.spec.taints),
        places=(),
        registers=False,
        tracked=False,
    )


def _host(
    state: StateNode,
    held: Occupants,
    readings: Readings,
    expected: Amounts,
    attach_limits: Mapping[str, int],
) -> Host:
    attached: dict[str, frozenset[str]] = {}
    if attach_limits and held.have_claims:
        for pod in held.pods:
            for driver, claims in readings.attachments(pod).items():
                attached[driver] = attached.get(driver, frozenset()) | claims
    used, kept = held.used, still_to_come(expected, held.by_daemons)
    return Host(
        name=state.name,
        hostname=state.hostname,
        labels=state.labels,
        taints=taints_of(state.taints),
        remaining={r: a - used.get(r, 0) - kept.get(r, 0) for r, a in state.allocatable.items()},
        pool=state.pool,
        capacity=state.charged,
        ports=held.ports,
        attached=attached,
        attach_limits=attach_limits,
    )


def _attach_limits(drivers: Sequence[CSINodeDriver]) -> Mapping[str, int]:
    counts = {driver.name: driver.allocatable.count for driver in drivers if driver.allocatable is not None}
    return {name: count for name, count in counts.items() if count is not None}
