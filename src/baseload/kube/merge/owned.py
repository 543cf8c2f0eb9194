"""Which fields a tree says something about."""

from baseload.kube.merge import check, fieldset
from baseload.kube.merge.elements import ElementError, element
from baseload.kube.merge.fieldset import FieldSet
from baseload.kube.merge.types import ListType, MapType, Type

_TEXTS = ("string", "untyped")


def fields(kind: Type, value: object) -> FieldSet:
    """The fields of a tree: its leaves, its items, and the keys of maps whose keys are free."""
    return _below(kind, value) or {}


def _below(kind: Type, value: object) -> FieldSet | None:
    """What belongs to the set below a value; None where the value itself is a leaf."""
    form = kind.form(value)
    if isinstance(form, MapType):
        return None if form.atomic else _of_map(form, value) if isinstance(value, dict) else {}
    if isinstance(form, ListType):
        return None if form.atomic else _of_list(form, value) if isinstance(value, list) else {}
    return None


def _of_map(form: MapType, value: dict[str, object]) -> FieldSet:
    found: FieldSet = {}
    for name, held in value.items():
        step = form.steps.get(name)
        if step is not None and isinstance(held, str):  # the most frequent leaf
            found[step[0]] = {}
            continue
        step = step or form.step(name)
        below = _below(step[1], held) if step is not None else None
        node = fieldset.node(below, member=held is None or held == {} or not form.names(name))
        if node is not None:
            found[step[0] if step is not None else f"f:{name}"] = node
    return found


def _of_list(form: ListType, value: list[object]) -> FieldSet:
    found: FieldSet = {}
    for item in value:
        told_apart = element(form, item)
        if told_apart in found:
            found[told_apart] = {}  # items that cannot be told apart are owned together, as one leaf
        else:
            found[told_apart] = fieldset.node(_below(form.element, item), member=True) or {}
    return found


class _Unsound(Exception):
    """The tree cannot be merged as it is."""


def of_sound(kind: Type, value: object) -> FieldSet | None:
    """The fields of a tree that has no faults (`check`); None for one that has."""
    try:
        return _strictly(kind, value) or {}
    except (_Unsound, ElementError):
        return None


def _strictly(kind: Type, value: object) -> FieldSet | None:
    form = kind.form(value)
    if isinstance(form, MapType):
        if isinstance(value, dict) and not form.atomic:
            return _strictly_map(form, value)
    elif isinstance(form, ListType) and isinstance(value, list) and not form.atomic:
        found = {element(form, item): fieldset.node(_strictly(form.element, item), member=True) or {} for item in value}
        if len(found) < len(value):
            raise _Unsound
        return found
    if check.faults(kind, value):
        raise _Unsound
    return _below(kind, value)


def _strictly_map(form: MapType, value: dict[str, object]) -> FieldSet:
    found: FieldSet = {}
    for name, held in value.items():
        step = form.steps.get(name) or form.step(name)
        if step is None:
            raise _Unsound
        if isinstance(held, str):  # the most frequent leaf
            if step[1].scalar not in _TEXTS:
                raise _Unsound
            found[step[0]] = {}
            continue
        node = fieldset.node(_strictly(step[1], held), member=held is None or held == {} or not form.names(name))
        if node is not None:
            found[step[0]] = node
    return found


def with_structs(kind: Type | None, fields: FieldSet) -> FieldSet:
    """The set with every named field that stands above one of its members."""
    form = kind.mapping if kind is not None else None
    listing = kind.listing if kind is not None else None
    whole: FieldSet = {}
    for name, held in fields.items():
        if not held or name == ".":
            whole[name] = held
            continue
        if name.startswith("f:"):
            field = form.field(name[2:]) if form else None
            named = form is not None and form.names(name[2:])
        else:
            field, named = listing.element if listing else None, False
        below = with_structs(field, held)
        whole[name] = {".": {}, **below} if named else below
    return whole
