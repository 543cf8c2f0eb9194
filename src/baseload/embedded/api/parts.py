"""Subresources that write a part of an object, and nothing beside it.

    pods/ephemeralcontainers    containers that join a running pod: they may be added, never changed or removed
    pods/resize                 what the containers request and may use
    namespaces/finalize         the finalizers in a namespace's spec, which hold it while it ends

What a request changes elsewhere is left out without a word, as a Kubernetes server does it.
"""

from collections.abc import Callable, Mapping
from typing import Final

from baseload.embedded.api.pod_rows import Tree, maps
from baseload.embedded.store import errors
from baseload.embedded.store.errors import Cause
from baseload.embedded.store.resource import Resource

NAMES: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {("", "Pod"): ("ephemeralcontainers", "resize")}
"""(group, kind) -> the parts that are read, replaced and patched as an object is"""

FINALIZE: Final = "finalize"

ALL: Final = ("ephemeralcontainers", "resize", FINALIZE)

_EPHEMERAL: Final = "spec.ephemeralContainers"


def within(resource: Resource, before: Tree, after: Tree, part: str) -> Tree:
    """The object as it was, with the part as the request would have it."""
    return {**before, "spec": _PARTS[part](resource, _spec(before), _spec(after), _name(before))}


def _ephemeral(resource: Resource, before: Tree, after: Tree, name: str) -> Tree:
    wanted = {str(container.get("name")): container for container in maps(after, "ephemeralContainers")}
    for container in maps(before, "ephemeralContainers"):
        held = str(container.get("name"))
        if wanted.get(held) != container:
            what = "changed" if held in wanted else "removed"
            message = f'Forbidden: existing ephemeral containers "{held}" may not be {what}\n'
            raise errors.invalid(resource, name, (Cause("FieldValueForbidden", message, _EPHEMERAL),))
    return {**before, "ephemeralContainers": list(maps(after, "ephemeralContainers"))}


def _resized(_: Resource, before: Tree, after: Tree, __: str) -> Tree:
    spec = dict(before)
    for field in ("containers", "initContainers"):
        wanted = {container.get("name"): container for container in maps(after, field)}
        if field in spec:
            spec[field] = [_of_size(held, wanted.get(held.get("name"), held)) for held in maps(before, field)]
    return spec


def _of_size(held: Tree, wanted: Tree) -> Tree:
    kept = {key: value for key, value in held.items() if key != "resources"}
    return {**kept, "resources": wanted["resources"]} if "resources" in wanted else kept


def _finalized(_: Resource, before: Tree, after: Tree, __: str) -> Tree:
    return {**before, "finalizers": after.get("finalizers") or []}


_PARTS: Final[Mapping[str, Callable[[Resource, Tree, Tree, str], Tree]]] = {
    "ephemeralcontainers": _ephemeral,
    "resize": _resized,
    FINALIZE: _finalized,
}


def _spec(tree: Tree) -> Tree:
    spec = tree.get("spec")
    return spec if isinstance(spec, dict) else {}


def _name(tree: Tree) -> str:
    metadata = tree.get("metadata")
    return str(metadata.get("name", "")) if isinstance(metadata, dict) else ""
