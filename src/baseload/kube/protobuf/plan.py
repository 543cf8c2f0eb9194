"""How the fields of a message are taken into a tree: one function a field, made from the table when first needed.

A field that JSON leaves out when it is empty is taken away again where a later, empty one comes: the last one counts.
Messages that are no elements of a list or map are not read at once, since a second one adds to the first.
"""

import re
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Final, Protocol, cast

from baseload.kube.protobuf import shapes, table, wire
from baseload.kube.protobuf.shapes import Shape, Tree
from baseload.kube.protobuf.table import SCALARS, Field

_WIRE: Final = {"string": wire.LENGTH, "bytes": wire.LENGTH, "double": wire.FIXED64}
_ZERO: Final[Tree] = {"string": "", "bool": False, "double": 0}
_ESCAPED: Final = re.compile("[\udc80-\udcff]")
_DOUBLE: Final = struct.Struct("<d")


class Reader(Protocol):
    """Who reads messages within messages, and counts them."""

    def message(self, name: str, data: bytes, at: int, end: int) -> object: ...

    def count(self, more: int = 0) -> None: ...


# takes what stands from one place to another into a tree; where the value is a number, the first place is the number
Take = Callable[[Reader, Tree, bytes, int, int], None]
Read = Callable[[Reader, bytes, int, int], object]


@dataclass(frozen=True, slots=True, eq=False)
class Nested:
    """A message in a message, which is read after the rest."""

    name: str
    type: str
    absent: str


@dataclass(frozen=True, slots=True)
class Plan:
    """How one message is read."""

    name: str  # as Go has it
    shape: Shape | None
    takes: dict[int, Take] = field(default_factory=dict)  # tag -> what takes the field
    nested: dict[int, Nested] = field(default_factory=dict)  # tag -> a message of its own
    told: dict[int, str] = field(default_factory=dict)  # number -> the field as Go names it
    zeros: Tree = field(default_factory=dict)  # what is there in any case
    structs: list[tuple[str, str]] = field(default_factory=list)  # field -> message whose zeros are there in any case


@cache
def of(message: str) -> Plan:
    """The plan of a message."""
    rows = table.fields(message)
    shape = shapes.items if any(row.absent == "alone" for row in rows) else shapes.SHAPES.get(message)
    plan = Plan(message.rpartition(".")[2], shape)
    for each in rows:
        plan.told[each.number] = each.told
        _add_zero(plan, each)
        if each.often == "" and each.type not in SCALARS:
            tag = each.number << 3 | wire.LENGTH
            plan.nested[tag] = Nested(each.name, each.type, each.absent)
        else:
            _add_take(plan, each, raw=message in shapes.RAW)
    return plan


def _add_zero(plan: Plan, each: Field) -> None:
    if each.absent == "zero":
        is_number = each.type.startswith("int")
        plan.zeros[each.name] = None if each.often else 0 if is_number else _ZERO.get(each.type)
    elif each.absent == "null":
        plan.zeros[each.name] = None
    elif each.absent == "struct":
        plan.zeros[each.name] = None
        plan.structs.append((each.name, each.type))
    elif each.absent == "inline":
        within = of(each.type)
        plan.zeros.update(within.zeros)
        plan.structs.extend(within.structs)


def _add_take(plan: Plan, each: Field, *, raw: bool) -> None:
    kind = _WIRE.get(each.type, wire.VARINT if each.type in SCALARS else wire.LENGTH)
    if each.often == "map":
        plan.takes[each.number << 3 | wire.LENGTH] = _into_map(each.name, each.type)
        return
    read = _raw if raw and each.type == "bytes" else _reader(each.type)
    if each.often == "list":
        plan.takes[each.number << 3 | kind] = _into_list(each.name, read)
        if kind != wire.LENGTH:
            plan.takes[each.number << 3 | wire.LENGTH] = _packed(each.name, each.type)
        return
    plan.takes[each.number << 3 | kind] = _single(each.name, read, omits=each.absent == "omitted")


def _single(name: str, read: Read, *, omits: bool) -> Take:
    def take(reader: Reader, tree: Tree, data: bytes, at: int, end: int) -> None:
        tree[name] = read(reader, data, at, end)

    def take_unless_empty(reader: Reader, tree: Tree, data: bytes, at: int, end: int) -> None:
        value = read(reader, data, at, end)
        if value:
            tree[name] = value
        else:
            tree.pop(name, None)

    return take_unless_empty if omits else take


def _into_list(name: str, read: Read) -> Take:
    def take(reader: Reader, tree: Tree, data: bytes, at: int, end: int) -> None:
        reader.count()
        value = read(reader, data, at, end)
        held = tree.get(name)
        if held is None:
            tree[name] = [value]
        else:
            cast("list[object]", held).append(value)

    return take


def _packed(name: str, type: str) -> Take:
    read = _reader(type)

    def take(reader: Reader, tree: Tree, data: bytes, at: int, end: int) -> None:
        values: list[object] = []
        reader.count(end - at)
        while at < end:
            if type == "double":
                values.append(read(reader, data, at, end))
                at += 8
            else:
                number, at = wire.varint(data, at, end)
                values.append(read(reader, data, number, 0))
        if values:
            tree[name] = [*cast("list[object]", tree.get(name) or ()), *values]

    return take


def _into_map(name: str, type: str) -> Take:
    read = _reader(type)

    def take(reader: Reader, tree: Tree, data: bytes, at: int, end: int) -> None:
        reader.count()
        key: object = ""
        value_at = value_end = at
        while at < end:
            tag, here = wire.tag(data, at, end)
            if tag == 1 << 3 | wire.LENGTH:
                start, at = wire.span(data, here, end)
                key = _text(reader, data, start, at)
            elif tag == 2 << 3 | wire.LENGTH:
                value_at, value_end = wire.span(data, here, end)
                at = value_end
            else:
                at = wire.skip(data, at, end)
        value = read(reader, data, value_at, value_end) if value_end > value_at else read(reader, b"", 0, 0)
        held = tree.get(name)
        if held is None:
            held = tree[name] = {}
        cast(Tree, held)[str(key)] = value

    return take


def _reader(type: str) -> Read:
    if type not in SCALARS:
        return lambda reader, data, at, end: reader.message(type, data, at, end)
    return _SCALARS[type]


def _text(_: Reader, data: bytes, at: int, end: int) -> str:
    """A text; each byte that is none becomes the replacement character, as in Go's JSON."""
    try:
        return data[at:end].decode()
    except UnicodeDecodeError:
        return _ESCAPED.sub("\ufffd", data[at:end].decode(errors="surrogateescape"))


def _raw(_: Reader, data: bytes, at: int, end: int) -> bytes:
    return data[at:end]


def _double(_: Reader, data: bytes, at: int, end: int) -> int | float:
    if end - at < _DOUBLE.size:
        raise wire.ended()
    return shapes.number(cast(float, _DOUBLE.unpack_from(data, at)[0]))


_SCALARS: Final[dict[str, Read]] = {
    "string": _text,
    "bytes": lambda _, data, at, end: shapes.encoded(data[at:end]),
    "double": _double,
    "bool": lambda _, data, at, end: at != 0,
    "int32": lambda _, data, at, end: wire.signed32(at),
    "int64": lambda _, data, at, end: wire.signed(at),
}


def check_unknown(plan: Plan, tag: int) -> None:
    """Refuses a tag that the plan has nothing for, unless nobody knows the field."""
    wire.check_tag(tag, plan.name)
    name = plan.told.get(wire.signed32(tag >> 3))
    if name is not None:
        raise wire.wrong_type(tag, name)
