"""Conditions of objects: set one, and Ready follows from those that it stands on (spec 1.2).

The time of a condition is that of its last change of status, whatever its reason said meanwhile. Moments are
nanoseconds; objects carry whole seconds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from baseload.decide.lifecycle.names import (
    CLASS_READY,
    INITIALIZED,
    LAUNCHED,
    READY,
    REGISTERED,
    VALIDATED,
)
from baseload.kube.types.karpenter import NodeClaim
from baseload.kube.types.meta import Condition
from baseload.values import instant

Status = Literal["True", "False", "Unknown"]
Conditions = tuple[Condition, ...]

OF_CLAIM: Final = (INITIALIZED, LAUNCHED, REGISTERED)
OF_POOL: Final = (CLASS_READY, VALIDATED)
_AWAITING: Final = "AwaitingReconciliation"


@dataclass(frozen=True, slots=True)
class Said:
    """What is to be said of a condition; without a reason the type is its own, as for what is simply True."""

    type: str
    status: Status = "True"
    reason: str = ""
    message: str = ""


def find(conditions: Sequence[Condition], type: str) -> Condition | None:
    """The condition of that type."""
    return next((held for held in conditions if held.type == type), None)


def status_of(conditions: Sequence[Condition], type: str) -> str:
    """Its status, "" where it is absent."""
    held = find(conditions, type)
    return held.status if held else ""


def is_true(conditions: Sequence[Condition], type: str) -> bool:
    return status_of(conditions, type) == "True"


def since(conditions: Sequence[Condition], type: str) -> int | None:
    """When its status changed last."""
    held = find(conditions, type)
    return instant.parse(held.last_transition_time) if held and held.last_transition_time else None


def with_condition(conditions: Conditions, said: Said, now: int, *, generation: int | None = None) -> Conditions:
    """The conditions with one as it is said, in the place that it has."""
    held = find(conditions, said.type)
    moved = held is None or held.status != said.status
    new = Condition(
        type=said.type,
        status=said.status,
        reason=said.reason or said.type,
        message=said.message,
        last_transition_time=written(now) if moved or held is None else held.last_transition_time,
        observed_generation=generation,
    )
    if held is None:
        return (*conditions, new)
    return tuple(new if one.type == said.type else one for one in conditions)


def without(conditions: Conditions, type: str) -> Conditions:
    return tuple(held for held in conditions if held.type != type)


def with_ready(
    conditions: Conditions, standing_on: Sequence[str], now: int, *, generation: int | None = None
) -> Conditions:
    """The conditions with Ready as those that it stands on make it."""
    states = {type: status_of(conditions, type) or "Unknown" for type in standing_on}
    unwell = {type: status for type, status in states.items() if status != "True"}
    message = ", ".join(f"{type}={status}" for type, status in sorted(unwell.items()))
    if not unwell:
        said = Said(READY)
    elif "False" in unwell.values():
        said = Said(READY, "False", "UnhealthyDependents", message)
    else:
        said = Said(READY, "Unknown", "ReconcilingDependents", message)
    return with_condition(conditions, said, now, generation=generation)


def of_claim(claim: NodeClaim, *said: Said, now: int) -> Conditions:
    """A claim's conditions after these, its three of the lifecycle begun where they are not yet."""
    generation = claim.metadata.generation
    conditions = claim.status.conditions
    born = instant.parse(claim.metadata.creation_timestamp) if claim.metadata.creation_timestamp else now
    for type in OF_CLAIM:
        if find(conditions, type) is None:
            begun = Said(type, "Unknown", _AWAITING, "object is awaiting reconciliation")
            conditions = with_condition(conditions, begun, born, generation=generation)
    for one in said:
        conditions = with_condition(conditions, one, now, generation=generation)
    return with_ready(conditions, OF_CLAIM, now, generation=generation)


def written(now: int) -> str:
    """A moment as objects carry it."""
    return instant.format(now - now % instant.SECOND)
