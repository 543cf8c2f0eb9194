"""The paths of OpenAPI documents: for each kind the operations that are served, with what they take and answer.

Every refusal is a Status, told once for all codes. Bodies are told in JSON and YAML; a patch in the types that the
kind takes.
"""

from collections.abc import Iterator
from typing import Final

from baseload.embedded.api import parts
from baseload.embedded.api.kinds import ServedKind
from baseload.embedded.store.record import Json
from baseload.kube.schema import definitions

Tree = dict[str, Json]

REFERENCE: Final = "#/components/schemas/"
META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1."
STATUS: Final = f"{META}Status"
LIST_META: Final = f"{META}ListMeta"
DELETE_OPTIONS: Final = f"{META}DeleteOptions"
PATCH: Final = f"{META}Patch"
SCALE: Final = "io.k8s.api.autoscaling.v1.Scale"
REFUSED: Final = "#/components/responses/Refused"

_TEXT: Final[Tree] = {"type": "string"}
_NUMBER: Final[Tree] = {"type": "integer", "format": "int32"}
_COUNT: Final[Tree] = {"type": "integer", "format": "int64"}
_META: Final[Tree] = {"$ref": f"{REFERENCE}{META}ObjectMeta"}

SHARED: Final[Tree] = {
    STATUS: {
        "type": "object",
        "properties": {
            **dict.fromkeys(("apiVersion", "kind", "message", "reason", "status"), _TEXT),
            "code": _NUMBER,
            "details": {"type": "object"},
            "metadata": {"$ref": REFERENCE + LIST_META},
        },
    },
    LIST_META: {
        "type": "object",
        "properties": {"continue": _TEXT, "remainingItemCount": _COUNT, "resourceVersion": _TEXT, "selfLink": _TEXT},
    },
    PATCH: {"type": "object"},
    SCALE: {
        "type": "object",
        "properties": {
            "apiVersion": _TEXT,
            "kind": _TEXT,
            "metadata": _META,
            "spec": {"type": "object", "properties": {"replicas": _NUMBER}},
            "status": {"type": "object", "properties": {"replicas": _NUMBER, "selector": _TEXT}},
        },
        "x-kubernetes-group-version-kind": [{"group": "autoscaling", "kind": "Scale", "version": "v1"}],
    },
}
"""Schemas that every document may refer to, beside those of its kinds"""

_OPTIONS: Final[dict[str, tuple[tuple[str, Tree], ...]]] = {
    "list": (
        ("allowWatchBookmarks", {"type": "boolean"}),
        ("continue", _TEXT),
        ("fieldSelector", _TEXT),
        ("labelSelector", _TEXT),
        ("limit", _NUMBER),
        ("resourceVersion", _TEXT),
        ("resourceVersionMatch", _TEXT),
        ("sendInitialEvents", {"type": "boolean"}),
        ("timeoutSeconds", _NUMBER),
        ("watch", {"type": "boolean"}),
    ),
    "write": (("dryRun", _TEXT), ("fieldManager", _TEXT), ("fieldValidation", _TEXT)),
    "patch": (("dryRun", _TEXT), ("fieldManager", _TEXT), ("fieldValidation", _TEXT), ("force", {"type": "boolean"})),
    "delete": (
        ("dryRun", _TEXT),
        ("gracePeriodSeconds", _NUMBER),
        ("orphanDependents", {"type": "boolean"}),
        ("propagationPolicy", _TEXT),
    ),
    "collection": (("fieldSelector", _TEXT), ("labelSelector", _TEXT)),
    "log": (
        ("container", _TEXT),
        ("follow", {"type": "boolean"}),
        ("limitBytes", _NUMBER),
        ("previous", {"type": "boolean"}),
        ("sinceSeconds", _NUMBER),
        ("tailLines", _NUMBER),
        ("timestamps", {"type": "boolean"}),
    ),
}
_PATCHES: Final = ("apply-patch+yaml", "json-patch+json", "merge-patch+json", "strategic-merge-patch+json")
_STREAMS: Final = ("attach", "exec", "portforward")


def schema_name(kind: ServedKind) -> str:
    """What a kind's schema is called in documents."""
    view = kind.view
    known = definitions.name_of(view.api_version, view.kind)
    return known or ".".join([*reversed(view.group.split(".")), view.version, view.kind]).lstrip(".")


def list_name(kind: ServedKind) -> str:
    return f"{schema_name(kind)}List"


def gvk(kind: ServedKind, name: str = "") -> Tree:
    """A kind, or another of its group and version, as documents name it."""
    return {"group": kind.view.group, "kind": name or kind.view.kind, "version": kind.view.version}


def lists(kind: ServedKind) -> Tree:
    """The schema of a list of the kind."""
    return {
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": _TEXT,
            "kind": _TEXT,
            "metadata": {"$ref": REFERENCE + LIST_META},
            "items": {"type": "array", "items": {"$ref": REFERENCE + schema_name(kind)}},
        },
        "x-kubernetes-group-version-kind": [gvk(kind, kind.list_kind)],
    }


