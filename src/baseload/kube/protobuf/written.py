"""Trees as Go's structs would write them, had they read them: empty `omitempty` fields are gone, all others are there.

A server reads an object of one of Kubernetes' own kinds into structs before it does anything with it, so `labels: {}`
and `paused: false` are forgotten at once, while a role's rules that nobody gave are told as null. Which field is of
which sort stands in the table by which protobuf is read.

Most pods have nothing to forget. The bytes tell: what is empty there is looked for, and the tree is gone through
only where it is a field that can be forgotten. Objects of most other kinds are few.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Final, cast

import msgspec

from baseload.kube.protobuf import shapes, table
from baseload.kube.protobuf.table import SCALARS, Field

Tree = dict[str, object]
Write = Callable[[object], object]
Zero = Callable[[], object]

_ZEROS: Final[Tree] = {
    "string": "",
    "bytes": "",
    "bool": False,
    "resource.Quantity": "0",
    "intstr.IntOrString": 0,
    "meta.v1.Duration": "0s",
}
_LITERALS: Final = {"string": '""', "bytes": '""', "bool": "false"}
_SCHEMA: Final = "apiextensions.v1.JSONSchemaProps"
_PERHAPS_SCHEMA: Final = (f"{_SCHEMA}OrBool", f"{_SCHEMA}OrArray", f"{_SCHEMA}OrStringArray")
_MANAGERS: Final = "meta.v1.ManagedFieldsEntry"
_NUMEROUS: Final = ("core.v1.Pod", "apps.v1.Deployment", "apps.v1.ReplicaSet")
_TOLD_APART: Final = (("autoscaling.v2.HPAScalingRules", "policies"), ("core.v1.PersistentVolumeSpec", "capacity"))
"""Fields that are refused when they are there and empty, and may be absent"""
_EMPTY: Final = re.compile(rb':(?:\{\}|\[\]|""|false|0(?=[,}]))')


@dataclass(slots=True)
class _Struct:
    """How one message is written."""

    writes: dict[str, Write] = field(default_factory=dict)  # of the fields that hold more than one value
    omitted: set[str] = field(default_factory=set)  # fields of which nothing is said where they are empty
    zeros: dict[str, Zero] = field(default_factory=dict)  # what is told in any case

    def __call__(self, value: object) -> object:
        if not isinstance(value, dict):
            return value
        told: Tree = {}
        for name, held in value.items():
            if held is None or (not held and name in self.omitted):
                continue
            write = self.writes.get(name)
            told[name] = held if write is None else write(held)
        for name, zero in self.zeros.items():
            if name not in told:
                told[name] = zero()
        return told


@dataclass(frozen=True, slots=True)
class Form:
    """How objects of a kind are written, or a part of them."""

    write: Write
    forgotten: frozenset[bytes]  # the JSON of fields that may be forgotten, or gain something: `name":[]`
    always: bool  # whether a tree is gone through whatever its bytes show

    def of(self, tree: Tree) -> Tree:
        """The tree as it would be written; the very tree where its bytes show that this changes nothing."""
        is_written = self.always or self.changes(_plain(tree))
        return cast(Tree, self.write(tree)) if is_written else tree

    def changes(self, raw: bytes) -> bool:
        """Whether something empty in an object's bytes may have to go."""
        if b"null" in raw:
            return True
        found = _EMPTY.search(raw)
        while found is not None:
            start = raw.rfind(b'"', 0, found.start() - 1) + 1
            if raw[start : found.end()] in self.forgotten:
                return True
            found = _EMPTY.search(raw, found.end())
        return False


def _plain(tree: Tree) -> bytes:
    """A tree's bytes without its managers, who say `{}` of every field."""
    metadata = tree.get("metadata")
    if isinstance(metadata, dict) and "managedFields" in metadata:
        kept = {name: held for name, held in metadata.items() if name != "managedFields"}
        return msgspec.json.encode({**tree, "metadata": kept})
    return msgspec.json.encode(tree)


