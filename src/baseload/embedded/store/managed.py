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
    fields_v1: msgspec.Raw = msgspec.field(name="fieldsV1", default=msgspec.Raw(b"{}"))
    subresource: str = ""


_entries: Final = msgspec.json.Decoder(tuple[Entry, ...]).decode


def entries(held: Section) -> tuple[Entry, ...]:
    """The entries of a record's managedFields."""
    if isinstance(held, tuple):
        return held  # type: ignore[return-value]  # a record holds no other structs there
    # A copy of each, because what is read refers to all of the JSON.
    return tuple([_own(entry) for entry in _entries(section(held) or b"[]")])


def _own(entry: Entry) -> Entry:
    return msgspec.structs.replace(entry, fields_v1=msgspec.Raw(bytes(entry.fields_v1)))
