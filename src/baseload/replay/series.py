"""The series that a run is measured by: what each counts, in what unit, and by what it can be narrowed down.

A series is kept as its changes, and only where an expectation or the report asks for it. `docs/replay.md` has the table
of them, which a test holds against this one.
"""

from dataclasses import dataclass, field
from typing import Final, Literal

from baseload.replay.line import Line, Sum, of_changes
from baseload.values import duration
from baseload.values.duration import HOUR, SECOND

Unit = Literal["", "dollars", "dollars an hour", "seconds"]
Labels = tuple[str, ...]
"""What one change is about: values of the filters of its series, in their order"""

PODS: Final = ("namespace", "workload")
NODES: Final = ("nodePool", "instanceType", "capacityType", "zone")

EVICTIONS: Final = ("api", "taint", "preemption", "pressure", "podGarbage")
"""The eviction API (drains, kubectl drain); tolerations that ended; a pod of higher priority; a kubelet short of
memory; the garbage collector of pods whose Node is gone"""
ENDS: Final = ("deleted", "interrupted", "failed", "retired")
"""Why an instance ended: somebody asked for it, spot capacity was reclaimed, it failed, it was retired"""
ENDED_BY: Final = {
    "Client.UserInitiatedShutdown": "deleted",
    "Server.SpotInstanceTermination": "interrupted",
    "Server.InternalError": "failed",
    "Server.ScheduledStop": "retired",
}
CHOICES: Final = {"evictions": EVICTIONS, "podsCutOff": ENDS, "terminations": ENDS}
"""The values of `cause`, where a series has one"""
MICRO: Final = 10**6  # prices are counted in millionths of a dollar


@dataclass(frozen=True, slots=True)
class Kind:
    """A series: what it is, its filters, and for a sum the series whose integral it is."""

    about: str
    filters: tuple[str, ...] = ()
    unit: Unit = ""
    scale: int = 1  # of a whole number of the line to one of the unit
    integral_of: str = ""


KINDS: Final[dict[str, Kind]] = {
    "pods.total": Kind("pods that are there, those that have ended included", PODS),
    "pods.pending": Kind("pods in the phase Pending: without a node, or with their containers not started", PODS),
    "pods.pendingLongerThan": Kind("pods that have been Pending for longer than `longerThan`", PODS),
    "pods.unbound": Kind("pods that have no node and have not ended", PODS),
    "pods.running": Kind("pods in the phase Running", PODS),
    "pods.ready": Kind("pods whose condition Ready is True", PODS),
    "nodes.total": Kind("Nodes", NODES),
    "nodes.ready": Kind("Nodes whose condition Ready is True", NODES),
    "nodes.notReady": Kind("Nodes whose condition Ready is False, Unknown or missing", NODES),
    "nodes.cordoned": Kind("Nodes with spec.unschedulable", NODES),
    "nodes.cpu": Kind("cores of all Nodes together, by their status.capacity", NODES, scale=1000),
    "nodeClaims.total": Kind("NodeClaims", NODES),
    "nodeClaims.initialized": Kind("NodeClaims whose condition Initialized is True", NODES),
    "nodeClaims.deleting": Kind("NodeClaims that are being deleted", NODES),
    "instances": Kind("instances that are pending or running", NODES),
    "launches": Kind("instances launched so far", NODES),
    "launches.unused": Kind("instances launched so far that no pod but those of DaemonSets was ever bound to", NODES),
    "terminations": Kind("instances that began to end so far", (*NODES, "cause")),
    "disruptions": Kind("nodes so far that commands of disruption gave up", ("nodePool", "reason")),
    "disruptions.repeated": Kind("commands of disruption so far that came round again", ("kind",)),
    "interruptions": Kind("spot interruption notices so far", NODES),
    "nodes.flaps": Kind("times so far that a Node which was Ready became not Ready", NODES),
    "evictions": Kind("pods evicted so far", (*PODS, "cause")),
    "podsCutOff": Kind(
        "pods so far whose containers ran when their instance ended; without those of DaemonSets, which nobody drains",
        (*PODS, "cause"),
    ),
    "restarts": Kind("restarts of containers so far", PODS),
    "oomKills": Kind("containers killed for want of memory so far", PODS),
    "events": Kind("API events told so far, repeated ones as often as they were told", ("reason", "kind", "namespace")),
    "cost.hour": Kind("what the instances that run cost an hour now", NODES, "dollars an hour", MICRO),
    "cost.total": Kind("what instances have cost so far", NODES, "dollars", MICRO * HOUR, "cost.hour"),
    "controllers.up": Kind("controllers that run", ("controller",)),
    "controllers.starts": Kind("starts of controllers so far", ("controller",)),
    "controllers.down": Kind("controllers that do not run", ("controller",)),
    "controllers.downTime": Kind(
        "how long controllers have not run so far", ("controller",), "seconds", SECOND, "controllers.down"
    ),
}


