"""Parts of objects as Go prints its own structs: every field in its place, under Go's name, with its zero value.

A server checks objects in an internal form, and that form shows where it prints what changed. Read when first asked
for: few requests end so.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

_ZEROS: Final[Mapping[str, Any]] = {"s": "", "b": False, "n": 0, "q": "0"}
_EMBEDDED: Final = "*"


@cache
def _structs() -> dict[str, list[list[str]]]:
    """struct -> its fields: Go's name, the API's name, the kind of value, the struct within"""
    text = (files("baseload.kube.validation") / "go_structs.json").read_text(encoding="utf-8")
    return {name: [field.split() for field in fields] for name, fields in json.loads(text).items()}


def printed(struct: str, tree: Mapping[str, Any] | None) -> Any:
    """A value of a struct, or of a pointer to one."""
    if tree is None:
        return None
    told: dict[str, Any] = {}
    for go_name, name, *code in _structs()[struct]:
        if go_name == _EMBEDDED:
            told |= _metadata(tree.get(name) or {})
        else:
            told[go_name] = _value(tree.get(name), *code)
    return told


def _metadata(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Metadata, which is the same outside and inside: fields under their names in the API, as far as they are set."""
    given = {field: tree[field] for field in ("name", "namespace", "labels", "annotations") if tree.get(field)}
    return {field: dict(sorted(value.items())) if isinstance(value, dict) else value for field, value in given.items()}


def _value(value: Any, kind: str, within: str = "") -> Any:
    match kind:
        case "S":
            return printed(within, value or {})
        case "P":
            return printed(within, value)
        case "L":
            return None if not value else [printed(within, one) for one in value]
    if isinstance(value, dict):
        return dict(sorted(value.items())) if value else None
    return _ZEROS.get(kind) if value is None else value
