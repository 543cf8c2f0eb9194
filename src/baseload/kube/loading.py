"""One load under way: documents become objects, each is named, read and checked, and every fault is kept."""

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import replace

import msgspec

from baseload.kube import documents, kinds, reading
from baseload.kube.found import Found
from baseload.kube.schema import check, definitions, pools, shape
from baseload.kube.schema.check import Checker, Validate
from baseload.kube.schema.finding import Finding, Weight
from baseload.kube.types.meta import ObjectMeta, Wire
from baseload.values.errors import Fault

_FIELDS_OF_LIST = ("apiVersion", "kind", "metadata", "items")
_INDEX = re.compile(r"\[\d+\]")


class _Place(msgspec.Struct, frozen=True, gc=False):
    """Where an object stands, and the kind that its List implies for it."""

    file: str
    document: int
    keys_are_unique: bool
    path_prefix: str = ""
    api_version: str | None = None
    kind: str | None = None

    def fault(self, message: str, *, path: str = "", object: str = "", allowed: str = "") -> Fault:
        """A fault of an object that cannot be named for sure: its path starts at the document."""
        return Fault(
            message,
            file=self.file,
            document=self.document,
            path=".".join(part for part in (self.path_prefix, path) if part),
            object=object,
            allowed=allowed,
        )


