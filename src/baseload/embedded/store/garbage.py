"""The garbage collector: objects go after their owners, by the three ways of propagation.

A write only notes what has become doubtful: an object whose owner went, an object that names owners anew, an owner that
waits for its dependents. `run` looks at each once more and acts as Kubernetes' collector does:

* An object all of whose owners are gone is deleted. Where one is left, the references to those that went are taken out.
* Background: the owner goes at once and its dependents become doubtful.
* Foreground: the owner is held by the finalizer foregroundDeletion until no dependent that blocks it is left.
* Orphan: the owner is held by the finalizer orphan until its dependents no longer name it.

An owner of a kind that is not served, or in a place that the object cannot refer to, is nobody's to judge: it counts as
alive, and is looked at again when another kind is served.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from baseload.embedded.store import record as records
from baseload.embedded.store.deletion import FOREGROUND, ORPHAN, Options, Propagation
from baseload.embedded.store.errors import Forbidden
from baseload.embedded.store.log import Event
from baseload.embedded.store.record import Owner, Record
from baseload.embedded.store.resource import Resource
from baseload.kube.kinds import group_of

if TYPE_CHECKING:
    from baseload.embedded.store.store import Store
    from baseload.embedded.store.table import Table

Place = tuple[Resource, str]
"""(resource, key)"""


class Garbage:
    """Who names whom as owner, and which objects have to be looked at; notes of the store's, acted on in `run`."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._dependents: dict[str, dict[Place, None]] = {}  # uid of the owner -> where its dependents are
        self.doubtful: Final[OrderedDict[Place, None]] = OrderedDict()  # taken from its head, which a dict is slow at
        """What has to be looked at; nobody else writes it"""
        self._unknown: dict[Place, None] = {}  # objects with an owner of a kind that is not served

    def dependents(self, uid: str) -> list[Record]:
        """The objects that name this owner."""
        return [self._at(place) for place in self._dependents.get(uid, ())]

    def note(self, event: Event, key: str) -> None:
        """For the store: one write."""
        record, old = event.record, event.old
        is_removed = event.type == "DELETED"
        if not is_removed and old is not None and old.shared is record.shared and record.deletion is None:
            return
        if old is None or is_removed or old.shared is not record.shared:
            self._note_owners((record.resource, key), None if is_removed else record, old)
        if is_removed:
            self._doubt_dependents(record.uid)
            for owner in record.shared.owners:
                self._doubt_owner(owner, record)
        elif record.deletion is not None:
            self._note_marked(record, (record.resource, key))

    def loaded(self, table: Table, key: str, record: Record) -> None:
        """For the store: an object came from the journal, and nobody knows what was done about it before."""
        place = (table.resource, key)
        self._note_owners(place, record, None)
        if record.deletion is not None:
            self.doubtful[place] = None

    def served(self) -> None:
        """For the store: another kind is served, whose objects may be the owners that were unknown."""
        self.doubtful.update(self._unknown)
        self._unknown.clear()

    def run(self) -> int:
        """Looks at all that is doubtful, and at what becomes so; how many objects that were."""
        looked_at = 0
        while self.doubtful:
            self._judge(self.doubtful.popitem(last=False)[0])
            looked_at += 1
        return looked_at

    # -- notes

    def _note_owners(self, place: Place, record: Record | None, old: Record | None) -> None:
        after = record.shared.owners if record is not None else ()
        before = old.shared.owners if old is not None else ()
        if not after and not before:
            return
        for owner in before:
            self._forget(owner.uid, place)
        for owner in after:
            self._dependents.setdefault(owner.uid, {})[place] = None
        if after:
            self.doubtful[place] = None
        if record is not None:
            for owner in before:
                self._doubt_owner(owner, record)

    def _note_marked(self, record: Record, place: Place) -> None:
        if ORPHAN in record.finalizers:
            self.doubtful[place] = None
        elif FOREGROUND in record.finalizers:
            self._doubt_dependents(record.uid)
            self.doubtful[place] = None

    def _forget(self, uid: str, place: Place) -> None:
        places = self._dependents.get(uid, {})
        places.pop(place, None)
        if not places:
            self._dependents.pop(uid, None)

    def _doubt_dependents(self, uid: str) -> None:
        found = self._dependents.get(uid)
        if found:
            self.doubtful.update(found)

    def _doubt_owner(self, owner: Owner, dependent: Record) -> None:
        """An owner that waits for its dependents may wait for one less."""
        found = self._owner(owner, dependent)
        if isinstance(found, Record) and found.deletion is not None and FOREGROUND in found.finalizers:
            self.doubtful[found.resource, found.key] = None

    # -- judgement

    def _judge(self, place: Place) -> None:
        record = self._find(place)
        if record is None:
            return
        if record.deletion is not None:
            if ORPHAN in record.finalizers:
                self._let_go(record)
            elif FOREGROUND in record.finalizers:
                self._release_when_alone(record)
        elif record.shared.owners:
            self._judge_owned(record, place)

    def _judge_owned(self, record: Record, place: Place) -> None:
        if len(record.shared.owners) == 1:
            found = self._owner(record.shared.owners[0], record)
            if isinstance(found, Record) and not _is_waiting(found):
                return
        owners = {owner: self._owner(owner, record) for owner in record.shared.owners}
        if "unknown" in owners.values():
            self._unknown[place] = None
        gone = {owner.uid for owner, found in owners.items() if found is None}
        waiting = {owner.uid for owner, found in owners.items() if isinstance(found, Record) and _is_waiting(found)}
        if len(gone) + len(waiting) < len({owner.uid for owner in owners}):
            if gone or waiting:
                self._disown(record, gone | waiting)
            return
        mine = self.dependents(record.uid)
        if waiting and mine:
            if any(_is_waiting(dependent) for dependent in mine):
                self._unblock(record)  # they wait for each other in a circle
            self._delete(record, "Foreground")
        else:
            self._delete(record, _policy(record))

    def _owner(self, owner: Owner, record: Record) -> Record | str | None:
        """The living owner, None where it is gone, "unknown" where nobody can say."""
        resource = self._store.resource_of(group_of(owner.api_version), owner.kind)
        if resource is None or (resource.namespaced and not record.resource.namespaced):
            return "unknown"
        found = self._store.find(resource, record.namespace, owner.name)
        return found if found is not None and found.uid == owner.uid else None

    def _let_go(self, owner: Record) -> None:
        for dependent in self.dependents(owner.uid):
            self._disown(dependent, {owner.uid})
        self._drop_finalizer(owner, ORPHAN)

    def _release_when_alone(self, owner: Record) -> None:
        others = (dependent for dependent in self.dependents(owner.uid) if dependent.uid != owner.uid)
        if not any(self._blocks(dependent, owner) for dependent in others):
            self._drop_finalizer(owner, FOREGROUND)

    def _blocks(self, dependent: Record, owner: Record) -> bool:
        """Whether the dependent names the owner as one to wait, from a place where it can refer to it."""
        return any(
            reference.block_owner_deletion and self._owner(reference, dependent) is owner
            for reference in dependent.shared.owners
        )

    # -- acts

    def _disown(self, record: Record, uids: set[str]) -> None:
        self._change(record, lambda now: _owned_by(now, tuple(o for o in now.shared.owners if o.uid not in uids)))

    def _unblock(self, record: Record) -> None:
        def unblocked(now: Record) -> Record:
            return _owned_by(now, tuple(replace(o, block_owner_deletion=False) for o in now.shared.owners))

        self._change(record, unblocked)

    def _drop_finalizer(self, record: Record, name: str) -> None:
        self._change(
            record, lambda now: replace(now, finalizers=tuple(kept for kept in now.finalizers if kept != name))
        )

    def _change(self, record: Record, function: Callable[[Record], Record]) -> None:
        self._store.change(record.resource, record.namespace, record.name, function)

    def _delete(self, record: Record, propagation: Propagation) -> None:
        options = Options(propagation=propagation, uid=record.uid)
        with suppress(Forbidden):  # a namespace that may not go stays, whoever owned it
            self._store.delete(record.resource, record.namespace, record.name, options)

    def _at(self, place: Place) -> Record:
        resource, key = place
        return self._store.table(resource).records[key]

    def _find(self, place: Place) -> Record | None:
        resource, key = place
        return self._store.table(resource).records.get(key) if resource in self._store.resources else None


def _owned_by(record: Record, owners: tuple[Owner, ...]) -> Record:
    common = record.shared
    return replace(record, shared=records.shared(common.labels, common.annotations, owners, common.generate_name))


def _is_waiting(record: Record) -> bool:
    return record.deletion is not None and FOREGROUND in record.finalizers


def _policy(record: Record) -> Propagation:
    if ORPHAN in record.finalizers:
        return "Orphan"
    return "Foreground" if FOREGROUND in record.finalizers else "Background"
