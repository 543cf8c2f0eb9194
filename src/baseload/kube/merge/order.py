"""The order of a list after a strategic merge: what the patch tells about comes in its order, the rest is fitted in."""

import json
from collections import deque
from collections.abc import Hashable


def identity(item: object, key: str = "") -> Hashable:
    """What an item is told apart by: the value of its merge key, or the item itself."""
    value = item.get(key) if key and isinstance(item, dict) else item
    if isinstance(value, (dict, list)):
        return json.dumps(value, sort_keys=True)
    return isinstance(value, bool), isinstance(value, str), value


def reordered(items: list[object], told: list[object], old: list[object], *, key: str) -> list[object]:
    """The items in the order told, those untold where they stood among the others in the old list.

    With a key the items are maps and told apart by it.
    """
    new_place, old_place = _places(told, key), _places(old, key)
    named = [(identity(item, key), item) for item in items]
    patch = sorted((entry for entry in named if entry[0] in new_place), key=lambda entry: new_place[entry[0]])
    others = (entry for entry in named if entry[0] not in new_place)
    rest = deque(sorted(others, key=lambda entry: old_place.get(entry[0], -1)))
    merged: list[object] = []
    for name, item in patch:
        while rest and 0 <= old_place.get(rest[0][0], -1) < old_place.get(name, -1):
            merged.append(rest.popleft()[1])
        merged.append(item)
    return [*merged, *(item for _, item in rest)]


def _places(items: list[object], key: str) -> dict[Hashable, int]:
    """The first place of each item."""
    return {identity(item, key): place for place, item in reversed(list(enumerate(items)))}
