"""The object that a request brings: of the kind, the name and the namespace that its path says, or refused."""

import msgspec

from baseload.embedded.api import json_body
from baseload.embedded.api.call import YAML, Call, Tree, Unreadable
from baseload.embedded.api.kinds import ServedKind
from baseload.embedded.api.refusals import of_other_kind
from baseload.embedded.api.target import Target
from baseload.embedded.store.errors import BadRequest
from baseload.kube.kinds import group_of
from baseload.kube.protobuf import table


def tree(target: Target, call: Call) -> Tree:
    """The object of a create or an update."""
    resource = target.kind.view
    try:
        sent = call.tree(resource.api_version, resource.kind)
    except Unreadable as error:
        told = f"the object provided is unrecognized (must be of type {resource.kind}): {error}"
        raise BadRequest(f"{told} ({json_body.summary(call.body)})") from error
    if target.kind.is_custom and not sent.get("kind"):
        text = msgspec.json.encode(sent) if call.media_type in YAML else call.body
        told = f"the object provided is unrecognized (must be of type {resource.kind}): Object 'Kind' is missing in"
        raise BadRequest(f"{told} '{text.decode(errors='replace')}' ({json_body.summary(text)})")
    check(target, sent)
    return sent


def check(target: Target, tree: Tree) -> None:
    """Refuses a body that is of another kind, or of another object than the path says; fills in the namespace."""
    resource = target.kind.view
    _check_kind(target.kind, tree)
    metadata = tree.get("metadata")
    if metadata is None:
        metadata = tree["metadata"] = {}
    if not isinstance(metadata, dict):
        raise BadRequest(f"{resource.kind} cannot be handled: metadata must be a map")
    if resource.namespaced:
        if metadata.get("namespace") not in (None, "", target.namespace):
            wording = "the namespace of the provided object does not match the namespace sent on the request"
            raise BadRequest(wording)
        metadata["namespace"] = target.namespace
    else:
        metadata.pop("namespace", None)
    if target.name:
        if metadata.get("name") not in (None, "", target.name):
            told = metadata.get("name")
            raise BadRequest(f"the name of the object ({told}) does not match the name on the URL ({target.name})")
        metadata["name"] = target.name


def _check_kind(kind: ServedKind, tree: Tree) -> None:
    """Refuses a body of another kind than the path's; one that says none is of that, but for custom ones."""
    resource = kind.view
    if not kind.is_custom:
        tree.setdefault("kind", resource.kind)
        tree.setdefault("apiVersion", resource.api_version)
    told, version = str(tree.get("kind") or ""), str(tree.get("apiVersion") or "")
    if not kind.is_custom and (told, group_of(version)) != (resource.kind, resource.group):
        raise of_other_kind(version, told, resource.api_version, resource.kind)
    if not kind.is_custom and table.message_of(version, told) is None:
        raise of_other_kind(version, told, resource.api_version, resource.kind)
    if told != resource.kind:
        raise BadRequest(f"{told} in version {version} cannot be handled as a {resource.kind}")
    if version != resource.api_version:
        wording = "the API version in the data ({}) does not match the expected API version ({})"
        raise BadRequest(wording.format(version, resource.api_version))
