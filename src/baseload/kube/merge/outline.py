"""All that a value holds, as a set of fields: what a write owns that put it where nothing was.

The set follows from the outline alone, not from what the texts and numbers in it are: from the fields of maps, and from
what tells the items of lists apart. Maps with the same fields are met again and again, as those of environment
variables, ports and probes are, so what their fields come to is remembered.
"""

from itertools import chain
from typing import Final

from baseload.kube.merge import fieldset
from baseload.kube.merge.elements import all_of
from baseload.kube.merge.fieldset import FieldSet, Ordered
from baseload.kube.merge.types import ListType, MapType, Type

_MOST: Final = 1 << 10  # outlines that a type of map remembers; then it begins anew
_LEAF: Final[FieldSet] = {}
_DEEP: Final = frozenset((dict, list))


def of(kind: Type, value: object) -> FieldSet:
    """What a value is in a set that has all of it: itself, and everything below."""
    if isinstance(value, dict):
        form = kind.mapping
        return _LEAF if form is None or form.atomic else _of_map(form, value)
    if isinstance(value, list):
        listing = kind.listing
        return _LEAF if listing is None or listing.atomic else _of_list(listing, value)
    return _LEAF


def below(form: MapType, value: dict[str, object]) -> FieldSet:
    """The same for a map, without the map itself."""
    return {step: held for step, held in _of_map(form, value).items() if step != "."}


def _of_map(form: MapType, value: dict[str, object]) -> FieldSet:
    fields = form.outlines.get(tuple(value))
    if fields is None:
        fields = _of_fields(form, tuple(value))
    found: FieldSet | None = None
    for name, held in value.items():
        if type(held) in _DEEP and held:
            step = form.steps.get(name) or form.step(name)
            if step is not None and (inner := of(step[1], held)):
                if found is None:
                    found = Ordered(fields)
                found[step[0]] = inner
    return fields if found is None else found


def _of_fields(form: MapType, names: tuple[str, ...]) -> FieldSet:
    """The set of a map of plain values."""
    found = Ordered()
    found["."] = _LEAF
    for name in sorted(names):
        step = form.step(name)
        if step is not None:
            found[step[0]] = _LEAF
    if len(form.outlines) >= _MOST:
        form.outlines.clear()
    form.outlines[names] = found if len(found) > 1 else _LEAF
    return form.outlines[names]


def _of_list(form: ListType, value: list[object]) -> FieldSet:
    if not value:
        return _LEAF
    steps, kind = all_of(form, value), form.element
    items: dict[str, object] = dict(zip(steps, value, strict=True))
    found = Ordered()
    found["."] = _LEAF
    order = fieldset.in_order(items)
    if len(items) < len(steps):  # items that cannot be told apart are one leaf together
        for step in order:
            found[step] = _LEAF if steps.count(step) > 1 else of(kind, items[step])
    elif (plain := _of_plain(kind, value)) is not None:
        sets = dict(zip(steps, plain, strict=True))
        for step in order:
            found[step] = sets[step]
    else:
        for step in order:
            found[step] = of(kind, items[step])
    return found


def _of_plain(kind: Type, items: list[object]) -> list[FieldSet] | None:
    """The sets of maps of plain values with fields met before, as those of variables; None for other items."""
    form = kind.mapping
    if form is None or form.atomic:
        return None
    try:
        if not _DEEP.isdisjoint(map(type, chain.from_iterable(map(dict.values, items)))):  # type: ignore[arg-type]
            return None
        return list(map(form.outlines.__getitem__, map(tuple, items)))  # type: ignore[arg-type]
    except (KeyError, TypeError):
        return None
