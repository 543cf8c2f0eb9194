"""The taints that follow from a node's conditions, and what they do to pods (cluster-actors spec 17.5-17.10)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from baseload.decide.fit.taints import Toleration
from baseload.values.instant import SECOND
from baseload.values.taint import Taint

Status = Literal["True", "False", "Unknown", ""]
"""A condition's status; "" where it was never posted"""
ZoneState = Literal["Normal", "PartialDisruption", "FullDisruption"]

NOT_READY: Final = "node.kubernetes.io/not-ready"
UNREACHABLE: Final = "node.kubernetes.io/unreachable"
UNSCHEDULABLE: Final = "node.kubernetes.io/unschedulable"
OUT_OF_SERVICE: Final = "node.kubernetes.io/out-of-service"
_PRESSURES: Final = {
    "MemoryPressure": "node.kubernetes.io/memory-pressure",
    "DiskPressure": "node.kubernetes.io/disk-pressure",
    "PIDPressure": "node.kubernetes.io/pid-pressure",
    "NetworkUnavailable": "node.kubernetes.io/network-unavailable",
}
OURS: Final = frozenset((NOT_READY, UNREACHABLE, UNSCHEDULABLE, *_PRESSURES.values()))
"""The keys that the lifecycle controller puts on nodes and takes off them"""

EVERY: Final = 10 * SECOND  # between two nodes of a zone whose pods begin to be evicted: 0.1 a second
EVERY_DISRUPTED: Final = 100 * SECOND  # the same in a large zone that is partially disrupted: 0.01 a second
LARGE: Final = 50  # nodes above which a zone is large
UNHEALTHY: Final = 0.55  # the share of nodes not Ready from which a zone is disrupted, if they are more than
FEW: Final = 2


def no_schedule(conditions: Mapping[str, Status], *, is_unschedulable: bool) -> tuple[str, ...]:
    """The keys of the NoSchedule taints that a node is to have."""
    keys = {"False": (NOT_READY,), "Unknown": (UNREACHABLE,)}.get(conditions.get("Ready", ""), ())
    pressures = (key for name, key in _PRESSURES.items() if conditions.get(name) == "True")
    return (*keys, *pressures, *((UNSCHEDULABLE,) if is_unschedulable else ()))


def no_execute(ready: Status) -> str:
    """The key of the NoExecute taint that goes with a Ready condition; "" for none."""
    if ready == "True":
        return ""
    return NOT_READY if ready == "False" else UNREACHABLE


def zone_state(ready: Sequence[bool]) -> ZoneState:
    """The state of a zone, by which of its nodes are Ready."""
    bad = len(ready) - sum(ready)
    if bad and bad == len(ready):
        return "FullDisruption"
    return "PartialDisruption" if bad > FEW and bad / len(ready) >= UNHEALTHY else "Normal"


def pace(state: ZoneState, size: int, *, are_all_full: bool = False) -> int | None:
    """How long between two nodes of a zone that are given a NoExecute taint; None: no node is."""
    if are_all_full:
        return None
    if state == "PartialDisruption":
        return EVERY_DISRUPTED if size > LARGE else None
    return EVERY


@dataclass(frozen=True, slots=True)
class Stay:
    """How long a pod may stay on a node with NoExecute taints; None: for ever."""

    seconds: int | None


LEAVE: Final = Stay(0)
FOR_EVER: Final = Stay(None)


def stay(taints: Iterable[Taint], tolerations: Sequence[tuple[Toleration, int | None]]) -> Stay:
    """How long, by the pod's tolerations, each with its tolerationSeconds.

    A taint that none lifts ends it at once. Else the shortest time counts, of the first toleration of each taint.
    """
    times: list[int] = []
    for taint in taints:
        if taint.effect != "NoExecute":
            continue
        lifting = next(((seconds,) for toleration, seconds in tolerations if toleration.lifts(taint)), None)
        if lifting is None:
            return LEAVE
        times += [seconds for seconds in lifting if seconds is not None]
    if not times:
        return FOR_EVER
    return Stay(max(min(times), 0))
