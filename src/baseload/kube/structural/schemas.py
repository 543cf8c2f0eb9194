"""Whether a schema is structural: each field that it speaks of has a type, told once, outside of what only restricts.

What only restricts (anyOf, oneOf, allOf, not) may say nothing of types, defaults, descriptions or extensions, and speak
of no field that the schema itself does not have. A few keywords make it impossible to ask; `extensions` refuses those.
"""

import re
from collections.abc import Iterator
from typing import Any, Final, Literal

from baseload.kube.structural import fault
from baseload.kube.structural.fault import Fault

Schema = dict[str, Any]
Level = Literal["root", "item", "field"]

_UNTYPED: Final[dict[Level, str]] = {
    "root": "must not be empty at the root",
    "item": "must not be empty for specified array items",
    "field": "must not be empty for specified object fields",
}
_EITHER: Final = [{"type": "integer"}, {"type": "string"}]
_NO_STRUCTURE: Final = (
    "id",
    "$schema",
    "$ref",
    "patternProperties",
    "dependencies",
    "additionalItems",
    "definitions",
)
# keyword -> what a restriction is told that has it
_NOT_NESTED: Final = {
    "type": "must be empty to be structural",
    "additionalProperties": "must be undefined to be structural",
    "default": "must be undefined to be structural",
    "title": "must be empty to be structural",
    "description": "must be empty to be structural",
    "nullable": "must be false to be structural",
    "x-kubernetes-preserve-unknown-fields": "must be false to be structural",
    "x-kubernetes-embedded-resource": "must be false to be structural",
    "x-kubernetes-int-or-string": "must be false to be structural",
    "x-kubernetes-list-map-keys": "must be empty to be structural",
    "x-kubernetes-list-type": "must be undefined to be structural",
    "x-kubernetes-map-type": "must be undefined to be structural",
    "x-kubernetes-validations": "must be empty to be structural",
}
_OF_METADATA: Final = ("name", "generateName")
_SAID_OF_METADATA: Final = ("type", "properties", "default")


def can_be_asked(schema: object) -> bool:
    """Whether a schema has none of the keywords that cannot be part of a structure."""
    if not isinstance(schema, dict):
        return True
    if any(schema.get(name) for name in _NO_STRUCTURE) or isinstance(schema.get("items"), list):
        return False
    if schema.get("uniqueItems") or schema.get("x-kubernetes-preserve-unknown-fields") is False:
        return False
    return all(can_be_asked(inner) for inner in _inner(schema))


def faults(schema: Schema, path: str) -> list[Fault]:
    """Why a schema is not structural, in the order of the paths."""
    found = [*_invariants(schema, "root", path), *_complete(schema, schema, path, path)]
    return sorted(found, key=lambda one: f"{one.path}: {one.message}")


def _inner(schema: Schema) -> Iterator[object]:
    yield from (schema.get("properties") or {}).values()
    yield from (schema.get(name) for name in ("items", "additionalProperties", "not"))
    for name in ("anyOf", "oneOf", "allOf"):
        yield from schema.get(name) or []


def _invariants(schema: Schema, level: Level, path: str) -> Iterator[Fault]:
    kind, fields = schema.get("type") or "", schema.get("properties") or {}
    items, others = schema.get("items"), schema.get("additionalProperties")
    if kind == "array" and items is None:
        yield fault.required(f"{path}.items", "must be specified")
    if isinstance(items, dict):
        yield from _invariants(items, "item", f"{path}.items")
    for name, field in fields.items():
        yield from _invariants(field, "field", f"{path}.properties[{name}]")
    if others is not None and level == "root":
        yield fault.forbidden(f"{path}.additionalProperties", "must not be used at the root")
    if isinstance(others, dict):
        yield from _invariants(others, "field", f"{path}.additionalProperties")
    yield from _extensions(schema, path)
    yield from _restrictions(
        schema, path, skips=_is_either(schema.get("anyOf")), skips_first=_begins_with_either(schema)
    )
    yield from _typed(schema, kind, level, path)
    yield from _metadata(fields, schema, level, path)


def _extensions(schema: Schema, path: str) -> Iterator[Fault]:
    is_either, is_embedded = (
        bool(schema.get(f"x-kubernetes-{name}")) for name in ("int-or-string", "embedded-resource")
    )
    preserves = bool(schema.get("x-kubernetes-preserve-unknown-fields"))
    for name, is_set in (("preserve-unknown-fields", preserves), ("embedded-resource", is_embedded)):
        if is_either and is_set:
            why = "must be false if x-kubernetes-int-or-string is true"
            yield fault.invalid(f"{path}.x-kubernetes-{name}", True, why)
    if is_embedded and schema.get("additionalProperties") is not None:
        why = "must not be used if x-kubernetes-embedded-resource is set"
        yield fault.forbidden(f"{path}.additionalProperties", why)
    if is_embedded and not preserves and not schema.get("properties"):
        why = "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields"
        yield fault.required(f"{path}.properties", why)


