"""Plain JSON trees: what counts as equal, and what is not there."""

from typing import Final, final

Object = dict[str, object]


@final
class Absent:
    """No value at all, which is not the same as null."""

    __slots__ = ()


ABSENT: Final = Absent()


def same(left: object, right: object) -> bool:
    """Equal as JSON: 1 is 1.0, but true is not 1, at any depth."""
    if left is right:
        return True
    if isinstance(left, dict):
        return (
            isinstance(right, dict)
            and left.keys() == right.keys()
            and all(same(value, right[key]) for key, value in left.items())
        )
    if isinstance(left, list):
        return isinstance(right, list) and len(left) == len(right) and all(map(same, left, right))
    return left == right and isinstance(left, bool) == isinstance(right, bool)


def without_nulls(value: object) -> object:
    """The tree without map entries that are null; the tree itself where there are none."""
    if isinstance(value, dict):
        kept = {key: without_nulls(held) for key, held in value.items() if held is not None}
        return value if len(kept) == len(value) and all(kept[key] is value[key] for key in kept) else kept
    if isinstance(value, list):
        items = [without_nulls(item) for item in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    return value
