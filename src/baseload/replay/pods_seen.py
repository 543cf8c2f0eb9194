"""The pods of a run as they come, are bound, get ready, restart, are evicted and go."""

from collections.abc import Callable
from typing import Final
from weakref import WeakKeyDictionary

from baseload.embedded.actors import pods
from baseload.embedded.actors.pods import ContainerStatus, PodStatus
from baseload.embedded.store.log import Event
from baseload.embedded.store.record import Record, Shared
from baseload.embedded.store.store import Store
from baseload.replay.notebook import Notebook
from baseload.replay.series import Labels
from baseload.replay.workloads import workload_of

CLASSES: Final = ("added", "bound", "marked", "status", "removed")
_CAUSES: Final = {
    "EvictionByEvictionAPI": "api",
    "DeletionByTaintManager": "taint",
    "PreemptionByScheduler": "preemption",
    "TerminationByKubelet": "pressure",
    "DeletionByPodGC": "podGarbage",
}
"""Reason of the condition DisruptionTarget -> cause of the eviction"""
_EVICTED: Final = "Evicted"
_OOM: Final = "OOMKilled"


class Seen:
    """A pod as it was last seen."""

    __slots__ = (
        "is_daemon",
        "is_evicted",
        "is_ready",
        "key",
        "kills",
        "labels",
        "name",
        "node",
        "phase",
        "restarts",
        "since",
        "status",
    )

    def __init__(self, name: str, labels: Labels, since: int, *, is_daemon: bool) -> None:
        self.name, self.labels, self.since, self.is_daemon = name, labels, since, is_daemon
        self.phase, self.node = "", ""
        self.is_ready = self.is_evicted = False
        self.restarts = 0
        self.kills: frozenset[tuple[str, int]] = frozenset()
        self.status: object = None


