"""Whether a tree can be read as its kind at all, and in which words Go's decoder says that it cannot.

A server decodes a body into the structs of its own code before anything else, and stops at the first value that does
not fit. What it says names those structs: the one that holds the field, the path without indices, the type of the
field. The schemas tell all three.
"""

import base64
import binascii
import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Final, TypeAlias, cast

from baseload.kube.schema import definitions
from baseload.kube.schema.definitions import Schema
from baseload.values import instant

Check: TypeAlias = Callable[[object, str, str], str]
"""(value, struct that holds it, path of names) -> what the decoder says; "" where the value fits"""

_LIMITS: Final = {"int32": 2**31, "int64": 2**63}
_QUANTITY: Final = re.compile(r"\s*([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)\s*")
_QUANTITY_TEXT: Final = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_SUFFIXES: Final = frozenset(("", *"numkMGTPE", *(f"{letter}i" for letter in "KMGTPE")))
_EXPONENT: Final = re.compile(r"[eE][+-]?[0-9]+")
# struct -> (the struct that it embeds, the fields of its own); the path of an embedded struct's fields names it.
_EMBEDDED: Final = {
    "Probe": ("ProbeHandler", ("exec", "httpGet", "tcpSocket", "grpc")),
}


def fault(schema: Schema, tree: object) -> str:
    """What Go's decoder says of a tree of one of Kubernetes' own kinds; "" where it reads it."""
    return _check(str(schema["$ref"]))(tree, "", "") if "$ref" in schema else _of_root(id(schema), schema)(tree, "", "")


_roots: Final[dict[int, tuple[Schema, Check]]] = {}


def _of_root(key: int, schema: Schema) -> Check:
    """The check of a kind's own schema, which is one of few and lives as long as the program."""
    known = _roots.get(key)
    if known is None or known[0] is not schema:
        kinds = cast("list[dict[str, str]]", schema.get("x-kubernetes-group-version-kind") or [{}])
        known = _roots[key] = (schema, _struct(kinds[0].get("kind", ""), schema))
    return known[1]


@cache
def _check(name: str) -> Check:
    """The check of a definition."""
    short = name.rpartition(".")[2]
    match short:
        case "Quantity":
            return of_quantity
        case "IntOrString":
            return _int_or_string
        case "Time" | "MicroTime":
            return of_time
    schema = definitions.definition(name)
    if schema.get("properties"):
        return _struct(short, schema)
    return _map(short, {}) if schema.get("type") == "object" else _anything


def _of(schema: Schema) -> Check:
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return _later(reference)
    match schema.get("type"):
        case "string":
            return of_bytes if schema.get("format") == "byte" else _text
        case "boolean":
            return _plain(bool, "bool", "bool")
        case "integer":
            return _integer(str(schema.get("format") or "int64"))
        case "number":
            return _number
        case "array":
            return _list(_type_name(schema), _of(cast(Schema, schema.get("items", {}))))
        case "object":
            return _map(_type_name(schema), schema)
    return _anything


def _later(name: str) -> Check:
    """A check that is made when a value first asks for it: definitions refer to each other in circles."""
    made: list[Check] = []

    def check(value: object, struct: str, path: str) -> str:
        if not made:
            made.append(_check(name))
        return made[0](value, struct, path)

    return check


def _type_name(schema: Schema) -> str:
    """How Go writes the type."""
    reference = schema.get("$ref")
    if isinstance(reference, str):
        package, _, name = reference.rpartition(".")
        return f"{package.rpartition('.')[2]}.{name}"
    match schema.get("type"):
        case "array":
            return f"[]{_type_name(cast(Schema, schema.get('items', {})))}"
        case "object":
            return f"map[string]{_type_name(cast(Schema, schema.get('additionalProperties') or {'type': 'string'}))}"
        case "integer":
            return str(schema.get("format") or "int64")
        case "boolean":
            return "bool"
        case "number":
            return "float64"
    return "[]uint8" if schema.get("format") == "byte" else "string"


def _said(value: object, struct: str, path: str, type: str) -> str:
    """The decoder's words for a value of the wrong type."""
    match value:
        case bool():
            found = "bool"
        case int() | float():
            found = "number" if type not in _LIMITS and type != "float64" else f"number {_literal(value)}"
        case str():
            found = "string"
        case list():
            found = "array"
        case _:
            found = "object"
    where = f"Go struct field {struct}.{path}" if path else "Go value"
    return f"json: cannot unmarshal {found} into {where} of type {type}"


