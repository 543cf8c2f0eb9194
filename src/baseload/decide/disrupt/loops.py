"""Whether disruption goes in circles: the same move, the same pods, the same nodes coming back.

What was done is kept as a history, each thing with its moment: commands that gave nodes up, and nodes launched for
pods that waited. Pods come back under other names and nodes always do; so a pod counts as one of its workload, and a
node as one of its pool and instance type. Four things are circles, within a window:

- the same pods leave nodes of the same shapes as often as `TIMES` (this time included), by commands of one reason;
- each pod of a workload was moved `TIMES` times on average;
- nodes were launched for pods that had lost their place to a consolidation shortly before, `TIMES` times;
- nodes of one shape were launched and given up as empty again before any pod came, `TIMES` times.

Nothing here acts. Who carries commands out asks before (`seen_before`), and may leave a command undone.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from baseload.kube.types.core import Pod
from baseload.model.view import name_of
from baseload.plan.disrupt import EMPTY, UNDERUTILIZED, Command, Loop, LoopKind
from baseload.plan.provision import PlannedClaim
from baseload.values.duration import HOUR, MINUTE

WINDOW: Final = 6 * HOUR
"""What is longer ago is no part of a circle."""
TIMES: Final = 3
SHORTLY: Final = 10 * MINUTE
"""Between a consolidation and a launch for pods that lost their place to it."""
_HASH: Final = "pod-template-hash"

Shape = tuple[str, str]
"""NodePool and instance type"""
Workload = str
"""`namespace/Kind/name`"""
WorkloadOf = Callable[[str], Workload]
"""The workload of a pod, which goes by `namespace/name`."""


@dataclass(frozen=True, slots=True)
class GivenUp:
    """A command that was carried out."""

    at: int
    reason: str
    shapes: tuple[Shape, ...]
    pods: Mapping[Workload, int]
    all_pods: Mapping[Workload, int]  # of the same workloads, those that stayed included


@dataclass(frozen=True, slots=True)
class Launched:
    """A node that was launched for pods that waited."""

    at: int
    shape: Shape
    pods: Mapping[Workload, int]


class History:
    """What was done within the window, the oldest first."""

    def __init__(self, window: int = WINDOW) -> None:
        self.window: Final = window
        self.given_up: Final[deque[GivenUp]] = deque()
        self.launched: Final[deque[Launched]] = deque()

    def give_up(self, one: GivenUp) -> None:
        self.given_up.append(one)
        self._forget(one.at)

    def launch(self, one: Launched) -> None:
        self.launched.append(one)
        self._forget(one.at)

    def _forget(self, now: int) -> None:
        for kept in (self.given_up, self.launched):
            while kept and now - kept[0].at > self.window:
                kept.popleft()


def given_up(
    command: Command, at: int, workload_of: WorkloadOf, replicas: Mapping[Workload, int] | None = None
) -> GivenUp:
    """A command as a history keeps it. `replicas`: workload -> its pods, where that is known."""
    shapes = sorted((candidate.node_pool, candidate.instance_type) for candidate in command.candidates)
    pods = Counter(workload_of(moved.pod) for moved in command.pods)
    known = replicas or {}
    return GivenUp(at, command.reason, tuple(shapes), pods, {name: known.get(name, n) for name, n in pods.items()})


def launched(claim: PlannedClaim, at: int, workload_of: WorkloadOf) -> Launched:
    """A node launched for pods that waited, as a history keeps it."""
    return Launched(at, (claim.node_pool, claim.instance_type), Counter(map(workload_of, claim.pods)))


def seen_before(history: History, command: GivenUp) -> Loop | None:
    """The circle that this command would close, if it were carried out now; the plainest of several."""
    before = [one for one in history.given_up if command.at - one.at <= history.window]
    return (
        _same_move(before, command)
        or _launched_unused(before, history.launched, command)
        or _launched_again(before, history.launched, command)
        or _same_pods(before, command)
    )


def _same_move(before: Sequence[GivenUp], command: GivenUp) -> Loop | None:
    if not command.pods:
        return None
    what = command.reason, command.shapes, command.pods
    alike = [one for one in before if (one.reason, one.shapes, one.pods) == what]
    text = f"{_counted(command.pods)} leave {_nodes(command.shapes)} again"
    return _loop(LoopKind.SAME_MOVE, text, [*(one.at for one in alike), command.at])


def _same_pods(before: Sequence[GivenUp], command: GivenUp) -> Loop | None:
    """The workload of this command whose pods moved most often."""
    worst: Loop | None = None
    for name in sorted(command.pods):
        moves = [*(one for one in before if name in one.pods), command]
        often = sum(one.pods[name] for one in moves) // max(one.all_pods.get(name, 1) for one in moves)
        if often >= TIMES and (worst is None or often > worst.times):
            worst = _loop(LoopKind.SAME_PODS, f"the pods of {name} move", [one.at for one in moves], times=often)
    return worst


def _launched_again(before: Sequence[GivenUp], launches: Iterable[Launched], command: GivenUp) -> Loop | None:
    """Nodes launched for pods of nodes that consolidation had given up; this command gives up such a node again."""
    if command.reason != UNDERUTILIZED or not command.pods:
        return None
    again: list[int] = []
    freed = [one for one in before if one.reason == UNDERUTILIZED]
    for launch in launches:
        recent = [one for one in freed if 0 <= launch.at - one.at <= SHORTLY]
        if any(one.pods.keys() & launch.pods.keys() & command.pods.keys() for one in recent):
            again.append(launch.at)
    text = f"nodes are launched for {_counted(command.pods)} that consolidation has just moved"
    return _loop(LoopKind.LAUNCHED_AGAIN, text, [*again, command.at])


def _launched_unused(before: Sequence[GivenUp], launches: Iterable[Launched], command: GivenUp) -> Loop | None:
    """Nodes launched for pods and given up as empty, in turns."""
    if command.reason != EMPTY:
        return None
    for shape in dict.fromkeys(command.shapes):
        ends = [one.at for one in (*before, command) if one.reason == EMPTY and shape in one.shapes]
        starts = [one for one in launches if one.shape == shape]
        turns, last = [], -1
        for end in ends:
            began = [one for one in starts if last < one.at <= end]
            if began:
                turns.append((end, began[-1]))
            last = end
        wanted = [set(launch.pods) for _, launch in turns]
        if turns and set.intersection(*wanted):
            text = f"nodes of {_nodes((shape,))} are launched for {_counted(turns[-1][1].pods)} and deleted as empty"
            found = _loop(LoopKind.LAUNCHED_UNUSED, text, [end for end, _ in turns])
            if found is not None:
                return found
    return None


def _loop(kind: LoopKind, about: str, at: Sequence[int], *, times: int | None = None) -> Loop | None:
    """A circle that came round at these moments, if that is often enough."""
    often = len(at) if times is None else times
    if often < TIMES:
        return None
    return Loop(kind, about, often, (at[-1] - at[0]) // max(1, len(at) - 1))


def workloads_of(pods: Iterable[Pod]) -> tuple[dict[str, Workload], Counter[Workload]]:
    """Pod -> its workload, and workload -> how many pods it has."""
    of = {name_of(pod): workload(pod) for pod in pods}
    return of, Counter(of.values())


def workload(pod: Pod) -> Workload:
    """What makes the pod anew: of a ReplicaSet's, the Deployment that its name tells; a pod by itself where nothing."""
    owner = next((one for one in pod.metadata.owner_references if one.controller), None)
    if owner is None:
        return f"{pod.metadata.namespace}/Pod/{pod.metadata.name}"
    hash = (pod.metadata.labels or {}).get(_HASH)
    if owner.kind == "ReplicaSet" and hash and owner.name.endswith(f"-{hash}"):
        return f"{pod.metadata.namespace}/Deployment/{owner.name.removesuffix(f'-{hash}')}"
    return f"{pod.metadata.namespace}/{owner.kind}/{owner.name}"


def _counted(pods: Mapping[Workload, int]) -> str:
    names = sorted(pods)
    told = ", ".join(f"{_pods(pods[name])} of {name}" for name in names[:3])
    return told + (f" and {len(names) - 3} other workloads" if len(names) > 3 else "")


def _pods(count: int) -> str:
    return "1 pod" if count == 1 else f"{count} pods"


def _nodes(shapes: Sequence[Shape]) -> str:
    told = Counter(f"{pool}/{type or 'unknown type'}" for pool, type in shapes)
    return ", ".join(f"{count} {name}" if count > 1 else name for name, count in told.items())
