"""What is said of instances from outside, and what it means for their claims (disruption and lifecycle spec 26).

Messages come as EventBridge's JSON. They are told apart by version, source and detail type, as Karpenter does; what is
unknown, empty or unreadable means nothing. The two minutes of a spot notice stand nowhere: the drain is an ordinary
one, and EC2 ends the instance when it will.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

import msgspec

from baseload.decide.fit.types import RESERVED
from baseload.decide.lifecycle import conditions
from baseload.decide.lifecycle.changed import claim_with
from baseload.decide.lifecycle.names import TERMINATION
from baseload.kube.types.karpenter import NodeClaim
from baseload.plan.lifecycle import Told
from baseload.values.instant import SECOND
from baseload.values.label import CAPACITY_TYPE, INSTANCE_TYPE, ZONE

Kind = Literal[
    "spot_interrupted",
    "rebalance_recommendation",
    "instance_stopped",
    "instance_terminated",
    "scheduled_change",
    "capacity_reservation_interrupted",
    "instance_status",
    "system_status",
    "event_status",
]
IMPAIRED: Final = 120 * SECOND
"""So long a status check has to fail before the instance counts as unhealthy."""
_GONE: Final[dict[Kind, str]] = {"spot_interrupted": "spot", "capacity_reservation_interrupted": RESERVED}
"""kind -> the capacity type that is not to be had there for a while"""
_FORCEFUL: Final[frozenset[Kind]] = frozenset({"instance_status", "system_status"})


@dataclass(frozen=True, slots=True)
class Notice:
    """What befalls some instances, by their ids."""

    kind: Kind
    instances: tuple[str, ...]


class Checked(Protocol):
    """An instance as the cloud's checks find it; moments are nanoseconds, None while a check passes."""

    @property
    def instance(self) -> str: ...
    @property
    def instance_check_failed(self) -> int | None: ...
    @property
    def system_check_failed(self) -> int | None: ...
    @property
    def events(self) -> Sequence[str]: ...


class _Entity(msgspec.Struct, rename="camel"):
    entity_value: str = ""


class _Detail(msgspec.Struct, rename="camel"):
    instance_id: str = msgspec.field(name="instance-id", default="")
    state: str = ""
    service: str = ""
    event_type_category: str = ""
    affected_entities: list[_Entity] = []


class _Message(msgspec.Struct):
    version: str = ""
    source: str = ""
    detail_type: str = msgspec.field(name="detail-type", default="")
    detail: _Detail = msgspec.field(default_factory=_Detail)


_read: Final = msgspec.json.Decoder(_Message).decode


def notice_of(body: str) -> Notice | None:
    """What a message of the queue says; None where there is nothing to be done about it."""
    try:
        message = _read(body)
    except msgspec.DecodeError:
        return None
    if message.version != "0":
        return None
    meaning = _MEANINGS.get((message.source, message.detail_type))
    return meaning(message.detail) if meaning is not None else None


def _one(kind: Kind) -> Callable[[_Detail], Notice | None]:
    return lambda detail: Notice(kind, (detail.instance_id,))


def _state(detail: _Detail) -> Notice | None:
    match detail.state.lower():
        case "stopping" | "stopped":
            return Notice("instance_stopped", (detail.instance_id,))
        case "shutting-down" | "terminated":
            return Notice("instance_terminated", (detail.instance_id,))
    return None


def _health(detail: _Detail) -> Notice | None:
    if (detail.service, detail.event_type_category) != ("EC2", "scheduledChange"):
        return None
    return Notice("scheduled_change", tuple(entity.entity_value for entity in detail.affected_entities))


_MEANINGS: Final[dict[tuple[str, str], Callable[[_Detail], Notice | None]]] = {
    ("aws.ec2", "EC2 Spot Instance Interruption Warning"): _one("spot_interrupted"),
    ("aws.ec2", "EC2 Instance Rebalance Recommendation"): _one("rebalance_recommendation"),
    ("aws.ec2", "EC2 Instance State-change Notification"): _state,
    ("aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning"): _one("capacity_reservation_interrupted"),
    ("aws.health", "AWS Health Event"): _health,
}


def notices_of(statuses: Sequence[Checked], now: int) -> tuple[Notice, ...]:
    """What the cloud's checks and plans say of instances; checks only once they have failed for two minutes."""
    found: list[Notice] = []
    for status in statuses:
        checks: tuple[tuple[Kind, int | None], ...] = (
            ("instance_status", status.instance_check_failed),
            ("system_status", status.system_check_failed),
        )
        found += (
            Notice(kind, (status.instance,)) for kind, since in checks if since is not None and now - since >= IMPAIRED
        )
        if status.events:
            found.append(Notice("event_status", (status.instance,)))
    return tuple(found)


def ends(kind: Kind) -> bool:
    """Whether the claim is to be deleted; a recommendation is told and no more."""
    return kind != "rebalance_recommendation"


def made_to_end(claim: NodeClaim, kind: Kind, now: int) -> NodeClaim:
    """The claim as it is before it is deleted: where the machine is broken, nothing may hold the node any longer."""
    if kind not in _FORCEFUL or TERMINATION in claim.metadata.annotations:
        return claim
    return claim_with(claim, annotations={**claim.metadata.annotations, TERMINATION: conditions.written(now)})


def refused(claim: NodeClaim, kind: Kind) -> tuple[str, str, str] | None:
    """The offering that is not asked for again for a while: (instance type, zone, capacity type)."""
    labels = claim.metadata.labels
    type, zone = labels.get(INSTANCE_TYPE, ""), labels.get(ZONE, "")
    gone = _GONE.get(kind)
    if gone is None or not (type and zone):
        return None
    if gone == RESERVED and labels.get(CAPACITY_TYPE) != RESERVED:
        return None  # no reservation was this machine's
    return type, zone, gone


def told(kind: Kind) -> Told:
    """What claim and Node are told before anything is done."""
    return _TOLD[kind]


def deleted(what: Literal["NodeClaim", "Node"]) -> Told:
    """What they are told once the claim is being deleted."""
    return Told("TerminatingOnInterruption", f"Interruption triggered termination for the {what}", "Warning")


_UNHEALTHY: Final = Told("InstanceUnhealthy", "An unhealthy warning was triggered for the instance", "Warning")
_RESERVATION: Final = "Capacity Reservation interruption warning was triggered"
_TOLD: Final[dict[Kind, Told]] = {
    "spot_interrupted": Told("SpotInterrupted", "Spot interruption warning was triggered", "Warning"),
    "rebalance_recommendation": Told("SpotRebalanceRecommendation", "Spot rebalance recommendation was triggered"),
    "instance_stopped": Told("InstanceStopping", "Instance is stopping", "Warning"),
    "instance_terminated": Told("InstanceTerminating", "Instance is terminating", "Warning"),
    "scheduled_change": _UNHEALTHY,
    "instance_status": _UNHEALTHY,
    "system_status": _UNHEALTHY,
    "event_status": _UNHEALTHY,
    "capacity_reservation_interrupted": Told("CapacityReservationInstanceInterrupted", _RESERVATION, "Warning"),
}
