"""Which fields a write can own at all: a subresource writes its part of an object, the main resource the rest."""

from functools import cache

from baseload.kube.merge import defaults, fieldset
from baseload.kube.merge.fieldset import FieldSet
from baseload.kube.merge.types import ObjectType

_NEVER: FieldSet = fieldset.of_paths(defaults.NEVER_OWNED)
_STATUS: FieldSet = fieldset.of_paths([("status",)])


def within(kind: ObjectType, subresource: str, fields: FieldSet) -> FieldSet:
    """The fields less those that a write to the resource or its subresource leaves as they were."""
    if subresource == "status" and kind.custom:
        return {element: held for element, held in fields.items() if element == "f:status"}
    return fieldset.recursive_difference(fields, _untouched(kind, subresource))


@cache
def _untouched(kind: ObjectType, subresource: str) -> FieldSet:
    has_status = kind.root.mapping is not None and kind.root.mapping.names("status")
    if not subresource:
        return _STATUS if has_status else {}
    if subresource != "status":
        return {}
    beside = defaults.STATUS_WITHOUT.get(f"{kind.api_version}/{kind.kind}", ())
    return fieldset.of_paths([("spec",), *beside])


def ownable(fields: FieldSet) -> FieldSet:
    """The fields less those that no manager ever holds."""
    return fieldset.difference(fields, _NEVER)