def _literal(value: float) -> str:
    return repr(value).replace("e+", "e")


def _struct(name: str, schema: Schema) -> Check:
    fields = {field: _of(inner) for field, inner in (definitions.properties(schema) or {}).items()}
    package = "v1"
    embedded, own = _EMBEDDED.get(name, ("", ()))

    def check(value: object, struct: str, path: str) -> str:
        if not isinstance(value, dict):
            return _said(value, struct, path, f"{package}.{name}")
        for field, held in value.items():
            inner = fields.get(field)
            if inner is _text and isinstance(held, str):  # the most frequent field
                continue
            if inner is not None and held is not None:
                at = f"{embedded}.{field}" if field in own else field
                if said := inner(held, name, f"{path}.{at}" if path else at):
                    return said
        return ""

    return check


def _list(type: str, item: Check) -> Check:
    def check(value: object, struct: str, path: str) -> str:
        if not isinstance(value, list):
            return _said(value, struct, path, type)
        for held in value:
            if held is not None and (said := item(held, struct, path)):
                return said
        return ""

    return check


def _map(type: str, schema: Schema) -> Check:
    inner = schema.get("additionalProperties")
    item = _of(cast(Schema, inner)) if isinstance(inner, dict) else _anything

    def check(value: object, struct: str, path: str) -> str:
        if not isinstance(value, dict):
            return _said(value, struct, path, type)
        for held in value.values():
            if held is not None and (said := item(held, struct, path)):
                return said
        return ""

    return check


def _text(value: object, struct: str, path: str) -> str:
    return "" if isinstance(value, str) else _said(value, struct, path, "string")


def _plain(wanted: type, name: str, type: str) -> Check:
    def check(value: object, struct: str, path: str) -> str:
        return "" if isinstance(value, wanted) else _said(value, struct, path, type)

    return check


def _integer(type: str) -> Check:
    limit = _LIMITS.get(type, 2**63)

    def check(value: object, struct: str, path: str) -> str:
        if isinstance(value, int) and value is not True and value is not False and -limit <= value < limit:
            return ""
        return _said(value, struct, path, type)

    return check


def _number(value: object, struct: str, path: str) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return "" if is_number else _said(value, struct, path, "float64")


def _int_or_string(value: object, struct: str, path: str) -> str:
    if isinstance(value, str):
        return ""
    return _integer("int32")(value, struct, path)


def of_quantity(value: object, struct: str = "", path: str = "") -> str:
    """An amount."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return ""
    return "" if isinstance(value, str) and _is_quantity(value) else _QUANTITY_TEXT


@lru_cache(maxsize=1 << 12)
def _is_quantity(text: str) -> bool:
    found = _QUANTITY.fullmatch(text)
    if found is None or found[1].count(".") > 1 or not any(digit.isdigit() for digit in found[1]):
        return False
    return found[2] in _SUFFIXES or _EXPONENT.fullmatch(found[2]) is not None


def of_time(value: object, struct: str = "", path: str = "") -> str:
    """A time."""
    return _of_moment(value) if isinstance(value, str) else _said(value, struct, path, "string")


@lru_cache(maxsize=1 << 12)
def _of_moment(text: str) -> str:
    try:
        instant.parse(text)
    except ValueError:
        return f'parsing time "{text}" as "2006-01-02T15:04:05Z07:00": cannot parse "{text}" as "2006"'
    return ""


def of_bytes(value: object, struct: str = "", path: str = "") -> str:
    """Bytes in base64."""
    if not isinstance(value, str):
        return _said(value, struct, path, "[]uint8")
    try:
        base64.b64decode(value.replace("\n", "").replace("\r", ""), validate=True)
    except (binascii.Error, ValueError):
        return f"illegal base64 data at input byte {_first_wrong(value)}"
    return ""


def _first_wrong(text: str) -> int:
    """Where a decoder that reads four characters at a time gives up."""
    found = re.search(r"[^A-Za-z0-9+/=\r\n]", text)
    return found.start() if found else len(text) // 4 * 4


def _anything(value: object, struct: str, path: str) -> str:
    return ""
