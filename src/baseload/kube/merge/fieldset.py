"""Sets of fields, in the very form that managedFields writes them (FieldsV1).

A set is a tree of path elements: `f:name` a field, `k:{"name":"a"}` the item of a list by its keys, `v:"x"` the item of
a set of scalars, `i:0` an item by its place.
An element with nothing below it belongs to the set; one with more below it belongs to it where it also holds `.`.
Belonging and being above something that belongs are two things: to own `.spec.replicas` is not to own `.spec`.

Sets are never changed once made, apart from `insert` on one that is being built, and share what they have in common.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final, TypeAlias, TypeVar, cast

import msgspec

from baseload.kube.merge import go_text

FieldSet: TypeAlias = dict[str, "FieldSet"]
Path = tuple[str, ...]

P = TypeVar("P")

_SELF = "."
_MOST_REMEMBERED = 1 << 16
_MOST_SETS = 1 << 12
_SMALL: Final = 64  # bytes; less is read sooner than looked up
_LEAF: Final[FieldSet] = {}

_parts: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


class Ordered(FieldSet):
    """A set in the order in which Kubernetes writes it, with all that is below; nothing is added to it any more."""

    __slots__ = ()


class FieldsError(ValueError):
    """A tree is no FieldsV1."""


def _json(value: object) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@lru_cache(maxsize=_MOST_REMEMBERED, typed=True)
def value_element(value: object) -> str:
    """The element of one scalar in a set."""
    return f"v:{_json(value)}"


@lru_cache(maxsize=_MOST_REMEMBERED, typed=True)
def key_element(names: tuple[str, ...], *values: object) -> str:
    """The element of a list's item by the values of its keys; the names are in alphabetical order."""
    pairs = (f"{_json(name)}:{_json(value)}" for name, value in zip(names, values, strict=True))
    return f"k:{{{','.join(pairs)}}}"


@lru_cache(maxsize=_MOST_REMEMBERED)
def _canonical(element: str) -> str | None:
    """The element as this server writes it; None for a kind of element that it does not know."""
    kind, content = element[:2], element[2:]
    if len(element) < 2 or kind[1] != ":":
        raise FieldsError(f"missing colon: {element}")
    try:
        if kind == "v:":
            return value_element(json.loads(content))
        if kind == "k:":
            keys = json.loads(content)
            pairs = sorted(keys.items())
            return key_element(tuple(name for name, _ in pairs), *(held for _, held in pairs))
        if kind == "i:":
            return f"i:{int(content)}"
    except (ValueError, TypeError, AttributeError) as error:
        raise FieldsError(f"not a path element: {element}") from error
    return element if kind == "f:" else None


def parse(tree: object) -> FieldSet:
    """The set that a FieldsV1 tells; elements of unknown kinds are left out."""
    try:
        return read(msgspec.json.encode(tree))[0]
    except (TypeError, ValueError, RecursionError):
        return _set(_of_tree("", tree))


@lru_cache(maxsize=_MOST_SETS)
def read(raw: bytes) -> tuple[FieldSet, bytes]:
    """The set that the JSON of a FieldsV1 tells, and the JSON that tells it in Kubernetes' order."""
    fields = _set(_of_json("", raw))
    told = encoded(fields)
    return fields, raw if told == raw else told


def encoded(fields: FieldSet) -> bytes:
    """The set as JSON, in Kubernetes' order."""
    return msgspec.json.encode(written(fields))


def _set(node: FieldSet | None) -> FieldSet:
    return {} if node is None else _below(node)


def _of_tree(key: str, tree: object) -> FieldSet | None:
    if not isinstance(tree, dict):
        raise FieldsError(f"FieldsV1 holds something else than a map at {key}" if key else "FieldsV1 must be a map")
    return _assembled(tree, _of_tree) if tree else _LEAF


def _of_json(key: str, raw: bytes) -> FieldSet | None:
    """The same, without a look into what was seen before: sets of one kind's objects differ in a few small parts."""
    return _known(raw) if len(raw) >= _SMALL else _of_tree(key, msgspec.json.decode(raw))


@lru_cache(maxsize=_MOST_SETS)
def _known(raw: bytes) -> FieldSet | None:
    return _assembled({key: bytes(held) for key, held in _parts(raw).items()}, _of_json)


def _assembled(parts: Mapping[str, P], held: Callable[[str, P], FieldSet | None]) -> FieldSet | None:
    """What a set holds for an element, of the parts below; None where that is nothing."""
    is_member = _SELF in parts
    found: FieldSet = {_SELF: _LEAF} if is_member else {}
    is_ordered = True
    for key, part in parts.items():
        element = key if key[:2] == "f:" else None if key == _SELF else _canonical(key)
        if element is None:
            continue
        below = held(key, part)
        if below is not None:
            found[element] = below
            is_ordered = is_ordered and (not below or type(below) is Ordered)
    if len(found) == is_member:
        return _LEAF if is_member else None
    return Ordered(found) if is_ordered and list(found) == in_order(found) else found


def written(fields: FieldSet) -> FieldSet:
    """The same set in the order in which Kubernetes writes it."""
    if type(fields) is Ordered:
        return fields
    return {element: written(held) if (held := fields[element]) else held for element in in_order(fields)}


def in_order(elements: Iterable[str]) -> list[str]:
    """Elements in the order in which Kubernetes writes them."""
    ordered = sorted(elements)
    if ordered[-1:] > ["g"]:  # not all are fields, whose order is that of their names
        ordered.sort(key=_rank)
    return ordered


