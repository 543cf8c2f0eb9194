"""Quantities in the one way that a server writes them: 1000m is 1, 0.5 is 500m, 1024Mi is 1Gi."""

from functools import lru_cache

from baseload.embedded.api.admission.tree import Tree
from baseload.embedded.store.record import Json
from baseload.values import quantity

_MILLI = quantity.MILLI


@lru_cache(maxsize=16384)
def _written(text: str) -> str:
    try:
        nanos, form = quantity.parse(text), quantity.format_of(text)
    except quantity.QuantityError:
        return text
    return quantity.format(nanos, form)


@lru_cache(maxsize=16384)
def _rounded(text: str) -> str:
    """The same for an amount in a list of resources, which knows thousandths at most."""
    try:
        nanos, form = quantity.parse(text), quantity.format_of(text)
    except quantity.QuantityError:
        return text
    return quantity.format(-(-nanos // _MILLI) * _MILLI, form)


def settle(tree: Tree, name: str) -> None:
    """Writes the quantity in a field as a server does."""
    value = tree.get(name)
    if isinstance(value, str):
        tree[name] = _written(value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        tree[name] = _written(repr(value))


def settle_all(tree: Tree, *names: str) -> None:
    """Writes the quantities of resource lists as a server does."""
    for name in names:
        amounts = tree.get(name)
        if isinstance(amounts, dict):
            for key, value in amounts.items():
                amounts[key] = _amount(value)


def _amount(value: Json) -> Json:
    if isinstance(value, str):
        return _rounded(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _rounded(repr(value))
    return value
