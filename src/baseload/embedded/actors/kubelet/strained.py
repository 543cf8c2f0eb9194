"""Machines that are short of memory: looked at as long as they could be, and not at all otherwise.

What the pods of a node ever use together is known when they come. As long as that would do no harm, nothing is looked
at. Else a life of the node's own looks each second while what its pods use changes, and lets the model of `decide.node`
say what becomes of it: what the kernel kills, whom the kubelet evicts, and whether it still gets to post anything.
"""

from typing import TYPE_CHECKING, Final

from baseload.decide.node import eviction, pressure, qos
from baseload.decide.node.eviction import Candidate, Use
from baseload.decide.node.pressure import Load, Strain
from baseload.decide.node.qos import Victim
from baseload.embedded.actors.kubelet.pod import PodRun, Stop
from baseload.embedded.actors.lives import Life
from baseload.embedded.actors.pods import Condition
from baseload.values.instant import SECOND
from baseload.values.quantity import UNIT

if TYPE_CHECKING:
    from baseload.embedded.actors.kubelet.container import ContainerRun
    from baseload.embedded.actors.kubelet.kubelets import Kubelets
    from baseload.embedded.actors.kubelet.node import NodeRun

_SLOWEST_LOOK: Final = 6  # times the eviction interval, however slow the kubelet is (24.3)
_CONTAINERS_PER_POD: Final = 1.3  # with the pause container and what exited (24.1)
_RELIST: Final = "PLEG is not healthy: pleg was last seen active {}m{}s ago; threshold is 3m0s"


