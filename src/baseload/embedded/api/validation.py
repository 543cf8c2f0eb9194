"""Whether an object may be stored: its fields are those of its kind, its name and labels are ones, nothing is missing.

What cannot even be read as its kind is a bad request on Kubernetes' own kinds, as it is to Go; on custom resources it
is one more fault of an invalid object.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from baseload.embedded.api import custom, duplicates, fields
from baseload.embedded.api.call import JSON, STRATEGIC, Call, Tree, decoded
from baseload.embedded.api.kinds import ServedKind
from baseload.embedded.store import errors
from baseload.embedded.store.errors import BadRequest, Cause, Invalid
from baseload.embedded.store.record import Json, Record
from baseload.kube.merge import go_text
from baseload.kube.schema import gate, shape
from baseload.kube.schema.finding import Finding
from baseload.kube.validation import decoding
from baseload.values import label

_SUBDOMAIN: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_SUBDOMAIN_TEXT: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    f"end with an alphanumeric character (e.g. 'example.com', regex used for validation is '{_SUBDOMAIN}')"
)
_LABEL: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_LABEL_TEXT: Final = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    f"an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '{_LABEL}')"
)
_KEY_TEXT: Final = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
_VALUE_TEXT: Final = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
_LABEL_NAMED: Final = (("", "Namespace"), ("", "Service"))
_RBAC: Final = "rbac.authorization.k8s.io"
_REASONS: Final = {
    "Required value": "FieldValueRequired",
    "Unsupported value": "FieldValueNotSupported",
    "Too long": "FieldValueTooLong",
    "Too many": "FieldValueTooMany",
    "Duplicate value": "FieldValueDuplicate",
    "Forbidden": "FieldValueForbidden",
}


def take_known(kind: ServedKind, tree: Tree, call: Call, *, patch: bytes | None = None) -> None:
    """Drops the fields that the kind does not have, and says so as the client asked; `patch` is what brought them."""
    mode = call.validation
    found = [f'duplicate field "{path}"' for path in _twice(call)]
    if not _has_right_shape(kind, tree):
        unknown = fields.unknown(kind.schema, tree, custom=kind.is_custom)
        found += [f'unknown field "{path}"' for path in unknown]
    if not found or mode == "Ignore":
        return
    if mode == "Warn":
        call.warnings.extend(found)
        return
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
    if kind.is_custom:
        _check_custom(kind, tree, old, subresource)
        return
    metadata = tree.get("metadata")
    named: Mapping[str, Json] = metadata if isinstance(metadata, dict) else {}
    name = str(named.get("name") or "")
    compared = shape.Shape() if _has_right_shape(kind, tree) else shape.compare(kind.schema, tree)
    paths = {finding.path for finding in compared.findings}
    if compared.mistyped:
        first = next(finding for finding in compared.findings if "must be of type" in finding.message)
        raise BadRequest(f"{_handled(kind)}: {first.path}: {first.message}")
    causes = [_cause(finding) for finding in compared.findings]
    if not paths & {"metadata", "metadata.name", "metadata.labels"}:
        causes = [*_of_metadata(kind, named), *causes]
    if not causes:
        return
    raise errors.invalid(kind.view, name, tuple(causes))


def _check_custom(kind: ServedKind, tree: Tree, old: Record | None, subresource: str) -> None:
    metadata = tree.get("metadata")
    named: Mapping[str, Json] = metadata if isinstance(metadata, dict) else {}
    before = None if old is None else kind.tree(old)
    causes = [*_of_metadata(kind, named), *custom.causes(kind, tree, before, subresource=subresource)]
    if causes:
        raise errors.invalid(kind.view, str(named.get("name") or ""), tuple(causes))


def _has_right_shape(kind: ServedKind, tree: Tree) -> bool:
    """Whether all fields are known and have values of their types; False may be a false alarm."""
    resource = kind.view
    return not kind.is_custom and gate.whole(resource.api_version, resource.kind).passes(msgspec.json.encode(tree))


def _handled(kind: ServedKind) -> str:
    resource = kind.view
    return f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}'


def _cause(finding: Finding) -> Cause:
    head = finding.message.partition(":")[0]
    return Cause(_REASONS.get(head, "FieldValueInvalid"), finding.message, finding.path)


def _of_metadata(kind: ServedKind, metadata: Mapping[str, Json]) -> Iterator[Cause]:
    name = str(metadata.get("name") or "")
    if name and (wrong := wrong_name(kind, name)):
        yield Cause("FieldValueInvalid", f'Invalid value: "{name}": {wrong}', "metadata.name")
    labels = metadata.get("labels")
    for key, value in labels.items() if isinstance(labels, dict) else ():
        if not label.is_qualified_name(key):
            yield Cause("FieldValueInvalid", f'Invalid value: "{key}": {_KEY_TEXT}', "metadata.labels")
        elif not label.is_label_value(str(value)):
            yield Cause("FieldValueInvalid", f'Invalid value: "{value}": {_VALUE_TEXT}', "metadata.labels")


def wrong_name(kind: ServedKind, name: str) -> str:
    """What is wrong with an object's name; "" where nothing is."""
    resource = kind.resource
    if resource.group == _RBAC:
        return "may not be '.', '..' or contain '/' or '%'" if name in (".", "..") or set(name) & set("/%") else ""
    if (resource.group, resource.kind) in _LABEL_NAMED:
        if len(name) > 63:
            return "must be no more than 63 characters"
        return "" if re.fullmatch(_LABEL, name) else _LABEL_TEXT
    if len(name) > 253:
        return "must be no more than 253 characters"
    return "" if re.fullmatch(_SUBDOMAIN, name) else _SUBDOMAIN_TEXT
