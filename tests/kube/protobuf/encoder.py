"""Protobuf as Go writes it: by hand, field by field, and from a tree, by the table that the decoder reads by."""

import base64
import json
import struct
from collections.abc import Callable
from typing import Any, Final

from baseload.kube.protobuf import table
from baseload.kube.protobuf.table import SCALARS, Field
from baseload.values import duration, instant


def varint(value: int) -> bytes:
    """A number, of 64 bits where it is negative."""
    value &= (1 << 64) - 1
    octets = bytearray()
    while value > 0x7F:
        octets.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*octets, value])


def field(number: int, value: int | str | bytes) -> bytes:
    """One field: a number, or a text or message with its length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    octets = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(octets)) + octets


def body(api_version: str, kind: str, message: bytes) -> bytes:
    """A message as the body of a request."""
    return b"k8s\0" + field(1, field(1, api_version) + field(2, kind)) + field(2, message) + field(3, "") + field(4, "")


def named(name: str) -> bytes:
    """The metadata of an object that has a name, as its first field."""
    return field(1, field(1, name))


def encoded(tree: dict[str, Any]) -> bytes:
    """An object as a body."""
    api_version, kind = str(tree["apiVersion"]), str(tree["kind"])
    name = table.message_of(api_version, kind)
    assert name is not None
    return body(api_version, kind, message(name, tree))


def message(name: str, tree: Any) -> bytes:
    """A value as a message of that name."""
    if name in _SHAPES:
        return _SHAPES[name](tree)
    rows = table.fields(name)
    if any(row.absent == "alone" for row in rows):
        return b"".join(field(1, item) for item in tree)
    return b"".join(_field(row, tree) for row in rows)


def _field(row: Field, tree: dict[str, Any]) -> bytes:
    if row.absent == "inline":
        return field(row.number, message(row.type, tree))
    value = tree.get(row.name)
    if row.often == "list":
        return b"".join(_value(row.number, row.type, item) for item in value or ())
    if row.often == "map":
        entries: dict[str, Any] = value or {}
        return b"".join(field(row.number, field(1, key) + _value(2, row.type, entries[key])) for key in entries)
    if value is None:
        is_written = row.absent in ("omitted", "zero") and row.type in ("string", "bool", "int32", "int64")
        return _value(row.number, row.type, "" if row.type == "string" else 0) if is_written else b""
    return _value(row.number, row.type, value)


def _value(number: int, type: str, value: Any) -> bytes:
    if type not in SCALARS:
        return field(number, message(type, value))
    if type == "double":
        return varint(number << 3 | 1) + struct.pack("<d", value)
    if type == "bytes":
        return field(number, base64.b64decode(value))
    return field(number, int(value) if type != "string" else value)


def _time(text: str | None) -> bytes:
    if text is None:
        return b""
    seconds, nanos = divmod(instant.parse(text), instant.SECOND)
    return field(1, seconds) + field(2, nanos)


def _raw(value: Any) -> bytes:
    return b"" if value is None else field(1, json.dumps(value))


def _int_or_string(value: int | str) -> bytes:
    number, text = (0, value) if isinstance(value, str) else (value, "")
    return field(1, int(isinstance(value, str))) + field(2, number) + field(3, text)


def _schema_or(name: str, number: int) -> Callable[[Any], bytes]:
    def encode(value: Any) -> bytes:
        if isinstance(value, dict):
            return field(2 if name == "bool" else 1, message("apiextensions.v1.JSONSchemaProps", value))
        if name == "bool":
            return field(number, int(value))
        return b"".join(
            field(number, item if name == "names" else message("apiextensions.v1.JSONSchemaProps", item))
            for item in value
        )

    return encode


_SHAPES: Final[dict[str, Callable[[Any], bytes]]] = {
    "resource.Quantity": lambda text: field(1, text),
    "intstr.IntOrString": _int_or_string,
    "meta.v1.Time": _time,
    "meta.v1.MicroTime": _time,
    "meta.v1.Duration": lambda text: field(1, duration.parse(text)),
    "meta.v1.FieldsV1": _raw,
    "runtime.RawExtension": _raw,
    "apiextensions.v1.JSON": _raw,
    "apiextensions.v1.JSONSchemaPropsOrBool": _schema_or("bool", 1),
    "apiextensions.v1.JSONSchemaPropsOrArray": _schema_or("schemas", 2),
    "apiextensions.v1.JSONSchemaPropsOrStringArray": _schema_or("names", 2),
}
