"""What differs between two trees with the same fields and items, as those before and after most writes are.

One walk tells it without a thought of what one side alone may have; `compare` goes the long way where it must.
"""

from typing import Final

from baseload.kube.merge.elements import all_of
from baseload.kube.merge.fieldset import FieldSet
from baseload.kube.merge.tree import Object, same
from baseload.kube.merge.types import ListType, MapType, Type

_LEAF: Final[FieldSet] = {}
_LEAVES: Final = frozenset((str, int, float, bool))


class Unlike(Exception):
    """More than values differ."""


def modified(form: MapType, before: Object, after: Object) -> FieldSet:
    """The fields of a map that have other values; raises `Unlike` where that is not all that differs."""
    found: FieldSet = {}
    if before.keys() != after.keys():
        raise Unlike
    for name, old in before.items():
        new = after[name]
        if old is new:
            continue
        kind = type(old)
        if kind is not type(new):
            raise Unlike
        if kind in _LEAVES and old == new:
            continue
        step = form.steps.get(name) or form.step(name)
        if step is None:
            continue
        if kind in _LEAVES:
            found[step[0]] = _LEAF
        else:
            _note(found, step[0], step[1], old, new)
    return found


def _note(found: FieldSet, step: str, kind: Type, old: object, new: object) -> None:
    if isinstance(old, dict) and isinstance(new, dict) and kind.mapping is not None and not kind.mapping.atomic:
        below = modified(kind.mapping, old, new)
    elif isinstance(old, list) and isinstance(new, list) and kind.listing is not None and not kind.listing.atomic:
        below = _items(kind.listing, old, new)
    elif not same(old, new):
        found[step] = _LEAF
        return
    else:
        return
    if below:
        found[step] = below


def _items(form: ListType, before: list[object], after: list[object]) -> FieldSet:
    steps = all_of(form, before)
    if steps != all_of(form, after) or len(set(steps)) != len(steps):
        raise Unlike
    found: FieldSet = {}
    for step, old, new in zip(steps, before, after, strict=True):
        if old is not new:
            _note(found, step, form.element, old, new)
    return found
