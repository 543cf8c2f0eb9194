"""How the containers of each workload behave: by rules, and by the annotations of its pods."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from weakref import WeakKeyDictionary

from baseload.decide.fit.ports import HostPort
from baseload.decide.fit.taints import tolerations_of
from baseload.decide.node import behaviour
from baseload.decide.node.arrival import Arrival
from baseload.decide.node.behaviour import Behaviour
from baseload.decide.node.phases import Phase, Role, Said
from baseload.decide.node.probes import Probe
from baseload.decide.node.qos import QosClass
from baseload.embedded.actors.kubelet import readings, volumes
from baseload.embedded.actors.kubelet.readings import Spec
from baseload.embedded.actors.pods import status
from baseload.embedded.store.record import Body, Record, Shared
from baseload.kube.types import core
from baseload.model import requests
from baseload.values import quantity
from baseload.values.errors import BadInput
from baseload.values.instant import SECOND

Found = tuple[Phase, tuple[Said, ...], tuple[tuple[str, bool, bool], ...]]
"""A phase, the conditions that go with it, and which of their fields are written"""


@dataclass(frozen=True, slots=True)
class Rule:
    """The behaviour of the workloads whose namespace and name match, by `*` and `?`."""

    behaviour: Behaviour
    name: str = "*"
    namespace: str = "*"

    def is_about(self, namespace: str, name: str) -> bool:
        return fnmatchcase(namespace, self.namespace) and fnmatchcase(name, self.name)


@dataclass(frozen=True, slots=True)
class ContainerPlan:
    """A container as its pod's spec has it; memory in bytes times 10^9, as all amounts."""

    name: str
    image: str
    role: Role
    memory_request: int
    cpu_request: int
    memory_limit: int | None
    readiness: Probe | None
    liveness: Probe | None
    startup: Probe | None
    pre_stop: int
    pulled: str = field(init=False)  # what is said of it over and over
    stopping: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "pulled", f'Container image "{self.image}" already present on machine')
        object.__setattr__(self, "stopping", f"Stopping container {self.name}")


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What is alike in pods of one template: what they ask of their node, and how they behave."""

    arrival: Arrival
    behaviour: Behaviour
    containers: tuple[ContainerPlan, ...]  # init containers and sidecars first, in their order
    policy: str
    gates: tuple[str, ...]
    deadline: int | None
    grace: int
    host_network: bool
    has_claims: bool = False  # among its volumes
    fault: str = ""  # what is wrong with its annotations
    said: dict[object, Found] = field(default_factory=dict)  # by the state of its containers
    others: int = field(init=False)  # how many of its containers are no main ones
    requests: Mapping[str, int] = field(init=False)
    peak_memory: int = field(init=False)  # the most that its containers ever use together, in bytes

    def __post_init__(self) -> None:
        kept = (one for one in self.containers if one.role != "init")
        peak = sum(self.behaviour.memory_peak(one.memory_request) for one in kept) // quantity.UNIT
        object.__setattr__(self, "requests", self.arrival.requests)
        object.__setattr__(self, "others", sum(one.role != "main" for one in self.containers))
        object.__setattr__(self, "peak_memory", peak)


class Script:
    """Rules, of which the first that is about a workload counts, and what was read of pods by them."""

    def __init__(self, rules: tuple[Rule, ...] = (), default: Behaviour = behaviour.DEFAULT) -> None:
        self._rules, self._default = rules, default
        self._plans: WeakKeyDictionary[Shared, dict[tuple[Body, str], Plan]] = WeakKeyDictionary()

    def plan(self, pod: Record) -> Plan:
        """How a pod behaves; pods of one template share what is found."""
        known = self._plans.get(pod.shared)
        if known is None:
            known = self._plans[pod.shared] = {}
        key = pod.body, pod.name if self._rules and not pod.shared.owners else ""
        found = known.get(key)
        if found is None:
            found = known[key] = self._read(pod)
        return found

    def behaviour(self, pod: Record) -> tuple[Behaviour, str]:
        """A pod's behaviour, and what is wrong with what its annotations say of it."""
        name = pod.shared.owners[0].name if pod.shared.owners else pod.name
        basis = next((rule.behaviour for rule in self._rules if rule.is_about(pod.namespace, name)), self._default)
        try:
            return behaviour.annotated(pod.shared.annotations, basis), ""
        except BadInput as error:
            return basis, str(error)

    def _read(self, pod: Record) -> Plan:
        spec, placed = pod.body.spec(Spec), pod.body.spec(core.PodSpec)
        own, fault = self.behaviour(pod)
        grace = spec.termination_grace_period_seconds
        deadline = spec.active_deadline_seconds
        inits = (
            _container(one, own, "sidecar" if one.restart_policy == "Always" else "init")
            for one in spec.init_containers
        )
        return Plan(
            _arrival(pod, placed),
            own,
            (*inits, *(_container(one, own, "main") for one in spec.containers)),
            spec.restart_policy,
            tuple(gate.condition_type for gate in spec.readiness_gates),
            None if deadline is None else deadline * SECOND,
            (30 if grace is None else grace) * SECOND,
            spec.host_network,
            volumes.has_claims(placed),
            fault,
        )


def _arrival(pod: Record, spec: core.PodSpec) -> Arrival:
    ports = tuple(
        HostPort(port.host_ip or "0.0.0.0", port.host_port, port.protocol or "TCP")
        for container in spec.containers
        for port in container.ports
        if port.host_port
    )
    told = status(pod).qos_class
    qos: QosClass = "Guaranteed" if told == "Guaranteed" else "Burstable" if told == "Burstable" else "BestEffort"
    return Arrival(
        spec,
        requests.of_spec(spec),
        qos,
        tolerations_of(spec.tolerations),
        ports,
        readings.MIRROR in pod.shared.annotations,
    )


def _container(written: readings.Container, own: Behaviour, role: Role) -> ContainerPlan:
    asked, limits = written.resources.requests, written.resources.limits
    limit = limits.get("memory")
    return ContainerPlan(
        written.name,
        written.image,
        role,
        quantity.parse(asked.get("memory", 0)),
        quantity.parse(asked.get("cpu", 0)),
        None if limit is None else quantity.parse(limit),
        readings.probe_of(written.readiness_probe),
        readings.probe_of(written.liveness_probe),
        readings.probe_of(written.startup_probe),
        readings.pre_stop_of(written) if own.pre_stop_takes is None else _hook(written, own.pre_stop_takes),
    )


def _hook(written: readings.Container, takes: int) -> int:
    """A preStop hook of a scripted length, where there is one."""
    return takes if written.lifecycle and written.lifecycle.pre_stop else 0
