"""Who manages what after an actor's write: the entry of its own is renewed, its fields are known beforehand.

Which fields a status has follows from its outline (which conditions, which containers), so an actor names the outline
and the set is made once for all objects that have it.
"""

from collections.abc import Callable, Hashable
from typing import cast

import msgspec

from baseload.embedded.store.managed import Entry, Keyed, entries
from baseload.embedded.store.record import Section
from baseload.kube.merge import compare, fieldset, scope
from baseload.kube.merge.types import ObjectType


def own(held: Section, manager: str, *fields: bytes) -> Entry | None:
    """A manager's entry for all but the status, if those fields are among its own."""
    for entry in entries(held):
        if (entry.manager, entry.operation, entry.subresource) == (manager, "Update", ""):
            return entry if all(field in bytes(entry.fields_v1) for field in fields) else None
    return None


def renewed(held: Section, mine: Entry) -> tuple[Entry, ...]:
    """The entries with one manager's own in place of what it had; the others keep what they hold."""
    whose, operation, subresource = mine.manager, mine.operation, mine.subresource
    kept = [
        entry
        for entry in entries(held)
        if entry.manager != whose or entry.subresource != subresource or entry.operation != operation
    ]
    return (*kept, mine)


class Outlines:
    """The field sets of one manager's writes to the status of one kind, by outline."""

    def __init__(self, kind: ObjectType, manager: str) -> None:
        self._kind, self._manager = kind, manager
        self._known: dict[Hashable, tuple[bytes, msgspec.Raw]] = {}

    def entry(self, outline: Hashable, time: str, status: Callable[[], object], key: str = "") -> Entry:
        """The manager's entry at a time; `status` gives one of that outline, where it was not met before.

        `key` is put where the status has the stand-in, for lists whose items are told by a value of the object's own.
        """
        known = self._known.get(outline)
        if known is None:
            tree = {"status": msgspec.json.decode(msgspec.json.encode(status()))}
            told = compare.compare(self._kind.root, {"status": {}}, tree).added
            owned = scope.ownable(scope.within(self._kind, "status", told))
            written = msgspec.json.encode(fieldset.written(owned))
            known = self._known[outline] = written, msgspec.Raw(written)
        fields = cast(msgspec.Raw, Keyed(known[0], key)) if key else known[1]
        return Entry(self._manager, "Update", self._kind.api_version, time, "FieldsV1", fields, "status")
