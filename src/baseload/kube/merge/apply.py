"""Server-side apply: the configuration of one manager laid over an object, and who manages what after any write.

An applied configuration is the whole of what its manager wants.
What it names becomes its own; where others hold such a field with another value there is a conflict, unless forced.
Equal values are shared. What it named before and does not name now goes away, unless others hold it.
Every other write (create, update, patch) is tracked after the fact: what changed is the writer's from then on.

A write that changes nothing gives the very object back that was there, so that the caller can tell.
"""

from dataclasses import dataclass
from functools import partial
from typing import Final

from baseload.kube.merge import check, combine, compare, fieldset, last_applied, owned, ownership, scope, shapes
from baseload.kube.merge import managers as entries
from baseload.kube.merge.elements import ElementError
from baseload.kube.merge.fieldset import FieldSet
from baseload.kube.merge.managers import APPLY, UPDATE, Entry, Kept, Manager, Managers, ManagersError
from baseload.kube.merge.prune import pruned
from baseload.kube.merge.refusal import bad_request, bounded, failed
from baseload.kube.merge.tree import Object, same, without_nulls
from baseload.kube.merge.types import ObjectType

BEFORE_FIRST_APPLY = "before-first-apply"

_born_alike: Final = shapes.Recurring[FieldSet]()
"""What the writer of a new object owns, by the object's shape"""


@bounded
def apply(
    live: Object | None,
    config: Object,
    *,
    kind: ObjectType,
    manager: str,
    now: int,
    force: bool = False,
    subresource: str = "",
) -> Object:
    """The object after the configuration; `live` itself where nothing changes, and None for one that is not there yet.

    Raises `ApplyConflict` where others hold what would change, and `PatchError` for a configuration that is none.
    `now` is in nanoseconds since the epoch.
    """
    told = _told(config, kind)
    try:
        managers = entries.read(_metadata(live or {}).get("managedFields"))
    except ManagersError as error:
        raise failed(f"failed to decode managed fields: {error}") from error
    who = entries.manager(manager, APPLY, kind.api_version, subresource)
    write = _Write(kind, subresource, entries.stamp(now))
    try:
        return write.applied(live, _Applied(config, told), managers, who, force=force)
    except ownership.Conflicts as conflicts:
        raise ownership.refusal(conflicts.held) from None
    except ElementError as error:
        raise failed(f"failed to create typed live object ({_named(live or {}, kind)}): {error}") from error


@bounded
def managed_after_update(
    before: Object | None,
    after: Object,
    *,
    kind: ObjectType,
    manager: str,
    now: int,
    subresource: str = "",
) -> Object:
    """The written object with its managers; `before` itself where nothing changed, and None for a create.

    The entries that the writer sent count if they can be read, `[]` and `[{}]` end the tracking of the object, and
    entries sent to a subresource are ignored.
    """
    write = _Write(kind, subresource, entries.stamp(now))
    old, new = _bare(before or {}), _bare(after)
    managers = _sent(before, after, subresource)
    is_changed = False
    if before is None and not managers:
        managers = write.born(new, entries.manager(manager, UPDATE, kind.api_version, subresource))
    elif managers or before is None:
        who = entries.manager(manager, UPDATE, kind.api_version, subresource)
        try:
            found = write.compared(old, new)
            is_changed = bool(found)
            managers = entries.capped(write.updated(found, managers, who))
        except ElementError:
            managers = _readable(before)
    after = _with_managers(new, managers)
    return after if is_changed else settled(before, after)


@bounded
def told_after_update(
    kept: Kept,
    before: Object,
    after: Object,
    *,
    kind: ObjectType,
    manager: str,
    now: int,
    subresource: str,
) -> bytes | None:
    """The entries of the managers after a write of two trees without them, as JSON; None where nothing changed.

    It is `managed_after_update` for a caller who knows the entries as they are kept.
    """
    managers, found = kept.managers, compare.Comparison()
    if managers:
        write = _Write(kind, subresource, entries.stamp(now))
        try:
            found = write.compared(before, after)
            who = entries.manager(manager, UPDATE, kind.api_version, subresource)
            managers = entries.capped(write.updated(found, managers, who))
        except ElementError:
            pass
    new = entries.tell(managers)
    if not found and entries.tell_the_same(kept.told, new) and same(before, after):
        return None
    return entries.remembered(managers, new) if new else b""


