"""From the JSON of one object to its typed reading.

Pods of one workload differ in their metadata and share the rest, so the parts of an object are read apart and equal
bytes give the very same value: twenty thousand pods have a few hundred specs, and whoever derives something from a
spec can remember it by the identity of the value.
JSON's null means absent, as everywhere in Kubernetes.
"""

import re
from functools import cache
from typing import TypeVar, cast

import msgspec

from baseload.kube.types.meta import ObjectMeta, Wire

T = TypeVar("T")
_AT = re.compile(r"(.*?) - at `(?:key in )?\$(.*)`", re.DOTALL)
_WORDS = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "object": "map", "array": "list"}


class Header(msgspec.Struct, gc=False, rename="camel"):
    """The outermost fields of an object, or of a list of objects."""

    api_version: str | None = None
    kind: str | None = None
    metadata: msgspec.Raw = msgspec.Raw()
    spec: msgspec.Raw = msgspec.Raw()
    status: msgspec.Raw = msgspec.Raw()
    items: list[msgspec.Raw] | None = None


header = msgspec.json.Decoder(Header).decode
"""Read the outermost fields alone."""


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

    def read(self, reading: type[Wire], raw: msgspec.Raw, parts: Header, metadata: ObjectMeta) -> Wire:
        """The reading of an object whose metadata is already read; raises Mistyped."""
        types = part_types(reading)
        if types is None:
            return msgspec.structs.replace(self.part(reading, bytes(raw), ""), metadata=metadata)
        given: dict[str, object] = {"metadata": metadata}
        for name, of in types:
            part = bytes(getattr(parts, name))
            if part:
                given[name] = self.part(of, part, "." + name)
        return reading(**given)

    def metadata(self, raw: msgspec.Raw) -> ObjectMeta:
        """The metadata of an object; it differs from object to object, so none is remembered."""
        return self._decode(ObjectMeta, bytes(raw), ".metadata")

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


@cache
def part_types(reading: type[Wire]) -> tuple[tuple[str, type], ...] | None:
    """The types of an object's spec and status; None for a kind that has fields of its own outside them."""
    types = {field.name: field.type for field in msgspec.structs.fields(reading)}
    if not types.keys() <= {"metadata", "spec", "status"}:
        return None
    return tuple((name, of) for name, of in types.items() if name != "metadata")


def without_nulls(value: object) -> object:
    """A JSON value whose maps hold no null; in lists a null stays and is a mistake."""
    if isinstance(value, dict):
        return {key: without_nulls(held) for key, held in value.items() if held is not None}
    if isinstance(value, list):
        return [without_nulls(held) for held in value]
    return value