@dataclass(frozen=True, slots=True)
class Query:
    """A series narrowed down; hashable, so that what is asked twice is kept once."""

    series: str
    filters: tuple[tuple[str, str], ...] = ()  # by name
    longer_than: int | None = None

    def __str__(self) -> str:
        if not self.filters and self.longer_than is None:
            return self.series
        said = [f"{name} {value}" for name, value in self.filters]
        if self.longer_than is not None:
            said.insert(0, duration.format(self.longer_than))
        return f"{self.series}({', '.join(said)})"


PENDING_LONGER: Final = "pods.pendingLongerThan"


@dataclass(slots=True)
class _Late:
    """Changes of a series that are known only later; sorted in the end."""

    longer_than: int
    changes: list[tuple[int, int]] = field(default_factory=list)


class Book:
    """The lines of the series that somebody asks for."""

    def __init__(self, queries: tuple[Query, ...], start: int) -> None:
        self._start = start
        self._lines: dict[Query, Line] = {}
        self._late: dict[Query, _Late] = {}
        self._known: dict[tuple[str, Labels], tuple[Line, ...]] = {}
        self._late_known: dict[Labels, tuple[_Late, ...]] = {}
        for query in queries:
            if query.longer_than is not None:
                self._late.setdefault(query, _Late(query.longer_than))
            else:
                self._lines.setdefault(_basis(query), Line())

    def asks_for(self, series: str) -> bool:
        return any(query.series == series for query in self._lines)

    def add(self, series: str, labels: Labels, at: int, change: int = 1) -> None:
        """A change; whoever asks for the series of something that it is about is told."""
        key = series, labels
        lines = self._known.get(key)
        if lines is None:
            lines = self._known[key] = tuple(
                line for query, line in self._lines.items() if query.series == series and _holds(query, labels)
            )
        for line in lines:
            line.add(at, change)

    def waited(self, labels: Labels, since: int, until: int | None) -> None:
        """A pod was Pending for so long; None where it still is."""
        found = self._late_known.get(labels)
        if found is None:
            found = self._late_known[labels] = tuple(
                late for query, late in self._late.items() if _holds(query, labels)
            )
        for late in found:
            if until is None or until - since > late.longer_than:
                late.changes.append((since + late.longer_than + 1, 1))
                if until is not None:
                    late.changes.append((until, -1))

    def line(self, query: Query) -> Line | Sum:
        """What became of a series that was asked for."""
        if query.longer_than is not None:
            return of_changes(self._late[query].changes)
        line = self._lines[_basis(query)]
        return Sum(line, self._start) if KINDS[query.series].integral_of else line


def _basis(query: Query) -> Query:
    """The series that is really kept."""
    return Query(KINDS[query.series].integral_of or query.series, query.filters)


def _holds(query: Query, labels: Labels) -> bool:
    held = dict(zip(KINDS[query.series].filters, labels, strict=True))
    return all(held[name] == value for name, value in query.filters)
