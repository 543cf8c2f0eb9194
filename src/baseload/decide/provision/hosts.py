"""The existing nodes as fitting sees them: what is left of each, in the order in which they are tried (spec 10)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from baseload.decide.fit.groups import CountedNode
from baseload.decide.fit.nodes import Host, places_by_hostname
from baseload.decide.fit.ports import HostPort
from baseload.decide.fit.taints import taints_of
from baseload.decide.fit.template import Daemon
from baseload.decide.provision.daemons import reserve
from baseload.decide.provision.memory import Memory
from baseload.decide.provision.readings import Readings
from baseload.kube.types.core import Node, Pod
from baseload.kube.types.storage import CSINode, CSINodeDriver
from baseload.model.requests import Amounts, add
from baseload.model.statenode import StateNode
from baseload.model.view import View, claim_name, is_daemon
from baseload.values.label import HOSTNAME
from baseload.values.requirement import Requirements


def offered(view: View) -> tuple[StateNode, ...]:
    """The nodes that may take pods: initialised ones first, then those that boot, each by name."""
    states = (state for state in view.state_nodes if not state.marked_for_deletion)
    return tuple(sorted(states, key=lambda state: (not state.initialized, state.name)))


def hosts(
    states: Sequence[StateNode],
    view: View,
    readings: Readings,
    daemons: Sequence[Daemon],
    memory: Memory | None = None,
) -> tuple[Host, ...]:
    csi_nodes = {n.metadata.name: n for n in view.csi_nodes}
    memory = memory or Memory()
    return tuple(_remembered(state, view, readings, daemons, csi_nodes, memory) for state in states)


def _remembered(
    state: StateNode,
    view: View,
    readings: Readings,
    daemons: Sequence[Daemon],
    csi_nodes: Mapping[str, CSINode],
    memory: Memory,
) -> Host:
    name = state.node.metadata.name if state.node else ""
    pods, csi_node = view.pods_on.get(name, ()), csi_nodes.get(name)

    def make() -> Host:
        limits = _attach_limits(csi_node.spec.drivers) if csi_node else {}
        return _host(state, pods, readings, daemons, limits)

    if csi_node is not None and any(claim_name(pod, volume) for pod in pods for volume in pod.spec.volumes):
        return make()  # volumes are other objects, which may have changed
    seen = (state.node, state.claim, csi_node, *daemons, *map(_takes, pods))
    return memory.hosts.value(state.name, seen, make)


def _takes(pod: Pod) -> object:
    """What tells how much a pod takes of its node: who it is, and what its status says of its size."""
    status = pod.status
    told = [
        (it.name, it.allocated_resources, it.resources.requests if it.resources else None)
        for it in (*status.container_statuses, *status.init_container_statuses)
        if it.allocated_resources or it.resources
    ]
    return pod.metadata.uid or pod, told, status.resize, any(it.type == "PodResizePending" for it in status.conditions)


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


def _counted(node: Node) -> CountedNode:
    """A node by itself: whether it lends its domains, and to whom, is not its own affair."""
    labels = node.metadata.labels
    return CountedNode(
        name=node.metadata.name,
        hostname=labels.get(HOSTNAME) or node.metadata.name,
        labels=labels,
        requirements=Requirements.of_labels(labels),
        taints=taints_of(node.spec.taints),
        places=(),
        registers=False,
        tracked=False,
    )


def _host(
    state: StateNode,
    pods: Sequence[Pod],
    readings: Readings,
    daemons: Sequence[Daemon],
    attach_limits: Mapping[str, int],
) -> Host:
    used: Amounts = {}
    by_daemons: Amounts = {}
    ports: list[HostPort] = []
    attached: dict[str, frozenset[str]] = {}
    for pod in pods:
        asked = readings.requests(pod)
        add(used, asked)
        if is_daemon(pod):
            add(by_daemons, asked)
        if any(port.host_port for container in pod.spec.containers for port in container.ports):
            ports += readings.constraints(pod).ports
        if attach_limits:
            for driver, claims in readings.attachments(pod).items():
                attached[driver] = attached.get(driver, frozenset()) | claims
    taints = taints_of(state.taints)
    kept = reserve(daemons, taints, Requirements.of_labels(state.labels), by_daemons) if daemons else {}
    return Host(
        name=state.name,
        hostname=state.hostname,
        labels=state.labels,
        taints=taints,
        remaining={r: a - used.get(r, 0) - kept.get(r, 0) for r, a in state.allocatable.items()},
        pool=state.pool,
        capacity=state.charged,
        ports=tuple(ports),
        attached=attached,
        attach_limits=attach_limits,
    )


def _attach_limits(drivers: Sequence[CSINodeDriver]) -> Mapping[str, int]:
    counts = {driver.name: driver.allocatable.count for driver in drivers if driver.allocatable is not None}
    return {name: count for name, count in counts.items() if count is not None}
