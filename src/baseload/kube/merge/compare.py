"""What changed between two trees, as sets of fields.

Two trees are gone through side by side, and no further where they are the same tree: unchanged parts are shared between
versions of an object, so a small change costs little whatever the object's size.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from baseload.kube.merge import fieldset
from baseload.kube.merge.elements import element
from baseload.kube.merge.fieldset import FieldSet
from baseload.kube.merge.tree import ABSENT, same
from baseload.kube.merge.types import ListType, MapType, Type


@dataclass(frozen=True, slots=True)
class Comparison:
    """Fields that are gone, that differ, and that are new."""

    removed: FieldSet = field(default_factory=dict)
    modified: FieldSet = field(default_factory=dict)
    added: FieldSet = field(default_factory=dict)


def compare(kind: Type, before: object, after: object) -> Comparison:
    """What changed from one tree to the other."""
    walk = _Walk()
    walk.value(kind, before, after)
    return walk.found


class _Walk:
    def __init__(self) -> None:
        self.found = Comparison()
        self._path: list[str] = []

    def _note(self, fields: FieldSet, *more: str) -> None:
        if self._path or more:
            fieldset.insert(fields, (*self._path, *more))

    def _leaf(self, before: object, after: object) -> None:
        if before is ABSENT:
            self._note(self.found.added)
        elif after is ABSENT:
            self._note(self.found.removed)
        elif not same(before, after):
            self._note(self.found.modified)

    def value(self, kind: Type, before: object, after: object) -> None:
        if before is after:
            return
        leaf = False
        for form in _forms(kind, before, after):
            leaf = self._form(form, before, after) or leaf
        if not leaf and before is ABSENT:
            self._note(self.found.added)
        elif not leaf and after is ABSENT:
            self._note(self.found.removed)

    def _form(self, form: object, before: object, after: object) -> bool:
        """Compare in one form; whether the value is a leaf in it."""
        if isinstance(form, MapType):
            old_map, new_map = _as_map(before), _as_map(after)
            if not form.atomic and (old_map or new_map):
                self._maps(form, old_map, new_map)
                return False
        elif isinstance(form, ListType):
            old_list, new_list = _as_list(before), _as_list(after)
            if not form.atomic and (old_list or new_list):
                self._lists(form, old_list, new_list)
                return False
        self._leaf(before, after)
        return True

    def _maps(self, form: MapType, before: dict[str, object], after: dict[str, object]) -> None:
        for name in {**before, **after}:
            field = form.field(name)
            if field is not None:
                self._enter(f"f:{name}", field, before.get(name, ABSENT), after.get(name, ABSENT))

    def _enter(self, step: str, kind: Type, before: object, after: object) -> None:
        if before is not after:
            self._path.append(step)
            self.value(kind, before, after)
            self._path.pop()

    def _lists(self, form: ListType, before: list[object], after: list[object]) -> None:
        old, new = _items(form, before), _items(form, after)
        for step in {**old, **new}:
            ours, theirs = old.get(step, []), new.get(step, [])
            if len(ours) <= 1 and len(theirs) <= 1:
                self._enter(step, form.element, ours[0] if ours else ABSENT, theirs[0] if theirs else ABSENT)
            else:
                self._many(step, form, ours, theirs)

    def _many(self, step: str, form: ListType, before: list[object], after: list[object]) -> None:
        """Items that cannot be told apart, on one side or both, count as one leaf together."""
        if len(before) > 1 and len(after) > 1:
            if not same(before, after):
                self._note(self.found.modified, step)
        elif len(before) > 1:
            if after:
                self._enter(step, form.element, ABSENT, after[0])
            self._note(self.found.removed, step)
        else:
            if before:
                self._enter(step, form.element, before[0], ABSENT)
            self._note(self.found.added, step)


def _forms(kind: Type, before: object, after: object) -> Iterator[object]:
    """The forms to compare in: one, or both where the values differ in form."""
    old = kind.form(before) if before is not ABSENT else None
    new = kind.form(after) if after is not ABSENT else None
    yield new if new is not None else old
    if old is not None and new is not None and old is not new:
        yield old


def _as_map(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _as_list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _items(form: ListType, items: list[object]) -> dict[str, list[object]]:
    found: dict[str, list[object]] = {}
    for item in items:
        found.setdefault(element(form, item), []).append(item)
    return found
