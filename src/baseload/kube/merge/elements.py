"""The items of a list as elements of a field set."""

from operator import itemgetter
from typing import Final

from baseload.kube.merge.fieldset import key_element, value_element
from baseload.kube.merge.types import ListType


class ElementError(ValueError):
    """An item cannot be told apart from others; the message says why, as the API server does."""


_MOST: Final = 1 << 12  # elements that a list remembers; then it begins anew


def all_of(listing: ListType, items: list[object]) -> list[str]:
    """The elements of the items of a list that is not atomic."""
    keys = listing.sorted_keys
    if len(keys) == 1:
        try:  # nearly all lists are of maps with one key, a text, that was met before
            return list(map(listing.known.__getitem__, map(itemgetter(keys[0]), items)))  # type: ignore[arg-type]
        except (KeyError, TypeError):
            pass
    return [element(listing, item) for item in items]


def element(listing: ListType, item: object) -> str:
    """The element of one item of a list that is not atomic."""
    keys = listing.sorted_keys
    if len(keys) == 1 and isinstance(item, dict):
        value = item.get(keys[0])
        if isinstance(value, str):
            found = listing.known.get(value)
            if found is None:
                if len(listing.known) >= _MOST:
                    listing.known.clear()
                found = listing.known[value] = key_element(keys, value)
            return found
    return _by_keys(listing, item) if keys else _by_value(item)


def _by_value(item: object) -> str:
    if item is None:
        raise ElementError("associative list without keys has an element that's an explicit null")
    if isinstance(item, dict):
        raise ElementError("associative list without keys has an element that's a map type")
    if isinstance(item, list):
        raise ElementError("not supported: associative list with lists as elements")
    return value_element(item)


def _by_keys(listing: ListType, item: object) -> str:
    if item is None:
        raise ElementError("associative list with keys may not have a null element")
    if not isinstance(item, dict):
        raise ElementError("associative list with keys may not have non-map elements")
    values = [item.get(name, listing.defaults.get(name)) for name in listing.sorted_keys]
    try:
        if None not in values:
            return key_element(listing.sorted_keys, *values)
        held = {name: value for name, value in zip(listing.sorted_keys, values, strict=True) if value is not None}
        if held:
            return key_element(tuple(held), *held.values())
    except TypeError:
        raise ElementError("associative list with keys has an element whose key is not a scalar") from None
    keys = " ".join(f'"{key}"' for key in listing.keys)
    lacking = f"omits all key fields [{keys}] (and doesn't have default values for any key fields)"
    raise ElementError(f"associative list with keys has an element that {lacking}")
