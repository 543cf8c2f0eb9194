"""Which fields each message has, from the generated table; it is read when the first message comes.

`absent` says what Go's JSON has where a field is empty:

    omitted     nothing
    zero        the zero of its type, null for lists, maps and bytes
    pointer     nothing where it was not sent; its zero where that was sent
    null        null where it was not sent; its zero where that was sent
    struct      a map of that message's zeros
    inline      the message's fields, among those of the one that holds it
    alone       null; the field is all of its message, whose JSON is the list itself
"""

import gzip
import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, Literal, cast

Absent = Literal["omitted", "zero", "pointer", "null", "struct", "inline", "alone"]
Often = Literal["", "list", "map"]

FILE: Final = "v1.37.json.gz"
SCALARS: Final = frozenset({"string", "bool", "int32", "int64", "double", "bytes"})


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a message."""

    number: int
    name: str  # as JSON has it; "" where it is inlined
    type: str  # a scalar's, or a message's name
    often: Often
    absent: Absent
    told: str  # as Go names it in its refusals


@cache
def _table() -> dict[str, dict[str, object]]:
    packed = (files(__package__) / FILE).read_bytes()
    return cast("dict[str, dict[str, object]]", json.loads(gzip.decompress(packed)))


def message_of(api_version: str, kind: str) -> str | None:
    """The name of a kind's message; options are of every group, as Kubernetes registers them."""
    kinds = cast("dict[str, str]", _table()["kinds"])
    return kinds.get(f"{api_version}/{kind}") or kinds.get(kind)


def kinds() -> dict[str, str]:
    """`apiVersion/kind`, or the kind alone where it is of every group -> the name of its message."""
    return cast("dict[str, str]", _table()["kinds"])


@cache
def fields(message: str) -> tuple[Field, ...]:
    """The fields of a message, in the order of the Go struct's definition."""
    return tuple(_field(*row) for row in cast("list[list[object]]", _table()["messages"][message]))


def _field(number: object, name: object, type: object, often: object, absent: object, told: object = "") -> Field:
    named = str(name)
    told = told or named[:1].upper() + named[1:]
    return Field(cast(int, number), named, str(type), cast(Often, often), cast(Absent, absent), str(told))
