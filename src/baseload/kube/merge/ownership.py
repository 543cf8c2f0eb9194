"""How a write moves fields from one manager to another."""

from collections.abc import Callable

from baseload.kube.merge import fieldset
from baseload.kube.merge.compare import Comparison
from baseload.kube.merge.fieldset import FieldSet, Path
from baseload.kube.merge.managers import Manager, Managers
from baseload.kube.merge.refusal import ApplyConflict, Cause

Scope = Callable[[FieldSet], FieldSet]


class Conflicts(Exception):
    """Fields that others hold and that would change: manager -> fields."""

    def __init__(self, held: dict[Manager, FieldSet]) -> None:
        self.held = held
        super().__init__()


def scoped(comparison: Comparison, scope: Scope) -> Comparison:
    """The comparison without fields that are out of a write's scope."""
    return Comparison(scope(comparison.removed), scope(comparison.modified), scope(comparison.added))


def taken(managers: Managers, comparison: Comparison, *, by: Manager | None, force: bool) -> Managers:
    """The managers after others have lost what changed; `by` loses nothing, and does not conflict with itself."""
    changed = fieldset.union(comparison.modified, comparison.added)
    conflicts: dict[Manager, FieldSet] = {}
    left: Managers = {}
    for who, entry in managers.items():
        if who == by:
            left[who] = entry
            continue
        lost = fieldset.intersection(entry.fields, changed)
        if lost:
            conflicts[who] = lost
        fields = fieldset.difference(fieldset.difference(entry.fields, lost), comparison.removed)
        if fields:
            left[who] = entry.holding(fields)
    if conflicts and not force:
        raise Conflicts(conflicts)
    return left


def refusal(conflicts: dict[Manager, FieldSet]) -> ApplyConflict:
    """The conflicts as the API server tells them, manager by manager."""
    listed = [(who, path) for who in sorted(conflicts) for path in fieldset.paths(conflicts[who])]
    causes = tuple(Cause(fieldset.text(path), f"conflict with {who}") for who, path in listed)
    return ApplyConflict(_message(listed), causes)


def _message(listed: list[tuple[Manager, Path]]) -> str:
    if len(listed) == 1:
        who, path = listed[0]
        return f"Apply failed with 1 conflict: conflict with {who}: {fieldset.text(path)}"
    lines: list[str] = []
    told: Manager | None = None
    for who, path in listed:
        if who != told:
            lines.append(f"conflicts with {who}:")
            told = who
        lines.append(f"- {fieldset.text(path)}")
    return f"Apply failed with {len(listed)} conflicts: " + "\n".join(lines)
