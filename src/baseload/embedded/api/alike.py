"""Pods that are written alike: what became of the first is what becomes of the others, but for name, uid and time.

A controller makes many pods from one template, and sends the same bytes with another name in them. Such a body is not
read, defaulted, admitted and checked again, as long as nothing was written to the kinds that admission looked at. Its
parts are those of the first pod, held once for all of them. Pods that each are for a place of their own, as those of
DaemonSets are for a node, are alike but for the name of that too.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import msgspec
from msgspec.structs import replace

from baseload.embedded.api import validation
from baseload.embedded.api.call import JSON, Call
from baseload.embedded.api.target import Target
from baseload.embedded.store.managed import Entry, entries
from baseload.embedded.store.record import Record, body, encode
from baseload.embedded.store.resource import Resource
from baseload.embedded.store.store import Store

_REMEMBERED: Final = 1 << 11  # bodies; the oldest is forgotten for the next
_POD: Final = ("", "Pod")
_PLACE: Final = b'"\0"'  # stands for the place in what is alike; no JSON holds it

Likeness = tuple[str, str, str, bytes, bytes]
"""Namespace, manager, way of validation, and the body before and after the name, less the place"""


class _Metadata(msgspec.Struct):
    name: str = ""


class _Named(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


@dataclass(slots=True)
class _Made:
    """The first pod of its like; `seen` are the kinds that admission looked at, each with its last version."""

    record: Record
    sections: bytes  # its body, less the place; empty where it is for none
    time: str  # at which others were last made like it
    managed: tuple[Entry, ...]  # by whom, as of that time
    seen: tuple[tuple[Resource, int], ...]

    def managed_at(self, now: str) -> tuple[Entry, ...]:
        if now != self.time:
            renewed = (replace(entry, time=now) if entry.time == self.time else entry for entry in self.managed)
            self.time, self.managed = now, tuple(renewed)
        return self.managed


_read: Final = msgspec.json.Decoder(_Named).decode


class Alike:
    """What is remembered of the pods of one store."""

    def __init__(self) -> None:
        self._made: dict[Likeness, _Made] = {}
        self._met: dict[int, None] = {}  # hashes of bodies that came once: most come but once

    def draft(
        self, store: Store, target: Target, likeness: Likeness, name: str, now: str, place: str = ""
    ) -> Record | None:
        """Another pod like one that was made before, to be stored; None where none is known."""
        made = self._made.get(likeness)
        if made is None:
            return None
        for resource, version in made.seen:
            if store.table(resource).log.last != version:
                del self._made[likeness]
                return None
        if name and validation.wrong_name(target.kind, name):
            return None
        first = made.record
        return Record(
            first.resource,
            first.namespace,
            name,
            first.shared,
            body(made.sections.replace(_PLACE, msgspec.json.encode(place))) if place else first.body,
            first.status,
            first.node,
            first.finalizers,
            made.managed_at(now),
        )

    def expect(self, likeness: Likeness) -> None:
        """Others like this one will follow: the first is remembered already."""
        met = hash(likeness)
        if met not in self._met:
            if len(self._met) >= _REMEMBERED:
                del self._met[next(iter(self._met))]
            self._met[met] = None

    def learn(
        self, store: Store, likeness: Likeness, record: Record, looked_at: Iterable[Resource], place: str = ""
    ) -> None:
        """Remembers a pod that was made like one before, if nothing in it follows from its name, uid or time."""
        if hash(likeness) not in self._met:
            self.expect(likeness)
            return
        managed = entries(record.managed)
        times = sum(entry.time == record.created for entry in managed)
        said = encode(record)
        own = (msgspec.json.encode(record.name), record.uid.encode(), record.created.encode())
        if times != 1 or any(said.count(text) > most for text, most in zip(own, (1, 1, 2), strict=True)):
            return
        sections = _without(record.body.raw, place)
        if place and not said.count(msgspec.json.encode(place)) == sections.count(_PLACE) == _places(likeness):
            return
        seen = tuple((resource, store.table(resource).log.last) for resource in looked_at)
        if len(self._made) >= _REMEMBERED:
            del self._made[next(iter(self._made))]
        self._made[likeness] = _Made(record, sections if place else b"", record.created, managed, seen)


def likeness(target: Target, call: Call, place: str = "") -> tuple[Likeness, str] | None:
    """What a create is told by, and the name in it; None where it is none of a pod from one JSON body."""
    resource = target.kind.view
    if (resource.group, resource.kind) != _POD or call.media_type != JSON or call.is_dry_run:
        return None
    try:
        name = _read(call.body).metadata.name
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    quoted = msgspec.json.encode(name)
    before, found, after = call.body.partition(quoted) if name else (call.body, b"", b"")
    if name and (not found or quoted in after):
        return None
    return (target.namespace, call.manager, call.validation, _without(before, place), _without(after, place)), name


def _without(text: bytes, place: str) -> bytes:
    return text.replace(msgspec.json.encode(place), _PLACE) if place else text


def _places(likeness: Likeness) -> int:
    return likeness[3].count(_PLACE) + likeness[4].count(_PLACE)
