"""What an update may do to metadata, and what in an object it has changed."""

from dataclasses import replace
from typing import Literal

from baseload.embedded.store import errors
from baseload.embedded.store import record as records
from baseload.embedded.store.errors import BadRequest, Cause
from baseload.embedded.store.record import Record, Section, Shared, section

Part = Literal["main", "status", "all", "marks"]
"""What an update replaces: all but the status, the status alone, or both (a binding; nothing that users may ask for).

"marks" are annotations that a controller writes with a status: the generation does not count them.
"""

MOVED = "the object has been modified; please apply your changes to the latest version and try again"


def check_update(old: Record, new: Record) -> None:
    """Refuses a write that is based on another object or state, or that changes what stays as it is."""
    resource, name = old.resource, old.name
    check_preconditions(old, new.uid, new.version)
    if not new.version:
        check_versioned(old)
    if new.finalizers is not old.finalizers and old.deletion is not None:
        _check_finalizers(old, new)
    if new.created is not old.created and new.created and new.created != old.created:
        raise errors.invalid(resource, name, (_immutable("metadata.creationTimestamp", new.created),))
    deletion = new.deletion
    if deletion is not old.deletion and deletion is not None and deletion != old.deletion:
        raise errors.invalid(resource, name, (_immutable("metadata.deletionTimestamp", deletion.timestamp),))


def check_versioned(old: Record) -> None:
    """Refuses an update that names no version, of a kind whose updates must."""
    if old.resource.needs_version:
        cause = Cause("FieldValueInvalid", "Invalid value: 0: must be specified for an update", _VERSION)
        named = replace(old.resource, kind=old.resource.plural)  # a server names the resource here, not the kind
        raise errors.invalid(named, old.name, (cause,))


def check_create(draft: Record) -> None:
    """Refuses a draft that cannot be an object: one without a name, or with a version already."""
    if draft.version:
        raise BadRequest("resourceVersion should not be set on objects to be created", resource=draft.resource)
    if not draft.name and not draft.shared.generate_name:
        cause = Cause("FieldValueRequired", "Required value: name or generateName is required", "metadata.name")
        raise errors.invalid(draft.resource, "", (cause,))
    if "/" in draft.name or "/" in draft.namespace:
        cause = Cause("FieldValueInvalid", f"Invalid value: \"{draft.name}\": may not contain '/'", "metadata.name")
        raise errors.invalid(draft.resource, draft.name, (cause,))
    if draft.resource.namespaced and not draft.namespace:
        raise BadRequest("an empty namespace may not be set during creation", resource=draft.resource)


def check_preconditions(old: Record, uid: str, version: int) -> None:
    """Refuses a change that means another object, or another state of it."""
    if uid and uid != old.uid:
        why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {old.uid}"
        raise errors.conflict(old.resource, old.name, why)
    if version and version != old.version:
        raise errors.conflict(old.resource, old.name, MOVED)


def merged(old: Record, new: Record, part: Part, version: int, *, exact: bool = False) -> Record:
    """The object after an update, under a version; the old record itself where nothing is changed by it.

    With `exact`, sections that are not the very same are taken to say something else.
    """
    resource = old.resource
    common, body, node, finalizers, status = new.shared, new.body, new.node, new.finalizers, new.status
    if part == "status":
        common, body, node, finalizers = old.shared, old.body, old.node, old.finalizers
    elif part != "all" and resource.has_status:
        status = old.status
    managed = new.managed
    if not exact:
        if body is not old.body and records.is_same(b"{%b}" % body.raw, b"{%b}" % old.body.raw):
            body = old.body  # the same, written in another order
        if _say_the_same(old.status, status):
            status = old.status
        if _say_the_same(old.managed, managed):
            managed = old.managed
    is_same_spec = body is old.body and node == old.node
    # Where the status is no subresource, it counts as any other section does.
    is_same = is_same_spec and (resource.has_status or status is old.status)
    if (
        is_same_spec
        and status is old.status
        and managed is old.managed
        and common is old.shared
        and finalizers == old.finalizers
    ):
        return old
    return Record(
        resource,
        old.namespace,
        old.name,
        common,
        body,
        status,
        node,
        finalizers,
        managed,
        old.uid,
        version,
        old.generation + (part != "marks" and _is_counted(old, common, is_same_spec=is_same)),
        old.created,
        old.deletion,
    )


def _is_counted(old: Record, common: Shared, *, is_same_spec: bool) -> bool:
    """Whether a change is one that the generation counts."""
    resource = old.resource
    if is_same_spec:
        return resource.counts_annotations and common.annotations != old.shared.annotations
    return resource.has_generation


def _say_the_same(old: Section, new: Section) -> bool:
    """Whether two statuses or lists of managers are equal, however they are written."""
    if old is new:
        return True
    if isinstance(old, bytes) or isinstance(new, bytes):
        return records.is_same(section(old), section(new))
    return old == new


_VERSION = "metadata.resourceVersion"


def _check_finalizers(old: Record, new: Record) -> None:
    added = [finalizer for finalizer in new.finalizers if finalizer not in old.finalizers]
    if added:
        shown = ", ".join(f'"{finalizer}"' for finalizer in added)
        message = (
            "Forbidden: no new finalizers can be added if the object is being deleted, "
            f"found new finalizers []string{{{shown}}}"
        )
        raise errors.invalid(old.resource, old.name, (Cause("FieldValueForbidden", message, "metadata.finalizers"),))


def _immutable(field: str, value: str) -> Cause:
    return Cause("FieldValueInvalid", f'Invalid value: "{value}": field is immutable', field)