class Loading:
    """What has been taken in so far."""

    def __init__(self, validate: Validate, well_known: Collection[str] = ()) -> None:
        self.found: list[Found] = []
        self.readings: list[Wire | None] = []  # aligned to found
        self.faults: list[Fault] = []
        self._warnings: dict[tuple[str, str], list[Fault]] = {}  # (kind, path without indexes) -> those alike
        self._empty: list[Fault] = []
        self._strangers: Counter[tuple[str, str]] = Counter()  # (apiVersion, kind) of groups that nobody here knows
        self._reader = reading.Readings()
        self._checker = Checker(validate, well_known)
        self._first: dict[tuple[str, str, str, str], Found] = {}
        self._unproved: dict[bytes, Found] = {}  # JSON in which a key may stand twice -> the first object with it

    @property
    def is_empty(self) -> bool:
        """Whether there was nothing at all, not even something wrong."""
        return not (self.found or self.faults or self._strangers)

    def all_faults(self) -> list[Fault]:
        """What refuses the input, with what would mend it where that is known."""
        node_classes = [found.name for found in self.found if found.kind == "EC2NodeClass"]
        return [pools.mend(fault, node_classes) for fault in self.faults]

    def all_warnings(self) -> list[Fault]:
        """What was found and does not refuse the input; what is alike in many objects is said of the first."""
        strangers = [_stranger(*kind, count) for kind, count in self._strangers.items()]
        return [*self._empty, *strangers, *map(_first_of, self._warnings.values())]

    def note_empty(self, file: str, *, was_named: bool) -> None:
        """A file without an object is a mistake of whoever named it; in a folder it is only said."""
        (self.faults if was_named else self._empty).append(Fault("there is no object in it", file=file))

    def _warn(self, kind: str, fault: Fault) -> None:
        self._warnings.setdefault((kind, _INDEX.sub("[]", fault.path)), []).append(fault)

    def take(self, file: str, document: documents.Document) -> None:
        """Take in one document."""
        place = _Place(file, document.number, document.keys_are_unique)
        try:
            self._value(document.raw, place)
            self._prove_keys_unique()
        except RecursionError:
            self.faults.append(place.fault("is nested too deeply"))
        except msgspec.MsgspecError as error:
            self.faults.extend(_unreadable(document.raw, place, error))

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
            if not parts.complete or bytes(parts.spec) or bytes(parts.status):
                self._strange_fields_of_list(raw, place)
        elif parts.kind == "List":
            self.faults.append(place.fault("Required value", path="items", object="List"))
            self._strange_fields_of_list(raw, place)
        else:
            self._object(raw, parts, place)

    def _list(self, api_version: str | None, kind: str, items: list[msgspec.Raw], place: _Place) -> None:
        """The objects of a List; those of a PodList and its like may leave their own kind out."""
        implied = kind.removesuffix("List") or None
        below = f"{place.path_prefix}.items" if place.path_prefix else "items"
        for index, item in enumerate(items):
            at = f"{below}[{index}]"
            implied_version = api_version if implied else None
            self._value(item, _Place(place.file, place.document, place.keys_are_unique, at, implied_version, implied))

    def _strange_fields_of_list(self, raw: msgspec.Raw, place: _Place) -> None:
        fields = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
        for name in fields:
            if name not in _FIELDS_OF_LIST:
                near = kinds.most_similar(name, _FIELDS_OF_LIST)
                allowed = f'did you mean "{near}"?' if near else f"known fields: {', '.join(_FIELDS_OF_LIST)}"
                self.faults.append(place.fault(f'unknown field "{name}"', path=name, object="List", allowed=allowed))

    def _object(self, raw: msgspec.Raw, header: reading.Header, place: _Place) -> None:
        api_version, name = header.api_version or place.api_version, header.kind or place.kind
        if not api_version or not name:
            named = (("apiVersion", api_version), ("kind", name))
            self.faults.extend(place.fault("Required value", path=path) for path, given in named if not given)
            return
        kind = kinds.find(api_version, name)
        if kind is None and not kinds.is_known_group(api_version):
            self._strangers[api_version, name] += 1
            return
        parts = reading.Parts.of(header, raw)
        metadata = self._metadata(api_version, name, raw, parts, place)
        if metadata is None:
            return
        if kind is None:
            self._unknown_kind(api_version, name, metadata, place)
            return
        namespace = (metadata.namespace or "default") if kind.namespaced else ""
        if namespace != metadata.namespace:
            metadata = msgspec.structs.replace(metadata, namespace=namespace)
        found = Found(api_version, name, namespace, metadata.name, raw, place.file, place.document, place.path_prefix)
        first = self._first.setdefault((kind.group, name, namespace, metadata.name), found)
        if first is not found:
            self.faults.append(found.fault(f"stands here a second time, first in {first.place}"))
            return
        mode = self._checker.mode(metadata)
        if mode == "strict" and not place.keys_are_unique:
            self._note_unproved(found, raw, parts)
        self._keep(kind, found, parts, metadata, mode)

    def _metadata(
        self, api_version: str, kind: str, raw: msgspec.Raw, parts: reading.Parts, place: _Place
    ) -> ObjectMeta | None:
        try:
            metadata = self._reader.metadata(parts.metadata) if parts.metadata else ObjectMeta()
        except reading.Mistyped as error:
            schema = definitions.of_kind(api_version, kind)
            findings = shape.compare(schema, msgspec.json.decode(raw)).findings if schema else []
            for finding in findings or [Finding(error.path, error.message)]:
                self.faults.append(
                    place.fault(finding.message, path=finding.path, object=kind, allowed=finding.allowed)
                )
            return None
        if not metadata.name:
            self.faults.append(place.fault("Required value", path="metadata.name", object=kind))
            return None
        return metadata

    def _keep(self, kind: kinds.Kind, found: Found, parts: reading.Parts, metadata: ObjectMeta, mode: Validate) -> None:
        compared = self._checker.compared(kind, found.json, parts, mode)
        value: Wire | None = None
        findings: list[Finding] = []
        try:
            if kind.reading is not None:
                value = self._reader.read(kind.reading, found.json, parts, metadata)
            findings = self._checker.found(value, compared)
        except reading.Mistyped as error:
            findings = self._of_unreadable(kind, found, metadata, compared, error)
        for finding in findings:
            fault = found.fault(finding.message, path=finding.path, allowed=finding.allowed)
            if check.refuses(finding, mode):
                self.faults.append(fault)
            elif mode != "ignore":
                self._warn(found.kind, fault)
        self.found.append(found)
        self.readings.append(value)

    def _of_unreadable(
        self,
        kind: kinds.Kind,
        found: Found,
        metadata: ObjectMeta,
        compared: shape.Shape | None,
        error: reading.Mistyped,
    ) -> list[Finding]:
        """The findings on an object of which a field that decisions read holds a value of another type."""
        fatal = Finding(error.path, error.message, weight=Weight.FATAL)
        if compared is None or kind.reading is None:
            return [fatal]
        compared.refuse_mistyped()
        value: Wire | None = None
        rest = check.pruned(found.json, compared)
        if rest is not None:
            try:
                parts = reading.Parts.of(reading.header(rest), rest)
                value = self._reader.read(kind.reading, rest, parts, metadata)
            except reading.Mistyped:
                value = None
        findings = self._checker.found(value, compared)
        return findings if compared.mistyped else [*findings, fatal]

    def _unknown_kind(self, api_version: str, name: str, metadata: ObjectMeta, place: _Place) -> None:
        near = kinds.nearest(api_version, name)
        fault = place.fault(
            f'no kind "{name}" is known in version "{api_version}"',
            path="kind",
            object=f"{name} {metadata.name}",
            allowed=f"the nearest is {near.name} of {near.api_version}" if near else "",
        )
        if self._checker.mode(metadata) == "strict":
            self.faults.append(fault)
        else:
            self._warn(name, fault)

    def _note_unproved(self, found: Found, raw: msgspec.Raw, parts: reading.Parts) -> None:
        if parts.each_once:
            for part in (parts.metadata, parts.spec, parts.status):
                self._unproved.setdefault(part, found)
        else:
            self._unproved.setdefault(bytes(raw), found)

    def _prove_keys_unique(self) -> None:
        """See that no map of hand-written JSON names a key twice; all parts of a document at once, for speed."""
        unproved, self._unproved = self._unproved, {}
        unproved.pop(b"", None)
        if not documents.repeated_keys(b"[" + b",".join(unproved) + b"]"):
            return
        for part, found in unproved.items():
            for key in documents.repeated_keys(part):
                self.faults.append(found.fault(f"the key {key} stands twice in one map"))


def _unreadable(raw: msgspec.Raw, place: _Place, error: msgspec.MsgspecError) -> list[Fault]:
    """What no reader takes in JSON that is well-formed: numbers too large for one."""
    paths = documents.excessive_numbers(bytes(raw))
    message = "Invalid value: a number beyond 64 bits and beyond what a float can hold"
    return [place.fault(message, path=path) for path in paths] or [place.fault(f"cannot be read: {error}")]


def _first_of(alike: list[Fault]) -> Fault:
    first = alike[0]
    if len(alike) == 1:
        return first
    more = f"and {len(alike) - 1} more like it"
    return replace(first, allowed=f"{first.allowed}; {more}" if first.allowed else more)


def _stranger(api_version: str, name: str, count: int) -> Fault:
    near = kinds.nearest(api_version, name)
    times = "1 object" if count == 1 else f"{count} objects"
    return Fault(
        f'kind "{name}" of "{api_version}" is unknown; {times} passed over',
        allowed=f"the nearest known kind is {near.name} of {near.api_version}" if near else "",
    )
