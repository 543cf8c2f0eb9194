"""Patches of the status or the metadata of custom resources, as controllers write them.

What is created, or patched the long way, has been looked at as a whole, and so all but its metadata and its status is
sound under its definition. While these other sections stay, a patch looks at the one that it is about. Whatever is out
of the ordinary, and whatever is wrong, is left to `verbs`.
"""

from functools import lru_cache
from typing import Final, cast

import msgspec

from baseload.embedded.api import fields, validation
from baseload.embedded.api.call import MERGE, Call, Tree, decoded
from baseload.embedded.api.cluster import Cluster
from baseload.embedded.api.kinds import ServedKind
from baseload.embedded.api.target import Target
from baseload.embedded.store import parse
from baseload.embedded.store.record import Json, Record, section
from baseload.kube.cel.correlation import Ratchet
from baseload.kube.merge import apply as applying
from baseload.kube.merge import managers as entries
from baseload.kube.merge import merge_patch
from baseload.kube.merge.refusal import PatchError
from baseload.kube.merge.tree import Object
from baseload.kube.protobuf import written
from baseload.kube.schema import definitions
from baseload.kube.schema.definitions import Schema
from baseload.kube.structural import embedded, lists, nulls, values
from baseload.kube.structural.values import ABSENT

_READ: Final = frozenset({"apiVersion", "kind", "metadata"})
_NAMED: Final = frozenset({"name", "namespace", "uid", "resourceVersion"})
_TOLD: Final = frozenset({"labels", "annotations", "finalizers", "ownerReferences"})


def found_sound(kind: ServedKind, record: Record, *, subresource: str = "status") -> None:
    """It was created, or its status patched, the long way: all else in it is sound under this definition."""
    if subresource == "status" and kind.is_custom:
        record.body.note(kind)


def patched(cluster: Cluster, target: Target, old: Record, call: Call) -> Record | None:
    """The object after a patch of its status or its metadata; None where that takes more than a look at these."""
    kind = target.kind
    if not kind.is_custom or call.media_type != MERGE or not _is_apart(kind) or not old.body.is_noted(kind):
        return None
    sent, kept = decoded(call.body, MERGE), entries.decoded(section(old.managed) or b"[]")
    if kept is None or not isinstance(sent, dict):
        return None
    if not target.subresource:
        return _with_metadata(cluster, target, old, call, sent, kept)
    schema = _of_status(kind)
    if target.subresource != "status" or schema is None or not _is_plain(sent, old):
        return None
    before: Object = {"status": msgspec.json.decode(section(old.status))} if old.status else {}
    try:
        after = merge_patch.patched(before, cast(Object, {"status": sent["status"]}))
    except PatchError:
        return None
    status = _sound(kind, schema, msgspec.json.decode(msgspec.json.encode(after["status"])), before.get("status"))
    if status is None:
        return None
    managed = applying.told_after_update(
        kept,
        before,
        cast(Object, {"status": status}),
        kind=kind.type,
        manager=call.manager,
        now=cluster.clock.now(),
        subresource="status",
    )
    if managed is None:
        return old
    new = msgspec.structs.replace(old, status=msgspec.json.encode(status), managed=managed)
    record = cluster.store.change(
        old.resource, old.namespace, old.name, lambda _: new, "status", dry_run=call.is_dry_run, exact=True
    )
    return record if call.is_dry_run or record is old else cluster.written(record)


def _with_metadata(
    cluster: Cluster, target: Target, old: Record, call: Call, sent: Tree, kept: entries.Kept
) -> Record | None:
    kind = target.kind
    told = sent.get("metadata")
    if not isinstance(told, dict) or not told.keys() <= _NAMED | _TOLD or not _is_of(sent, told, old):
        return None
    before = cast(Object, kind.tree(old)["metadata"])
    before.pop("managedFields", None)
    try:
        after = merge_patch.patched(before, cast(Object, told))
    except PatchError:
        return None
    metadata = cast(Tree, written.metadata(msgspec.json.decode(msgspec.json.encode(after))))
    if embedded.wrong_metadata(metadata) or any(validation.of_metadata(kind, metadata)):
        return None
    managed = applying.told_after_update(
        kept,
        {"metadata": before},
        {"metadata": cast(Object, metadata)},
        kind=kind.type,
        manager=call.manager,
        now=cluster.clock.now(),
        subresource="",
    )
    if managed is None:
        return old
    draft = parse.parse_object(old.resource, {"metadata": metadata})
    new = msgspec.structs.replace(draft, body=old.body, status=old.status, node=old.node, managed=managed)
    record = cluster.store.change(
        old.resource,
        old.namespace,
        old.name,
        lambda _: new,
        "main" if kind.has_status else "all",
        dry_run=call.is_dry_run,
        exact=True,
    )
    return record if call.is_dry_run or record is old else cluster.written(record)


@lru_cache(maxsize=256)
def _of_status(kind: ServedKind) -> Schema | None:
    """The schema of a status that can be looked at by itself."""
    schema = (definitions.properties(kind.schema) or {}).get("status")
    return schema if schema is not None and kind.scale is None and not _has_objects(schema) else None


def _is_apart(kind: ServedKind) -> bool:
    """Whether each section is sound or not by itself."""
    return kind.conversion is None and (kind.rules is None or not kind.rules.has_own)


def _has_objects(schema: Schema) -> bool:
    """Whether objects may be embedded in a value."""
    if schema.get("x-kubernetes-embedded-resource"):
        return True
    inner = [*(definitions.properties(schema) or {}).values(), schema.get("items"), schema.get("additionalProperties")]
    return any(_has_objects(cast(Schema, part)) for part in inner if isinstance(part, dict))


def _sound(kind: ServedKind, schema: Schema, status: Json, before: object) -> Json:
    """The status as it is stored, with defaults; None where anything is wrong with it."""
    if next(fields.unknown(schema, status, custom=True), None) is not None:
        return None
    status = cast(Json, nulls.without(schema, status))
    fields.default(schema, status)
    if any(values.faults(schema, status, ABSENT if before is None else before, at="status")):
        return None
    if any(lists.faults(schema, status)):
        return None
    if kind.rules is not None and not kind.rules.allow("status", status, before, Ratchet(None)):
        return None
    return status


def _is_plain(sent: Tree, old: Record) -> bool:
    """Whether a patch is about the status alone, and of this very object in this state."""
    named = sent.get("metadata") or {}
    if not isinstance(named, dict) or not named.keys() <= _NAMED or not isinstance(sent.get("status"), dict):
        return False
    return _is_of({key: value for key, value in sent.items() if key != "status"}, named, old)


def _is_of(sent: Tree, named: Tree, old: Record) -> bool:
    """Whether nothing but metadata is sent, which is that of this very object in this state."""
    state = {"name": old.name, "namespace": old.namespace, "uid": old.uid, "resourceVersion": str(old.version)}
    return (
        sent.keys() <= _READ
        and all(named[key] == state[key] for key in named.keys() & state.keys())
        and sent.get("kind", old.resource.kind) == old.resource.kind
        and sent.get("apiVersion", old.resource.api_version) == old.resource.api_version
    )
