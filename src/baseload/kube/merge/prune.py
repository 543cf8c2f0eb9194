"""What an applier applied last time and leaves out now goes away, unless somebody else holds it.

Two things stay although the applier held them: what another manager holds, and what stands inside an item or a map that
goes and was never the applier's; with the latter the item itself stays.
"""

from baseload.kube.merge import fieldset, owned
from baseload.kube.merge.fieldset import FieldSet
from baseload.kube.merge.remove import without
from baseload.kube.merge.types import Type


def pruned(kind: Type, merged: object, *, last: FieldSet, held: FieldSet) -> object:
    """The merged object without the fields of `last` that are not in `held`, the fields of all managers now."""
    if last == held or not fieldset.difference(last, held):
        return merged
    fields = _whole(kind, owned.fields(kind, merged))
    last, held = owned.with_structs(kind, last), owned.with_structs(kind, held)
    stripped = without(kind, merged, last)
    left = _whole(kind, owned.fields(kind, stripped))
    kept = without(kind, merged, fieldset.difference(fields, fieldset.union(left, held)))
    still = _whole(kind, owned.fields(kind, kept))
    return without(kind, merged, fieldset.intersection(fieldset.difference(fields, still), last))


def _whole(kind: Type, fields: FieldSet) -> FieldSet:
    return owned.with_structs(kind, fields)
