"""OpenAPI v3, a document a group-version: the schemas of its kinds and the paths on which they are served.

Documents are made when somebody asks, and kept until another kind is served. kubectl reads three things in them: which
path belongs to which kind, what the kind looks like, and that PATCH takes `fieldValidation`.
"""

import hashlib
from collections.abc import Iterator
from typing import cast

import msgspec

import baseload
from baseload.embedded.api.kinds import Kinds, ServedKind
from baseload.embedded.store.record import Json
from baseload.kube.schema import definitions
from baseload.kube.schema.definitions import Schema

Tree = dict[str, Json]

_REFERENCE = "#/components/schemas/"
_METHODS = {"get": "list", "post": "post"}
_ON_OBJECT = {"get": "get", "put": "put", "patch": "patch", "delete": "delete"}
_VERBS = {"post": "create", "put": "update"}  # what the other actions are called too

_TITLE = "Kubernetes, as baseload speaks it"
V2_ASKED = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
V2_TYPE = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"  # an @ may not stand in a media type
_READING = ("labelSelector", "fieldSelector")
_WRITING = ("dryRun", "fieldManager", "fieldValidation", "force")


def version_2() -> bytes:
    """OpenAPI v2 in protobuf, without definitions.

    kubectl asks for it before it sends a `kind: List`, and leaves alone what the document does not define: the server
    checks each item as it comes.
    """
    info = _text(1, _TITLE.encode()) + _text(2, baseload.__version__.encode())
    return _text(1, b"2.0") + _text(2, info)


def _text(field: int, value: bytes) -> bytes:
    """A field of a protobuf message, shorter than 128 bytes."""
    return bytes([field << 3 | 2, len(value)]) + value


class Documents:
    """The documents of what is served now."""

    def __init__(self, kinds: Kinds) -> None:
        self._kinds = kinds
        self._made: dict[str, bytes] = {}
        self._generation = -1

    def index(self) -> Tree:
        """GET /openapi/v3."""
        paths: Tree = {}
        for group, versions in self._kinds.versions().items():
            for version in versions:
                path = _path(group, version)
                hash = hashlib.sha256(self._document(path, group, version)).hexdigest()[:32].upper()
                paths[path] = {"serverRelativeURL": f"/openapi/v3/{path}?hash={hash}"}
        return {"paths": paths}

    def document(self, path: str) -> bytes | None:
        """GET /openapi/v3/PATH; None where there is none."""
        for group, versions in self._kinds.versions().items():
            for version in versions:
                if path == _path(group, version):
                    return self._document(path, group, version)
        return None

    def _document(self, path: str, group: str, version: str) -> bytes:
        if self._generation != self._kinds.generation:
            self._made, self._generation = {}, self._kinds.generation
        if path not in self._made:
            self._made[path] = msgspec.json.encode(_made(path, self._kinds.of_version(group, version)))
        return self._made[path]


def _path(group: str, version: str) -> str:
    return f"apis/{group}/{version}" if group else f"api/{version}"


def _made(path: str, kinds: list[ServedKind]) -> Tree:
    schemas: Tree = {}
    paths: Tree = {}
    waiting: list[str] = []
    for kind in kinds:
        schemas[_schema_name(kind)] = _translated(kind.schema, waiting, _gvk(kind))
        paths.update(_paths(f"/{path}", kind))
    while waiting:
        name = waiting.pop()
        if name not in schemas:
            schemas[name] = _translated(definitions.definition(name), waiting)
    info: Tree = {"title": _TITLE, "version": baseload.__version__}
    ordered: Tree = dict(sorted(schemas.items()))
    return {"openapi": "3.0.0", "info": info, "paths": paths, "components": {"schemas": ordered}}


def _schema_name(kind: ServedKind) -> str:
    resource = kind.view
    return ".".join([*reversed(resource.group.split(".")), resource.version, resource.kind]).lstrip(".")


def _gvk(kind: ServedKind) -> Tree:
    resource = kind.view
    return {"group": resource.group, "kind": resource.kind, "version": resource.version}


def _translated(schema: Schema, waiting: list[str], gvk: Tree | None = None) -> Tree:
    """A schema of ours as one of OpenAPI; the names that it refers to join those that wait."""
    tree = cast(Tree, _value(cast(Json, schema), waiting))
    if gvk is not None:
        tree["x-kubernetes-group-version-kind"] = [gvk]
    return tree


def _value(value: Json, waiting: list[str]) -> Json:
    if isinstance(value, list):
        return [_value(item, waiting) for item in value]
    if not isinstance(value, dict):
        return value
    reference = value.get("$ref")
    if isinstance(reference, str):
        waiting.append(reference)
        return {**value, "$ref": _REFERENCE + reference}
    return {key: _value(held, waiting) for key, held in value.items()}


def _paths(prefix: str, kind: ServedKind) -> Iterator[tuple[str, Json]]:
    resource = kind.view
    where = f"{prefix}/namespaces/{{namespace}}" if resource.namespaced else prefix
    collection, one = f"{where}/{resource.plural}", f"{where}/{resource.plural}/{{name}}"
    for path, methods in ((collection, _METHODS), (one, _ON_OBJECT)):
        if served := {method: action for method, action in methods.items() if _VERBS.get(action, action) in kind.verbs}:
            yield path, _operations(kind, served, path)
    for name in kind.subresources:
        yield f"{one}/{name}", _operations(kind, {"get": "get", "put": "put", "patch": "patch"}, f"{one}/{name}")


def _operations(kind: ServedKind, methods: dict[str, str], path: str) -> Tree:
    parameters: list[Json] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in ("namespace", "name")
        if f"{{{name}}}" in path
    ]
    operations: Tree = {"parameters": parameters} if parameters else {}
    schema: Json = {"$ref": _REFERENCE + _schema_name(kind)}
    body: Tree = {"content": {"application/json": {"schema": schema}}}
    for method, action in methods.items():
        writes = method in ("post", "put", "patch")
        operation: Tree = {
            "parameters": _query(_WRITING if writes else _READING),
            "responses": {"200": {"description": "OK", **body}},
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": _gvk(kind),
        }
        operations[method] = {**operation, "requestBody": body} if writes else operation
    return operations


def _query(names: tuple[str, ...]) -> list[Json]:
    return [{"name": name, "in": "query", "schema": {"type": "string"}} for name in names]