@cache
def of_kind(api_version: str, kind: str, part: str = "") -> Form:
    """The form of one of Kubernetes' own kinds, or of what one field of it holds."""
    message = table.message_of(api_version, kind)
    if message is not None and part:
        message = next((row.type for row in table.fields(message) if row.name == part), None)
    if message is None:
        return Form(lambda value: value, frozenset(), always=False)
    within = _within(message)
    fields = {field.encode() for inner in within for field in _forgotten(inner)}
    return Form(_writes(message), frozenset(fields), always=not part and message not in _NUMEROUS)


def _forgotten(message: str) -> Iterator[str]:
    for row in table.fields(message):
        if row.often:
            yield f'{row.name}":{"[]" if row.often == "list" else "{}"}'
        elif row.type not in SCALARS:
            if _struct(row.type).zeros:
                yield f'{row.name}":{{}}'
        elif row.absent == "omitted":
            yield f'{row.name}":{_LITERALS.get(row.type, "0")}'


def _within(message: str, found: tuple[str, ...] = ()) -> tuple[str, ...]:
    """A message and all that it is made of."""
    if message in found or message in SCALARS or message == _MANAGERS:
        return found
    found = (*found, message)
    for row in table.fields(message):
        found = _within(row.type, found)
    return found


def empty(api_version: str, kind: str) -> Tree:
    """What an object of a kind has before anything was said about it."""
    return cast(Tree, of_kind(api_version, kind).write({}))


def metadata(value: object) -> object:
    """An object's metadata, of whatever kind the object is."""
    return _struct("meta.v1.ObjectMeta")(value)


def _writes(message: str) -> Write:
    """What writes a message's tree anew."""
    return _perhaps_schema if message in _PERHAPS_SCHEMA else _struct(message)


@cache
def _struct(message: str) -> _Struct:
    made = _Struct()
    _add(made, message)
    return made


def _add(made: _Struct, message: str) -> None:
    for each in table.fields(message):
        if each.absent == "inline":
            _add(made, each.type)
            continue
        if (each.absent == "omitted" or each.often) and (message, each.name) not in _TOLD_APART:
            made.omitted.add(each.name)
        if each.absent not in ("omitted", "pointer"):
            made.zeros[each.name] = _null if _is_null(each) else _zero(each.type)
        write = _write(each)
        if write is not None:
            made.writes[each.name] = write


def _is_null(each: Field) -> bool:
    return bool(each.often) or each.absent == "null" or each.type == "bytes"


def _null() -> object:
    return None


def _zero(type: str) -> Zero:
    if type in SCALARS or _is_whole(type):
        value = _ZEROS.get(type, 0 if type in SCALARS else None)
        return lambda: value
    return lambda: _writes(type)({})


def _write(each: Field) -> Write | None:
    if each.type == _MANAGERS:
        return None
    of = None if each.type in SCALARS or _is_whole(each.type) else _later(each.type)
    match each.often:
        case "list":
            return _of_list(of, _zero(each.type))
        case "map":
            return _of_map(of, _zero(each.type))
    return of


def _is_whole(type: str) -> bool:
    """Whether a message's JSON is not a map of its fields."""
    is_shaped = type in shapes.SHAPES and type not in _PERHAPS_SCHEMA
    return is_shaped or any(row.absent == "alone" for row in table.fields(type))


def _later(type: str) -> Write:
    """Structs hold each other in circles."""
    return lambda value: _writes(type)(value)


def _of_list(of: Write | None, zero: Zero) -> Write:
    def write(value: object) -> object:
        if not isinstance(value, list) or (of is None and None not in value):
            return value
        return [zero() if held is None else held if of is None else of(held) for held in value]

    return write


def _of_map(of: Write | None, zero: Zero) -> Write:
    def write(value: object) -> object:
        if not isinstance(value, dict) or (of is None and None not in value.values()):
            return value
        return {key: zero() if held is None else held if of is None else of(held) for key, held in value.items()}

    return write


def _perhaps_schema(value: object) -> object:
    """A schema where something else may stand too."""
    if isinstance(value, list):
        return [_perhaps_schema(held) for held in value]
    return _struct(_SCHEMA)(value) if isinstance(value, dict) else value
