"""JSON of an object to a draft record: metadata is read, all else stays bytes.

Sections are copied as they were written, so equal specs of one client are equal bytes and are shared. Bytes never seen
before are decoded once, to be sure that they are sound JSON in UTF-8.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from baseload.embedded.store import record as records
from baseload.embedded.store.errors import BadRequest
from baseload.embedded.store.record import Body, Deletion, Json, Owner, Record
from baseload.embedded.store.resource import Resource


class _Metadata(msgspec.Struct, gc=False, rename="camel"):
    """metadata as clients send it: Go writes nulls where it has nothing."""

    name: str | None = None
    generate_name: str | None = None
    namespace: str | None = None
    uid: str | None = None
    resource_version: str | None = None
    generation: int | None = None
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    deletion_grace_period_seconds: int | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: tuple[Owner, ...] | None = None
    finalizers: tuple[str, ...] | None = None
    managed_fields: msgspec.Raw = msgspec.Raw()


_sections: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_read_metadata: Final = msgspec.json.Decoder(_Metadata).decode
_ABSENT: Final = (b"", b"null")
_NOT_IN_BODY: Final = ("kind", "apiVersion", "metadata", "status")


def parse(resource: Resource, data: bytes) -> Record:
    """The draft that JSON of one object makes; kind and apiVersion are the caller's to check."""
    try:
        sections = _sections(data)
        metadata = _read_metadata(sections.get("metadata", b"{}"))
        body, node = _body(resource, sections)
        status, managed = _section(sections.get("status", b"")), _section(metadata.managed_fields)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest(f"the object cannot be read: {error}", resource=resource) from error
    return Record(
        resource,
        (metadata.namespace or "") if resource.namespaced else "",
        metadata.name or "",
        records.shared(
            metadata.labels, metadata.annotations, metadata.owner_references or (), metadata.generate_name or ""
        ),
        body,
        status,
        node,
        metadata.finalizers or (),
        managed,
        metadata.uid or "",
        version_of(metadata.resource_version or ""),
        metadata.generation or 0,
        metadata.creation_timestamp or "",
        _deletion(metadata),
    )


def parse_object(resource: Resource, tree: Mapping[str, Json]) -> Record:
    """The draft that a decoded object makes."""
    return parse(resource, msgspec.json.encode(tree))


def version_of(text: str) -> int:
    """A resourceVersion as clients write it; 0 where they write none."""
    if not text:
        return 0
    if not (text.isascii() and text.isdecimal() and len(text) < 20):
        raise BadRequest(f'resourceVersion: Invalid value: "{text[:60]}": must be a non-negative integer')
    return int(text)


def one_line(raw: bytes) -> bytes:
    """JSON without line breaks, which end an event in a watch; one inside a string is always escaped."""
    return msgspec.json.format(raw, indent=-1) if b"\n" in raw or b"\r" in raw else raw


def _section(raw: msgspec.Raw | bytes) -> bytes:
    """A section that is looked at for soundness each time: few are like another."""
    found = bytes(raw)
    if found in _ABSENT:
        return b""
    msgspec.json.decode(found)
    return one_line(found)


def _deletion(metadata: _Metadata) -> Deletion | None:
    if not metadata.deletion_timestamp:
        return None
    return Deletion(metadata.deletion_timestamp, metadata.deletion_grace_period_seconds or 0)


def _body(resource: Resource, sections: dict[str, msgspec.Raw]) -> tuple[Body, str]:
    """The body and the node's name, which does not stand in it on kinds that have_node."""
    spec = bytes(sections.pop("spec", b""))
    node = ""
    if resource.has_node and b'"nodeName"' in spec:
        tree: Json = msgspec.json.decode(spec)
        value = tree.pop("nodeName", None) if isinstance(tree, dict) else None
        if isinstance(value, str):
            node, spec = value, msgspec.json.encode(tree)
    members = [] if spec in _ABSENT else [b'"spec":' + one_line(spec)]
    members += [
        b"%b:%b" % (msgspec.json.encode(name), one_line(bytes(raw)))
        for name, raw in sections.items()
        if name not in _NOT_IN_BODY and bytes(raw) not in _ABSENT
    ]
    raw = b",".join(members)
    if not records.is_known(raw):
        msgspec.json.decode(b"{%b}" % raw)
    return records.body(raw), node
