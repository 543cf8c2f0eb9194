"""Records as a client in this process gets them: what its reading of JSON would give, without the JSON."""

from typing import TypeVar
from weakref import WeakKeyDictionary

import msgspec

from baseload.embedded.store import record as records
from baseload.embedded.store.log import Event as Change
from baseload.embedded.store.record import Record, Shared
from baseload.kube import reading as json_reading
from baseload.kube.client import objects
from baseload.kube.client.objects import Event, Object
from baseload.kube.types.meta import ObjectMeta, OwnerReference

T = TypeVar("T")

_owners: WeakKeyDictionary[Shared, tuple[OwnerReference, ...]] = WeakKeyDictionary()


class Held(Object):
    """A record as an object."""

    __slots__ = ("_raw", "_record")

    def __init__(self, record: Record) -> None:
        self._record, self._raw, self._reading = record, b"", None

    @property
    def api_version(self) -> str:
        return self._record.resource.api_version

    @property
    def kind(self) -> str:
        return self._record.resource.kind

    @property
    def metadata(self) -> ObjectMeta:
        record = self._record
        common, deletion = record.shared, record.deletion
        return ObjectMeta(
            name=record.name,
            namespace=record.namespace,
            generate_name=common.generate_name,
            uid=record.uid,
            labels=common.labels,
            annotations=common.annotations,
            creation_timestamp=record.created,
            deletion_timestamp=deletion.timestamp if deletion else "",
            deletion_grace_period_seconds=deletion.grace if deletion else None,
            finalizers=record.finalizers,
            owner_references=_references(common) if common.owners else (),
            generation=record.generation or None,
            resource_version=self.version,
        )

    @property
    def raw(self) -> bytes:
        if not self._raw:
            self._raw = records.encode(self._record)
        return self._raw

    @property
    def key(self) -> tuple[str, str]:
        return self._record.namespace, self._record.name

    @property
    def uid(self) -> str:
        return self._record.uid

    @property
    def version(self) -> str:
        version = self._record.version
        return str(version) if version else ""

    @property
    def node_name(self) -> str:
        record = self._record
        return record.node if record.resource.has_node else objects.read(self.raw).node_name

    @property
    def phase(self) -> str:
        phase = getattr(self._record.status, "phase", None)  # of a status that an actor wrote
        return objects.read(self.raw).phase if phase is None else phase

    def _read(self, reading: type[T]) -> T:
        """As a client reads it; the specs of records that share their sections are one value."""
        record, types = self._record, json_reading.parts_of(reading)
        if types is None:
            return json_reading.decoded(self.raw, reading)
        spec: msgspec.Struct | None = record.body.spec(types[0]) if types[0] is not None else None
        if spec is not None and record.node:
            spec = msgspec.structs.replace(spec, node_name=record.node)
        status: object = None
        if types[1] is not None and record.status != b"":
            status = json_reading.decoded(records.section(record.status), types[1])
        return json_reading.joined(reading, self.metadata, spec, status)


def event(change: Change) -> Event:
    """An event of a watch."""
    return Event(change.type, Held(change.record))


def _references(common: Shared) -> tuple[OwnerReference, ...]:
    known = _owners.get(common)
    if known is None:
        known = _owners[common] = tuple(
            OwnerReference(
                api_version=it.api_version,
                kind=it.kind,
                name=it.name,
                uid=it.uid,
                controller=bool(it.controller),
                block_owner_deletion=bool(it.block_owner_deletion),
            )
            for it in common.owners
        )
    return known
