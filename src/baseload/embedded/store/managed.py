"""Entries of metadata.managedFields as a record may hold them: read once, and shared by objects that are made alike."""

from typing import Final

import msgspec

from baseload.embedded.store.record import Section, section


class Entry(msgspec.Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """An entry of metadata.managedFields, its fields as JSON."""

    manager: str = ""
    operation: str = ""
    api_version: str = ""
    time: str = ""
    fields_type: str = ""
    # or Keyed, which encodes alike
    fields_v1: msgspec.Raw = msgspec.field(name="fieldsV1", default=msgspec.Raw(b"{}"))
    subresource: str = ""


STAND_IN: Final = "0.0.0.0"
"""What stands in fields for an address that is the key of an item, and the same in no two objects"""
_STAND_IN: Final = STAND_IN.encode()


class Keyed:
    """Fields that many objects have alike but for one key, put in its place when somebody reads them."""

    __slots__ = ("_fields", "_key")

    def __init__(self, fields: bytes, key: str) -> None:
        self._fields, self._key = fields, key

    def __bytes__(self) -> bytes:
        return self._fields.replace(_STAND_IN, self._key.encode())


_entries: Final = msgspec.json.Decoder(tuple[Entry, ...]).decode


def entries(held: Section) -> tuple[Entry, ...]:
    """The entries of a record's managedFields."""
    if isinstance(held, tuple):
        return held  # type: ignore[return-value]  # a record holds no other structs there
    # A copy of each, because what is read refers to all of the JSON.
    return tuple([_own(entry) for entry in _entries(section(held) or b"[]")])


def _own(entry: Entry) -> Entry:
    return msgspec.structs.replace(entry, fields_v1=msgspec.Raw(bytes(entry.fields_v1)))
