"""Keeps the objects of a cluster as its server has them, and the view that decisions read in step with them.

Each kind has a reflector, whose reports are the only writes there are. A change is told once, with the state before and
after it, in the order of resourceVersions within a kind; when a collection is read anew the differences to what was
known are told the same way. A change only replaces bytes. They are read when somebody asks for the `view` or the
`manifests`, all that came since the last time together.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import msgspec

from baseload.kube.client.client import Client
from baseload.kube.client.errors import ApiError, Unauthorized
from baseload.kube.client.objects import Event, Object
from baseload.kube.client.port import Resource
from baseload.kube.client.reflector import Reflector, offers_streaming
from baseload.kube.client.requests import EVERYTHING, Selected
from baseload.kube.client.retry import Backoff
from baseload.kube.kinds import Kind
from baseload.kube.schema.finding import Weight
from baseload.kube.schema.rules import Rules
from baseload.kube.types.meta import Wire
from baseload.model.fold import Change, fold
from baseload.model.view import View
from baseload.values.errors import BadInput

_NOT_READ: Final = Wire()
_BEGINNING: Final = Backoff(0.8, 30.0)


class Transition(msgspec.Struct, frozen=True):
    """One object before and after a change; None where it was not there, or is no more."""

    kind: Kind
    key: tuple[str, str]  # namespace and name
    before: Object | None
    after: Object | None


Listener = Callable[[Transition], None]


class Kept:
    """The objects of one kind; its reflector alone writes them."""

    def __init__(self, kind: Kind, dirty: dict[tuple[Kind, tuple[str, str]], None]) -> None:
        self.kind = kind
        self.listeners: list[Listener] = []
        self.objects: dict[tuple[str, str], Object] = {}
        self.is_synced = False
        self.changes = 0  # how many were told so far
        self._dirty = dirty

    def replace(self, objects: Sequence[Object], version: str) -> None:
        """These are all the objects; what differs from those that were known is told."""
        present = {object.key: object for object in objects}
        for key in [key for key in self.objects if key not in present]:
            self._put(key, None)
        for object in sorted(objects, key=_order):
            before = self.objects.get(object.key)
            if before is None or _differ(before, object):
                self._put(object.key, object)
        self.is_synced = True

    def change(self, event: Event) -> None:
        """One object came, changed or went; the reflector tells each state once."""
        key = event.object.key
        if event.type != "DELETED":
            self._put(key, event.object)
        elif key in self.objects:
            self._put(key, None)

    def reached(self, version: str) -> None:
        """Nothing changed up to a version, which matters to nobody here."""

    def _put(self, key: tuple[str, str], after: Object | None) -> None:
        before = self.objects.pop(key, None)
        if after is not None:
            self.objects[key] = after
        self.changes += 1
        self._dirty[self.kind, key] = None
        change = Transition(self.kind, key, before, after)
        for listener in self.listeners:
            listener(change)


class Informer:
    """The objects of some kinds in a cluster, followed for as long as `run` runs."""

    def __init__(self, client: Client, kinds: Iterable[Kind], selected: Selected = EVERYTHING) -> None:
        self._client, self._selected = client, selected
        self._dirty: dict[tuple[Kind, tuple[str, str]], None] = {}
        self.kept = {kind: Kept(kind, self._dirty) for kind in kinds}
        self._read: dict[tuple[Kind, tuple[str, str]], Wire | None] = {}  # what the view is made of
        self._rules = Rules()
        self._view = View()
        self._reflectors: list[Reflector] = []
        self._at_first: ApiError | None = None  # before there are reflectors

    def listen(self, listener: Listener, *kinds: Kind) -> None:
        """Tells each change of some kinds from now on, as it happens; of all, where none is named.

        A listener may only take a note.
        """
        for kind in kinds or self.kept:
            self.kept[kind].listeners.append(listener)

    @property
    def is_synced(self) -> bool:
        """Whether every kind has been read once."""
        return all(kept.is_synced for kept in self.kept.values())

    @property
    def errors(self) -> tuple[ApiError, ...]:
        """What stands in the way of following, now."""
        both = [self._at_first, *(reflector.error for reflector in self._reflectors)]
        return tuple(error for error in both if error is not None)

    @property
    def failing(self) -> dict[Kind, ApiError]:
        """Kind -> what stands in the way of following it, now."""
        both = zip(self.kept, self._reflectors, strict=False)
        return {kind: reflector.error for kind, reflector in both if reflector.error is not None}

    async def run(self) -> None:
        """Follows until it is cancelled."""
        streaming = await self._offers_streaming()
        self._reflectors = [
            Reflector(self._client, Resource.of(kind), kept, self._selected, streaming=streaming)
            for kind, kept in self.kept.items()
        ]
        await self._client.clock.together(*(reflector.run() for reflector in self._reflectors))

    async def _offers_streaming(self) -> bool:
        tries = 0
        while True:
            try:
                offers = await offers_streaming(self._client)
            except ApiError as error:
                self._at_first = error
            except BadInput as error:  # credentials that do not do now
                self._at_first = Unauthorized(str(error))
            else:
                self._at_first = None
                return offers
            tries += 1
            await self._client.clock.sleep(_BEGINNING.delay(tries, self._client.chance))

    @property
    def view(self) -> View:
        """The cluster as decisions read it, up to the last change."""
        self._read_dirty()
        return self._view

    def _read_dirty(self) -> None:
        """Reads what changed since the last time, and folds it into the view."""
        dirty = list(self._dirty)
        if not dirty:
            return
        self._dirty.clear()
        changes: list[Change] = []
        for place in dirty:
            kind, (namespace, name) = place
            if place in self._read:
                before = self._read.pop(place)
                changes.append(Change(kind.api_version, kind.name, namespace, name, True, before))
            held = self.kept[kind].objects.get(place[1])
            if held is not None and (reading := self._reading(kind, held)) is not _NOT_READ:
                self._read[place] = reading
                changes.append(Change(kind.api_version, kind.name, namespace, name, False, reading))
        self._view = fold(self._view, changes)

    def _reading(self, kind: Kind, held: Object) -> Wire | None:
        """What decisions read of an object; one that holds what no decision can be made with is passed over."""
        if kind.reading is None:
            return None
        try:
            reading = held.read(kind.reading)
        except msgspec.ValidationError:
            return _NOT_READ
        is_fatal = any(finding.weight is Weight.FATAL for finding in self._rules.findings(reading))
        return _NOT_READ if is_fatal else reading


def _differ(before: Object, after: Object) -> bool:
    """Whether it is another object, or in another state."""
    return before.version != after.version or before.uid != after.uid


def _order(object: Object) -> tuple[int, str]:
    version = object.version
    return (int(version) if version.isdecimal() else 0, version)
