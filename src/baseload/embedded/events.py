"""Records as a client in this process gets them: what its reading of JSON would give, without the JSON."""

from typing import TypeVar
from weakref import WeakKeyDictionary

import msgspec

from baseload.embedded.store import record as records
from baseload.embedded.store.log import Event as Change
from baseload.embedded.store.record import Record, Shared
from baseload.kube import reading as json_reading
from baseload.kube.client.objects import Event, Object
from baseload.kube.types.meta import ObjectMeta, OwnerReference

T = TypeVar("T")

_owners: WeakKeyDictionary[Shared, tuple[OwnerReference, ...]] = WeakKeyDictionary()


def event(change: Change) -> Event:
    """An event of a watch."""
    return Event(change.type, _object(change.record))


def _object(record: Record) -> Object:
    resource = record.resource
    return Object(
        b"",
        resource.api_version,
        resource.kind,
        _metadata(record),
        write=lambda: records.encode(record),
        read_as=lambda reading, metadata: _reading(record, reading, metadata),
        node_name=record.node if resource.has_node else None,
        phase=getattr(record.status, "phase", None),  # of a status that an actor wrote
    )


def _reading(record: Record, reading: type[T], metadata: ObjectMeta) -> T:
    """A record as a client reads it; the specs of records that share their sections are one value."""
    types = json_reading.parts_of(reading)
    if types is None:
        return json_reading.decoded(records.encode(record), reading)
    spec: msgspec.Struct | None = record.body.spec(types[0]) if types[0] is not None else None
    if spec is not None and record.node:
        spec = msgspec.structs.replace(spec, node_name=record.node)
    status: object = None
    if types[1] is not None and record.status != b"":
        status = json_reading.decoded(records.section(record.status), types[1])
    return json_reading.joined(reading, metadata, spec, status)


def _metadata(record: Record) -> ObjectMeta:
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
        resource_version=str(record.version) if record.version else "",
    )


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
