"""Definitions in the life of a cluster: what they say is served, and their objects end with them.

What API servers' controllers do by and by is done at once here, after each write of a definition: its names are
accepted, its versions are served, changed ones over the objects that are there. One that is deleted first deletes its
objects; it goes when the last of these has gone, whose finalizers may take their time.
"""

from dataclasses import dataclass, field
from typing import cast

import msgspec
from msgspec.structs import replace

from baseload.embedded.api import aggregation, crds, naming
from baseload.embedded.api.kinds import Kinds
from baseload.embedded.api.versions import Tree
from baseload.embedded.store.deletion import Options
from baseload.embedded.store.record import Record, section
from baseload.embedded.store.resource import Resource
from baseload.embedded.store.store import Store


class _Asked(msgspec.Struct):
    """What a definition's spec asks for, as far as others are concerned."""

    group: str = ""
    names: dict[str, object] = {}


@dataclass(slots=True)
class Definitions:
    """Keeps what is served in step with the definitions that are stored."""

    store: Store
    kinds: Kinds
    _served: dict[str, Record] = field(default_factory=dict)  # name -> the definition as it is served
    _ending: set[str] = field(default_factory=set)  # names of those whose objects are being deleted

    def settle(self, now: str) -> None:
        """Follows up writes of definitions."""
        self._accept(now)
        before = self.kinds.generation
        for name in self._served.keys() - {record.name for record in self._records()}:
            self._ending.discard(name)
            self._retire(name)
        for record in self._records():
            if naming.is_established(_status(record)) and not self._is_served(record):
                self._serve(record)
            if record.deletion is not None and record.name not in self._ending:
                self._ending.add(record.name)
                self._end(record, now)
        self.finish(now)
        if self.kinds.generation != before:
            aggregation.sync(self.store, self.kinds.versions(), now)

    def finish(self, now: str) -> None:
        """Lets the definitions go whose objects are gone."""
        for name in sorted(self._ending):
            record = self.store.find(self._resource, "", name)
            served = self._served.get(name)
            if record is not None and served is not None and self.store.table(self._stored(served)).records:
                continue
            self._ending.discard(name)
            if record is not None:
                self._change(record, naming.ending(_status(record), "InstanceDeletionCompleted", now))
                kept = tuple(told for told in record.finalizers if told != naming.FINALIZER)
                self.store.change(self._resource, "", name, lambda old, kept=kept: replace(old, finalizers=kept))  # type: ignore[misc]
            if self.store.find(self._resource, "", name) is None:
                self._retire(name)
                aggregation.sync(self.store, self.kinds.versions(), now)
                self._accept(now)

    def hold(self, name: str, now: str) -> None:
        """Has a definition that is about to be deleted wait for its objects."""
        record = self.store.get(self._resource, "", name)
        if record.deletion is not None or naming.FINALIZER in record.finalizers:
            return
        self._change(record, naming.ending(_status(record), "InstanceDeletionPending", now))
        finalizers = (*record.finalizers, naming.FINALIZER)
        self.store.change(self._resource, "", name, lambda old: replace(old, finalizers=finalizers))

    def is_ending(self, resource: Resource) -> bool:
        """Whether nothing new may be created of a kind, since its definition ends."""
        return resource.qualified in self._ending

    @property
    def is_waiting(self) -> bool:
        """Whether a definition waits for its objects to go."""
        return bool(self._ending)

    # -- steps

    @property
    def _resource(self) -> Resource:
        found = self.store.resource_of(*crds.KIND)
        assert found is not None
        return found

    def _records(self) -> list[Record]:
        return list(self.store.table(self._resource).records.values())

    def _change(self, record: Record, status: Tree) -> None:
        told = msgspec.json.encode(status)
        self.store.change(self._resource, "", record.name, lambda old: old.with_status(told), "status")

    def _accept(self, now: str) -> None:
        """Gives each definition the names that are free, until nobody gets a further one."""
        has_changed = True
        while has_changed:
            has_changed = False
            held = {record.name: _status(record) for record in self._records()}
            for record in self._records():
                asked = record.body.spec(_Asked)
                others = [it for it in self._records() if it.body.spec(_Asked).group == asked.group]
                told = [held[it.name] for it in others if it.name != record.name]
                status = naming.status(cast(Tree, asked.names), held[record.name], told, now)
                if status is not held[record.name]:
                    self._change(record, status)
                    held[record.name] = status
                    has_changed = True

    def _is_served(self, record: Record) -> bool:
        served = self._served.get(record.name)
        if served is None or served.body is not record.body:
            return False
        return served.status is record.status or section(served.status) == section(record.status)

    def _stored(self, record: Record) -> Resource:
        new = crds.resource(record)
        found = self.store.resource_of(new.group, new.kind)
        assert found is not None
        return found

    def _serve(self, record: Record) -> None:
        """Serves what a definition says now, over the objects that may be there."""
        new = crds.resource(record)
        known = self.store.resource_of(new.group, new.kind)
        for kind in [kind for kind in self.kinds if kind.resource is known]:
            self.kinds.remove(kind)
        if known is None:
            self.store.serve(new)
            known = new
        elif not crds.say_the_same(self._served[record.name], record):
            self.store.redefine(known, new)
        for kind in crds.kinds(record, known):
            self.kinds.add(kind)
        self._served[record.name] = record

    def _retire(self, name: str) -> None:
        served = self._served.pop(name, None)
        if served is None:
            return
        resource = self._stored(served)
        for kind in [kind for kind in self.kinds if kind.resource is resource]:
            self.kinds.remove(kind)
        self.store.withdraw(resource)

    def _end(self, record: Record, now: str) -> None:
        if record.name in self._served:
            self._change(record, naming.ending(_status(record), "InstanceDeletionInProgress", now))
            resource = self._stored(self._served[record.name])
            self.store.delete_collection(resource, options=Options(propagation="Background"))
            self.store.tidy()


def _status(record: Record) -> Tree:
    raw = section(record.status)
    status: Tree = msgspec.json.decode(raw) if raw else {}
    return status
