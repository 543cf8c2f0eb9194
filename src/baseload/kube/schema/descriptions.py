"""What kinds and their fields are for, in our own short words, for `kubectl explain`.

`descriptions.json` has the definitions of Kubernetes' own kinds by the end of their names, and custom kinds whole by
group and name, with a path for each field; "" is the whole, and "*" is every kind. It is read when somebody asks for an
OpenAPI document. A definition that brings its own words keeps them.
"""

import json
from functools import cache
from importlib.resources import files
from typing import Final, cast

from baseload.kube.schema.definitions import Schema

_ROOTS: Final = ("io.k8s.api.", "io.k8s.apimachinery.pkg.apis.")


@cache
def known() -> dict[str, dict[str, str]]:
    """definition -> field -> words"""
    text = (files(__package__) / "descriptions.json").read_text(encoding="utf-8")
    return cast("dict[str, dict[str, str]]", json.loads(text))


def told(name: str, schema: Schema) -> Schema:
    """A definition of Kubernetes' own with words."""
    words = _words(name)
    return _with(schema, words, "") if words else schema


def of_kind(name: str, schema: Schema) -> Schema:
    """The schema of a kind, which is a definition of Kubernetes' own or a custom one's `group/kind`, with words."""
    return _with(schema, {**known()["*"], **_words(name)}, "")


def _words(name: str) -> dict[str, str]:
    for root in _ROOTS:
        name = name.removeprefix(root)
    return known().get(name, {})


def _with(schema: Schema, words: dict[str, str], path: str) -> Schema:
    made = _within(schema, words, path)
    return {"description": words[path], **made} if path in words else made


def _within(schema: Schema, words: dict[str, str], path: str) -> Schema:
    fields, items = schema.get("properties"), schema.get("items")
    if isinstance(fields, dict):
        prefix = f"{path}." if path else ""
        return {**schema, "properties": {name: _with(held, words, prefix + name) for name, held in fields.items()}}
    return {**schema, "items": _within(items, words, path)} if isinstance(items, dict) else schema
