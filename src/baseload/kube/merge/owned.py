"""Which fields a tree says something about."""

from baseload.kube.merge import fieldset
from baseload.kube.merge.elements import element
from baseload.kube.merge.fieldset import FieldSet
from baseload.kube.merge.types import ListType, MapType, Type


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
        if isinstance(held, str):  # the most frequent leaf
            found[f"f:{name}"] = {}
            continue
        field = form.field(name)
        below = _below(field, held) if field is not None else None
        node = fieldset.node(below, member=held is None or held == {} or not form.names(name))
        if node is not None:
            found[f"f:{name}"] = node
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