def _typed(schema: Schema, kind: str, level: Level, path: str) -> Iterator[Fault]:
    if schema.get("x-kubernetes-embedded-resource") and kind != "object":
        why = "must be object if x-kubernetes-embedded-resource is true"
        yield fault.invalid(f"{path}.type", kind, why) if kind else fault.required(f"{path}.type", why)
    elif not kind and not any(
        schema.get(f"x-kubernetes-{name}") for name in ("int-or-string", "preserve-unknown-fields")
    ):
        yield fault.required(f"{path}.type", _UNTYPED[level])
    if level == "root" and kind and kind != "object":
        yield fault.invalid(f"{path}.type", kind, "must be object at the root")


def _metadata(fields: Schema, schema: Schema, level: Level, path: str) -> Iterator[Fault]:
    """What may be said of the fields that every object has: nothing but types, and of two names."""
    is_object = level == "root" or bool(schema.get("x-kubernetes-embedded-resource"))
    for name in ("kind", "apiVersion"):
        if is_object and name in fields and fields[name].get("type") != "string":
            yield fault.invalid(f"{path}.properties[{name}].type", fields[name].get("type") or "", "must be string")
    if "metadata" not in fields:
        return
    metadata, where = fields["metadata"], f"{path}.properties[metadata]"
    if is_object and metadata.get("type") != "object":
        yield fault.invalid(f"{where}.type", metadata.get("type") or "", "must be object")
    says_more = any(value for name, value in metadata.items() if name not in _SAID_OF_METADATA)
    if level == "root" and (says_more or not set(metadata.get("properties") or {}) <= set(_OF_METADATA)):
        why = "must not specify anything other than name and generateName, but metadata is implicitly specified"
        yield fault.forbidden(where, why)


def _is_either(choices: object) -> bool:
    return choices == _EITHER


def _begins_with_either(schema: Schema) -> bool:
    choices = schema.get("allOf")
    return bool(choices) and isinstance(choices, list) and _is_either(choices[0].get("anyOf"))


def _restrictions(schema: Schema, path: str, *, skips: bool = False, skips_first: bool = False) -> Iterator[Fault]:
    for name in ("anyOf", "allOf", "oneOf"):
        for index, choice in enumerate(schema.get(name) or []):
            if not (name == "anyOf" and skips):
                is_skipped = name == "allOf" and index == 0 and skips_first
                yield from _nested(choice, f"{path}.{name}[{index}]", skips=is_skipped)
    if isinstance(schema.get("not"), dict):
        yield from _nested(schema["not"], f"{path}.not")
    if schema.get("pattern") and (wrong := _wrong_pattern(schema["pattern"])):
        why = f"must be a valid regular expression, but isn't: {wrong}"
        yield fault.invalid(f"{path}.pattern", schema["pattern"], why)


def _nested(schema: Schema, path: str, *, skips: bool = False) -> Iterator[Fault]:
    yield from _restrictions(schema, path, skips=skips)
    if isinstance(schema.get("items"), dict):
        yield from _nested(schema["items"], f"{path}.items")
    fields = schema.get("properties") or {}
    for name, field in fields.items():
        yield from _nested(field, f"{path}.properties[{name}]")
    for keyword, why in _NOT_NESTED.items():
        if schema.get(keyword) is not None and schema[keyword] not in ("", False, []):
            yield fault.forbidden(f"{path}.{keyword}", why)
    if "metadata" in fields:
        yield fault.forbidden(f"{path}.properties[metadata]", "must not be specified in a nested context")


def _complete(said: Schema, schema: Schema | None, path: str, where: str) -> Iterator[Fault]:
    """Whether every field that a restriction speaks of is there."""
    for name in ("not", "allOf", "anyOf", "oneOf"):
        held = said.get(name)
        for index, choice in enumerate(held if isinstance(held, list) else [held] if held else []):
            inner = f"{where}.{name}[{index}]" if isinstance(held, list) else f"{where}.{name}"
            yield from _complete_nested(choice, schema, path, inner)


def _complete_nested(said: Schema, schema: Schema | None, path: str, where: str) -> Iterator[Fault]:
    if schema is None:
        yield fault.required(path, f"because it is defined in {where}")
        return
    yield from _complete(said, schema, path, where)
    if isinstance(said.get("items"), dict):
        items = schema.get("items")
        yield from _complete_nested(said["items"], items, f"{path}.items", f"{where}.items")
    fields = schema.get("properties") or {}
    for name, field in (said.get("properties") or {}).items():
        here, there = f"{path}.properties[{name}]", f"{where}.properties[{name}]"
        yield from _complete_nested(field, fields.get(name), here, there)


def _wrong_pattern(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        told = {"missing ), unterminated subpattern": "missing closing )"}.get(error.msg, error.msg)
        return f"error parsing regexp: {told}: `{pattern}`"
    return ""
