"""Custom resources before they are stored: nulls and defaults, then whether the definition's schema allows them."""

from collections.abc import Iterable, Iterator
from typing import Final, cast

from baseload.embedded.api import fields
from baseload.embedded.api.kinds import ServedKind
from baseload.embedded.api.versions import Tree
from baseload.embedded.store.errors import BadRequest, Cause
from baseload.embedded.store.record import Json
from baseload.kube.protobuf import written
from baseload.kube.schema import definitions
from baseload.kube.structural import embedded, lists, nulls, values
from baseload.kube.structural.fault import Fault
from baseload.kube.structural.values import ABSENT

UNCHECKED: Final = Cause(
    "FieldValueInvalid",
    "Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing "
    "errors to complete validation",
    "<nil>",
)
_METADATA: Final[definitions.Schema] = {"$ref": definitions.OBJECT_META}
_BLOCKING: Final = (
    "FieldValueRequired",
    "FieldValueNotSupported",
    "FieldValueTooLong",
    "FieldValueTooMany",
    "FieldValueTypeInvalid",
)
"""Faults upon which rules are not looked at"""
_MOST_REPLICAS: Final = 2**31 - 1


def completed(kind: ServedKind, tree: Tree) -> Tree:
    """The tree without the nulls that nobody wants, with defaults; refuses what is unreadable inside."""
    schema = kind.schema
    tree = cast(Tree, nulls.without(_unguarded(schema), tree))
    tree["metadata"] = cast(Json, written.metadata(tree.get("metadata")))
    fields.default(schema, tree)
    handled = f'{kind.view.kind} in version "{kind.view.version}" cannot be handled as a {kind.view.kind}'
    if said := embedded.wrong_metadata(tree["metadata"]):
        raise BadRequest(f"{handled}: {said}")
    if (found := embedded.unreadable(schema, tree)) is not None:
        raise BadRequest(f"{handled}: {found.path}: {found.message}")
    for _, held in embedded.within(schema, tree):
        for _ in fields.unknown(_METADATA, cast(Json, held.get("metadata")), custom=False):
            pass
    return tree


def causes(kind: ServedKind, tree: Tree, old: Tree | None, *, subresource: str = "") -> list[Cause]:
    """What the schema has against an object, or against its new status alone, and what its rules have."""
    found = list(map(_cause, _faults(kind, tree, old, is_status=subresource == "status")))
    if kind.rules is None or not kind.rules.any:
        return found
    if any(cause.reason in _BLOCKING for cause in found):
        return [*found, UNCHECKED]
    # What an update left as it was is not held against it.
    faults = (fault for fault in kind.rules.faults(tree, old) if not fault.is_held)
    return [*found, *(Cause(fault.reason, fault.message, fault.path) for fault in faults)]


def _faults(kind: ServedKind, tree: Tree, old: Tree | None, *, is_status: bool) -> Iterator[Fault]:
    schema = kind.schema
    if is_status:
        of_status = (definitions.properties(schema) or {}).get("status", {})
        if "status" in tree:
            before = (old or {}).get("status", ABSENT)
            yield from values.faults(of_status, tree["status"], before, at="status")
    else:
        yield from values.faults(_unguarded(schema), tree, ABSENT if old is None else old)
    yield from _of_scale(kind, tree, is_status=is_status)
    if not is_status:
        yield from embedded.faults(schema, tree)
    twins = list(lists.faults(schema, tree))
    if twins and (old is None or not _any(lists.faults(schema, old))):
        yield from twins


def _unguarded(schema: definitions.Schema) -> definitions.Schema:
    """The schema but for metadata, which is looked at by itself."""
    named = {name: held for name, held in (definitions.properties(schema) or {}).items() if name != "metadata"}
    return {**schema, "properties": named}


def _of_scale(kind: ServedKind, tree: Tree, *, is_status: bool) -> Iterator[Fault]:
    if kind.scale is None:
        return
    for path in (kind.scale.current,) if is_status else (kind.scale.replicas, kind.scale.current):
        held: Json = tree
        for step in path.split("."):
            held = held.get(step) if isinstance(held, dict) else None
        if not isinstance(held, int) or isinstance(held, bool):
            continue
        if held < 0:
            yield Fault(f".{path}", "FieldValueInvalid", f"Invalid value: {held}: should be a non-negative integer")
        elif held > _MOST_REPLICAS:
            why = f"Invalid value: {held}: should be less than or equal to {_MOST_REPLICAS}"
            yield Fault(f".{path}", "FieldValueInvalid", why)


def _any(found: Iterable[Fault]) -> bool:
    return next(iter(found), None) is not None


def _cause(found: Fault) -> Cause:
    return Cause(found.reason, found.message, found.path)
