"""Who manages which fields of an object: the entries of metadata.managedFields, read and written.

An applier is one manager whatever the version it applied in; an updater is another one in each version.
Entries of other versions of the kind are read as if fields had the same names there.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple

import msgspec

from baseload.kube.merge import fieldset
from baseload.kube.merge.fieldset import FieldSet
from baseload.kube.merge.tree import Object
from baseload.values import instant

APPLY = "Apply"
UPDATE = "Update"
FORM: Final = "FieldsV1"
MOST_UPDATERS = 10
ANCIENT = "ancient-changes"


class Manager(NamedTuple):
    """Who an entry belongs to; the order is the one in which conflicts are listed."""

    name: str
    operation: str
    api_version: str  # "" for an applier
    subresource: str

    def __str__(self) -> str:
        """As messages name it."""
        named = f'"{self.name}"'
        if self.subresource:
            named = f'{named} with subresource "{self.subresource}"'
        return f"{named} using {self.api_version}" if self.operation == UPDATE else named


@dataclass(frozen=True, slots=True)
class Entry:
    """What a manager holds."""

    api_version: str
    fields: FieldSet
    time: str | None  # RFC 3339, whole seconds
    json: bytes = field(default=b"", compare=False)  # the fields as they are written, where that is known

    def holding(self, fields: FieldSet) -> "Entry":
        """The entry with other fields; the entry itself where they are the same."""
        return self if fields is self.fields else Entry(self.api_version, fields, self.time)

    def told_as(self, json: bytes) -> "Entry":
        """The entry with its fields as they are written."""
        return self if self.json else Entry(self.api_version, self.fields, self.time, json)


Managers = dict[Manager, Entry]


class ManagersError(ValueError):
    """managedFields cannot be read."""


def manager(name: str, operation: str, api_version: str, subresource: str = "") -> Manager:
    """The manager of that name."""
    return Manager(name or "unknown", operation, "" if operation == APPLY else api_version, subresource)


def read(entries: object) -> Managers:
    """The managers of a list of entries; none for one that is absent."""
    if entries is None:
        return {}
    if not isinstance(entries, list):
        raise ManagersError("managedFields must be a list")
    return dict(_read(index, entry) for index, entry in enumerate(entries))


class Told(msgspec.Struct, rename="camel", omit_defaults=True, frozen=True, gc=False):
    """An entry as it is kept, its fields as JSON."""

    manager: str = ""
    operation: str = ""
    api_version: str = ""
    time: str = ""
    fields_type: str = ""
    fields_v1: msgspec.Raw = msgspec.field(name="fieldsV1", default=msgspec.Raw())
    subresource: str = ""


_decode: Final = msgspec.json.Decoder(list[Told]).decode
_MOST_RECENT: Final = 1 << 13  # objects, of about 2 kB each


class Kept(NamedTuple):
    """The entries of an object as they are kept, and the managers that they tell."""

    told: list[Told]
    managers: Managers


_recent: Final[OrderedDict[bytes, Kept]] = OrderedDict()
"""What was kept last: who writes an object's status soon writes it again"""


def remembered(managers: Managers, told: list[Told]) -> bytes:
    """The entries that `tell` made of managers, as they are kept."""
    raw = encoded(told)
    entries = zip(_in_order(managers), told, strict=True)
    _recent[raw] = Kept(told, {who: managers[who].told_as(bytes(entry.fields_v1)) for who, entry in entries})
    if len(_recent) > _MOST_RECENT:
        _recent.popitem(last=False)
    return raw


def decoded(raw: bytes) -> Kept | None:
    """The entries in JSON as `encoded` writes it; None for any other, whether or not it can be read."""
    if raw in _recent:
        _recent.move_to_end(raw)
        return _recent[raw]
    try:
        told = _decode(raw)
        return Kept(told, _of_told(told)) if all(map(_is_whole, told)) and encoded(told) == raw else None
    except ValueError:
        return None


def _is_whole(told: Told) -> bool:
    is_one = told.operation in (APPLY, UPDATE) and told.fields_type == FORM
    return bool(is_one and told.api_version and told.fields_v1)


encoded: Final = msgspec.json.Encoder().encode
"""Entries as JSON"""


def _of_told(entries: Iterable[Told]) -> Managers:
    managers: Managers = {}
    for told in entries:
        fields, json = fieldset.read(bytes(told.fields_v1))
        version = told.api_version
        who = Manager(told.manager, told.operation, "" if told.operation == APPLY else version, told.subresource)
        managers[who] = Entry(version, fields, _whole_seconds(told.time), json)
    return managers


