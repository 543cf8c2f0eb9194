"""Nulls: where a schema does not want them they are as good as absent, unless in a list."""

from typing import cast

from baseload.kube.structural.values import Schema

_FREE: Schema = {"nullable": True}


def without(schema: Schema, value: object) -> object:
    """A copy of the value without the nulls in maps that their schema does not take; a default may fill the gap."""
    if isinstance(value, list):
        items = schema.get("items")
        return [without(items if isinstance(items, dict) else _FREE, held) for held in value]
    if not isinstance(value, dict):
        return value
    fields = cast("dict[str, Schema]", schema.get("properties") or {})
    others = schema.get("additionalProperties")
    rest = others if isinstance(others, dict) else _FREE
    return {
        name: without(field, held)
        for name, held in value.items()
        if (field := fields.get(name, rest)).get("nullable") or held is not None
    }
