"""Manifests: what the user hands in, as typed readings that remember where they stand.

Objects are kept as compact JSON beside their readings, so that one field can be changed and everything that follows
decided anew (`edited`).
Loading collects every fault of every file before it refuses.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal, TypeVar, cast

import msgspec

from baseload.kube import documents, fieldpath, kinds, reading, sources
from baseload.kube.bulk import paused_gc
from baseload.kube.types.meta import ObjectMeta, Wire
from baseload.values.errors import BadInput, Fault

Validate = Literal["auto", "strict", "warn", "ignore"]
W = TypeVar("W", bound=Wire)


class Found(msgspec.Struct, frozen=True, gc=False):
    """An object of the input and its place there."""

    api_version: str
    kind: str
    namespace: str  # "" for what lives in none
    name: str
    json: msgspec.Raw
    file: str
    document: int
    path_prefix: str  # items[3] for the fourth object of a List, else ""

    @property
    def ref(self) -> str:
        """The object's name as faults and plans write it: `Pod default/web-1`, `NodePool default`."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"

    @property
    def raw(self) -> bytes:
        """The object as compact JSON."""
        return bytes(self.json)

    def fault(self, message: str, *, path: str = "", allowed: str = "") -> Fault:
        """A fault of this object."""
        return Fault(message, file=self.file, document=self.document, path=path, allowed=allowed, object=self.ref)


class Manifests:
    """All objects of an input, in its order. A value: `edited` gives another one."""

    __slots__ = ("_by_reading", "found", "readings", "warnings")

    def __init__(self, found: Sequence[Found], readings: Sequence[Wire | None], warnings: Sequence[Fault] = ()) -> None:
        self.found = tuple(found)
        self.readings = tuple(readings)  # aligned to found; None for a kind that no decision reads
        self.warnings = tuple(warnings)
        by_reading: dict[type[Wire], list[Wire]] = {}
        for value in self.readings:
            if value is not None:
                by_reading.setdefault(type(value), []).append(value)
        self._by_reading = {kind: tuple(values) for kind, values in by_reading.items()}

    def of(self, kind: type[W]) -> tuple[W, ...]:
        """All objects of one kind."""
        return cast(tuple[W, ...], self._by_reading.get(kind, ()))

    def find(self, ref: str) -> Found | None:
        """The object of that name (`Pod default/web-1`), None when there is none."""
        return next((found for found in self.found if found.ref == ref), None)

    def edited(self, ref: str, path: str, value: object) -> "Manifests":
        """The same manifests with one field of one object set, or removed where the value is None.

        Raises KeyError for an unknown object, ValueError for a path that leads nowhere, BadInput where the field
        cannot hold the value.
        """
        at = next((index for index, found in enumerate(self.found) if found.ref == ref), None)
        if at is None:
            raise KeyError(ref)
        old = self.found[at]
        tree = fieldpath.changed(msgspec.json.decode(old.json), path, value)
        new = msgspec.structs.replace(old, json=msgspec.Raw(msgspec.json.encode(tree)))
        replaced = _read_again(new)
        return Manifests(
            (*self.found[:at], new, *self.found[at + 1 :]),
            (*self.readings[:at], replaced, *self.readings[at + 1 :]),
            self.warnings,
        )


def load(names: Sequence[str], *, stdin: Callable[[], bytes] | None = None, validate: Validate = "auto") -> Manifests:
    """Read files, folders and `-` (standard input); raises BadInput with all that is wrong in them."""
    loading = _Loading()
    with paused_gc():
        texts, loading.faults = sources.read(names, stdin=stdin)
        for source in texts:
            found, faults = documents.split(source)
            for document in found:
                loading.document(source.file, document)
            loading.faults.extend(faults)
    if not loading.found and not loading.faults and not loading.strangers:
        loading.faults.append(Fault("there is no object in it", file=", ".join(names)))
    if loading.faults:
        raise BadInput(loading.faults)
    return Manifests(loading.found, loading.readings, loading.warnings())


def _read_again(found: Found) -> Wire | None:
    kind = kinds.find(found.api_version, found.kind)
    if kind is None or kind.reading is None:
        return None
    parts = reading.header(found.json)
    readings = reading.Readings()
    try:
        metadata = readings.metadata(parts.metadata)
        metadata = msgspec.structs.replace(metadata, namespace=found.namespace)
        return readings.read(kind.reading, found.json, parts, metadata)
    except reading.Mistyped as error:
        raise BadInput([found.fault(error.message, path=error.path)]) from error


class _Place(msgspec.Struct, frozen=True, gc=False):
    """Where an object stands, and the kind that its List implies for it."""

    file: str
    document: int
    path_prefix: str = ""
    api_version: str | None = None
    kind: str | None = None

    def fault(self, message: str, *, path: str = "", object: str = "", allowed: str = "") -> Fault:
        """A fault of an object that may have no name yet: its path starts at the document."""
        if not object and self.path_prefix:
            path = f"{self.path_prefix}.{path}" if path else self.path_prefix
        return Fault(message, file=self.file, document=self.document, path=path, object=object, allowed=allowed)


