"""Manifests: what the user hands in, as typed readings that remember where they stand.

Objects are kept as compact JSON beside their readings, so that one field can be changed and everything that follows
decided anew (`edited`).
Loading collects every fault of every file before it refuses.
"""

from collections.abc import Callable, Collection, Sequence
from typing import TypeVar, cast

import msgspec

from baseload.kube import documents, fieldpath, kinds, reading, sources
from baseload.kube.bulk import paused_gc
from baseload.kube.found import Found as Found
from baseload.kube.loading import Loading
from baseload.kube.schema.check import Validate as Validate
from baseload.kube.sources import Source
from baseload.kube.types.meta import Wire
from baseload.values.errors import BadInput, Fault

W = TypeVar("W", bound=Wire)


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

    def overlaid(self, other: "Manifests") -> "Manifests":
        """These manifests with others added; what both hold is as the others have it."""
        named = {_key(found) for found in other.found}
        kept = [(f, r) for f, r in zip(self.found, self.readings, strict=True) if _key(f) not in named]
        return Manifests(
            (*(found for found, _ in kept), *other.found),
            (*(reading for _, reading in kept), *other.readings),
            (*self.warnings, *other.warnings),
        )

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


def load(
    names: Sequence[str],
    *,
    stdin: Callable[[], bytes] | None = None,
    validate: Validate = "auto",
    well_known: Collection[str] = (),
) -> Manifests:
    """Read files, folders and `-` (standard input); raises BadInput with all that is wrong in them.

    `well_known` are the label keys that a catalogue of the user's own adds to the well-known ones.
    """
    loading = Loading(validate, well_known)
    with paused_gc():
        texts, loading.faults = sources.read(names, stdin=stdin)
        _take(loading, texts, (*names, sources.STDIN_FILE))
    if loading.is_empty:
        loading.faults.append(Fault("there is no object in it", file=", ".join(names)))
    return _of(loading)


def of_texts(texts: Sequence[Source], *, validate: Validate = "auto", well_known: Collection[str] = ()) -> Manifests:
    """Read texts that are no files, such as the answers of a server; there may be no object in them."""
    loading = Loading(validate, well_known)
    with paused_gc():
        _take(loading, texts, ())
    return _of(loading)


def _take(loading: Loading, texts: Sequence[Source], named: Collection[str]) -> None:
    for source in texts:
        parts, faults = documents.split(source)
        for document in parts:
            loading.take(source.file, document)
        if not parts and not faults:
            loading.note_empty(source.file, was_named=source.file in named)
        loading.faults.extend(faults)


def _of(loading: Loading) -> Manifests:
    if loading.faults:
        raise BadInput(loading.all_faults())
    return Manifests(loading.found, loading.readings, loading.all_warnings())


def _key(found: Found) -> tuple[str, str]:
    return kinds.group_of(found.api_version), found.ref


def _read_again(found: Found) -> Wire | None:
    kind = kinds.find(found.api_version, found.kind)
    if kind is None or kind.reading is None:
        return None
    parts = reading.Parts.of(reading.header(found.json), found.json)
    readings = reading.Readings()
    try:
        metadata = readings.metadata(parts.metadata)
        metadata = msgspec.structs.replace(metadata, namespace=found.namespace)
        return readings.read(kind.reading, found.json, parts, metadata)
    except reading.Mistyped as error:
        raise BadInput([found.fault(error.message, path=error.path)]) from error
