"""What a pod's row says: how many containers are ready, in which state it is, how often it was started anew.

A pod that initialises is told by its init containers, up to the first that has not ended well; any other by its
containers and by those init containers that run beside them (restartPolicy Always).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from baseload.embedded.api import ages
from baseload.embedded.store.record import Json

Tree: TypeAlias = dict[str, Json]


def at(tree: Json, path: str) -> Json:
    """The value at a dotted path; None where there is none."""
    for step in path.split("."):
        if not isinstance(tree, dict):
            return None
        tree = tree.get(step)
    return tree


def text(tree: Json, path: str) -> str:
    """The text at a dotted path; "" where there is none."""
    held = at(tree, path)
    return "" if held is None else str(held)


def maps(tree: Json, name: str) -> Iterator[Tree]:
    """The maps in a list that is a field of the tree."""
    held = tree.get(name) if isinstance(tree, dict) else None
    yield from (item for item in held if isinstance(item, dict)) if isinstance(held, list) else ()


@dataclass(frozen=True, slots=True)
class _Beginning:
    """How far a pod's init containers are."""

    seen: tuple[Tree, ...]  # the statuses up to the first that has not ended well
    beside: tuple[Tree, ...]  # those of them that run beside the containers
    reason: str  # what the pod waits for; "" where it waits for no init container


def ready(tree: Tree, _: int) -> str:
    """Ready containers of all."""
    begun = _beginning(tree)
    total = len(list(maps(tree.get("spec"), "containers"))) + len(_restartable(tree))
    number = sum(status.get("ready") is True and status.get("started") is True for status in begun.beside)
    if not _is_initialising(tree, begun):
        number += sum(_runs(status) for status in maps(tree.get("status"), "containerStatuses"))
    return f"{number}/{total}"


def restarts(tree: Tree, now: int) -> str:
    """How often, and how long ago the last time was."""
    begun = _beginning(tree)
    counted = list(begun.seen)
    if not _is_initialising(tree, begun):
        counted = [*begun.beside, *maps(tree.get("status"), "containerStatuses")]
    number = sum(count for status in counted if isinstance(count := status.get("restartCount"), int))
    last = max((text(status, "lastState.terminated.finishedAt") for status in counted), default="")
    return f"{number} ({ages.age(last, now)} ago)" if number and last else str(number)


def status(tree: Tree, _: int) -> str:
    """The phase, or what is more to the point: a reason of the pod or of a container, or that it is ending."""
    phase = text(tree, "status.phase")
    reason = text(tree, "status.reason") or phase
    for condition in maps(tree.get("status"), "conditions"):
        if condition.get("type") == "PodScheduled" and condition.get("reason") == "SchedulingGated":
            reason = "SchedulingGated"
    begun = _beginning(tree)
    reason = begun.reason or reason
    if not _is_initialising(tree, begun):
        reason = _of_containers(tree, reason)
    if at(tree, "metadata.deletionTimestamp"):
        if text(tree, "status.reason") == "NodeLost":
            return "Unknown"
        return reason if phase in ("Succeeded", "Failed") else "Terminating"
    return reason


def gates(tree: Tree, _: int) -> str:
    """Readiness gates that are met, of all."""
    wanted = [text(gate, "conditionType") for gate in maps(tree.get("spec"), "readinessGates")]
    return f"{sum(_is_true(tree, gate) for gate in wanted)}/{len(wanted)}" if wanted else "<none>"


def address(tree: Tree, _: int) -> str:
    """The first of its addresses."""
    return next((text(held, "ip") for held in maps(tree.get("status"), "podIPs")), "") or "<none>"


def _is_true(tree: Tree, type: str) -> bool:
    conditions = maps(tree.get("status"), "conditions")
    return next((held.get("status") == "True" for held in conditions if held.get("type") == type), False)


def _is_initialising(tree: Tree, begun: _Beginning) -> bool:
    return bool(begun.reason) and not _is_true(tree, "Initialized")


def _restartable(tree: Tree) -> set[str]:
    """The names of the init containers that run beside the containers."""
    return {
        text(container, "name")
        for container in maps(tree.get("spec"), "initContainers")
        if container.get("restartPolicy") == "Always"
    }


def _beginning(tree: Tree) -> _Beginning:
    names = _restartable(tree)
    seen: list[Tree] = []
    total = len(list(maps(tree.get("spec"), "initContainers")))
    reason = ""
    for place, container in enumerate(maps(tree.get("status"), "initContainerStatuses")):
        seen.append(container)
        is_beside = text(container, "name") in names and container.get("started") is True
        if at(container, "state.terminated.exitCode") != 0 and not is_beside:
            reason = f"Init:{_unfinished(container) or f'{place}/{total}'}"
            break
    return _Beginning(tuple(seen), tuple(it for it in seen if text(it, "name") in names), reason)


def _unfinished(container: Tree) -> str:
    """What an init container that has not ended well is about; "" where it is on its way."""
    if at(container, "state.terminated") is not None:
        return _ended(container)
    waiting = text(container, "state.waiting.reason")
    return waiting if waiting != "PodInitializing" else ""


def _ended(container: Tree) -> str:
    ended = at(container, "state.terminated")
    signal, code = at(ended, "signal"), at(ended, "exitCode")
    return text(ended, "reason") or (f"Signal:{signal}" if signal else f"ExitCode:{code or 0}")


def _runs(container: Tree) -> bool:
    """Whether a container is ready and running: neither waiting for a reason nor ended."""
    if text(container, "state.waiting.reason") or at(container, "state.terminated") is not None:
        return False
    return container.get("ready") is True and at(container, "state.running") is not None


def _of_containers(tree: Tree, reason: str) -> str:
    statuses = list(maps(tree.get("status"), "containerStatuses"))
    failed = ""
    for container in reversed(statuses):
        if waiting := text(container, "state.waiting.reason"):
            reason = waiting
        elif at(container, "state.terminated") is not None:
            reason = _ended(container)
            failed = reason if at(container, "state.terminated.exitCode") else failed
    if reason != "Completed":
        return reason
    runs = any(map(_runs, statuses))
    if runs and _is_true(tree, "Ready"):
        return "Running"
    return failed or ("NotReady" if runs else reason)
