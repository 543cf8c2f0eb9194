"""Which pods of a ReplicaSet go first when it has too many."""

from collections.abc import Iterable
from functools import cmp_to_key
from typing import Final

import msgspec

from baseload.embedded.actors import pods
from baseload.embedded.actors.workloads.ownership import ready_since, told
from baseload.embedded.store.record import Record

COST: Final = "controller.kubernetes.io/pod-deletion-cost"
_PHASES: Final = {"Pending": 0, "Unknown": 1, "Running": 2}
_LEAST, _MOST = -(2**31), 2**31 - 1


class Candidate(msgspec.Struct, frozen=True, gc=False):
    """A pod that may go, by what decides."""

    key: str
    uid: str
    node: str
    phase: str
    ready_since: int | None  # nanoseconds; None where it is not ready
    cost: int
    beside: int  # active pods of the same owner family on its node
    restarts: int
    created: int


def in_order(candidates: Iterable[Candidate], now: int) -> list[Candidate]:
    """The candidates in the order in which they go."""

    def compare(left: _Ranked, right: _Ranked) -> int:
        if left[0] != right[0]:
            return -1 if left[0] < right[0] else 1
        one, other = left[1], right[1]
        if one.ready_since is not None and other.ready_since is not None and one.ready_since != other.ready_since:
            return _younger(one, other, now - one.ready_since, now - other.ready_since)
        if one.restarts != other.restarts:
            return -1 if one.restarts > other.restarts else 1
        if one.created != other.created:
            return _younger(one, other, now - one.created, now - other.created)
        return (one.key > other.key) - (one.key < other.key)

    ranked = sorted([(_key(candidate), candidate) for candidate in candidates], key=cmp_to_key(compare))
    return [candidate for _, candidate in ranked]


_Key = tuple[bool, int, bool, int, int]
_Ranked = tuple[_Key, Candidate]


def _key(pod: Candidate) -> _Key:
    phase = _PHASES.get(pod.phase, 0)
    return bool(pod.node), phase, pod.ready_since is not None, pod.cost, -pod.beside


def _younger(one: Candidate, other: Candidate, age: int, other_age: int) -> int:
    """By powers of two of the age in nanoseconds; within one, by uid."""
    buckets = bucket(age) - bucket(other_age)
    if buckets:
        return buckets
    return -1 if one.uid < other.uid else 1


def bucket(age: int) -> int:
    """floor(log2 of an age in nanoseconds); -1 for what is not older than now."""
    return age.bit_length() - 1 if age > 0 else -1


def candidate(pod: Record, beside: int) -> Candidate:
    """A pod by what decides."""
    status, restarts = pods.status(pod), 0
    for container in status.container_statuses:
        if container.restart_count > restarts:
            restarts = container.restart_count
    return Candidate(
        pod.key,
        pod.uid,
        pod.node,
        status.phase,
        ready_since(pod),
        cost(pod.shared.annotations),
        beside,
        restarts,
        told(pod.created),
    )


def cost(annotations: dict[str, str]) -> int:
    """What the pod's owner says that its loss costs; 0 where that is no 32-bit integer."""
    text = annotations.get(COST)
    if text is None:
        return 0
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()) or (digits != "0" and digits.startswith("0")):
        return 0
    value = int(text)
    return value if _LEAST <= value <= _MOST else 0
