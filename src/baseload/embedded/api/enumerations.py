"""Which values a field of Kubernetes' own kinds may have, as OpenAPI documents tell them.

The schema file has none, since its source has none; these are a real server's. They are told and hold nobody to them:
what checks an object knows the words in which a real server refuses a value.
"""

import json
from functools import cache
from importlib.resources import files
from typing import Final, cast

from baseload.kube.schema.definitions import Schema

_FILE: Final = "enumerations.json"
_INNER: Final = ("items", "additionalProperties")


@cache
def _known() -> dict[str, dict[str, list[str]]]:
    """definition -> field -> its values; a list's are those of its items, a map's those of its values"""
    text = (files(__package__) / _FILE).read_text(encoding="utf-8")
    return cast("dict[str, dict[str, list[str]]]", json.loads(text))


def told(name: str, schema: Schema) -> Schema:
    """A definition with the values that its fields may have."""
    values = _known().get(name)
    if values is None:
        return schema
    properties = cast("dict[str, Schema]", schema["properties"])
    fields = {field: _with(held, values[field]) if field in values else held for field, held in properties.items()}
    return {**schema, "properties": fields}


def _with(schema: Schema, values: list[str]) -> Schema:
    for inner in _INNER:
        held = schema.get(inner)
        if isinstance(held, dict):
            return {**schema, inner: _with(held, values)}
    return {**schema, "enum": values}
