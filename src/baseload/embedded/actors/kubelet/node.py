"""One machine and its kubelet: it registers, posts its status, and keeps the books of its pods."""

from typing import TYPE_CHECKING, Final

import msgspec

from baseload.decide.fit.taints import taints_of
from baseload.decide.node import arrival
from baseload.decide.node.arrival import Place, Refusal
from baseload.decide.node.eviction import THRESHOLD
from baseload.embedded.actors import nodes
from baseload.embedded.actors.kubelet import registration
from baseload.embedded.actors.kubelet.machines import Machine
from baseload.embedded.actors.kubelet.pod import PodRun
from baseload.embedded.actors.lives import Life, Living
from baseload.embedded.actors.nodes import NodeStatus
from baseload.embedded.actors.pods import Condition
from baseload.embedded.actors.recorder import Recorder
from baseload.embedded.store.errors import StatusError
from baseload.embedded.store.record import Record
from baseload.values.quantity import UNIT

if TYPE_CHECKING:
    from baseload.decide.fit.ports import HostPort
    from baseload.embedded.actors.kubelet.kubelets import Kubelets

_NO_CNI: Final = (
    "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady "
    "message:Network plugin returns error: cni plugin not initialized"
)
_READY: Final = ("KubeletReady", "kubelet is posting ready status")
_PRESSURE: Final = {
    True: ("KubeletHasInsufficientMemory", "kubelet has insufficient memory available"),
    False: ("KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
}


class NodeRun:
    """A machine that has booted."""

    def __init__(self, kubelets: "Kubelets", machine: Machine, number: int, *, keeps_pods: bool = False) -> None:
        """With `keeps_pods` the machine runs already, and so does what runs on it."""
        self.kubelets, self.machine, self.number, self.keeps_pods = kubelets, machine, number, keeps_pods
        self.client, self.settings = kubelets.client, kubelets.settings
        self.name = machine.name
        self.recorder = Recorder(self.client, "kubelet", machine.name)
        self.pods: dict[str, tuple[PodRun, Living]] = {}  # by uid
        self.used: dict[str, int] = {}
        self.ports: dict[str, tuple[HostPort, ...]] = {}
        self.peak_memory = 0
        self.is_registered = self.is_hung = self.is_starved = self.is_up = False
        self.relist_fault = ""
        self.has_memory_pressure = False
        self.network_works = self.is_configured = False
        self.slowness = 1.0
        self.living: Living | None = None
        self.host_ip = machine.address or f"172.{16 + (number >> 16) % 16}.{number >> 8 & 255}.{number & 255}"
        self._next_address = 0
        self._addresses: dict[str, None] = {}
        self.watch: Living | None = None  # what looks at its memory
        total = machine.capacity.get("memory", 0) // UNIT
        allocatable = machine.allocatable.get("memory", 0) // UNIT
        reserved = machine.reserved_memory
        self.memory = total
        self.reserved = max(total - allocatable - THRESHOLD, 0) if reserved is None else reserved
        self.cores = machine.cores if machine.cores is not None else machine.capacity.get("cpu", 0) / UNIT

    def now(self) -> int:
        return self.kubelets.clock.now()

    @property
    def can_post(self) -> bool:
        """Whether what its kubelet writes arrives."""
        return self.is_registered and not self.is_hung and not self.is_starved and not self.kubelets.is_cut_off

    # -- the node

    def life(self) -> Life:
        """Registers when the machine is up to it, and becomes ready."""
        machine = self.machine
        if machine.registers_at is None:
            return
        while self.now() < machine.registers_at:
            yield machine.registers_at
        while self.is_hung or self.kubelets.is_cut_off:
            yield None
        self._register()
        if machine.ready_at is None:
            return
        while self.now() < machine.ready_at:
            yield machine.ready_at
        self.is_up = True
        self.post()
        while True:
            yield None

    def _register(self) -> None:
        held = self.held()
        if held is None:
            tree = registration.tree(self.machine, self.host_ip, self.settings.version, self.client.now())
            try:
                held = self.client.create(self.client.kind("", "Node"), "", msgspec.json.encode(tree))
            except StatusError:
                return
        self.is_registered = True
        self.kubelets.leases.begin(self.name)
        self.recorder.record(held, "Normal", "Starting", "Starting kubelet.")
        self.post()
        self.kubelets.found(self)

    def held(self) -> Record | None:
        """Its Node as it is now."""
        return self.client.store.find(self.kubelets.node_kind, "", self.name)

    def post(self) -> None:
        """Writes its conditions, where they are others than before."""
        held = self.held()
        if held is None or not self.can_post:
            return
        old = nodes.status(held)
        new = tuple(self._condition(old, *one) for one in self._conditions())
        if any(one is not old.condition(one.type) for one in new):
            before = old.condition("Ready")
            told = old.with_conditions(new)
            self.client.write_status(held, told, "conditions", owned=lambda: NodeStatus(conditions=new))
            self._tell_of(held, before, told)

    def _conditions(self) -> list[tuple[str, bool, tuple[str, str]]]:
        return [
            ("MemoryPressure", self.has_memory_pressure, _PRESSURE[self.has_memory_pressure]),
            ("DiskPressure", False, ("KubeletHasNoDiskPressure", "kubelet has no disk pressure")),
            ("PIDPressure", False, ("KubeletHasSufficientPID", "kubelet has sufficient PID available")),
            ("Ready", not self._unready, (("KubeletNotReady", self._unready) if self._unready else _READY)),
        ]

    @property
    def _unready(self) -> str:
        if not self.is_configured or not self.is_up:
            return _NO_CNI
        return self.relist_fault

    def _condition(self, old: NodeStatus, type: str, is_true: bool, why: tuple[str, str]) -> Condition:
        status, now, held = "True" if is_true else "False", self.client.now(), old.condition(type)
        if held is not None and (held.status, held.reason, held.message) == (status, *why):
            return held
        since = held.last_transition_time if held is not None and held.status == status else now
        return Condition(type, status, now, since, *why)

    def _tell_of(self, held: Record, before: Condition | None, told: NodeStatus) -> None:
        after = told.condition("Ready")
        if after is not None and before is not None and before.status != after.status:
            what = "NodeReady" if after.status == "True" else "NodeNotReady"
            self.recorder.record(held, "Normal", what, f"Node {self.name} status is now: {what}")
            if after.status == "True":
                self.refresh()

    def refresh(self) -> None:
        """Has every pod post its status again, which others may have changed meanwhile."""
        for run, living in self.pods.values():
            if not run.is_over and run.admitted:
                run.is_dirty = True
            self.kubelets.lives.poke(living)

    # -- its pods

    def holds(self, run: PodRun) -> bool:
        """Whether the kubelet still has to do with a pod."""
        return run.uid in self.pods and run.stop is None

    def admit(self, run: PodRun) -> Refusal | None:
        """Takes a pod and books what it asks for, or says why not."""
        held = self.held()
        if held is None:
            return None
        asked = run.plan.arrival
        place = Place(
            self.name,
            held.shared.labels,
            taints_of(nodes.spec(held).taints),
            self.machine.allocatable,
            self.used,
            [port for ports in self.ports.values() for port in ports] if asked.ports else (),
            ("MemoryPressure",) if self.has_memory_pressure else (),
        )
        found = arrival.refusal(asked, place)
        if found is None:
            self._book(run, 1)
            if asked.ports:
                self.ports[run.uid] = asked.ports
        return found

    def release(self, run: PodRun) -> None:
        """A pod's containers have all ended."""
        self._book(run, -1)
        self.ports.pop(run.uid, None)
        self.kubelets.waiting.pop(run.uid, None)
        self._addresses.pop(run.ip, None)

    def _book(self, run: PodRun, sign: int) -> None:
        used = self.used
        for name, amount in run.plan.requests.items():
            used[name] = used.get(name, 0) + sign * amount
        self.peak_memory += sign * run.plan.peak_memory
        self.kubelets.strained.booked(self)

    def forget(self, run: PodRun) -> None:
        self.pods.pop(run.uid, None)
        self.recorder.forget(run.record)

    def felt(self) -> None:
        """Something changed in what pods use."""
        if self.watch is not None:
            self.kubelets.strained.felt(self)

    def address(self, run: PodRun) -> str:
        """The address of a pod that begins to run."""
        if run.plan.host_network:
            return self.host_ip
        while True:
            self._next_address = self._next_address % 1021 + 2
            low = self._next_address
            found = f"10.{(self.number >> 6) % 256}.{(self.number & 63) << 2 | low >> 8}.{low & 255}"
            if found not in self._addresses:
                self._addresses[found] = None
                return found

    def tell(self, pod: Record, reason: str, message: str) -> None:
        if self.settings.tells_normal_events and self.can_post:
            self.recorder.record(pod, "Normal", reason, message)

    def warn(self, pod: Record, reason: str, message: str) -> None:
        if self.can_post:
            self.recorder.record(pod, "Warning", reason, message)
