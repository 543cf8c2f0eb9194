"""OpenAPI v3, a document a group-version: the schemas of its kinds and the paths on which they are served.

Documents are made when somebody asks, and kept until another kind is served. kubectl reads three things in them: which
path belongs to which kind, what the kind looks like, and that PATCH takes `fieldValidation`.
"""

from typing import Final, cast

import msgspec

import baseload
from baseload.embedded.api import enumerations, operations, swagger
from baseload.embedded.api.kinds import Kinds, ServedKind
from baseload.embedded.api.operations import REFERENCE
from baseload.embedded.api.tagged import Tagged
from baseload.embedded.store.record import Json
from baseload.kube.schema import definitions, descriptions
from baseload.kube.schema.definitions import Schema

Tree = dict[str, Json]

_V2: Final = "v2"
_REFUSED: Final[Tree] = {
    "description": "Refused: the Status says why (400, 401, 403, 404, 405, 406, 409, 410, 413, 415, 422, 429, 5xx)",
    "content": {"application/json": {"schema": {"$ref": REFERENCE + operations.STATUS}}},
}


class Documents:
    """The documents of what is served now."""

    def __init__(self, kinds: Kinds) -> None:
        self._kinds = kinds
        self._made: dict[str, Tagged] = {}
        self._generation = -1

    def index(self) -> Tree:
        """GET /openapi/v3."""
        paths = {path: self._document(path, *version) for path, version in self._paths().items()}
        return {"paths": {path: {"serverRelativeURL": url(path, made.tag)} for path, made in paths.items()}}

    def document(self, path: str) -> Tagged | None:
        """GET /openapi/v3/PATH; None where there is none."""
        version = self._paths().get(path)
        return None if version is None else self._document(path, *version)

    def version_2(self) -> Tagged:
        """GET /openapi/v2 in JSON."""
        made = [self._document(path, *version).body for path, version in self._paths().items()]
        if _V2 not in self._made:
            self._made[_V2] = Tagged(swagger.document(made))
        return self._made[_V2]

    def _paths(self) -> dict[str, tuple[str, str]]:
        """path -> its group and version."""
        return {
            f"apis/{group}/{version}" if group else f"api/{version}": (group, version)
            for group, versions in self._kinds.versions().items()
            for version in versions
        }

    def _document(self, path: str, group: str, version: str) -> Tagged:
        if self._generation != self._kinds.generation:
            self._made, self._generation = {}, self._kinds.generation
        if path not in self._made:
            self._made[path] = Tagged(msgspec.json.encode(_made(path, self._kinds.of_version(group, version))))
        return self._made[path]


def url(path: str, tag: str) -> str:
    """Where a document lies in the very form that has this tag."""
    return f"/openapi/v3/{path}?hash={tag}"


def _made(path: str, kinds: list[ServedKind]) -> Tree:
    schemas: Tree = dict(operations.SHARED)
    paths: Tree = {}
    waiting = [operations.DELETE_OPTIONS, f"{operations.META}ObjectMeta"]
    for kind in kinds:
        name = operations.schema_name(kind)
        schemas[name] = _translated(_whole(name, kind), waiting, operations.gvk(kind))
        if "list" in kind.verbs:
            schemas[operations.list_name(kind)] = operations.lists(kind)
        paths.update(operations.paths(f"/{path}", kind))
    while waiting:
        name = waiting.pop()
        if name not in schemas:
            schemas[name] = _translated(_part(name), waiting)
    info: Tree = {"title": swagger.TITLE, "version": baseload.__version__}
    components: Tree = {"schemas": dict(sorted(schemas.items())), "responses": {"Refused": _REFUSED}}
    return {"openapi": "3.0.0", "info": info, "paths": paths, "components": components}


def _whole(name: str, kind: ServedKind) -> Schema:
    """A kind's schema with all that is told of it."""
    view = kind.view
    known_as = f"{view.group}/{view.kind}" if kind.is_custom else name
    return descriptions.of_kind(known_as, enumerations.told(name, kind.schema))


def _part(name: str) -> Schema:
    return descriptions.told(name, enumerations.told(name, definitions.definition(name)))


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
        return {**value, "$ref": REFERENCE + reference}
    return {key: _value(held, waiting) for key, held in value.items()}
