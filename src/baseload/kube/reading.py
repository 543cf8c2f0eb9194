"""From the JSON of one object to its typed reading.

Pods of one workload differ in their metadata and share the rest, so the parts of an object are read apart and equal
bytes give the very same value: twenty thousand pods have a few hundred specs, and whoever derives something from a
spec can remember it by the identity of the value.
JSON's null means absent, as everywhere in Kubernetes.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import ClassVar, TypeVar, cast

import msgspec

from baseload.kube.types.meta import ObjectMeta, Wire

T = TypeVar("T")
_PartTypes = tuple[type | None, type | None] | None
_AT = re.compile(r"(.*?) - at `(?:key in )?\$(.*)`", re.DOTALL)
_WORDS = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "object": "map", "array": "list"}


class Header(msgspec.Struct, gc=False, rename="camel"):
    """The outermost fields of an object, or of a list of objects."""

    complete: ClassVar[bool] = False  # whether the object has no other fields than these
    api_version: str | None = None
    kind: str | None = None
    metadata: msgspec.Raw = msgspec.Raw()
    spec: msgspec.Raw = msgspec.Raw()
    status: msgspec.Raw = msgspec.Raw()
    items: list[msgspec.Raw] | None = None


class _CompleteHeader(Header, gc=False, rename="camel", forbid_unknown_fields=True):
    complete: ClassVar[bool] = True


_header = msgspec.json.Decoder(Header).decode
_complete_header = msgspec.json.Decoder(_CompleteHeader).decode


def header(raw: msgspec.Raw) -> Header:
    """Read the outermost fields alone; raises msgspec.ValidationError."""
    try:
        return _complete_header(raw)
    except msgspec.ValidationError:
        return _header(raw)


class Parts(msgspec.Struct, gc=False):
    """The three parts of an object as JSON, empty where absent, and whether they are all there is beside its kind."""

    metadata: bytes
    spec: bytes
    status: bytes
    complete: bool
    each_once: bool  # whether no outermost field can stand twice

    @staticmethod
    def of(header: Header, raw: msgspec.Raw) -> "Parts":
        """The parts of one object; in compact JSON the lengths tell whether a field is repeated."""
        metadata, spec, status = bytes(header.metadata), bytes(header.spec), bytes(header.status)
        complete = header.complete and header.items is None
        each_once = False
        if complete:
            size = 1 + (len(metadata) + 12 if metadata else 0) + (len(spec) + 8 if spec else 0)
            size += (len(status) + 10 if status else 0) + (len(header.kind) + 10 if header.kind else 0)
            size += len(header.api_version) + 16 if header.api_version else 0
            each_once = size == memoryview(raw).nbytes
        return Parts(metadata, spec, status, complete, each_once)


class Mistyped(Exception):
    """A field that holds a value of another type than its own."""

    def __init__(self, error: msgspec.ValidationError, below: str = "") -> None:
        text = str(error)
        match = _AT.fullmatch(text)
        said, at = match.groups() if match else (text, "")
        self.path = (below + at.replace("[...]", "")).removeprefix(".")
        self.message = _in_words(said)
        super().__init__(f"{self.path}: {self.message}")


def _in_words(said: str) -> str:
    match = re.fullmatch(r"Expected `(.*)`, got `(.*)`", said)
    if match is None:
        return f"Invalid value: {said}"
    wanted, got = (" or ".join(_WORDS.get(word, word) for word in _alternatives(side)) for side in match.groups())
    return f"Invalid value: expected {wanted}, got {got}"


def _alternatives(types: str) -> list[str]:
    """The types of a message; that a field may be null is no news."""
    words = types.split(" | ")
    return [word for word in words if word != "null"] or words


class Readings:
    """Reads objects and remembers the parts it has read; one for a load, then thrown away."""

    def __init__(self) -> None:
        self._known: dict[type, dict[bytes, object]] = {}
        self._decoders: dict[type, msgspec.json.Decoder[object]] = {}

    def read(self, reading: type[Wire], raw: msgspec.Raw, parts: Parts, metadata: ObjectMeta) -> Wire:
        """The reading of an object whose metadata is already read; raises Mistyped."""
        types = part_types(reading)
        if types is None:
            return msgspec.structs.replace(self._decode(reading, bytes(raw), ""), metadata=metadata)
        spec_type, status_type = types
        given: dict[str, object] = {}
        if parts.spec and spec_type is not None:
            given["spec"] = self.part(spec_type, parts.spec, ".spec")
        if parts.status and status_type is not None:
            given["status"] = self.part(status_type, parts.status, ".status")
        return reading(metadata=metadata, **given)

    def metadata(self, raw: bytes) -> ObjectMeta:
        """The metadata of an object; it differs from object to object, so none is remembered."""
        return self._decode(ObjectMeta, raw, ".metadata")

    def part(self, of: type[T], raw: bytes, below: str) -> T:
        """The reading of one part, the same value for the same bytes; `below` is the path that leads to it."""
        known = self._known.setdefault(of, {})
        value = known.get(raw)
        if value is None:
            value = known[raw] = self._decode(of, raw, below)
        return cast(T, value)

    def _decode(self, of: type[T], raw: bytes, below: str) -> T:
        decoder = self._decoders.get(of)
        if decoder is None:
            decoder = self._decoders[of] = msgspec.json.Decoder(of)
        try:
            return cast(T, decoder.decode(raw))
        except msgspec.ValidationError as error:
            if b"null" not in raw:
                raise Mistyped(error, below) from error
        try:
            return msgspec.convert(without_nulls(msgspec.json.decode(raw)) or {}, of)
        except msgspec.ValidationError as error:
            raise Mistyped(error, below) from error


class _Interned:
    """Values by the type and the bytes that they were read from; what nobody asks for any more is forgotten."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._young: dict[tuple[type, bytes], object] = {}
        self._old: dict[tuple[type, bytes], object] = {}

    def value(self, of: type[T], raw: bytes) -> T:
        key = of, raw
        known = self._young.get(key)
        if known is None:
            known = self._old.get(key)
            if len(self._young) >= self._most:
                self._old, self._young = self._young, {}
            self._young[key] = known = decoded(raw, of) if known is None else known
        return cast(T, known)


