"""What a schema says to expressions: the type of its values, and how JSON becomes values of that type.

Most JSON is a value as it stands. Only times, durations, bytes and floating-point numbers are read, and lists of type
set or map are marked; a schema in which none of these occurs converts nothing.
"""

import base64
import binascii
import re
from collections.abc import Callable
from datetime import date
from typing import Final, cast

from baseload.kube.cel import types
from baseload.kube.cel.syntax import RESERVED
from baseload.kube.cel.types import Type
from baseload.kube.cel.values import Duration, Instant, MapList, SetList, Value
from baseload.kube.schema import definitions
from baseload.kube.schema.definitions import Schema
from baseload.values import duration, instant

Conversion = Callable[[Value], Value]

_KEPT: Final = {*RESERVED, "true", "false", "null", "in"}
_ESCAPES: Final = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_ESCAPED: Final = re.compile(r"__(underscores|dot|dash|slash|[a-z]+)__")
_SIGNS: Final = {"underscores": "__", "dot": ".", "dash": "-", "slash": "/"}
_OF_METADATA: Final[dict[str, Type]] = {"name": types.STRING, "generateName": types.STRING}
_BY_FORMAT: Final = {
    "byte": types.BYTES,
    "duration": types.DURATION,
    "date": types.TIMESTAMP,
    "date-time": types.TIMESTAMP,
}


def escaped(name: str) -> str | None:
    """The name of a field in expressions; None where it has none."""
    if name in _KEPT:
        return f"__{name}__"
    if not re.fullmatch(r"[A-Za-z_./-][A-Za-z0-9_./-]*", name):
        return None
    return re.sub(r"__|[-./]", lambda match: _ESCAPES[match.group()], name)


def unescaped(name: str) -> str:
    """The field that a name in expressions stands for."""
    return _ESCAPED.sub(lambda match: _SIGNS.get(match[1], match[1]), name) if "__" in name else name


def type_of(schema: Schema, path: str = "selfType", *, is_root: bool = False) -> Type | None:
    """The type of a schema's values; None where expressions cannot see them."""
    if schema.get("x-kubernetes-int-or-string"):
        return types.DYN
    match schema.get("type"):
        case "array":
            items = schema.get("items")
            element = _inner(items, f"{path}.@idx") if isinstance(items, dict) else None
            return None if element is None else types.listed(element)
        case "object":
            return _object(schema, path, is_root=is_root or bool(schema.get("x-kubernetes-embedded-resource")))
        case "string":
            return _BY_FORMAT.get(str(schema.get("format")), types.STRING)
        case "boolean" | "number" | "integer" as name:
            return {"boolean": types.BOOL, "number": types.DOUBLE, "integer": types.INT}[name]
    return None


def _inner(schema: object, path: str) -> Type | None:
    return type_of(definitions.resolved(cast(Schema, schema)), path)


def _object(schema: Schema, path: str, *, is_root: bool) -> Type | None:
    others = schema.get("additionalProperties")
    if isinstance(others, dict):
        value = _inner(others, f"{path}.@prop")
        return None if value is None else types.mapped(types.STRING, value)
    fields: dict[str, Type] = {}
    properties = definitions.properties(schema) or {}
    if is_root:
        fields = {"apiVersion": types.STRING, "kind": types.STRING}
        fields["metadata"] = Type(f"{path}.metadata", fields=_OF_METADATA)
    for name, field in properties.items():
        known = escaped(name)
        if known is None or (is_root and known in fields):
            continue
        told = _inner(field, f"{path}.{known}")
        if told is not None:
            fields[known] = told
    return Type(path, fields=fields)


def conversion(schema: Schema) -> Conversion | None:
    """How a schema's JSON is made a value; None where it is one already."""
    schema = definitions.resolved(schema)
    if schema.get("x-kubernetes-int-or-string"):
        return None
    match schema.get("type"):
        case "array":
            return _of_list(schema)
        case "object":
            return _of_map(schema)
        case "number":
            return float
        case "string":
            return _TEXTS.get(str(schema.get("format")))
    return None


def _of_list(schema: Schema) -> Conversion | None:
    items = schema.get("items")
    inner = conversion(cast(Schema, items)) if isinstance(items, dict) else None
    kind = schema.get("x-kubernetes-list-type")
    keys = tuple(cast("list[str]", schema.get("x-kubernetes-list-map-keys", [])))

    def convert(value: Value) -> Value:
        if not isinstance(value, list):
            return value
        held = value if inner is None else [None if element is None else inner(element) for element in value]
        if kind == "set":
            return SetList(held)
        if kind == "map":
            marked = MapList(held)
            marked.keys = keys
            return marked
        return held

    return convert if inner is not None or kind in ("set", "map") else None


def _of_map(schema: Schema) -> Conversion | None:
    fields = {
        name: inner
        for name, field in (definitions.properties(schema) or {}).items()
        if (inner := conversion(field)) is not None
    }
    held = schema.get("additionalProperties")
    others = conversion(cast(Schema, held)) if isinstance(held, dict) else None
    if not fields and others is None:
        return None

    def convert(value: Value) -> Value:
        if not isinstance(value, dict):
            return value
        converted = dict(value)
        for name, element in value.items():
            inner = fields.get(name, others)
            if inner is not None and element is not None:
                converted[name] = inner(element)
        return converted

    return convert


def _bytes(text: Value) -> Value:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return text


def _duration(text: Value) -> Value:
    try:
        return Duration(duration.parse(text))
    except ValueError:
        return text


def _instant(text: Value) -> Value:
    try:
        return Instant(instant.parse(text))
    except ValueError:
        return text


def _date(text: Value) -> Value:
    try:
        days = date.fromisoformat(text).toordinal() - date(1970, 1, 1).toordinal()
    except ValueError:
        return text
    return Instant(days * 86400 * instant.SECOND)


_TEXTS: Final[dict[str, Conversion]] = {"byte": _bytes, "duration": _duration, "date-time": _instant, "date": _date}
