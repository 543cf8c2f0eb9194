"""Which fields of an object its kind has, and what it takes where one is left out.

A field that no schema names is dropped, and named to the client or refused as it asked (`fieldValidation`).
"""

from collections.abc import Iterator
from typing import Final, cast

from baseload.embedded.store.record import Json
from baseload.kube.schema import definitions
from baseload.kube.schema.definitions import Schema

_OF_EVERY_OBJECT: Final = ("apiVersion", "kind", "metadata")
_FREE: Final[Schema] = {"x-kubernetes-preserve-unknown-fields": True}


def unknown(schema: Schema, value: Json, *, custom: bool, path: str = "") -> Iterator[str]:
    """Takes the fields out of a tree that the schema does not have; their paths."""
    referred = "$ref" in schema
    schema = definitions.resolved(schema)
    custom = custom and not referred
    if isinstance(value, list):
        items = schema.get("items")
        if isinstance(items, dict):
            for index, held in enumerate(value):
                yield from unknown(cast(Schema, items), held, custom=custom, path=f"{path}[{index}]")
    elif isinstance(value, dict):
        yield from _of_map(schema, value, custom, path)


def prune(schema: Schema, tree: dict[str, Json]) -> None:
    """Drops the fields of a custom resource that its schema does not have, but what every object has."""
    known = {**(definitions.properties(schema) or {}), **dict.fromkeys(_OF_EVERY_OBJECT, _FREE)}
    for _ in unknown({**schema, "properties": known}, tree, custom=True):
        pass


def _of_map(schema: Schema, value: dict[str, Json], custom: bool, path: str) -> Iterator[str]:
    fields = definitions.properties(schema) or {}
    others = schema.get("additionalProperties")
    closed = definitions.closed(schema) or (custom and _has_nothing(schema))
    for name in list(value):
        here = f"{path}.{name}" if path else name
        field = fields.get(name, cast("Schema | None", others if isinstance(others, dict) else None))
        if field is not None:
            yield from unknown(field, value[name], custom=custom, path=here)
        elif closed and not (schema.get("x-kubernetes-embedded-resource") and name in _OF_EVERY_OBJECT):
            del value[name]
            yield here


def _has_nothing(schema: Schema) -> bool:
    """Whether a structural schema allows a map and no field in it."""
    return (
        schema.get("type") == "object"
        and "properties" not in schema
        and "additionalProperties" not in schema
        and not schema.get("x-kubernetes-preserve-unknown-fields")
        and not schema.get("x-kubernetes-embedded-resource")
    )


def default(schema: Schema, value: Json) -> None:
    """Fills in the defaults that a custom resource's schema names."""
    if isinstance(value, list):
        items = schema.get("items")
        if isinstance(items, dict):
            for held in value:
                default(cast(Schema, items), held)
    elif isinstance(value, dict):
        for name, field in (definitions.properties(schema) or {}).items():
            if "default" in field and (name not in value or (value[name] is None and not field.get("nullable"))):
                value[name] = _copied(cast(Json, field["default"]))
            if name in value:
                default(field, value[name])
        others = schema.get("additionalProperties")
        if isinstance(others, dict):
            for held in value.values():
                default(cast(Schema, others), held)


def _copied(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _copied(held) for key, held in value.items()}
    return [_copied(held) for held in value] if isinstance(value, list) else value