_specs = _Interned(4096)


def of_object(raw: bytes, metadata: ObjectMeta, reading: type[T]) -> T:
    """The reading of an object whose metadata is already read; of equal specs the same value, for a while.

    Raises msgspec.ValidationError.
    """
    types = parts_of(reading)
    if types is None:
        return decoded(raw, reading)
    held = _header(raw)
    spec, status = bytes(held.spec), bytes(held.status)
    return joined(
        reading,
        metadata,
        _specs.value(types[0], spec) if spec and types[0] is not None else None,
        decoded(status, types[1]) if status and types[1] is not None else None,
    )


def joined(reading: type[T], metadata: ObjectMeta, spec: object, status: object) -> T:
    """A reading put together from its parts; None for one that is absent."""
    given = {name: part for name, part in (("spec", spec), ("status", status)) if part is not None}
    return cast("Callable[..., T]", reading)(metadata=metadata, **given)


def parts_of(reading: type[T]) -> _PartTypes:
    """The types of spec and status of a reading that consists of these and metadata; None of another one."""
    return part_types(cast("type[Wire]", reading)) if issubclass(reading, Wire) else None


@cache
def part_types(reading: type[Wire]) -> _PartTypes:
    """The types of an object's spec and status; None for a kind that has fields of its own outside them."""
    types = {field.name: field.type for field in msgspec.structs.fields(reading)}
    if "metadata" not in types or not types.keys() <= {"metadata", "spec", "status"}:
        return None
    return types.get("spec"), types.get("status")


def without_nulls(value: object) -> object:
    """A JSON value whose maps hold no null; in lists a null stays and is a mistake."""
    if isinstance(value, dict):
        return {key: without_nulls(held) for key, held in value.items() if held is not None}
    if isinstance(value, list):
        return [without_nulls(held) for held in value]
    return value


def decoded(raw: bytes, type: type[T]) -> T:
    """JSON as that type; a null stands for what is absent, as Go's encoder writes some zero values."""
    try:
        return msgspec.json.decode(raw, type=type)
    except msgspec.ValidationError:
        return msgspec.convert(without_nulls(msgspec.json.decode(raw)) or {}, type)
