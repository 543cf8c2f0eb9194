"""What changed between two trees, as sets of fields.

Two trees are gone through side by side, and no further where they are the same tree: unchanged parts are shared between
versions of an object, so a small change costs little whatever the object's size. What only one side has is not compared
but taken whole.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from baseload.kube.merge import fieldset, outline
from baseload.kube.merge.elements import all_of
from baseload.kube.merge.fieldset import FieldSet
from baseload.kube.merge.modified import Unlike, modified
from baseload.kube.merge.tree import ABSENT, same
from baseload.kube.merge.types import ListType, MapType, Type

_PLAIN: Final = frozenset((str, int, float, bool, type(None)))


@dataclass(frozen=True, slots=True)
class Comparison:
    """Fields that are gone, that differ, and that are new."""

    removed: FieldSet = field(default_factory=dict)
    modified: FieldSet = field(default_factory=dict)
    added: FieldSet = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Whether anything changed."""
        return bool(self.removed or self.modified or self.added)


_Found = tuple[FieldSet, FieldSet, FieldSet]
"""What is removed, modified and added below some value"""


def compare(kind: Type, before: object, after: object) -> Comparison:
    """What changed from one tree to the other."""
    if before is after:
        return Comparison()
    if isinstance(before, dict) and isinstance(after, dict) and kind.mapping is not None and not kind.mapping.atomic:
        with suppress(Unlike):
            return Comparison(modified=modified(kind.mapping, before, after))
    found: _Found = {}, {}, {}
    for form in _forms(kind, before, after):
        for all_of_it, fields in zip(found, _below(form, before, after) or (), strict=False):
            all_of_it.update(fields)
    return Comparison(*found)


def _at(step: str, kind: Type, before: object, after: object, found: _Found) -> None:
    """Note what changed at a step and below it."""
    mapping = kind.mapping
    if before is after:
        pass
    elif before is ABSENT:
        found[2][step] = outline.of(kind, after)
    elif after is ABSENT:
        found[0][step] = outline.of(kind, before)
    elif isinstance(before, dict) and isinstance(after, dict) and before and mapping is not None and not mapping.atomic:
        _join(found, step, _maps(mapping, before, after))  # as nearly all are that are no leaves
    else:
        for form in _forms(kind, before, after):
            below = _below(form, before, after)
            if below is not None:
                _join(found, step, below)
            elif not same(before, after):
                found[1][step] = {}


def _join(found: _Found, step: str, below: _Found) -> None:
    for all_of_it, fields in zip(found, below, strict=True):
        if fields:
            all_of_it[step] = fieldset.union(all_of_it[step], fields) if step in all_of_it else fields


def _below(form: object, before: object, after: object) -> _Found | None:
    """What changed below two values; None where there is nothing below either."""
    if isinstance(form, MapType):
        old_map, new_map = _as_map(before), _as_map(after)
        return _maps(form, old_map, new_map) if not form.atomic and (old_map or new_map) else None
    if isinstance(form, ListType):
        old_list, new_list = _as_list(before), _as_list(after)
        return _lists(form, old_list, new_list) if not form.atomic and (old_list or new_list) else None
    return None


def _maps(form: MapType, before: dict[str, object], after: dict[str, object]) -> _Found:
    found: _Found = {}, {}, {}
    for name, old in before.items():
        new = after.get(name, ABSENT)
        if old is new:
            continue
        is_plain = type(old) in _PLAIN and type(new) in _PLAIN  # as most leaves are
        if is_plain and old == new and (type(old) is bool) == (type(new) is bool):
            continue
        step = form.steps.get(name) or form.step(name)
        if step is None:
            continue
        if is_plain:
            found[1][step[0]] = {}
        else:
            _at(step[0], step[1], old, new, found)
    if len(after) != len(before) or not after.keys() <= before.keys():
        found[2].update(outline.below(form, {name: new for name, new in after.items() if name not in before}))
    return found


def _lists(form: ListType, before: list[object], after: list[object]) -> _Found:
    found: _Found = {}, {}, {}
    kind, old_steps, new_steps = form.element, all_of(form, before), all_of(form, after)
    if old_steps == new_steps and len(set(new_steps)) == len(new_steps):
        for step, one, other in zip(new_steps, before, after, strict=True):
            _at(step, kind, one, other, found)
        return found
    old, new = _grouped(old_steps, before), _grouped(new_steps, after)
    for step in {**old, **new}:
        ours, theirs = old.get(step, []), new.get(step, [])
        if len(ours) <= 1 and len(theirs) <= 1:
            _at(step, kind, ours[0] if ours else ABSENT, theirs[0] if theirs else ABSENT, found)
        else:
            _many(step, kind, ours, theirs, found)
    return found


def _many(step: str, kind: Type, before: list[object], after: list[object], found: _Found) -> None:
    """Items that cannot be told apart, on one side or both, count as one leaf together."""
    removed, modified, added = found
    if len(before) > 1 and len(after) > 1:
        if not same(before, after):
            modified[step] = {}
    elif len(before) > 1:
        if after:
            added[step] = outline.of(kind, after[0])
        removed[step] = {}
    else:
        if before:
            removed[step] = outline.of(kind, before[0])
        added[step] = {}


def _forms(kind: Type, before: object, after: object) -> Sequence[object]:
    """The forms to compare in: one, or both where the values differ in form."""
    if isinstance(before, list) and isinstance(after, list) and kind.listing is not None:
        return (kind.listing,)
    old, new = kind.form(before), kind.form(after)
    return (new,) if old is new else (new, old)


def _as_map(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _as_list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _grouped(steps: list[str], items: list[object]) -> dict[str, list[object]]:
    found: dict[str, list[object]] = {}
    for step, item in zip(steps, items, strict=True):
        found.setdefault(step, []).append(item)
    return found
