"""One pod on its node, from the kubelet's first sight of it to its end.

It is one generator: each turn looks at what is due, writes the status where something changed, and says until when it
waits. What comes from outside (a deletion, an eviction, a network that works at last) is noted and the life poked.
"""

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from baseload.decide.node import phases
from baseload.decide.node.arrival import Refusal
from baseload.decide.node.ending import EXTRA, KILLED, ending
from baseload.embedded.actors.kubelet import statuses, volumes
from baseload.embedded.actors.kubelet.container import ContainerRun
from baseload.embedded.actors.kubelet.going_on import goes_on
from baseload.embedded.actors.lives import Life
from baseload.embedded.actors.pods import Condition, PodStatus, is_over
from baseload.embedded.actors.pods import status as read_status
from baseload.embedded.store.deletion import Options
from baseload.embedded.store.record import Record

if TYPE_CHECKING:
    from baseload.embedded.actors.kubelet.node import NodeRun
    from baseload.embedded.actors.kubelet.script import Plan

NEVER: Final = 1 << 62
"""Until it is poked"""
_FOR_GOOD: Final = Options(grace_seconds=0)
_OVERDUE: Final = "Pod was active on the node longer than the specified deadline"
_NO_NETWORK: Final = (
    "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox: "
    "plugin failed (add): unable to connect to the network agent: is it running?"
)


@dataclass(frozen=True, slots=True)
class Stop:
    """Why and how the kubelet ends a pod."""

    grace: int
    reason: str = ""  # the status' own; "" leaves the phase to the exit codes
    message: str = ""
    condition: Condition | None = None
    is_deletion: bool = False


