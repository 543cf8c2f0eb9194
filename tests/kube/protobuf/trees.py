"""Objects of any kind with any fields, as Go's JSON has them: what Go never leaves out is there, the rest perhaps."""

import base64
import random
from collections.abc import Callable
from typing import Any, Final

from baseload.kube.protobuf import table
from baseload.kube.protobuf.table import SCALARS, Field

DEEPEST: Final = 7
Draw = Callable[[random.Random, int], Any]


def tree(kind: str, seed: int) -> dict[str, Any]:
    """An object of a kind, which is written as in the table."""
    chance = random.Random(seed)
    api_version, _, name = kind.rpartition("/")
    message = table.message_of(api_version, name)
    assert message is not None
    return {"kind": name, "apiVersion": api_version or "v1", **_message(message, chance, 0)}


def _message(name: str, chance: random.Random, depth: int) -> Any:
    if name in _SHAPES:
        return _SHAPES[name](chance, depth)
    rows = table.fields(name)
    if any(row.absent == "alone" for row in rows):
        return [_scalar("string", chance) for _ in range(chance.randrange(3))]
    made: dict[str, Any] = {}
    for row in rows:
        if row.absent == "inline":
            made.update(_message(row.type, chance, depth))
        elif _is_there(row, chance, depth):
            made[row.name] = _field(row, chance, depth)
    return made


def _is_there(row: Field, chance: random.Random, depth: int) -> bool:
    if row.absent in ("zero", "struct", "null"):
        return True
    return (depth < DEEPEST or row.type in SCALARS) and chance.random() < 0.4


def _field(row: Field, chance: random.Random, depth: int) -> Any:
    is_bare = depth >= DEEPEST and row.type not in SCALARS
    if row.often:
        count = 0 if is_bare and row.absent == "zero" else chance.randrange(row.absent == "omitted", 3)
        if count == 0:
            return None
        values = [_value(row.type, chance, depth) for _ in range(count)]
        return values if row.often == "list" else dict(zip(("", "a", "b/c"), values, strict=False))
    if row.absent == "null" and (is_bare or chance.random() < 0.5):
        return None
    if row.absent == "omitted":
        return _there(row, chance, depth)
    if row.absent == "zero" and row.type == "bytes":
        return None if chance.random() < 0.5 else _there(row, chance, depth)
    return _value(row.type, chance, depth)


def _there(row: Field, chance: random.Random, depth: int) -> Any:
    """A value that is not left out."""
    while not (value := _value(row.type, chance, depth)):
        continue
    return value


def _value(type: str, chance: random.Random, depth: int) -> Any:
    return _scalar(type, chance) if type in SCALARS else _message(type, chance, depth + 1)


def _scalar(type: str, chance: random.Random) -> Any:
    match type:
        case "string":
            return chance.choice(["", "a", "web-1", "é", "\u20ac/x", "x" * 200])
        case "bytes":
            return base64.b64encode(chance.randbytes(chance.choice([1, 3, 20]))).decode()
        case "bool":
            return chance.random() < 0.5
        case "int32":
            return chance.choice([0, 1, -1, 127, 128, 2**31 - 1, -(2**31)])
        case "int64":
            return chance.choice([0, 30, -1, 2**62, 2**63 - 1, -(2**63)])
    return chance.choice([0, 0.5, -2.25, 100, 1e300])


def _json(chance: random.Random, _: int) -> Any:
    return chance.choice([{}, {"f:a": {".": {}}}, [1, "x", None], "text", 0, True])


def _schema(chance: random.Random, depth: int) -> Any:
    return _message("apiextensions.v1.JSONSchemaProps", chance, depth + 2)


def _schema_or(other: Callable[[random.Random], Any]) -> Draw:
    return lambda chance, depth: _schema(chance, depth) if chance.random() < 0.5 else other(chance)


def _schemas(chance: random.Random, depth: int) -> Any:
    return [_schema(chance, depth)] if chance.random() < 0.5 else _schema(chance, depth)


_SHAPES: Final[dict[str, Draw]] = {
    "resource.Quantity": lambda chance, _: chance.choice(["0", "500m", "1Gi", "12", "1e3", "-3k"]),
    "intstr.IntOrString": lambda chance, _: chance.choice([0, 8080, -1, "", "http", "50%"]),
    "meta.v1.Time": lambda chance, _: chance.choice(["1970-01-01T00:00:00Z", "2026-11-30T12:00:05Z"]),
    "meta.v1.MicroTime": lambda chance, _: f"2026-11-30T12:00:05.{chance.randrange(1000):06}Z",
    "meta.v1.Duration": lambda chance, _: chance.choice(["0s", "1h0m0s", "1.5s", "250ms"]),
    "meta.v1.FieldsV1": _json,
    "runtime.RawExtension": _json,
    "apiextensions.v1.JSON": _json,
    "apiextensions.v1.JSONSchemaPropsOrBool": _schema_or(lambda chance: chance.random() < 0.5),
    "apiextensions.v1.JSONSchemaPropsOrArray": _schemas,
    "apiextensions.v1.JSONSchemaPropsOrStringArray": _schema_or(lambda _: ["a", "b"]),
}
