"""A pod's status as its kubelet tells it: phase, conditions and containers."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from msgspec.structs import replace

from baseload.decide.node import phases
from baseload.decide.node.phases import Phase, Said
from baseload.embedded.actors.kubelet.container import ContainerRun
from baseload.embedded.actors.kubelet.script import Found, Plan
from baseload.embedded.actors.pods import (
    NO_STATE,
    Condition,
    ContainerState,
    ContainerStatus,
    PodIp,
    PodStatus,
    Running,
    Terminated,
    Waiting,
)
from baseload.embedded.store.managed import STAND_IN
from baseload.values import instant

_OURS: Final = frozenset((*phases.CONDITIONS, "DisruptionTarget"))
_FORWARD: Final = {"": 0, "Pending": 0, "Running": 1, "Succeeded": 2, "Failed": 2}


def moment(nanoseconds: int) -> str:
    """An instant as objects carry it, in whole seconds."""
    return _moment(nanoseconds // instant.SECOND)


@lru_cache(maxsize=4096)
def _moment(seconds: int) -> str:
    return instant.format(seconds * instant.SECOND)


# What many pods say at one moment is one object for all of them.
_condition: Final = lru_cache(maxsize=4096)(Condition)


@lru_cache(maxsize=4096)
def _runs_since(moment: str) -> ContainerState:
    return ContainerState(running=Running(moment))


@lru_cache(maxsize=1024)
def _waits(reason: str, message: str) -> ContainerState:
    return ContainerState(waiting=Waiting(reason, message))


def status(
    held: PodStatus,
    runs: Sequence[ContainerRun],
    plan: Plan,
    *,
    uid: str,
    now: int,
    is_over: bool,
    has_sandbox: bool,
    admitted: int,
    host_ip: str,
    pod_ip: str,
    generation: int,
    failure: tuple[str, str] = ("", ""),
    extra: Condition | None = None,
) -> tuple[PodStatus, tuple[object, ...]]:
    """The whole status, and what tells which fields it has.

    Conditions of others stay, and so does the time of what has not turned.
    """
    phase, said, shape = _said(held, runs, plan, is_over=is_over, has_sandbox=has_sandbox, is_failed=bool(failure[0]))
    statuses = [_container(run, uid) for run in runs]
    inits = tuple(statuses[: plan.others])  # they come first
    conditions = _conditions(held, said, moment(now), generation, extra)
    told = PodStatus(
        phase,
        conditions,
        failure[1],
        failure[0],
        "",
        host_ip,
        pod_ip,
        (PodIp(pod_ip),) if pod_ip else (),
        moment(admitted),
        inits,
        tuple(statuses[len(inits) :]),
        held.qos_class,
        generation,
    )
    outline = (
        bool(failure[1]),
        bool(pod_ip),
        shape,
        "" if extra is None else extra.type,
        tuple([_shape(run) for run in runs]),
    )
    return told, outline


def owned(told: PodStatus) -> PodStatus:
    """What of a status is the kubelet's own: not the conditions of others; an address is one for all."""
    conditions = tuple(one for one in told.conditions if one.type in _OURS)
    ips = (PodIp(STAND_IN),) if told.pod_ips else ()
    return replace(told, conditions=conditions, pod_ips=ips)


def _said(
    held: PodStatus, runs: Sequence[ContainerRun], plan: Plan, *, is_over: bool, has_sandbox: bool, is_failed: bool
) -> Found:
    """The phase and the kubelet's conditions; found once for pods whose containers are in the same state."""
    gates = tuple([(gate, _status_of(held, gate)) for gate in plan.gates]) if plan.gates else ()
    states = tuple([(run.state, run.seen_code, run.is_ready, run.is_started) for run in runs])
    key = states, is_over, has_sandbox, is_failed, held.phase, gates
    found = plan.said.get(key)
    if found is None:
        seen = [run.seen for run in runs]
        phase: Phase = "Failed" if is_failed else phases.phase(seen, plan.policy, is_over=is_over)
        if _FORWARD[phase] < _FORWARD[held.phase]:
            phase = held.phase  # type: ignore[assignment]  # one of the four, as it was written here
        said = phases.conditions(seen, phase, has_sandbox=has_sandbox, gates=gates)
        found = plan.said[key] = phase, said, tuple([(one.type, not one.reason, not one.message) for one in said])
    return found


def _status_of(held: PodStatus, type: str) -> str:
    found = held.condition(type)
    return "" if found is None else found.status


def _conditions(
    held: PodStatus, said: Sequence[Said], time: str, generation: int, extra: Condition | None
) -> tuple[Condition, ...]:
    known = {condition.type: condition for condition in held.conditions}
    found = []
    for one in said:
        old, status = known.pop(one.type, None), "True" if one.is_true else "False"
        since = (old.last_transition_time if old is not None and old.status == status else "") or time
        found.append(_condition(one.type, status, "", since, one.reason, one.message, generation))
    if extra is not None:
        known[extra.type] = extra
    return (*found, *known.values())


def _container(run: ContainerRun, uid: str) -> ContainerStatus:
    plan = run.plan
    return ContainerStatus(
        plan.name,
        plan.image,
        plan.image if run.number else "",
        f"containerd://{uid}/{plan.name}/{run.number}" if run.number else "",
        run.is_ready,
        run.is_started and run.state == "running",
        run.restarts,
        _state(run),
        _last_state(run),
    )


def _state(run: ContainerRun) -> ContainerState:
    if run.state == "running":
        return _runs_since(moment(run.started))
    if run.state == "waiting":
        return _waits(run.waits_for, run.waits_why)
    end = Terminated(run.code, run.end_reason, "", moment(run.started), moment(run.ended))
    return ContainerState(terminated=end)


def _last_state(run: ContainerRun) -> ContainerState:
    if not run.last_ended:
        return NO_STATE
    return ContainerState(
        terminated=Terminated(run.last_code, run.last_reason, "", moment(run.last_started), moment(run.last_ended))
    )


def _shape(run: ContainerRun) -> tuple[object, ...]:
    """Which fields a container's status has."""
    return run.plan.name, run.plan.role == "main", run.state, not run.waits_why, not run.last_ended