class PodRun:
    """One pod on one node."""

    __slots__ = (
        "admitted",
        "begins",
        "deadline",
        "ends",
        "ip",
        "is_dirty",
        "is_initialized",
        "is_marked",
        "is_over",
        "is_waiting_for_network",
        "is_waiting_for_volumes",
        "node",
        "plan",
        "record",
        "runs",
        "stop",
        "stopped",
        "uid",
    )

    def __init__(self, node: "NodeRun", record: Record, plan: "Plan") -> None:
        self.node, self.record, self.plan, self.uid = node, record, plan, record.uid
        waits_for = "ContainerCreating" if plan.containers[0].role == "main" else "PodInitializing"
        self.runs = [ContainerRun(one, plan.behaviour, waits_for) for one in plan.containers]
        self.ip = ""
        self.admitted, self.begins = 0, 0
        self.deadline: int | None = None
        self.stop: Stop | None = None  # what ends it
        self.stopped, self.ends = 0, 0  # since when, 0 before; and when it is over at the latest
        self.is_dirty = self.is_initialized = self.is_over = self.is_marked = self.is_waiting_for_network = False
        self.is_waiting_for_volumes = False

    # -- what comes from outside

    def mark(self, record: Record) -> None:
        """Somebody deleted it, or shortened its grace."""
        self.record, self.is_marked = record, True
        assert record.deletion is not None
        grace = record.deletion.grace * 10**9
        if self.stop is None or (self.stop.is_deletion and grace < self.stop.grace):
            self.stop = Stop(grace, is_deletion=True)
            if self.stopped:
                self.ends = min(self.ends, self.node.now() + grace)

    def evict(self, stop: Stop) -> None:
        """The kubelet ends it by itself."""
        if self.stop is None:
            self.stop = stop

    def feel(self, now: int, takes: int) -> bool:
        """Probes take so long from now on; whether that makes a difference to it."""
        is_changed = False
        for run in self.runs:
            timeouts = [probe.timeout for probe in (run.plan.readiness, run.plan.liveness) if probe is not None]
            is_stalled = bool(timeouts) and takes > min(timeouts)
            if timeouts and is_stalled is not run.is_stalled:
                run.stall(now, is_stalled=is_stalled)
                is_changed = True
        return is_changed

    @property
    def can_be_evicted(self) -> bool:
        return bool(self.admitted) and not self.is_over and self.stop is None

    # -- its life

    def life(self) -> Life:
        """All of it; ends when the object is gone or the kubelet has no more to do with it."""
        node = self.node
        yield node.now() + node.settings.sees_after + node.kubelets.lag
        while node.kubelets.is_cut_off:
            yield None  # it is to be admitted by what the API says of the node
        held = self._held()
        if held is not None and is_over(held):
            self.is_over = True  # it ended under an earlier kubelet of the node
        refused = None if self.is_over or self.stop is not None else node.admit(self)
        if refused is not None:
            self._refuse(refused)
        elif not self.is_over and node.holds(self):
            yield from self._live()
        else:
            self.is_over = True
        while True:
            if self.is_dirty:
                self._write()
            if self.is_marked and node.can_post:
                break
            yield None
        self._remove()

    def _live(self) -> Life:
        node, now = self.node, self.node.now()
        self.admitted = now
        self.begins = now + int(self.plan.behaviour.starts_after * node.slowness)
        self.deadline = None if self.plan.deadline is None else now + self.plan.deadline
        self.is_dirty = True
        if node.keeps_pods:
            self._go_on(now)
        if self.plan.has_claims and node.kubelets.volumes is not None and not self.is_initialized:
            self.is_waiting_for_volumes, self.begins = True, now
            node.kubelets.waiting[self.uid] = self, node
        while not self.is_over:
            yield from self._wait()
            if not node.is_hung:
                self._turn(node.now())
        node.release(self)

    def _go_on(self, now: int) -> None:
        """Has what ran before the kubelet saw it go on."""
        held = self._held()
        if held is not None and goes_on(read_status(held), self.runs, now):
            self.ip = self.node.address(self)
            self.is_initialized = True
            self.node.felt()

    def _wait(self) -> Generator[int | None, None, None]:
        if self.is_dirty or self.is_over:
            self._write()
        moments = [run.agenda[0][0] for run in self.runs if run.agenda]
        if not self.is_initialized and not self.is_waiting_for_network and self.stop is None and not moments:
            moments += [self.begins] if self.begins < NEVER else []
        if self.deadline is not None and self.stop is None:
            moments.append(self.deadline)
        yield min(moments) if moments and not self.node.is_hung else None

    def _turn(self, now: int) -> None:
        """What is due now."""
        if self.stop is None and self.deadline is not None and now >= self.deadline:
            self.stop = Stop(self.plan.grace, "DeadlineExceeded", _OVERDUE)
        if self.stop is not None:
            self._turn_down(now, self.stop)
            return
        for run in self.runs:
            while run.agenda and run.agenda[0][0] <= now:
                self._happens(run, now)
        if self.is_waiting_for_volumes and now >= self.begins:
            self._look_for_volumes(now)
        if not self.is_initialized and now >= self.begins and self._has_network():
            self._begin_due(now)
        if all(run.state == "terminated" for run in self.runs if run.plan.role == "main"):
            self.stop = Stop(self.plan.grace)
            self._turn_down(now, self.stop)

    def _look_for_volumes(self, now: int) -> None:
        """Waits on, or begins as if it had just been admitted."""
        kubelets = self.node.kubelets
        lacking = None if kubelets.volumes is None else kubelets.volumes.lacking(self.record, self.node.name)
        if lacking is None:
            self.is_waiting_for_volumes = False
            kubelets.waiting.pop(self.uid, None)
            self.begins = now + int(self.plan.behaviour.starts_after * self.node.slowness)
        elif lacking.fault:
            self.node.warn(self.record, "FailedMount", lacking.fault)
            self.begins = now + volumes.RETRIES
        else:
            self.begins = NEVER

    def _has_network(self) -> bool:
        if self.plan.host_network or self.node.network_works:
            self.is_waiting_for_network = False
            return True
        if not self.is_waiting_for_network:
            self.is_waiting_for_network = True
            self.node.warn(self.record, "FailedCreatePodSandBox", _NO_NETWORK)
        return False

    def _begin_due(self, now: int) -> None:
        """Starts the next of the containers that start one after the other, then all others."""
        for run in self.runs:
            if run.plan.role == "main" or (run.plan.role == "init" and run.state == "terminated"):
                continue
            if run.number == 0:
                self._begin(run, now)
            if run.plan.role == "init" or not run.is_started:
                return
        for run in self.runs:
            if run.plan.role == "main":
                self._begin(run, now)
        self.is_initialized = True

    def _begin(self, run: ContainerRun, now: int) -> None:
        if not self.ip:
            self.ip = self.node.address(self)
        run.begin(now)
        self._told_of(run)
        while run.agenda and run.agenda[0][0] <= now:
            self._happens(run, now)

    def _told_of(self, run: ContainerRun) -> None:
        self.is_dirty = True
        self.node.felt()
        self.node.tell(self.record, "Pulled", run.plan.pulled)
        self.node.tell(self.record, "Created", "Container created")
        self.node.tell(self.record, "Started", "Container started")

    def _happens(self, run: ContainerRun, now: int) -> None:
        """What is next for a container."""
        _, what, why = run.agenda.pop(0)
        self.is_dirty = True
        match what:
            case "started":
                run.is_started = True
            case "ready":
                run.is_ready = True
            case "unready":
                run.is_ready = False
                self.node.warn(self.record, "Unhealthy", f"{why} probe failed: no answer in time")
            case "exit":
                run.end(now, 0 if run.plan.role == "init" else run.own.exit_code)
                self._ended(run, now)
            case "oom":
                run.end(now, KILLED, "OOMKilled")
                self._ended(run, now)
            case "unhealthy":
                self._kill(run, now, why)
            case "stopped":
                run.end(now, run.code, why)
                self._ended(run, now)
            case "restart":
                run.begin(now)
                self._told_of(run)

    def _kill(self, run: ContainerRun, now: int, probe: str) -> None:
        """A container that failed a probe for good."""
        failed = run.plan.startup if probe == "Startup" else run.plan.liveness
        grace = failed.grace if failed is not None and failed.grace is not None else self.plan.grace
        self.node.warn(self.record, "Unhealthy", f"{probe} probe failed: no answer in time")
        killing = f"Container {run.plan.name} failed {probe.lower()} probe, will be restarted"
        self.node.tell(self.record, "Killing", killing)
        run.stop(now, ending(grace, run.plan.pre_stop, run.own.stops_after), run.own.stop_code)

    def oom(self, run: ContainerRun, now: int) -> None:
        """The kernel killed a container."""
        run.end(now, KILLED, "OOMKilled")
        self.is_dirty = True
        if self.stop is None:
            self._ended(run, now)

    def _ended(self, run: ContainerRun, now: int) -> None:
        self.node.felt()
        policy = "Always" if run.plan.role == "sidecar" else self.plan.policy
        if run.plan.role == "init" and run.code == 0:
            return
        if not phases.may_restart(policy, run.code):
            return
        delay = run.back_off(now, self.node.settings.longest_restart_delay)
        if delay is None:
            self._told_of(run)
            return
        pod = f"{self.record.name}_{self.record.namespace}({self.uid})"
        run.waits_why = f"back-off {_go(delay)} restarting failed container={run.plan.name} pod={pod}"
        message = f"Back-off restarting failed container {run.plan.name} in pod {pod}"
        self.node.warn(self.record, "BackOff", message)

    # -- its end

    def _turn_down(self, now: int, stop: Stop) -> None:
        """Ends what runs: all but the sidecars at once, then those, the last one first."""
        if not self.stopped:
            self.stopped = now
            extra = EXTRA if any(run.plan.pre_stop >= stop.grace > 0 for run in self.runs) else 0
            self.ends = now + stop.grace + extra
            for run in self.runs:
                run.agenda = []
                if run.state == "running" and run.plan.role != "sidecar":
                    self._end(run, now, stop)
        last = self.ends
        for run in self.runs:
            if run.agenda and run.agenda[0][0] > last:
                run.agenda, run.code = [(max(last, now), "stopped", "")], KILLED
            if run.agenda and run.agenda[0][0] <= now:
                run.end(now, run.code)
                self.is_dirty = True
        running = [run for run in self.runs if run.state == "running"]
        if not running:
            self.is_over = self.is_dirty = True
            self.node.felt()
        elif running[-1].plan.role == "sidecar" and not running[-1].agenda and not any(run.agenda for run in running):
            self._end(running[-1], now, stop)

    def _end(self, run: ContainerRun, now: int, stop: Stop) -> None:
        left = max(min(self.stopped + stop.grace, self.ends) - now, 0)
        self.node.tell(self.record, "Killing", run.plan.stopping)
        run.stop(now, ending(left, run.plan.pre_stop, run.own.stops_after), run.own.stop_code)

    def _refuse(self, why: Refusal) -> None:
        self.node.warn(self.record, why.reason, why.message)
        self.is_over = True
        self.stop = Stop(0, why.reason, f"Pod was rejected: {why.message}")
        held = self._held()
        if held is None:
            return
        known = read_status(held)
        told = PodStatus("Failed", known.conditions, self.stop.message, why.reason, qos_class=known.qos_class)
        self.node.client.write_status(held, told, ("refused", tuple(one.type for one in known.conditions)))

    def _remove(self) -> None:
        self.node.forget(self)
        held = self._held()
        if held is not None and held.deletion is not None:
            self.node.client.delete(held, _FOR_GOOD)

    def _held(self) -> Record | None:
        """The object as it is now; None where it is gone."""
        held = self.node.client.store.find(self.record.resource, self.record.namespace, self.record.name)
        return held if held is not None and held.uid == self.uid else None

    def _write(self) -> None:
        held = self._held()
        if held is None or not self.node.can_post:
            return  # it stays dirty, for the time when the node can post again
        self.is_dirty = False
        stop = self.stop if self.is_over else None
        told, outline = statuses.status(
            read_status(held),
            self.runs,
            self.plan,
            uid=self.uid,
            now=self.node.now(),
            is_over=self.is_over,
            has_sandbox=bool(self.ip) and not self.is_over,
            admitted=self.admitted,
            host_ip=self.node.host_ip,
            pod_ip=self.ip,
            generation=held.generation,
            failure=("", "") if stop is None else (stop.reason, stop.message),
            extra=None if stop is None else stop.condition,
        )
        self.node.client.write_status(held, told, outline, owned=lambda: statuses.owned(told), key=self.ip)


def _go(nanoseconds: int) -> str:
    """A duration as Go writes it: 40s, 1m20s."""
    minutes, seconds = divmod(nanoseconds // 10**9, 60)
    return f"{minutes}m{seconds}s" if minutes else f"{seconds}s"