def settled(before: Object | None, after: Object) -> Object:
    """`before`, if nothing but times of managers and the resourceVersion sets the two apart, else `after`."""
    if before is None or before is after:
        return after
    (old, old_managers), (new, new_managers) = _timeless(before), _timeless(after)
    return before if old_managers == new_managers and same(old, new) else after


class _Write:
    """One write to a resource or a subresource of one kind."""

    def __init__(self, kind: ObjectType, subresource: str, time: str) -> None:
        self._kind, self._subresource = kind, subresource
        self._within = partial(scope.within, kind, subresource)
        self._time = time

    def applied(
        self, live: Object | None, applied: "_Applied", managers: Managers, who: Manager, *, force: bool
    ) -> Object:
        """The object after an apply."""
        named: Object = {"apiVersion": self._kind.api_version, "kind": self._kind.kind}
        old = named if live is None else _bare(live)
        if not managers and live is not None:
            first = entries.manager(BEFORE_FIRST_APPLY, UPDATE, self._kind.api_version, "")
            managers = self.updated(self.compared({}, old), managers, first)
        try:
            new, managers = self._merged(old, applied, managers, who, force=force)
        except ownership.Conflicts as conflicts:
            if who.name != last_applied.MANAGER:
                raise
            self._let_pass(conflicts, old)
            new, managers = self._merged(old, applied, managers, who, force=True)
        if new is not old:
            new = without_nulls(new, old)  # type: ignore[assignment]  # of a map there stays a map
            if who in managers:
                managers[who] = Entry(managers[who].api_version, managers[who].fields, self._time)
        if who.name == last_applied.MANAGER:
            new = last_applied.renewed(new, applied.config)
        return settled(live, _with_managers(new, managers))

    def _let_pass(self, conflicts: ownership.Conflicts, live: Object) -> None:
        """Raise what is left of the conflicts beside fields that are still those of client-side apply."""
        own = last_applied.still_own(self._kind, live)
        held = {who: fieldset.difference(fields, own) for who, fields in conflicts.held.items()}
        held = {who: fields for who, fields in held.items() if fields}
        if held:
            raise ownership.Conflicts(held)

    def _merged(
        self, live: Object, applied: "_Applied", managers: Managers, who: Manager, *, force: bool
    ) -> tuple[Object, Managers]:
        root = self._kind.root
        last = managers.get(who)
        told = self._within(applied.fields)
        mine = scope.ownable(told)
        new = combine.combined(root, live, applied.config)
        if last is not None and last.fields == mine:
            mine = last.fields
        elif last is not None:
            held = told
            for other, entry in managers.items():
                held = held if other == who else fieldset.union(held, entry.fields)
            left = pruned(root, new, last=last.fields, held=held)
            new = new if same(new, left) else left
        assert isinstance(new, dict)  # apiVersion and kind are never pruned
        managers = {**managers, who: Entry(self._kind.api_version, mine, last.time if last else None)}
        found = ownership.scoped(self.compared(live, new), self._within)
        managers = ownership.taken(managers, found, by=who, force=force)
        return new, {manager: entry for manager, entry in managers.items() if entry.fields}

    def updated(self, changed: compare.Comparison, managers: Managers, who: Manager) -> Managers:
        """The managers after a write that has already been merged."""
        found = ownership.scoped(changed, self._within)
        won = scope.ownable(self._within(fieldset.union(found.modified, found.added)))
        held = managers.get(who)
        managers = ownership.taken(managers, found, by=who, force=True)
        fields = fieldset.difference(held.fields, found.removed) if held else {}
        if won:
            fields = fields if fieldset.covers(fields, won) else fieldset.union(won, fields)
            json = held.json if held and fields is held.fields else b""
            managers[who] = Entry(self._kind.api_version, fields, self._time, json)
        elif held and fields:
            managers[who] = held.holding(fields)
        else:
            managers.pop(who, None)
        return managers

    def born(self, new: Object, who: Manager) -> Managers:
        """The managers of an object that nobody wrote before."""
        if not isinstance(new.get("spec"), dict):  # it may be all text, and has few fields
            return self._born(new, who)
        shape = self._kind, self._subresource, shapes.of(self._kind, new)
        fields = _born_alike.found(shape)
        if fields is None:
            born = self._born(new, who)
            if who in born:
                _born_alike.keep(shape, fieldset.written(born[who].fields))
            return born
        return {who: Entry(self._kind.api_version, fields, self._time)}

    def _born(self, new: Object, who: Manager) -> Managers:
        try:
            return self.updated(self.compared({}, new), {}, who)
        except ElementError:
            return {}

    def compared(self, old: Object, new: Object) -> compare.Comparison:
        """What changed, in the scope of the write and out of it."""
        if old is new:
            return compare.Comparison()
        empty = self._kind.empty
        return compare.compare(self._kind.root, _over(empty, old), _over(empty, new))