def paths(prefix: str, kind: ServedKind) -> Iterator[tuple[str, Json]]:
    """The paths of a kind below its group and version, each with its operations."""
    plural = kind.view.plural
    where = f"{prefix}/namespaces/{{namespace}}" if kind.view.namespaced else prefix
    collection, one = f"{where}/{plural}", f"{where}/{plural}/{{name}}"
    yield from _path(collection, _of_collection(kind))
    if kind.view.namespaced and "list" in kind.verbs:
        yield from _path(f"{prefix}/{plural}", {"get": _list(kind)})
    yield from _path(one, _of_object(kind))
    for name in kind.subresources:
        yield from _path(f"{one}/{name}", _of_part(kind, SCALE if name == "scale" else schema_name(kind)))
    for name in kind.actions:
        yield from _path(f"{one}/{name}", _of_action(kind, name))


def _path(path: str, operations: Tree) -> Iterator[tuple[str, Json]]:
    if operations:
        names = [name for name in ("namespace", "name") if f"{{{name}}}" in path]
        told: list[Json] = [{"name": name, "in": "path", "required": True, "schema": _TEXT} for name in names]
        yield path, {**({"parameters": told} if told else {}), **operations}


def _of_collection(kind: ServedKind) -> Tree:
    operations: Tree = {}
    if "list" in kind.verbs:
        operations["get"] = _list(kind)
    if "create" in kind.verbs:
        codes = (200, 201, 202) if kind.is_stored else (201,)
        operations["post"] = _operation(kind, "post", schema_name(kind), "write", codes, body=schema_name(kind))
    if "deletecollection" in kind.verbs:
        operations["delete"] = _operation(
            kind, "deletecollection", list_name(kind), "delete", (200,), body=DELETE_OPTIONS, more="collection"
        )
    return operations


def _list(kind: ServedKind) -> Tree:
    operation = _operation(kind, "list", list_name(kind), "list", (200,))
    # A watch is answered on the same path, in a type of its own.
    content = _content(operation, 200)
    content["application/json;stream=watch"] = {"schema": {"type": "object"}}
    return operation


def _of_object(kind: ServedKind) -> Tree:
    name = schema_name(kind)
    operations: Tree = {}
    if "get" in kind.verbs:
        operations["get"] = _operation(kind, "get", name, "", (200,))
    if "update" in kind.verbs:
        operations["put"] = _operation(kind, "put", name, "write", (200, 201), body=name)
    if "patch" in kind.verbs:
        operations["patch"] = _patch(kind, name)
    if "delete" in kind.verbs:
        operations["delete"] = _operation(kind, "delete", "", "delete", (200, 202), body=DELETE_OPTIONS)
    return operations


def _of_part(kind: ServedKind, name: str) -> Tree:
    return {
        "get": _operation(kind, "get", name, "", (200,)),
        "put": _operation(kind, "put", name, "write", (200, 201), body=name),
        "patch": _patch(kind, name),
    }


def _of_action(kind: ServedKind, name: str) -> Tree:
    if name == parts.FINALIZE:
        return {"put": _operation(kind, "put", schema_name(kind), "write", (200, 201), body=schema_name(kind))}
    if name == "log":
        operation = _operation(kind, "get", "", "log", (200,))
        responses = operation["responses"]
        assert isinstance(responses, dict)
        responses["200"] = {"description": "OK", "content": {"text/plain": {"schema": _TEXT}}}
        responses["204"] = {"description": "No Content"}
        return {"get": operation}
    if name in _STREAMS or name == "proxy":
        refused = _operation(kind, "connect", "", "", ())
        return {"get": refused, "post": refused}
    created = _operation(kind, "post", "", "write", (200, 201, 202), body=STATUS)
    created["requestBody"] = {"content": {"application/json": {"schema": {"type": "object"}}}}
    return {"post": created}


def _patch(kind: ServedKind, name: str) -> Tree:
    operation = _operation(kind, "patch", name, "patch", (200, 201))
    types = [it for it in _PATCHES if not (kind.is_custom and it.startswith("strategic"))]
    told: Tree = {f"application/{it}": {"schema": {"$ref": REFERENCE + PATCH}} for it in types}
    return {**operation, "requestBody": {"content": told, "required": True}}


def _operation(
    kind: ServedKind, action: str, answer: str, options: str, codes: tuple[int, ...], *, body: str = "", more: str = ""
) -> Tree:
    schema: Tree = {"$ref": REFERENCE + answer} if answer else {"type": "object"}
    responses: Tree = {
        str(code): {"description": _CODES[code], "content": {"application/json": {"schema": schema}}} for code in codes
    }
    operation: Tree = {
        "responses": {**responses, "default": {"$ref": REFUSED}},
        "x-kubernetes-action": action,
        "x-kubernetes-group-version-kind": gvk(kind),
    }
    if names := (*_OPTIONS.get(options, ()), *_OPTIONS.get(more, ())):
        operation["parameters"] = [{"name": name, "in": "query", "schema": told} for name, told in names]
    if body:
        told: Tree = {"schema": {"$ref": REFERENCE + body}}
        content: Tree = {"application/json": told, "application/yaml": told}
        operation["requestBody"] = {"content": content, "required": body != DELETE_OPTIONS}
    return operation


_CODES: Final = {200: "OK", 201: "Created", 202: "Accepted"}


def _content(operation: Tree, code: int) -> Tree:
    responses = operation["responses"]
    assert isinstance(responses, dict)
    response = responses[str(code)]
    assert isinstance(response, dict)
    content = response["content"]
    assert isinstance(content, dict)
    return content
