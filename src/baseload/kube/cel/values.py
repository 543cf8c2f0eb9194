"""The values of expressions: JSON's own, and those that JSON has no form for.

Python holds True equal to 1, and a duration is no number although it is counted as one; so equality is ours. A list
that its schema calls a set or a map is equal to one with the same elements in another order.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

Value = Any
"""A value of any type: what the type of each operand must be is told by the overloads"""


class Failure(Exception):
    """An evaluation that came to no value; its text is the server's."""


class UInt(int):
    """An unsigned integer."""


class Duration(int):
    """Nanoseconds."""


class Instant(int):
    """Nanoseconds since the epoch."""


@dataclass(frozen=True, slots=True)
class TypeOf:
    """A type as a value."""

    name: str


@dataclass(frozen=True, slots=True)
class Maybe:
    """An optional: a value or none."""

    value: Value = None
    is_there: bool = False


NOTHING: Final = Maybe()


class SetList(list[Value]):
    """A list of type set."""


class MapList(list[Value]):
    """A list of type map, whose elements are known by their keys."""

    keys: tuple[str, ...] = ()

    def key_of(self, element: Value) -> tuple[Value, ...]:
        held = element if isinstance(element, dict) else {}
        return tuple(held.get(key) for key in self.keys)


_PLAIN: Final = frozenset((str, int, bool, bytes, type(None)))
_NUMBERS: Final = frozenset((int, UInt, float))


def equal(left: Value, right: Value) -> bool:
    """Whether two values are equal: numbers by their amount, others only within one type."""
    one, other = type(left), type(right)
    if one is other and one in _PLAIN:
        return bool(left == right)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and _same_elements(left, right)
    if isinstance(left, dict) and isinstance(right, dict):
        return len(left) == len(right) and all(key in right and equal(held, right[key]) for key, held in left.items())
    if isinstance(left, Maybe) and isinstance(right, Maybe):
        return left.is_there == right.is_there and equal(left.value, right.value)
    return (one is other or (one in _NUMBERS and other in _NUMBERS)) and bool(left == right)


def contains(elements: list[Value], value: Value) -> bool:
    """Whether a list has an element that is equal to a value."""
    if type(value) is str:
        return value in elements
    return any(equal(element, value) for element in elements)


def _same_elements(left: list[Value], right: list[Value]) -> bool:
    if isinstance(left, SetList):
        return all(contains(right, element) for element in left)
    if isinstance(left, MapList):
        by_key = {left.key_of(element): element for element in right}
        return all(left.key_of(one) in by_key and equal(one, by_key[left.key_of(one)]) for one in left)
    return all(map(equal, left, right))


def joined(left: list[Value], right: list[Value]) -> list[Value]:
    """Two lists added: sets and maps are merged, others put one after the other."""
    if isinstance(left, SetList):
        return SetList([*left, *(element for element in right if not contains(left, element))])
    if isinstance(left, MapList):
        merged = MapList(left)
        merged.keys = left.keys
        places = {left.key_of(element): place for place, element in enumerate(left)}
        for element in right:
            place = places.get(left.key_of(element))
            if place is None:
                merged.append(element)
            else:
                merged[place] = element
        return merged
    return [*left, *right]


def elements(ranged: Value) -> Iterator[Value]:
    """What a comprehension goes through: the elements of a list, the keys of a map."""
    if not isinstance(ranged, list | dict):
        raise no_such_overload()
    return iter(ranged)


def pairs(ranged: Value) -> Iterator[tuple[Value, Value]]:
    """What a comprehension of two variables goes through: places and elements, keys and values."""
    if isinstance(ranged, dict):
        return iter(ranged.items())
    return enumerate(elements(ranged))


def no_such_overload() -> Failure:
    return Failure("no such overload")


def no_such_key(key: Value) -> Failure:
    return Failure(f"no such key: {key}")
