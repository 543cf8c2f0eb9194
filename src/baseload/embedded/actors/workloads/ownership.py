"""Who owns which pods, with the counts that controllers ask for, kept by events and never recounted.

A pod counts for its controlling owner. It is *active* until it is over or being deleted; *terminating* while it is
being deleted and not over. Pods that nobody controls are kept by namespace, for whoever's selector means them.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Final

import msgspec

from baseload.embedded.actors import pods
from baseload.embedded.store.log import Event
from baseload.embedded.store.record import Owner, Record, Shared
from baseload.values import instant
from baseload.values.selector import Selector

ACTIVE: Final = 1
READY: Final = 2  # and active
TERMINATING: Final = 4
OVER: Final = 8

Heard = Callable[[Owner, Event], None]
"""(the owner, what happened to one of its pods)"""


def state(pod: Record) -> int:
    """What a pod counts as."""
    status = pods.status(pod)
    if status.phase in ("Succeeded", "Failed"):
        return OVER
    if pod.deletion is not None:
        return TERMINATING
    for condition in status.conditions:
        if condition.type == "Ready":
            return ACTIVE | READY if condition.status == "True" else ACTIVE
    return ACTIVE


def controller_of(record: Record) -> Owner | None:
    """The owner that controls an object."""
    for owner in record.shared.owners:
        if owner.controller:
            return owner
    return None


def ready_since(pod: Record) -> int | None:
    """Since when a pod is ready (nanoseconds); None where it is not."""
    ready = pods.status(pod).condition("Ready")
    if ready is None or ready.status != "True" or not ready.last_transition_time:
        return None
    return told(ready.last_transition_time)


@lru_cache(maxsize=1 << 12)
def told(moment: str) -> int:
    """The instant that objects tell of (nanoseconds); many pods tell of the same."""
    return instant.parse(moment)


class Tally:
    """The pods of one owner."""

    __slots__ = ("active", "alike", "doubtful", "over", "pods", "ready", "states", "terminating")

    def __init__(self) -> None:
        self.pods: dict[str, Record] = {}
        self.states: dict[str, int] = {}
        self.alike: dict[Shared, int] = {}  # metadata -> how many active pods have it
        self.doubtful: dict[str, None] = {}  # pods whose labels changed since they were looked at
        self.active = self.ready = self.terminating = self.over = 0

    def in_state(self, wanted: int) -> list[Record]:
        """The pods that count as something, in the order in which they came."""
        return [pod for key, pod in self.pods.items() if self.states[key] & wanted]

    def labelled(self, labels: Mapping[str, str]) -> int:
        """How many active pods have all of these labels."""
        wanted = labels.items()
        return sum(count for shared, count in self.alike.items() if wanted <= shared.labels.items())

    def _count(self, state: int, by: int, pod: Record) -> None:
        if state & ACTIVE:
            self.active += by
            left = self.alike.get(pod.shared, 0) + by
            if left:
                self.alike[pod.shared] = left
            else:
                del self.alike[pod.shared]
            if state & READY:
                self.ready += by
        elif state & TERMINATING:
            self.terminating += by
        else:
            self.over += by

    def put(self, key: str, pod: Record) -> bool:
        """Takes in a pod as it is now; whether it counts as something else than before."""
        new, held = state(pod), self.pods.get(key)
        self.pods[key] = pod
        if held is None:
            self._count(new, 1, pod)
        elif self.states[key] != new or held.shared is not pod.shared:
            self._count(self.states[key], -1, held)
            self._count(new, 1, pod)
            if held.shared.labels != pod.shared.labels:
                self.doubtful[key] = None
        else:
            return False
        self.states[key] = new
        return True

    def drop(self, key: str) -> None:
        held = self.pods.pop(key, None)
        if held is not None:
            self._count(self.states.pop(key), -1, held)
            self.doubtful.pop(key, None)


NO_PODS: Final = Tally()


class PodIndex:
    """All pods by their owners. `seen` is the version of the last change that it knows of.

    `is_other` says whether that change had a pod count as something else than before.
    """

    def __init__(self) -> None:
        self.seen = 0
        self.is_other = True
        self._tallies: dict[str, Tally] = {}  # uid of the owner -> its pods
        self._orphans: dict[str, dict[str, Record]] = {}  # namespace -> key -> pod
        self._heard: dict[str, list[Heard]] = {}  # kind of the owner -> who is told
        self._heard_removed: dict[str, list[Heard]] = {}
        self._orphaned: list[Callable[[Event], None]] = []
        self._all: list[Callable[[Event], None]] = []
        self._by_namespace: dict[str, dict[str, Record]] = {}  # namespace -> key -> pod

    def hear(self, kind: str, function: Heard) -> None:
        """Has a function told of the pods of a kind of owner."""
        self._heard.setdefault(kind, []).append(function)

    def hear_removed(self, kind: str, function: Heard) -> None:
        """Has a function told of the pods of a kind of owner that are gone."""
        self._heard_removed.setdefault(kind, []).append(function)

    def hear_orphans(self, function: Callable[[Event], None]) -> None:
        """Has a function told of the pods that nobody controls."""
        self._orphaned.append(function)

    def hear_all(self, function: Callable[[Event], None]) -> None:
        """Has a function told of every change of a pod."""
        self._all.append(function)

    def of(self, uid: str) -> Tally:
        """The pods of an owner, to read."""
        return self._tallies.get(uid, NO_PODS)

    def orphans(self, namespace: str) -> Mapping[str, Record]:
        """The pods of a namespace that nobody controls."""
        return self._orphans.get(namespace, {})

    def in_namespace(self, namespace: str) -> list[Record]:
        """All pods of a namespace."""
        return list(self._by_namespace.get(namespace, {}).values())

    def load(self, records: Iterable[Record]) -> None:
        """Takes in the pods that are there already."""
        for record in records:
            self._put(controller_of(record), record.key, record)
            self._by_namespace.setdefault(record.namespace, {})[record.key] = record
            self.seen = max(self.seen, record.version)

    def note(self, event: Event) -> None:
        """Takes in one change, and tells whom it concerns."""
        record, old = event.record, event.old
        self.seen, self.is_other = event.version, True
        key = record.key
        owner = controller_of(record)
        before = owner if old is None or old.shared is record.shared else controller_of(old)
        if before is not owner and (owner is None or before is None or before.uid != owner.uid) and old is not None:
            self._drop(before, key, old)
            if before is not None:
                self._tell(before, event)
        if event.type == "DELETED":
            self._drop(owner, key, record)
            self._by_namespace.get(record.namespace, {}).pop(key, None)
        else:
            self.is_other = self._put(owner, key, record)
            held = self._by_namespace.get(record.namespace)
            if held is None:
                held = self._by_namespace[record.namespace] = {}
            held[key] = record
        if owner is not None:
            self._tell(owner, event)
        else:
            for function in self._orphaned:
                function(event)
        for function in self._all:
            function(event)

    def _tell(self, owner: Owner, event: Event) -> None:
        for function in self._heard.get(owner.kind, ()):
            function(owner, event)
        if event.type == "DELETED":
            for function in self._heard_removed.get(owner.kind, ()):
                function(owner, event)

    def _put(self, owner: Owner | None, key: str, pod: Record) -> bool:
        if owner is None:
            self._orphans.setdefault(pod.namespace, {})[key] = pod
            return True
        tally = self._tallies.get(owner.uid)
        if tally is None:
            tally = self._tallies[owner.uid] = Tally()
        return tally.put(key, pod)

    def _drop(self, owner: Owner | None, key: str, pod: Record) -> None:
        if owner is None:
            held = self._orphans.get(pod.namespace, {})
            held.pop(key, None)
            if not held:
                self._orphans.pop(pod.namespace, None)
            return
        tally = self._tallies.get(owner.uid)
        if tally is not None:
            tally.drop(key)
            if not tally.pods:
                del self._tallies[owner.uid]


class Reference(msgspec.Struct, frozen=True, rename="camel"):
    """An owner reference as a controller writes it."""

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool = True
    block_owner_deletion: bool = True


def reference(owner: Record) -> Reference:
    """By which an object says that its owner controls it."""
    return Reference(owner.resource.api_version, owner.resource.kind, owner.name, owner.uid)


def adopted(owner: Record, record: Record) -> dict[str, object]:
    """The patch by which an owner takes an object that nobody controls."""
    owners = [*msgspec.to_builtins(record.shared.owners), msgspec.to_builtins(reference(owner))]
    return {"metadata": {"ownerReferences": owners}}


def released(owner: Record, record: Record) -> dict[str, object]:
    """The patch by which an owner lets an object go whose labels it no longer means."""
    kept = [held for held in record.shared.owners if held.uid != owner.uid]
    return {"metadata": {"ownerReferences": msgspec.to_builtins(kept) or None}}


def is_meant(selector: Selector, record: Record) -> bool:
    """Whether an orphan is one that a selector's owner may take."""
    return record.deletion is None and bool(selector.terms) and selector.matches(record.shared.labels)