@dataclass(frozen=True, slots=True)
class _Applied:
    """A configuration, and the fields that it says something about."""

    config: Object
    fields: FieldSet


def check_kind(config: Object, kind: ObjectType) -> None:
    """Refuses a configuration of another kind, or of none."""
    version, name = config.get("apiVersion"), config.get("kind")
    if (version, name) != (kind.api_version, kind.kind):
        raise bad_request(f"invalid object type: {_gvk(str(version or ''), str(name or ''))}")


def _told(config: Object, kind: ObjectType) -> FieldSet:
    """The fields of a configuration; refuses one that cannot be merged."""
    check_kind(config, kind)
    if _metadata(config).get("managedFields") is not None:
        raise bad_request("metadata.managedFields must be nil")
    told = owned.of_sound(kind.root, config)
    if told is None:
        found = check.faults(kind.root, config)
        raise failed(f"failed to create typed patch object ({_named(config, kind)}): {check.told(found)}")
    return told


def _named(target: Object, kind: ObjectType) -> str:
    metadata = _metadata(target)
    gvk = _gvk(kind.api_version, kind.kind)
    return f"{metadata.get('namespace') or ''}/{metadata.get('name') or ''}; {gvk}"


def _gvk(api_version: str, kind: str) -> str:
    return f"{api_version if '/' in api_version else '/' + api_version}, Kind={kind}"


def _metadata(target: Object) -> Object:
    metadata = target.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _bare(target: Object) -> Object:
    """The object without its managers."""
    metadata = _metadata(target)
    if "managedFields" not in metadata:
        return target
    return {**target, "metadata": {key: value for key, value in metadata.items() if key != "managedFields"}}


def _with_managers(target: Object, managers: Managers) -> Object:
    if not managers:
        return target
    return {**target, "metadata": {**_metadata(target), "managedFields": entries.written(managers)}}


def _sent(before: Object | None, after: Object, subresource: str) -> Managers:
    """The managers that a write starts from."""
    sent = _metadata(after).get("managedFields")
    if subresource:
        return _readable(before)
    if isinstance(sent, list) and not any(sent):
        return {} if len(sent) <= 1 else _readable(before)
    try:
        return entries.read(sent) or _readable(before)
    except ManagersError:
        return _readable(before)


def _readable(target: Object | None) -> Managers:
    try:
        return entries.read(_metadata(target or {}).get("managedFields"))
    except ManagersError:
        return {}


def _over(empty: Object, target: Object) -> Object:
    """The object with the parts that even an empty one has."""
    whole = dict(target)
    for key, part in empty.items():
        held = target.get(key)
        if held is None:
            whole[key] = part
        elif isinstance(part, dict) and part and isinstance(held, dict):
            whole[key] = _over(part, held)
    return whole


def _timeless(target: Object) -> tuple[Object, object]:
    """The object without its managers and its resourceVersion, and its managers without their times."""
    metadata = {key: value for key, value in _metadata(target).items() if key != "resourceVersion"}
    managed = metadata.pop("managedFields", None)
    if isinstance(managed, list):
        managed = [{**entry, "time": None} if isinstance(entry, dict) else entry for entry in managed]
    return {**target, "metadata": metadata}, managed