class PodsSeen:
    """What the series and the journal are told of pods; `bound` hears of each that got a node."""

    def __init__(self, notebook: Notebook, store: Store, bound: Callable[[Seen], None]) -> None:
        self._note, self._store, self._bound = notebook, store, bound
        self._seen: dict[str, Seen] = {}  # by uid
        self._longest = 0
        self.running: dict[Labels, int] = {}  # (namespace, workload) -> pods in the phase Running
        self._of: WeakKeyDictionary[Shared, tuple[str, str, bool]] = WeakKeyDictionary()

    def hear(self, event: Event) -> None:
        """One change of a pod."""
        record = event.record
        if event.type == "DELETED":
            self._remove(record)
            return
        seen = self._seen.get(record.uid)
        if seen is None:
            seen = self.meet(record)
        if record.node != seen.node:
            self._bind(seen, record)
        if record.status is not seen.status:
            self._look(seen, record)
        old = event.old
        if old is not None and old.deletion is not record.deletion:
            self._mark(seen, record)

    def meet(self, record: Record) -> Seen:
        """A pod that was not seen before."""
        kind, workload, is_daemon = self._workload(record)
        now = self._note.clock.now()
        labels = (record.namespace, workload)
        seen = Seen(f"Pod {record.namespace}/{record.name}", labels, now, is_daemon=is_daemon)
        self._seen[record.uid] = seen
        seen.phase = "Pending"
        for series in ("pods.total", "pods.pending", "pods.unbound"):
            self._note.add(series, labels)
        if self._note.writer is not None:
            self._note.tell("api", "pod.created", seen.name, message="" if kind == "Pod" else f"of {kind} {workload}")
        if record.node:
            self._bind(seen, record)
        self._look(seen, record)
        return seen

    def ending(self, records: list[Record]) -> list[Seen]:
        """Those of the pods whose containers run, without DaemonSets' and static ones."""
        found = (self._seen.get(record.uid) for record in records)
        return [seen for seen in found if seen is not None and seen.phase == "Running" and not seen.is_daemon]

    def longest(self, now: int) -> int:
        """How long a pod was Pending at most."""
        waiting = (now - seen.since for seen in self._seen.values() if seen.phase == "Pending")
        return max(self._longest, *waiting, 0)

    def finish(self) -> None:
        """The run ends: pods that are still Pending have waited until now."""
        for seen in self._seen.values():
            if seen.phase == "Pending":
                self._note.book.waited(seen.labels, seen.since, None)

    def _bind(self, seen: Seen, record: Record) -> None:
        seen.node = record.node
        if seen.phase == "Pending":
            self._note.add("pods.unbound", seen.labels, -1)
        if self._note.writer is not None:
            self._note.tell("scheduler", "pod.bound", seen.name, message=f"to Node {record.node}")
        self._bound(seen)

    def _look(self, seen: Seen, record: Record) -> None:
        """Its status is another one."""
        seen.status = record.status
        told = pods.status(record)
        if told.phase and told.phase != seen.phase:
            self._enter(seen, told.phase, told)
        is_ready, reason = False, ""
        for held in told.conditions:
            if held.type == "Ready":
                is_ready, reason = held.status == "True", held.reason
                break
        if is_ready != seen.is_ready:
            seen.is_ready = is_ready
            self._note.add("pods.ready", seen.labels, 1 if is_ready else -1)
            if self._note.writer is not None:
                event = "pod.ready" if is_ready else "pod.unready"
                self._note.tell("kubelet", event, seen.name, "" if is_ready else reason)
        statuses, inits = told.container_statuses, told.init_container_statuses
        for one in (*inits, *statuses) if inits else statuses:
            if one.restart_count or one.state.terminated is not None:
                self._count(seen, told)
                break

    def _enter(self, seen: Seen, phase: str, told: PodStatus) -> None:
        now, labels = self._note.clock.now(), seen.labels
        self._leave(seen, now)
        seen.phase = phase
        if phase == "Pending":
            seen.since = now
            self._note.add("pods.pending", labels)
            if not seen.node:
                self._note.add("pods.unbound", labels)
        elif phase == "Running":
            self._note.add("pods.running", labels)
            self.running[labels] = self.running.get(labels, 0) + 1
        if phase == "Failed" and told.reason == _EVICTED:
            self._evict(seen, "pressure", told.message)
        elif phase in ("Failed", "Succeeded"):
            self._note.tell("kubelet", f"pod.{phase.lower()}", seen.name, told.reason, told.message)

    def _leave(self, seen: Seen, now: int) -> None:
        labels = seen.labels
        if seen.phase == "Pending":
            self._note.add("pods.pending", labels, -1)
            self._note.book.waited(labels, seen.since, now)
            self._longest = max(self._longest, now - seen.since)
            if not seen.node:
                self._note.add("pods.unbound", labels, -1)
        elif seen.phase == "Running":
            self._note.add("pods.running", labels, -1)
            self.running[labels] -= 1

    def _count(self, seen: Seen, told: PodStatus) -> None:
        """Restarts, and containers killed for want of memory."""
        statuses = (*told.init_container_statuses, *told.container_statuses)
        restarts = sum(one.restart_count for one in statuses)
        if restarts > seen.restarts:
            self._note.add("restarts", seen.labels, restarts - seen.restarts)
            if self._note.writer is not None:
                self._note.tell("kubelet", "pod.restarted", seen.name, _why(statuses))
        seen.restarts = restarts
        kills = frozenset(_kills(statuses))
        if kills - seen.kills:
            self._note.add("oomKills", seen.labels, len(kills - seen.kills))
        seen.kills = kills

    def _mark(self, seen: Seen, record: Record) -> None:
        """Its end has begun, or its grace got shorter."""
        target = pods.status(record).condition("DisruptionTarget")
        cause = _CAUSES.get(target.reason) if target is not None and target.status == "True" else None
        if cause is not None and target is not None:
            self._evict(seen, cause, target.message)
        elif record.deletion is not None:
            self._note.tell("api", "pod.deleted", seen.name, message=f"grace {record.deletion.grace} s")

    def _evict(self, seen: Seen, cause: str, message: str) -> None:
        if seen.is_evicted:
            return
        seen.is_evicted = True
        self._note.add("evictions", (*seen.labels, cause))
        self._note.tell("api" if cause != "pressure" else "kubelet", "pod.evicted", seen.name, cause, message)

    def _remove(self, record: Record) -> None:
        seen = self._seen.pop(record.uid, None)
        if seen is None:
            return
        if record.deletion is None:
            self._mark(seen, record)  # without a grace: it was marked and gone in one step
        self._leave(seen, self._note.clock.now())
        if seen.is_ready:
            self._note.add("pods.ready", seen.labels, -1)
        self._note.add("pods.total", seen.labels, -1)
        self._note.tell("api", "pod.removed", seen.name)

    def _workload(self, pod: Record) -> tuple[str, str, bool]:
        """The kind and name of what a pod is made for, and whether nobody drains it."""
        found = self._of.get(pod.shared)
        if found is None:
            kind, name = workload_of(self._store, pod)
            if kind == "Pod":
                return kind, name, False
            found = self._of[pod.shared] = kind, name, kind in ("DaemonSet", "Node")
        return found


def _kills(statuses: tuple[ContainerStatus, ...]) -> list[tuple[str, int]]:
    """(container, which of its lives) for those that the kernel killed."""
    return [
        (one.name, one.restart_count - back)
        for one in statuses
        for state, back in ((one.state, 0), (one.last_state, 1))
        if state.terminated is not None and state.terminated.reason == _OOM
    ]


def _why(statuses: tuple[ContainerStatus, ...]) -> str:
    ended = (one.last_state.terminated for one in statuses)
    return next((one.reason for one in ended if one is not None and one.reason), "")
