"""JSON of an object to a draft record: metadata is read, all else stays bytes.

Sections are copied as they were written, so equal specs of one client are equal bytes and are shared. Bytes never seen
before are decoded once, to be sure that they are sound JSON in UTF-8.
"""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

import msgspec

from baseload.embedded.store import record as records
from baseload.embedded.store.errors import BadRequest, Unreasoned
from baseload.embedded.store.record import Body, Deletion, Json, Owner, Record
from baseload.embedded.store.resource import Resource

_Sound: TypeAlias = Callable[[bytes], bytes]
"""A section's JSON in one line, looked at as far as that is needed"""


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
_NOT_THERE: Final = ("kind", "apiVersion", "metadata", "status", "spec")
"""Sections that are not in a body, or are there before all others"""
_WRONG: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def parse(resource: Resource, data: bytes) -> Record:
    """The draft that JSON of one object makes; kind and apiVersion are the caller's to check."""
    try:
        sections = _sections(data)
    except _WRONG as error:
        raise _unreadable(resource, error) from error
    return _parsed(resource, sections, _looked_at)


def parse_object(resource: Resource, tree: Mapping[str, Json]) -> Record:
    """The draft that a decoded object makes."""
    parts, managed, metadata = dict(tree), None, tree.get("metadata")
    if isinstance(metadata, dict) and "managedFields" in metadata:  # the larger part of most metadata, and not read
        parts["metadata"] = {name: held for name, held in metadata.items() if name != "managedFields"}
        managed = msgspec.json.encode(metadata["managedFields"])
    return _parsed(resource, {name: msgspec.json.encode(part) for name, part in parts.items()}, _unseen, managed)


def _unreadable(resource: Resource, error: Exception) -> BadRequest:
    return BadRequest(f"the object cannot be read: {error}", resource=resource)


def _parsed(
    resource: Resource, sections: Mapping[str, bytes | msgspec.Raw], sound: _Sound, managed: bytes | None = None
) -> Record:
    """The draft of an object's sections; `managed` is what is taken out of its metadata."""
    try:
        metadata = _read_metadata(sections.get("metadata", b"{}"))
        body, node = _body(resource, sections, sound)
        status = _section(sections.get("status", b""), sound)
        managed = _section(metadata.managed_fields if managed is None else managed, sound)
    except _WRONG as error:
        raise _unreadable(resource, error) from error
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


def version_of(text: str) -> int:
    """A resourceVersion as clients write it; 0 where they write none."""
    if not text:
        return 0
    if not (text.isascii() and text.isdecimal() and len(text) < 20):
        raise Unreasoned(f'strconv.ParseUint: parsing "{text[:60]}": invalid syntax')
    return int(text)


def one_line(raw: bytes) -> bytes:
    """JSON without line breaks, which end an event in a watch; one inside a string is always escaped."""
    return msgspec.json.format(raw, indent=-1) if b"\n" in raw or b"\r" in raw else raw


def _looked_at(raw: bytes) -> bytes:
    """JSON that came from outside, in one line; raises where it is none."""
    msgspec.json.decode(raw)
    return one_line(raw)


def _unseen(raw: bytes) -> bytes:
    """JSON that was written here a moment ago."""
    return raw


def _section(raw: msgspec.Raw | bytes, sound: _Sound) -> bytes:
    """A section; few are like another, so each is looked at."""
    found = bytes(raw)
    return b"" if found in _ABSENT else sound(found)


def _deletion(metadata: _Metadata) -> Deletion | None:
    if not metadata.deletion_timestamp:
        return None
    return Deletion(metadata.deletion_timestamp, metadata.deletion_grace_period_seconds or 0)


def _body(resource: Resource, sections: Mapping[str, bytes | msgspec.Raw], sound: _Sound) -> tuple[Body, str]:
    """The body and the node's name, which does not stand in it on kinds that have_node."""
    spec = bytes(sections.get("spec", b""))
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
        if name not in _NOT_THERE
    ]
    raw = b",".join(members)
    if sound is not _unseen and not records.is_known(raw):
        sound(b"{%b}" % raw)
    return records.body(raw), node
