"""All that a value holds, as a set of fields: what a write owns that put it where nothing was.

The set follows from the outline alone, not from what the texts and numbers in it are: from the fields of maps, and from
what tells the items of lists apart. Maps with the same fields are met again and again, as those of environment
variables, ports and probes are, so what their fields come to is remembered.
"""

from functools import lru_cache
from typing import Final

from baseload.kube.merge import fieldset
from baseload.kube.merge.elements import element
from baseload.kube.merge.fieldset import FieldSet, Ordered
from baseload.kube.merge.types import ListType, MapType, Type

_MANY: Final = 32  # fields; maps with more are those of ConfigMaps and the like, each with fields of its own
_REMEMBERED: Final = 1 << 12  # maps, by their fields
_LEAF: Final[FieldSet] = {}
_DEEP: Final = (dict, list)


def of(kind: Type, value: object) -> FieldSet:
    """What a value is in a set that has all of it: itself, and everything below."""
    if isinstance(value, dict):
        form = kind.mapping
        return _LEAF if form is None or form.atomic else _of_map(form, value)
    if isinstance(value, list):
        listing = kind.listing
        return _LEAF if listing is None or listing.atomic else _of_list(listing, value)
    return _LEAF


def _of_map(form: MapType, value: dict[str, object]) -> FieldSet:
    fields = _of_fields(form, tuple(value)) if len(value) <= _MANY else _of_fields.__wrapped__(form, tuple(value))
    found: FieldSet | None = None
    steps = form.steps
    for name, held in value.items():
        if type(held) in _DEEP and held:
            step = steps.get(name) or form.step(name)
            if step is not None and (below := of(step[1], held)):
                if found is None:
                    found = Ordered(fields)
                found[step[0]] = below
    return fields if found is None else found


@lru_cache(maxsize=_REMEMBERED)
def _of_fields(form: MapType, names: tuple[str, ...]) -> FieldSet:
    """The set of a map of plain values."""
    found = Ordered()
    found["."] = _LEAF
    for name in sorted(names):
        step = form.step(name)
        if step is not None:
            found[step[0]] = _LEAF
    return found if len(found) > 1 else _LEAF


def _of_list(form: ListType, value: list[object]) -> FieldSet:
    if not value:
        return _LEAF
    steps, kind = [element(form, item) for item in value], form.element
    items = dict(zip(steps, value, strict=True))
    often = () if len(items) == len(steps) else {step for step in steps if steps.count(step) > 1}
    found = Ordered()
    found["."] = _LEAF
    for step in fieldset.in_order(items):  # items that cannot be told apart are one leaf together
        found[step] = _LEAF if step in often else of(kind, items[step])
    return found