class Strained:
    """What watches the machines of a cluster."""

    def __init__(self, kubelets: "Kubelets") -> None:
        self._kubelets = kubelets

    def felt(self, node: "NodeRun") -> None:
        """Something changed in what the pods of a node use."""
        if node.watch is not None and not node.watch.is_over:
            self._kubelets.lives.poke(node.watch)

    def booked(self, node: "NodeRun") -> None:
        """Something changed in what the pods of a node could use."""
        if node.watch is not None:
            self.felt(node)
            if not node.watch.is_over:
                return
            node.watch = None
        if self.could_hurt(node):
            node.watch = self._kubelets.lives.begin(_Watch(self._kubelets, node).life())

    def forget(self, node: "NodeRun") -> None:
        if node.watch is not None:
            self._kubelets.lives.end(node.watch)

    def could_hurt(self, node: "NodeRun") -> bool:
        """Whether all that its pods ever use together would be felt."""
        settings = self._kubelets.settings.pressure
        left = node.memory - node.peak_memory
        system = settings.system_memory + settings.system_memory_per_pod * (node.used.get("pods", 0) // UNIT)
        return (
            left - system < settings.squeezed_from * node.memory
            or min(left - system, left - node.reserved) < settings.eviction_threshold
        )


class _Watch:
    """One machine that could run short, as long as it could."""

    def __init__(self, kubelets: "Kubelets", node: "NodeRun") -> None:
        self._kubelets, self._node = kubelets, node
        self._nearly_empty = 0  # since when; 0 while there is room
        self._next_eviction = 0
        self._short: int | None = None  # when memory was short last
        self._strain: Strain | None = None
        self._slow_since: int | None = None

    def life(self) -> Life:
        while True:
            now = self._kubelets.clock.now()
            self._look(now)
            until = self._next_look(now)
            if until is None:
                return
            yield until

    # -- one look

    def _look(self, now: int) -> None:
        node, settings = self._node, self._kubelets.settings.pressure
        if node.is_hung:
            return
        found = self._measure(now)
        if self._kills(found, now):
            found = self._measure(now)
        self._strain = found
        node.slowness = found.slowness
        self._stall(found, now)
        if found.is_evicting:
            self._short = now
        self._feel(found, now)
        if now >= self._next_eviction:
            self._next_eviction = now + int(eviction.INTERVAL * min(found.slowness, _SLOWEST_LOOK))
            self._evict(found, now, settings.eviction_threshold)

    def _measure(self, now: int) -> Strain:
        used, cpu = 0, 0
        for _, run in _running(self._node):
            used += run.memory_at(now)
            cpu += run.cpu_at(now)
        return pressure.strain(_load(self._node, used // UNIT, cpu / UNIT), self._kubelets.settings.pressure)

    def _kills(self, found: Strain, now: int) -> bool:
        """Lets the kernel kill a container where memory is out."""
        node = self._node
        if found.available <= 0 or found.pods_available <= 0:
            is_out = True
        elif found.available < qos.NEARLY_EMPTY * node.memory:
            self._nearly_empty = self._nearly_empty or now
            is_out = now - self._nearly_empty >= qos.FOR
        else:
            self._nearly_empty, is_out = 0, False
        if not is_out:
            return False
        runs: dict[tuple[str, ...], tuple[PodRun, ContainerRun]] = {
            (pod.record.namespace, pod.record.name, run.plan.name): (pod, run) for pod, run in _running(node)
        }
        victim = qos.chosen([_victim(key, pod, run, node.memory, now) for key, (pod, run) in runs.items()], node.memory)
        if victim is None:
            return False
        pod, run = runs[victim.key]
        held = node.held()
        if held is not None and found.available <= node.memory * qos.NEARLY_EMPTY and node.can_post:
            message = f"System OOM encountered, victim process: {run.plan.name}, pid: {run.number}"
            node.recorder.record(held, "Warning", "SystemOOM", message)
        pod.oom(run, now)
        self._poke(pod)
        return True

    def _stall(self, found: Strain, now: int) -> None:
        """Has the probes of pods fail, or succeed again."""
        for pod, _ in self._node.pods.values():
            takes = int(pod.plan.behaviour.answers_in * found.probe_slowness)
            if pod.feel(now, takes):
                self._poke(pod)

    def _feel(self, found: Strain, now: int) -> None:
        """What the kubelet itself suffers, and what its node says of it."""
        node = self._node
        node.has_memory_pressure = self._short is not None and now - self._short < eviction.TRANSITION
        if found.is_relist_bad:
            self._slow_since = now if self._slow_since is None else self._slow_since
        else:
            self._slow_since = None
        limit = int(self._kubelets.settings.pressure.relist_limit * SECOND)
        late = self._slow_since is not None and now - self._slow_since >= limit
        if late and not node.relist_fault and self._slow_since is not None:
            node.relist_fault = _RELIST.format(*divmod((now - self._slow_since) // SECOND, 60))
        elif not late:
            node.relist_fault = ""
        was_starved, node.is_starved = node.is_starved, found.is_silent
        if was_starved != node.is_starved:
            self._kubelets.heard(node)
        node.post()

    # -- eviction

    def _evict(self, found: Strain, now: int, threshold: int) -> None:
        """Evicts one pod; by the next look it will have been cleaned up, or waited for long enough."""
        if not found.is_evicting:
            return
        node = self._node
        held = node.held()
        if held is not None and node.can_post:
            node.recorder.record(held, "Warning", "EvictionThresholdMet", "Attempting to reclaim memory")
        pods = {(pod.record.namespace, pod.record.name): pod for pod, _ in node.pods.values() if pod.can_be_evicted}
        ranked = eviction.ranked([_candidate(key, pod, now) for key, pod in pods.items()])
        if not ranked:
            return
        chosen = ranked[0]
        pod = pods[chosen.key[0], chosen.key[1]]
        message = eviction.message(chosen.containers, min(found.available, found.pods_available), threshold)
        why = Condition("DisruptionTarget", "True", "", node.client.now(), "TerminationByKubelet", message)
        pod.evict(Stop(int(eviction.GRACE * found.slowness), "Evicted", message, why))
        node.warn(pod.record, "Evicted", message)
        self._poke(pod)

    def _poke(self, pod: PodRun) -> None:
        held = self._node.pods.get(pod.uid)
        if held is not None:
            self._kubelets.lives.poke(held[1])

    # -- when to look again

    def _next_look(self, now: int) -> int | None:
        """The next moment at which something can be different; None when all is well for good."""
        node, found = self._node, self._strain
        if node.is_hung or found is None:
            return now + eviction.INTERVAL
        is_calm = not (node.has_memory_pressure or node.is_starved or node.relist_fault or found.squeeze)
        if is_calm and not self._kubelets.strained.could_hurt(node):
            return None
        tick = self._kubelets.settings.pressure_tick
        if any(run.is_changing(now) for _, run in _running(node)) or self._nearly_empty:
            return now + tick
        moments = [self._next_eviction] if found.is_evicting else []
        if node.has_memory_pressure and self._short is not None:
            moments.append(self._short + eviction.TRANSITION)
        if self._slow_since is not None and not node.relist_fault:
            moments.append(self._slow_since + int(self._kubelets.settings.pressure.relist_limit * SECOND))
        return max(min(moments), now + 1) if moments else now + 60 * SECOND


def _running(node: "NodeRun") -> list[tuple[PodRun, "ContainerRun"]]:
    return [(pod, run) for pod, _ in node.pods.values() for run in pod.runs if run.state == "running"]


def _load(node: "NodeRun", used: int, cpu: float) -> Load:
    count = node.used.get("pods", 0) // UNIT
    return Load(node.memory, node.reserved, count, _CONTAINERS_PER_POD * count, used, node.cores, cpu)


def _victim(key: tuple[str, ...], pod: PodRun, run: "ContainerRun", memory: int, now: int) -> Victim:
    asked = pod.plan.arrival
    adjustment = qos.oom_score_adj(asked.qos, run.plan.memory_request // UNIT, memory, asked.spec.priority or 0)
    return Victim(key, run.memory_at(now) // UNIT, adjustment)


def _candidate(key: tuple[str, ...], pod: PodRun, now: int) -> Candidate:
    uses = tuple(
        Use(run.plan.name, run.memory_at(now) // UNIT if run.state == "running" else 0, run.plan.memory_request // UNIT)
        for run in pod.runs
        if run.plan.role != "init"
    )
    return Candidate(key, pod.plan.arrival.spec.priority or 0, uses, pod.plan.arrival.is_static)