def tell(managers: Managers) -> list[Told]:
    """The entries of managers, in Kubernetes' order."""
    return [_tell(who, managers[who]) for who in _in_order(managers)]


def _tell(who: Manager, entry: Entry) -> Told:
    fields = msgspec.Raw(entry.json or fieldset.encoded(entry.fields))
    return Told(who.name, who.operation, entry.api_version, entry.time or "", FORM, fields, who.subresource)


def tell_the_same(some: Sequence[Told], others: Sequence[Told]) -> bool:
    """Whether entries are the same but for their times."""
    return len(some) == len(others) and all(map(_is_same, some, others))


def _is_same(one: Told, other: Told) -> bool:
    said, also = one.fields_v1, other.fields_v1
    return (one.manager, one.operation, one.api_version, one.subresource) == (
        other.manager,
        other.operation,
        other.api_version,
        other.subresource,
    ) and (said == also or msgspec.json.decode(said) == msgspec.json.decode(also))


def _read(index: int, entry: object) -> tuple[Manager, Entry]:
    if not isinstance(entry, dict):
        raise ManagersError("an entry of managedFields must be a map")
    operation, api_version = _text(entry, "operation"), _text(entry, "apiVersion")
    if operation not in (APPLY, UPDATE):
        raise ManagersError("operation must be `Apply` or `Update`")
    if not api_version:
        raise ManagersError("apiVersion must not be empty")
    if entry.get("fieldsType") != FORM:
        wrong = _text(entry, "fieldsType")
        fault = f'invalid fieldsType "{wrong}"' if wrong else "missing fieldsType"
        raise ManagersError(f"{fault} in managed fields entry {index}")
    try:
        fields = fieldset.parse(entry.get("fieldsV1") or {})
        time = _whole_seconds(_text(entry, "time"))
    except ValueError as error:
        raise ManagersError(f"error decoding managed fields entry {index}: {error}") from error
    name, subresource = _text(entry, "manager"), _text(entry, "subresource")
    return Manager(name, operation, "" if operation == APPLY else api_version, subresource), Entry(
        api_version, fields, time
    )


def _text(entry: Mapping[str, object], key: str) -> str:
    value = entry.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ManagersError(f"{key} must be a string")
    return value


@lru_cache(maxsize=1 << 14)
def _whole_seconds(time: str) -> str | None:
    return stamp(instant.parse(time)) if time else None


def stamp(now: int) -> str:
    """The time of an entry: an instant in whole seconds."""
    return _stamp(now // instant.SECOND)


@lru_cache(maxsize=8)
def _stamp(second: int) -> str:
    return instant.format(second * instant.SECOND)


@lru_cache(maxsize=1 << 14)
def _seconds(time: str | None) -> int:
    return instant.parse(time) // instant.SECOND if time else 0


def written(managers: Managers) -> list[object]:
    """The entries as Kubernetes writes them: appliers first, the oldest first."""
    return [_written(who, managers[who]) for who in _in_order(managers)]


def _in_order(managers: Managers) -> list[Manager]:
    return sorted(managers, key=lambda who: _place(who, managers[who]))


def _place(who: Manager, entry: Entry) -> tuple[str, int, str, str, str]:
    return (who.operation, _seconds(entry.time), who.name, entry.api_version, who.subresource)


def _written(who: Manager, entry: Entry) -> Object:
    told: Object = {"manager": who.name} if who.name else {}
    told |= {"operation": who.operation, "apiVersion": entry.api_version}
    if entry.time is not None:
        told["time"] = entry.time
    told |= {"fieldsType": FORM, "fieldsV1": fieldset.written(entry.fields)}
    if who.subresource:
        told["subresource"] = who.subresource
    return told


def capped(managers: Managers) -> Managers:
    """At most ten updaters: the oldest ones of each version become one, named for what it is."""
    updaters = [who for who in managers if who.operation == UPDATE]
    surplus = len(updaters) - MOST_UPDATERS
    if surplus <= 0:
        return managers
    kept = dict(managers)
    first: dict[str, Manager] = {}
    for who in sorted(updaters, key=lambda who: (_seconds(managers[who].time), who)):
        if surplus <= 0:
            break
        entry = managers[who]
        bucket = Manager(ANCIENT, UPDATE, entry.api_version, "")
        if entry.api_version not in first:
            first[entry.api_version] = who
            continue
        held = kept.pop(bucket) if bucket in kept else kept.pop(first[entry.api_version])
        kept.pop(who, None)
        kept[bucket] = Entry(entry.api_version, fieldset.union(held.fields, entry.fields), entry.time)
        surplus -= 1
    return kept
