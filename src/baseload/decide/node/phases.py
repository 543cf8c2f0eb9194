"""A pod's phase and conditions, as they follow from its containers (cluster-actors spec 19.8, 19.9).

Phases only go forward: who has one beyond what the containers say keeps it, which the actor sees to.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

Phase = Literal["Pending", "Running", "Succeeded", "Failed"]
Role = Literal["main", "init", "sidecar"]
State = Literal["waiting", "running", "terminated"]

CONDITIONS: Final = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady")
"""What the kubelet says of a pod, in its order; PodScheduled is the scheduler's"""


@dataclass(frozen=True, slots=True)
class Container:
    """What counts of a container; `exit_code` of its last end, None where it never ended."""

    name: str
    role: Role
    state: State
    exit_code: int | None = None
    ready: bool = False
    started: bool = False


def may_restart(policy: str, exit_code: int) -> bool:
    """Whether a container that ended is to run again."""
    return policy == "Always" or (policy == "OnFailure" and exit_code != 0)


def phase(containers: Sequence[Container], policy: str, *, is_over: bool = False) -> Phase:
    """The phase; `is_over` says that nothing is started any more, as in a pod that was stopped."""
    if any(_failed_for_good(one, policy) for one in containers if one.role == "init"):
        return "Failed"
    main = [one for one in containers if one.role == "main"]
    begun = [one for one in main if one.state == "running" or one.exit_code is not None]
    if not begun and not is_over:
        return "Pending"
    if len(begun) < len(main) and not is_over:
        return "Pending"
    if any(one.state == "running" for one in main):
        return "Running"
    if any(one.state == "running" for one in containers if one.role == "sidecar"):
        return "Running"
    codes = [one.exit_code for one in main]
    if not is_over and any(code is not None and may_restart(policy, code) for code in codes):
        return "Running"
    return "Succeeded" if codes and all(code == 0 for code in codes) else "Failed"


def _failed_for_good(one: Container, policy: str) -> bool:
    # An init container's success is its end whatever the policy; Always restarts its failures like OnFailure.
    return one.state != "running" and bool(one.exit_code) and policy == "Never"


@dataclass(frozen=True, slots=True)
class Said:
    """A condition without its times."""

    type: str
    is_true: bool
    reason: str = ""
    message: str = ""


def conditions(
    containers: Sequence[Container],
    its: Phase,
    *,
    has_sandbox: bool,
    gates: Iterable[tuple[str, str]] = (),
) -> tuple[Said, ...]:
    """The kubelet's conditions; `gates` are the pod's readiness gates, each with the status that is there for it."""
    inside = _containers_ready(containers, its)
    return (
        Said("PodReadyToStartContainers", has_sandbox and its not in ("Succeeded", "Failed")),
        _initialized(containers, its),
        _ready(inside, gates),
        inside,
    )


def _initialized(containers: Sequence[Container], its: Phase) -> Said:
    if its == "Succeeded":
        return Said("Initialized", True, "PodCompleted")
    begun = any(one.role == "main" and (one.state == "running" or one.exit_code is not None) for one in containers)
    lacking = [one.name for one in containers if one.role != "main" and not _is_initialized(one)]
    if begun or not lacking:
        return Said("Initialized", True)
    message = f"containers with incomplete status: [{' '.join(lacking)}]"
    return Said("Initialized", False, "ContainersNotInitialized", message)


def _is_initialized(one: Container) -> bool:
    return one.started if one.role == "sidecar" else one.state == "terminated" and one.exit_code == 0


def _containers_ready(containers: Sequence[Container], its: Phase) -> Said:
    if its == "Succeeded":
        return Said("ContainersReady", False, "PodCompleted")
    if its == "Failed":
        return Said("ContainersReady", False, "PodFailed")
    unready = [one.name for one in containers if one.role != "init" and not one.ready]
    if not unready:
        return Said("ContainersReady", True)
    return Said(
        "ContainersReady", False, "ContainersNotReady", f"containers with unready status: [{' '.join(unready)}]"
    )


def _ready(inside: Said, gates: Iterable[tuple[str, str]]) -> Said:
    if not inside.is_true:
        return Said("Ready", False, inside.reason, inside.message)
    lacking = [
        f'the status of pod readiness gate "{type}" is not "True", but {status}'
        if status
        else f'corresponding condition of pod readiness gate "{type}" does not exist.'
        for type, status in gates
        if status != "True"
    ]
    return Said("Ready", False, "ReadinessGatesNotReady", ", ".join(lacking)) if lacking else Said("Ready", True)
