"""A pod's status as actors write it, and what they read in one, whoever wrote it."""

from typing import Final, TypeVar

import msgspec

from baseload.embedded.store.record import Record, section
from baseload.kube import reading as json_reading

S = TypeVar("S")


class Written(msgspec.Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """The root of what actors write: Kubernetes' names, and nothing for what is not there."""


class Condition(Written, frozen=True):
    """A condition of a pod or a node."""

    type: str
    status: str
    last_heartbeat_time: str = ""
    last_transition_time: str = ""
    reason: str = ""
    message: str = ""
    observed_generation: int = 0


class Running(Written, frozen=True):
    started_at: str = ""


class Waiting(Written, frozen=True):
    reason: str = ""
    message: str = ""


class Terminated(Written, frozen=True):
    exit_code: int
    reason: str = ""
    message: str = ""
    started_at: str = ""
    finished_at: str = ""
    container_id: str = msgspec.field(name="containerID", default="")
    signal: int = 0


class ContainerState(Written, frozen=True):
    """One of the three."""

    running: Running | None = None
    waiting: Waiting | None = None
    terminated: Terminated | None = None


NO_STATE: Final = ContainerState()


class ContainerStatus(Written, frozen=True, omit_defaults=False):
    name: str
    image: str
    image_id: str = msgspec.field(name="imageID", default="")
    container_id: str = msgspec.field(name="containerID", default="")
    ready: bool = False
    started: bool = False
    restart_count: int = 0
    state: ContainerState = NO_STATE
    last_state: ContainerState = NO_STATE


class PodIp(Written, frozen=True):
    ip: str


class PodStatus(Written, frozen=True):
    """All of a pod's status that anything here writes; what others wrote beside it is lost by a whole new one."""

    phase: str = ""
    conditions: tuple[Condition, ...] = ()
    message: str = ""
    reason: str = ""
    nominated_node_name: str = ""
    host_ip: str = msgspec.field(name="hostIP", default="")
    pod_ip: str = msgspec.field(name="podIP", default="")
    pod_ips: tuple[PodIp, ...] = msgspec.field(name="podIPs", default=())
    start_time: str = ""
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    qos_class: str = ""
    observed_generation: int = 0

    def condition(self, type: str) -> Condition | None:
        """The condition of that type."""
        for held in self.conditions:
            if held.type == type:
                return held
        return None

    def with_condition(self, new: Condition) -> tuple[Condition, ...]:
        """The conditions with one in place of that of its type, whose time stays where the status is as it was."""
        held = self.condition(new.type)
        if held is None:
            return (*self.conditions, new)
        if held.status == new.status:
            new = msgspec.structs.replace(new, last_transition_time=held.last_transition_time)
        return tuple(new if one.type == new.type else one for one in self.conditions)


EMPTY: Final = PodStatus()
OVER: Final = ("Succeeded", "Failed")
"""The phases of pods that have ended"""


def status(pod: Record) -> PodStatus:
    """A pod's status; one that cannot be read is an empty one."""
    held = pod.status
    return held if held.__class__ is PodStatus else status_of(pod, PodStatus, EMPTY)


def status_of(record: Record, reading: type[S], empty: S) -> S:
    """A status as one reading, whoever wrote it; the empty one where it cannot be read."""
    held = record.status
    if isinstance(held, reading):
        return held
    if not held:
        return empty
    if not isinstance(held, bytes):
        return _decoded(section(held), reading, empty)
    known = _known.get((held, reading))
    if known is None:
        if len(_known) >= _KNOWN:
            _known.clear()
        known = _known[held, reading] = _decoded(held, reading, empty)
    assert isinstance(known, reading)
    return known


_KNOWN: Final = 1 << 10
_known: Final[dict[tuple[bytes, type], object]] = {}
"""Statuses that were read: new pods all say the same"""


def _decoded(held: bytes, reading: type[S], empty: S) -> S:
    try:
        return json_reading.decoded(held, reading)
    except msgspec.ValidationError:
        return empty


def is_over(pod: Record) -> bool:
    """Whether its containers have all ended and it is not to be started again."""
    return status(pod).phase in OVER


def is_ready(pod: Record) -> bool:
    """Whether it counts for services, rollouts and budgets."""
    ready = status(pod).condition("Ready")
    return ready is not None and ready.status == "True"
