"""What a Deployment's status says: the sums of its ReplicaSets, whether enough is available, whether it gets on."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import msgspec

from baseload.embedded.actors.workloads import readings, rollout
from baseload.embedded.actors.workloads.readings import Condition, DeploymentSpec, DeploymentStatus, ReplicaSetStatus
from baseload.values import instant

AVAILABLE: Final = "Available"
PROGRESSING: Final = "Progressing"
FAILURE: Final = "ReplicaFailure"
TIMED_OUT: Final = "ProgressDeadlineExceeded"
COMPLETE: Final = "NewReplicaSetAvailable"
PAUSED: Final = "DeploymentPaused"
RESUMED: Final = "DeploymentResumed"
CREATED: Final = "NewReplicaSetCreated"
FOUND: Final = "FoundNewReplicaSet"
NOT_CREATED: Final = "ReplicaSetCreateError"
NO_DEADLINE: Final = 2**31 - 1  # progressDeadlineSeconds that stands for none


@dataclass(frozen=True, slots=True)
class Subject:
    """A Deployment of which a status tells."""

    name: str
    generation: int
    spec: DeploymentSpec
    new: str  # name of its new ReplicaSet, "" where there is none


def has_deadline(spec: DeploymentSpec) -> bool:
    return spec.progress_deadline_seconds != NO_DEADLINE


def condition(type: str, status: str, reason: str, message: str, now: str) -> Condition:
    """A condition that begins now."""
    return Condition(type, status, "", now, now, reason, message)


def counted(
    subject: Subject, held: DeploymentStatus, new: ReplicaSetStatus | None, old: Iterable[ReplicaSetStatus], wanted: int
) -> DeploymentStatus:
    """The sums; `wanted` are the replicas that all ReplicaSets together are to have."""
    every = [*old, *([new] if new is not None else [])]
    ready_enough = sum(status.available_replicas for status in every)
    return DeploymentStatus(
        subject.generation,
        sum(status.replicas for status in every),
        new.replicas if new is not None else 0,
        sum(status.ready_replicas for status in every),
        ready_enough,
        max(0, wanted - ready_enough),
        sum(status.terminating_replicas or 0 for status in every),
        held.conditions,
        held.collision_count,
    )


def with_availability(status: DeploymentStatus, spec: DeploymentSpec, now: str) -> DeploymentStatus:
    """With the condition that tells whether as many are available as must be."""
    held = readings.find(status.conditions, AVAILABLE)
    is_enough = status.available_replicas >= rollout.bounds(spec).least_available
    if held is not None and held.status == ("True" if is_enough else "False"):
        return status  # the reason follows from the status
    if is_enough:
        told = condition(AVAILABLE, "True", "MinimumReplicasAvailable", "Deployment has minimum availability.", now)
    else:
        told = condition(
            AVAILABLE, "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.", now
        )
    return _with(status, readings.put(status.conditions, told))


def with_progress(status: DeploymentStatus, held: DeploymentStatus, subject: Subject, now: str) -> DeploymentStatus:
    """With the condition that tells whether the rollout gets on, ended, or took too long."""
    spec, current = subject.spec, readings.find(held.conditions, PROGRESSING)
    if not has_deadline(spec):
        return _with(status, readings.without(status.conditions, PROGRESSING))
    if status.replicas == status.updated_replicas and current is not None and current.reason == COMPLETE:
        return status
    who = f'ReplicaSet "{subject.new}"' if subject.new else f'Deployment "{subject.name}"'
    if is_complete(status, subject):
        told = condition(PROGRESSING, "True", COMPLETE, f"{who} has successfully progressed.", now)
        return _with(status, readings.put(status.conditions, told))
    if _gets_on(held, status):
        told = condition(PROGRESSING, "True", "ReplicaSetUpdated", f"{who} is progressing.", now)
        if current is not None and current.status == "True":
            told = msgspec.structs.replace(told, last_transition_time=current.last_transition_time)
        return _with(status, (*readings.without(status.conditions, PROGRESSING), told))
    if current is not None and _is_late(current, spec, now):
        told = condition(PROGRESSING, "False", TIMED_OUT, f"{who} has timed out progressing.", now)
        return _with(status, readings.put(status.conditions, told))
    return status


def is_complete(status: DeploymentStatus, subject: Subject) -> bool:
    """Whether all that is wanted is there, of the new template and available, and nothing else."""
    wanted = subject.spec.replicas
    counts = status.updated_replicas, status.replicas, status.available_replicas
    return counts == (wanted, wanted, wanted) and status.observed_generation >= subject.generation


def _gets_on(before: DeploymentStatus, after: DeploymentStatus) -> bool:
    return (
        after.updated_replicas > before.updated_replicas
        or after.replicas - after.updated_replicas < before.replicas - before.updated_replicas
        or after.ready_replicas > before.ready_replicas
        or after.available_replicas > before.available_replicas
    )


def _is_late(current: Condition, spec: DeploymentSpec, now: str) -> bool:
    if current.reason == COMPLETE:
        return False
    return current.reason == TIMED_OUT or instant.parse(now) > deadline(current, spec)


def deadline(current: Condition, spec: DeploymentSpec) -> int:
    """When a rollout without progress is late (nanoseconds)."""
    begun = current.last_update_time or current.last_transition_time
    return instant.parse(begun) + spec.progress_deadline_seconds * instant.SECOND


def next_check(status: DeploymentStatus, subject: Subject) -> int | None:
    """When to look again whether it is late; None where it does not matter."""
    current = readings.find(status.conditions, PROGRESSING)
    if current is None or not has_deadline(subject.spec) or current.reason in (TIMED_OUT, COMPLETE):
        return None
    if current.reason == PAUSED or is_complete(status, subject):
        return None
    return deadline(current, subject.spec) + instant.SECOND  # times are told in whole seconds


def with_failure(
    status: DeploymentStatus, new: ReplicaSetStatus | None, old: Iterable[ReplicaSetStatus]
) -> DeploymentStatus:
    """With the failure of one of its ReplicaSets, the new one's first."""
    for told in (*([new] if new is not None else []), *old):
        failure = readings.find(told.conditions, FAILURE)
        if failure is not None:
            failure = msgspec.structs.replace(failure, last_update_time=failure.last_transition_time)
            return _with(status, readings.put(status.conditions, failure))
    return _with(status, readings.without(status.conditions, FAILURE))


def with_pause(held: DeploymentStatus, spec: DeploymentSpec, now: str) -> DeploymentStatus:
    """With what a pause, or its end, says of progress; the same where nothing is to be said."""
    current = readings.find(held.conditions, PROGRESSING)
    if not has_deadline(spec) or (current is not None and current.reason == TIMED_OUT):
        return held
    was_paused = current is not None and current.reason == PAUSED
    if spec.paused == was_paused:
        return held
    reason, message = (PAUSED, "Deployment is paused") if spec.paused else (RESUMED, "Deployment is resumed")
    return _with(held, readings.put(held.conditions, condition(PROGRESSING, "Unknown", reason, message, now)))


def _with(status: DeploymentStatus, conditions: tuple[Condition, ...]) -> DeploymentStatus:
    return status if conditions == status.conditions else msgspec.structs.replace(status, conditions=conditions)
