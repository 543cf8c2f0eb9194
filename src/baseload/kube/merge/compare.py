"""What changed between two trees, as sets of fields.

Two trees are gone through side by side, and no further where they are the same tree: unchanged parts are shared between
versions of an object, so a small change costs little whatever the object's size. What only one side has is not compared
but taken whole.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from baseload.kube.merge import fieldset
from baseload.kube.merge.elements import element
from baseload.kube.merge.fieldset import FieldSet, Ordered
from baseload.kube.merge.tree import ABSENT, same
from baseload.kube.merge.types import ListType, MapType, Type

_FEW: Final = 6  # fields of a map that many objects have alike
_REMEMBERED: Final = 1 << 12


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

    def value(self, kind: Type, before: object, after: object) -> None:
        if before is after:
            return
        if before is ABSENT:
            fieldset.graft(self.found.added, self._path, _whole(kind, after))
        elif after is ABSENT:
            fieldset.graft(self.found.removed, self._path, _whole(kind, before))
        else:
            for form in _forms(kind, before, after):
                self._form(form, before, after)

    def _form(self, form: object, before: object, after: object) -> None:
        """Compare in one form."""
        if isinstance(form, MapType):
            old_map, new_map = _as_map(before), _as_map(after)
            if not form.atomic and (old_map or new_map):
                self._maps(form, old_map, new_map)
                return
        elif isinstance(form, ListType):
            old_list, new_list = _as_list(before), _as_list(after)
            if not form.atomic and (old_list or new_list):
                self._lists(form, old_list, new_list)
                return
        if not same(before, after):
            self._note(self.found.modified)

    def _maps(self, form: MapType, before: dict[str, object], after: dict[str, object]) -> None:
        for name, new in after.items():
            old = before.get(name, ABSENT)
            if old is new:
                continue
            step = form.steps.get(name) or form.step(name)
            if step is None:
                continue
            if isinstance(old, str) and isinstance(new, str):  # the most frequent leaf
                if old != new:
                    self._note(self.found.modified, step[0])
            else:
                self._enter(step[0], step[1], old, new)
        for name, old in before.items():
            if name not in after:
                field = form.field(name)
                if field is not None:
                    self._enter(f"f:{name}", field, old, ABSENT)

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


def _whole(kind: Type, value: object) -> FieldSet:
    """What a value is in a set that has all of it: itself, and everything below."""
    form = kind.form(value)
    if isinstance(form, MapType) and not form.atomic and isinstance(value, dict) and _is_flat(value):
        return _flat(form, tuple(value)) or {}
    found = Ordered()
    found["."] = {}
    if isinstance(form, MapType) and isinstance(value, dict) and not form.atomic:
        steps = form.steps
        for name in sorted(value):
            step = steps.get(name) or form.step(name)
            if step is not None:
                held = value[name]
                found[step[0]] = _whole(step[1], held) if isinstance(held, dict | list) else {}
    elif isinstance(form, ListType) and isinstance(value, list) and not form.atomic:
        items = _items(form, value)
        for told_apart in fieldset.in_order(items):
            held = items[told_apart]  # items that cannot be told apart are one leaf together
            found[told_apart] = _whole(form.element, held[0]) if len(held) == 1 else {}
    return found if len(found) > 1 else {}


def _is_flat(value: dict[str, object]) -> bool:
    """Whether a map is a small one of plain values."""
    if len(value) > _FEW:
        return False
    for held in value.values():
        kind = type(held)
        if kind is dict or kind is list:
            return False
    return True


@lru_cache(maxsize=_REMEMBERED)
def _flat(form: MapType, names: tuple[str, ...]) -> FieldSet:
    """The set of a map of plain values, which many objects have alike: environment variables, ports, mounts."""
    found = Ordered()
    found["."] = {}
    for name in sorted(names):
        step = form.step(name)
        if step is not None:
            found[step[0]] = {}
    return found if len(found) > 1 else {}


def _forms(kind: Type, before: object, after: object) -> Iterator[object]:
    """The forms to compare in: one, or both where the values differ in form."""
    old, new = kind.form(before), kind.form(after)
    yield new
    if old is not new:
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