class _Loading:
    """One load under way."""

    def __init__(self) -> None:
        self.found: list[Found] = []
        self.readings: list[Wire | None] = []
        self.faults: list[Fault] = []
        self.strangers: Counter[tuple[str, str]] = Counter()  # (apiVersion, kind) of groups that nobody here knows
        self._reader = reading.Readings()
        self._first: dict[tuple[str, str, str, str], Found] = {}

    def document(self, file: str, document: documents.Document) -> None:
        """Take in one document."""
        place = _Place(file, document.number)
        try:
            self._value(document.raw, place)
        except RecursionError:
            self.faults.append(place.fault("is nested too deeply"))

    def warnings(self) -> list[Fault]:
        """What was passed over, each kind once."""
        return [_stranger(*kind, count) for kind, count in self.strangers.items()]

    def _value(self, raw: msgspec.Raw, place: _Place) -> None:
        try:
            parts = reading.header(raw)
        except msgspec.ValidationError as error:
            mistyped = reading.Mistyped(error)
            message = mistyped.message if mistyped.path else "is no object: a map with apiVersion, kind and metadata"
            self.faults.append(place.fault(message, path=mistyped.path))
            return
        if parts.kind is not None and parts.kind.endswith("List") and parts.items is not None:
            self._list(parts.api_version, parts.kind, parts.items, place)
        else:
            self._object(raw, parts, place)

    def _list(self, api_version: str | None, kind: str, items: list[msgspec.Raw], place: _Place) -> None:
        """The objects of a List; those of a PodList and its like may leave their own kind out."""
        implied = kind.removesuffix("List") or None
        below = f"{place.path_prefix}.items" if place.path_prefix else "items"
        for index, item in enumerate(items):
            at = _Place(
                place.file,
                place.document,
                f"{below}[{index}]",
                api_version if implied else None,
                implied,
            )
            self._value(item, at)

    def _object(self, raw: msgspec.Raw, parts: reading.Header, place: _Place) -> None:
        api_version, name = parts.api_version or place.api_version, parts.kind or place.kind
        if not api_version or not name:
            self.faults.extend(
                place.fault("Required value", path=path)
                for path, given in (("apiVersion", api_version), ("kind", name))
                if not given
            )
            return
        kind = kinds.find(api_version, name)
        if kind is None and not kinds.is_known_group(api_version):
            self.strangers[api_version, name] += 1
            return
        metadata = self._metadata(name, parts, place)
        if metadata is None:
            return
        if kind is None:
            self._unknown_kind(api_version, name, metadata, place)
            return
        namespace = (metadata.namespace or "default") if kind.namespaced else ""
        if namespace != metadata.namespace:
            metadata = msgspec.structs.replace(metadata, namespace=namespace)
        found = Found(api_version, name, namespace, metadata.name, raw, place.file, place.document, place.path_prefix)
        self._keep(kind, found, parts, metadata)

    def _keep(self, kind: kinds.Kind, found: Found, parts: reading.Header, metadata: ObjectMeta) -> None:
        first = self._first.setdefault((kind.group, found.kind, found.namespace, found.name), found)
        if first is not found:
            self.faults.append(found.fault(f"stands here a second time, first in {_where(first)}"))
            return
        value: Wire | None = None
        if kind.reading is not None:
            try:
                value = self._reader.read(kind.reading, found.json, parts, metadata)
            except reading.Mistyped as error:
                self.faults.append(found.fault(error.message, path=error.path))
                return
        self.found.append(found)
        self.readings.append(value)

    def _metadata(self, kind: str, parts: reading.Header, place: _Place) -> ObjectMeta | None:
        try:
            metadata = self._reader.metadata(parts.metadata) if bytes(parts.metadata) else None
        except reading.Mistyped as error:
            self.faults.append(place.fault(error.message, path=error.path, object=kind))
            return None
        if metadata is None or not metadata.name:
            self.faults.append(place.fault("Required value", path=place_path(place, "metadata.name"), object=kind))
            return None
        return metadata

    def _unknown_kind(self, api_version: str, name: str, metadata: ObjectMeta, place: _Place) -> None:
        near = kinds.nearest(api_version, name)
        allowed = f"the nearest is {near.name} of {near.api_version}" if near else ""
        message = f'no kind "{name}" is known in version "{api_version}"'
        self.faults.append(place.fault(message, path="kind", object=f"{name} {metadata.name}", allowed=allowed))


def place_path(place: _Place, path: str) -> str:
    return f"{place.path_prefix}.{path}" if place.path_prefix else path


def _where(found: Found) -> str:
    return ", ".join(part for part in (found.file, f"document {found.document}", found.path_prefix) if part)


def _stranger(api_version: str, name: str, count: int) -> Fault:
    near = kinds.nearest(api_version, name)
    times = "1 object" if count == 1 else f"{count} objects"
    return Fault(
        f'kind "{name}" of "{api_version}" is unknown; {times} passed over',
        allowed=f"the nearest known kind is {near.name} of {near.api_version}" if near else "",
    )
