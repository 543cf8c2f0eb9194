"""What a pod's row says: how many containers are ready, in which state it is, how often it was started anew."""

from collections.abc import Iterator
from typing import TypeAlias

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


def ready(tree: Tree, _: int) -> str:
    """Ready containers of all."""
    statuses = maps(tree.get("status"), "containerStatuses")
    number = sum(status.get("ready") is True for status in statuses)
    return f"{number}/{len(list(maps(tree.get('spec'), 'containers')))}"


def restarts(tree: Tree, _: int) -> str:
    statuses = maps(tree.get("status"), "containerStatuses")
    return str(sum(count for status in statuses if isinstance(count := status.get("restartCount"), int)))


def status(tree: Tree, _: int) -> str:
    """The phase, or what is more to the point: a reason of the pod or of a container, or that it is ending."""
    reason = text(tree, "status.reason") or text(tree, "status.phase")
    for condition in maps(tree.get("status"), "conditions"):
        if condition.get("type") == "PodScheduled" and condition.get("reason") == "SchedulingGated":
            reason = "SchedulingGated"
    begun = _initialising(tree)
    reason = begun or _of_containers(tree, reason)
    if at(tree, "metadata.deletionTimestamp"):
        return "Unknown" if text(tree, "status.reason") == "NodeLost" else "Terminating"
    return reason


def gates(tree: Tree, _: int) -> str:
    """Readiness gates that are met, of all."""
    wanted = [text(gate, "conditionType") for gate in maps(tree.get("spec"), "readinessGates")]
    met = {
        text(condition, "type")
        for condition in maps(tree.get("status"), "conditions")
        if condition.get("status") == "True"
    }
    return f"{sum(gate in met for gate in wanted)}/{len(wanted)}" if wanted else "<none>"


def _initialising(tree: Tree) -> str:
    """What an init container that has not ended well is about; "" where all have."""
    statuses = list(maps(tree.get("status"), "initContainerStatuses"))
    total = len(list(maps(tree.get("spec"), "initContainers")))
    for place, container in enumerate(statuses):
        code = at(container, "state.terminated.exitCode")
        if code == 0 or container.get("started") is True:
            continue
        ended = at(container, "state.terminated")
        if ended is not None:
            return f"Init:{text(ended, 'reason') or f'ExitCode:{code}'}"
        waiting = text(container, "state.waiting.reason")
        return f"Init:{waiting}" if waiting not in ("", "PodInitializing") else f"Init:{place}/{total}"
    return ""


def _of_containers(tree: Tree, reason: str) -> str:
    runs = False
    for container in reversed(list(maps(tree.get("status"), "containerStatuses"))):
        waiting, ended = text(container, "state.waiting.reason"), at(container, "state.terminated")
        if waiting:
            reason = waiting
        elif ended is not None:
            signal, code = at(ended, "signal"), at(ended, "exitCode")
            reason = text(ended, "reason") or (f"Signal:{signal}" if signal else f"ExitCode:{code}")
        elif container.get("ready") is True and at(container, "state.running") is not None:
            runs = True
    if reason != "Completed" or not runs:
        return reason
    conditions = maps(tree.get("status"), "conditions")
    is_ready = any(held.get("type") == "Ready" and held.get("status") == "True" for held in conditions)
    return "Running" if is_ready else "NotReady"
