"""A tree without the fields of a set."""

from baseload.kube.merge import fieldset
from baseload.kube.merge.elements import element
from baseload.kube.merge.fieldset import FieldSet
from baseload.kube.merge.tree import ABSENT
from baseload.kube.merge.types import ListType, MapType, Type


def without(kind: Type, value: object, fields: FieldSet) -> object:
    """The tree without what belongs to the set; ABSENT where nothing of a map or a list is left."""
    form = kind.form(value)
    if isinstance(form, MapType):
        return _of_map(form, value, fields) if isinstance(value, dict) and not form.atomic else ABSENT
    if isinstance(form, ListType):
        return _of_list(form, value, fields) if isinstance(value, list) and not form.atomic else ABSENT
    return value


def _of_map(form: MapType, value: dict[str, object], fields: FieldSet) -> object:
    kept: dict[str, object] = {}
    for name, held in value.items():
        step = f"f:{name}"
        if fieldset.belongs(fields, step):
            continue
        below = fieldset.below(fields, step)
        field = form.field(name)
        left = without(field, held, below) if below and field is not None else held
        kept[name] = None if left is ABSENT else left
    return kept or ABSENT


def _of_list(form: ListType, value: list[object], fields: FieldSet) -> object:
    kept: list[object] = []
    for item in value:
        step = element(form, item)
        if fieldset.belongs(fields, step):
            continue
        below = fieldset.below(fields, step)
        left = without(form.element, item, below) if below else item
        kept.append(None if left is ABSENT else left)
    return kept or ABSENT
