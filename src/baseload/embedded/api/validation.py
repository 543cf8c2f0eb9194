"""Whether an object may be stored: its fields are those of its kind, and nothing is wrong with them.

Kubernetes' own kinds have their rules in `kube.validation`, custom resources theirs in their schemas. What cannot even
be read as its kind is a bad request on Kubernetes' own kinds, as it is to Go; on custom resources it is one more fault
of an invalid object.
"""

from collections.abc import Iterator
from typing import Final, cast

import msgspec

from baseload.embedded.api import crds, custom, duplicates, fields
from baseload.embedded.api.call import JSON, STRATEGIC, Call, Tree, decoded
from baseload.embedded.api.kinds import ServedKind
from baseload.embedded.store import errors
from baseload.embedded.store.errors import BadRequest, Cause, Invalid
from baseload.embedded.store.record import Json, Record
from baseload.kube.merge import go_text
from baseload.kube.merge.tree import without_nulls
from baseload.kube.schema import definitions
from baseload.kube.validation import decoding, names, rules, whole
from baseload.kube.validation.fault import Fault
from baseload.kube.validation.metadata import of_object

_REASONS: Final = {
    "Required value": "FieldValueRequired",
    "Unsupported value": "FieldValueNotSupported",
    "Too long": "FieldValueTooLong",
    "Too many": "FieldValueTooMany",
    "Duplicate value": "FieldValueDuplicate",
    "Forbidden": "FieldValueForbidden",
    "Not found": "FieldValueNotFound",
}


def take_known(kind: ServedKind, tree: Tree, call: Call, *, patch: bytes | None = None) -> bool:
    """Drops the fields that the kind does not have, and says so as the client asked; `patch` is what brought them.

    True tells that there are none, and no nulls, and that Go can read the rest, so that nobody needs to look again.
    """
    mode = call.validation
    found = [f'duplicate field "{path}"' for path in _twice(call)]
    # A body's own bytes say of each field at least what the tree does, which has only the last of its name.
    raw = call.body if patch is None and call.media_type == JSON else msgspec.json.encode(tree)
    has_right_shape, is_sound = _looked_at(kind, raw)
    if not has_right_shape:
        unknown = fields.unknown(kind.schema, tree, custom=kind.is_custom)
        found += [f'unknown field "{path}"' for path in unknown]
    if not found or mode == "Ignore":
        return is_sound
    if mode == "Warn":
        call.warnings.extend(found)
        return is_sound
    strict = f"strict decoding error: {', '.join(found)}"
    if patch is not None:
        is_strategic = call.media_type == STRATEGIC
        shown = go_text.plain(decoded(patch, STRATEGIC)) if is_strategic else patch.decode(errors="replace")
        cause = Cause("FieldValueInvalid", f'Invalid value: "{shown}": {strict}', "patch")
        raise Invalid(f"{cause.field}: {cause.message}", causes=(cause,))
    raise BadRequest(f"{_handled(kind)}: {strict}")


def _twice(call: Call) -> list[str]:
    """The fields that stand twice in a whole object; looked for where validation is asked for by name."""
    is_asked = call.query.get("fieldValidation") in ("Strict", "Warn")
    is_object = call.method in ("POST", "PUT") and call.media_type == JSON
    return duplicates.paths(call.body) if is_asked and is_object else []


def check_readable(kind: ServedKind, tree: Tree) -> None:
    """Refuses what Go could not decode as one of Kubernetes' own kinds."""
    if not kind.is_custom and (said := decoding.fault(kind.schema, tree)):
        raise BadRequest(f"{_handled(kind)}: {said}")


def check(kind: ServedKind, tree: Tree, old: Record | None = None, *, subresource: str = "") -> None:
    """Refuses an object that its kind does not allow."""
    resource, metadata = kind.view, tree.get("metadata")
    named: dict[str, Json] = metadata if isinstance(metadata, dict) else {}
    before = None if old is None else kind.tree(old)
    if kind.is_custom:
        causes = [*of_metadata(kind, named), *custom.causes(kind, tree, before, subresource=subresource)]
    elif (resource.group, resource.kind) == crds.KIND:
        causes = [*of_metadata(kind, named), *([] if subresource else crds.causes(tree, before))]
    else:
        tree, before = _bare(tree), None if before is None else _bare(before)
        found = rules.check(resource.group, resource.kind, tree, before, part=subresource)
        causes = [_cause(fault) for fault in found]
    if causes:
        raise errors.invalid(resource, str(named.get("name") or ""), tuple(causes))


def _bare(tree: Tree) -> Tree:
    """The tree without nulls, of which the rules know nothing."""
    body = {name: held for name, held in tree.items() if name != "metadata"}
    return cast(Tree, without_nulls(tree)) if b"null" in msgspec.json.encode(body) else tree


def _looked_at(kind: ServedKind, raw: bytes) -> tuple[bool, bool]:
    """Whether all fields are known and have values of their types, and whether Go can read all; False may be wrong."""
    if kind.is_custom:
        return False, False
    quick = whole.whole(kind.view.api_version, kind.view.kind)
    passes = quick.passes(raw)
    return passes, passes and quick.is_exact and b"null" not in raw


def _handled(kind: ServedKind) -> str:
    resource = kind.view
    return f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}'


def _cause(fault: Fault) -> Cause:
    head = fault.message.partition(":")[0]
    return Cause(_REASONS.get(head, "FieldValueInvalid"), fault.message, fault.path)


def of_metadata(kind: ServedKind, metadata: dict[str, Json]) -> Iterator[Cause]:
    """What is wrong with the metadata of a custom resource, as far as it can be read."""
    if not decoding.fault(definitions.definition(definitions.OBJECT_META), metadata):
        yield from map(_cause, of_object(metadata, names.subdomain, namespaced=kind.view.namespaced))


def wrong_name(kind: ServedKind, name: str) -> str:
    """What is wrong with an object's name; "" where nothing is."""
    resource = kind.view
    rule = names.subdomain if kind.is_custom else rules.name_rule(resource.group, resource.kind)
    return next(iter(rule(name)), "")
