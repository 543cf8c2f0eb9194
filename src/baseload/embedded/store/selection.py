"""Which objects of a kind a list or a watch is about: a namespace, labels, fields."""

from dataclasses import dataclass
from typing import Final

import msgspec

from baseload.embedded.store import record as records
from baseload.embedded.store.errors import BadRequest
from baseload.embedded.store.log import Event
from baseload.embedded.store.record import Record
from baseload.embedded.store.resource import Resource
from baseload.values.selector import FieldSelector, Selector

_ALWAYS: Final = ("metadata.name", "metadata.namespace")
NO_LABELS: Final = Selector()
NO_FIELDS: Final = FieldSelector()


@dataclass(frozen=True, slots=True)
class Selection:
    """A namespace ("" is all of them), a label selector and a field selector, all of which have to match."""

    namespace: str = ""
    labels: Selector = NO_LABELS
    fields: FieldSelector = NO_FIELDS

    @property
    def is_everything(self) -> bool:
        return not self.namespace and self.labels == NO_LABELS and not self.fields.terms

    @property
    def has_selectors(self) -> bool:
        return self.labels != NO_LABELS or bool(self.fields.terms)

    def check(self, resource: Resource) -> None:
        """Refuses fields that the kind does not offer."""
        for path in self.fields.fields():
            if path not in _ALWAYS and path not in resource.fields:
                raise BadRequest(f"field label not supported: {path}", resource=resource)

    def equal_field(self, path: str) -> str | None:
        """The value that a field must have, None where the selector does not pin it."""
        return next((value for field, equal, value in self.fields.terms if equal and field == path), None)

    def matches(self, record: Record) -> bool:
        if self.namespace and record.namespace != self.namespace:
            return False
        if not self.labels.matches(record.shared.labels):
            return False
        return all((field(record, path) == value) is equal for path, equal, value in self.fields.terms)

    def seen(self, event: Event) -> Event | None:
        """The event as a watcher of this selection sees it: objects enter and leave it; None where neither side is."""
        old = event.old
        was = old is not None and self.matches(old)
        if event.type == "DELETED":
            return event if was else None
        now = self.matches(event.record)
        if was == now:
            return event if now else None
        if now:
            return event if old is None else Event("ADDED", event.version, event.record, old)
        assert old is not None
        return Event("DELETED", event.version, old.at(event.version), old)


EVERYTHING: Final = Selection()


def field(record: Record, path: str) -> str:
    """The text of a selectable field; "" where the object has none."""
    if path == "metadata.name":
        return record.name
    if path == "metadata.namespace":
        return record.namespace
    if path == "spec.nodeName" and record.resource.has_node:
        return record.node
    section, _, rest = path.partition(".")
    if section == "metadata":
        return ""
    return _status_field(record, rest) if section == "status" else record.body.field(path)


def _status_field(record: Record, path: str) -> str:
    status = record.status
    if isinstance(status, bytes):
        return records.text_at(msgspec.json.decode(status), path) if status else ""
    attribute = getattr(status, path, None)  # a path of one step: how actors name the field, too
    return attribute if isinstance(attribute, str) else records.text_at(msgspec.to_builtins(status), path)
