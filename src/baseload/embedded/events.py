"""Records as a client in this process gets them: what its reading of JSON would give, without the JSON."""

from weakref import WeakKeyDictionary

from baseload.embedded.store import record as records
from baseload.embedded.store.log import Event as Change
from baseload.embedded.store.record import Record, Shared
from baseload.kube.client.objects import Event, Object
from baseload.kube.types.meta import ObjectMeta, OwnerReference

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
        node_name=record.node if resource.has_node else None,
        phase=getattr(record.status, "phase", None),  # of a status that an actor wrote
    )


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
