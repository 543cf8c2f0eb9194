"""Plain JSON trees: what counts as equal, and what is not there."""

from itertools import zip_longest
from typing import Final, final

Object = dict[str, object]


@final
class Absent:
    """No value at all, which is not the same as null."""

    __slots__ = ()


ABSENT: Final = Absent()


def same(left: object, right: object) -> bool:
    """Equal as JSON: 1 is 1.0, but true is not 1, at any depth."""
    if left is right or isinstance(left, str):
        return left == right
    if isinstance(left, dict):
        return (
            isinstance(right, dict)
            and left.keys() == right.keys()
            and all(same(value, right[key]) for key, value in left.items())
        )
    if isinstance(left, list):
        return isinstance(right, list) and len(left) == len(right) and all(map(same, left, right))
    return left == right and isinstance(left, bool) == isinstance(right, bool)


def without_nulls(value: object, known: object = ABSENT) -> object:
    """The tree without map entries that are null; parts of a tree that is known to have none are not gone through."""
    if value is known:
        return value
    if isinstance(value, dict):
        old = known if isinstance(known, dict) else {}
        return {key: without_nulls(held, old.get(key, ABSENT)) for key, held in value.items() if held is not None}
    if isinstance(value, list):
        old_items = known if isinstance(known, list) else []
        return [without_nulls(item, old) for item, old in zip_longest(value, old_items[: len(value)], fillvalue=ABSENT)]
    return value