@lru_cache(maxsize=_MOST_REMEMBERED)
def _rank(element: str) -> tuple[object, ...]:
    """Fields before keys before values before places; numbers before texts, by their size."""
    kind, content = element[:2], element[2:]
    if element == _SELF:
        return (0,)
    if kind == "f:":
        return (1, content)
    if kind == "k:":
        return (2, *((name, *_value_rank(value)) for name, value in json.loads(content).items()))
    return (3, *_value_rank(json.loads(content))) if kind == "v:" else (4, int(content))


def _value_rank(value: object) -> tuple[object, ...]:
    if isinstance(value, bool):
        return (2, value)
    if isinstance(value, int | float):
        return (0, value)
    return (1, value) if isinstance(value, str) else (3, _json(value))


def _is_member(node: FieldSet) -> bool:
    return not node or _SELF in node


def _node(children: FieldSet, *, member: bool) -> FieldSet:
    return {_SELF: {}, **children} if member and children else children


def node(children: FieldSet | None, *, member: bool) -> FieldSet | None:
    """What a set holds for an element: nothing, a member, what is below, or both; `None` below is a leaf."""
    if children is None:
        return {}
    return _node(children, member=member) if children or member else None


def insert(fields: FieldSet, path: Iterable[str]) -> None:
    """Add one path to a set that is being built."""
    *above, last = path
    for element in above:
        below = fields.get(element)
        if below is None:
            fields[element] = fields = {}
            continue
        if not below:
            below[_SELF] = {}
        fields = below
    if last not in fields:
        fields[last] = {}
    elif fields[last]:
        fields[last][_SELF] = {}


def of_paths(paths: Iterable[Path]) -> FieldSet:
    """The set of paths of plain field names."""
    fields: FieldSet = {}
    for path in paths:
        held = fields
        insert(held, [f"f:{name}" for name in path])
    return fields


def union(left: FieldSet, right: FieldSet) -> FieldSet:
    """What belongs to either."""
    if not right or left is right:
        return left
    if not left:
        return right
    joined = dict(left)
    for element, theirs in right.items():
        ours = joined.get(element)
        if ours is None:
            joined[element] = theirs
        elif ours is not theirs and element != _SELF:
            both = union(ours, theirs)
            joined[element] = both if _is_member(both) else _node(both, member=not ours or not theirs)
    return joined


def intersection(left: FieldSet, right: FieldSet) -> FieldSet:
    """What belongs to both."""
    kept: FieldSet = {}
    if left.keys().isdisjoint(right):
        return kept
    for element, ours in left.items():
        theirs = right.get(element)
        if theirs is not None and element != _SELF:
            found = node(intersection(ours, theirs), member=_is_member(ours) and _is_member(theirs))
            if found is not None:
                kept[element] = found
    return kept


def difference(left: FieldSet, right: FieldSet) -> FieldSet:
    """What belongs to the left alone; what is below something on the right stays."""
    return _less(left, right, recursive=False)


def recursive_difference(left: FieldSet, right: FieldSet) -> FieldSet:
    """What belongs to the left and is neither on the right nor below something there."""
    return _less(left, right, recursive=True)


def _less(left: FieldSet, right: FieldSet, *, recursive: bool) -> FieldSet:
    if left.keys().isdisjoint(right):
        return left
    kept: FieldSet = {}
    for element, ours in left.items():
        theirs = right.get(element)
        if element == _SELF:
            continue
        if theirs is None:
            kept[element] = ours
        elif not (recursive and _is_member(theirs)):
            member = _is_member(ours) and not _is_member(theirs)
            found = node(_less(_below(ours), theirs, recursive=recursive), member=member)
            if found is not None:
                kept[element] = found
    return kept


def _below(held: FieldSet) -> FieldSet:
    return {element: below for element, below in held.items() if element != _SELF} if _SELF in held else held


def has(fields: FieldSet, path: Iterable[str]) -> bool:
    """Whether a path belongs to the set."""
    held: FieldSet | None = fields
    for element in path:
        held = held.get(element) if held is not None else None
        if held is None:
            return False
    return held is not None and held is not fields and _is_member(held)


def covers(fields: FieldSet, others: FieldSet) -> bool:
    """Whether all that belongs to the others belongs to the set."""
    for element, theirs in others.items():
        ours = fields.get(element)
        if ours is None:
            return False
        if not theirs:
            if ours and _SELF not in ours:
                return False
        elif ours is not theirs and not (covers(ours, theirs) if ours else theirs.keys() == {_SELF}):
            return False
    return True


def belongs(fields: FieldSet, element: str) -> bool:
    """Whether an element itself belongs to the set."""
    held = fields.get(element)
    return held is not None and _is_member(held)


def below(fields: FieldSet, element: str) -> FieldSet:
    """What the set holds below an element."""
    return _below(fields.get(element) or {})


def paths(fields: FieldSet, above: Path = ()) -> Iterator[Path]:
    """Every path that belongs to the set, members of a level before what is below them."""
    elements = sorted((element for element in fields if element != _SELF), key=_rank)
    for element in elements:
        if _is_member(fields[element]):
            yield (*above, element)
    for element in elements:
        yield from paths(fields[element], (*above, element))


def text(path: Path) -> str:
    """A path as messages print it: `.spec.containers[name="web"].image`."""
    return "".join(map(element_text, path))


def element_text(element: str) -> str:
    """One element as messages print it."""
    kind, content = element[:2], element[2:]
    if kind == "f:":
        return f".{content}"
    if kind == "i:":
        return f"[{content}]"
    value = json.loads(content)
    if kind == "v:":
        return f"[={go_text.syntax(value)}]"
    keys = cast("dict[str, object]", value)
    return f"[{','.join(f'{name}={go_text.syntax(held)}' for name, held in keys.items())}]"
