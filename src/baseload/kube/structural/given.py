"""Defaults in a schema: each must be a value that the schema itself would take, with no unknown fields."""

from collections.abc import Iterator
from typing import Any

from baseload.kube.structural import embedded, fault, values
from baseload.kube.structural.fault import Fault

Schema = dict[str, Any]


def faults(schema: Schema, path: str) -> Iterator[Fault]:
    """What is wrong with the defaults of a schema whose root is an object's."""
    yield from _of({**schema, "x-kubernetes-embedded-resource": True}, path)


def _of(schema: Schema, path: str) -> Iterator[Fault]:
    value = schema.get("default")
    if value is not None:
        yield from _default(schema, value, f"{path}.default")
    items = schema.get("items")
    if isinstance(items, dict):
        yield from _of(items, f"{path}.items")
    is_object = schema.get("x-kubernetes-embedded-resource")
    for name, field in (schema.get("properties") or {}).items():
        if not (is_object and name in ("metadata", "apiVersion", "kind")):
            yield from _of(field, f"{path}.properties[{name}]")


def _default(schema: Schema, value: object, path: str) -> Iterator[Fault]:
    if not _is_pruned(schema, value):
        yield fault.invalid(path, value, "must not have unknown fields")
    if (found := embedded.unreadable(schema, value)) is not None:
        yield _below(found, path)
        return
    wrong = [_below(found, path) for found in embedded.faults(schema, value)]
    yield from wrong or values.faults(schema, value, at=path)


def _below(found: Fault, path: str) -> Fault:
    return Fault(fault.child(path, found.path.lstrip(".")), found.reason, found.message)


def _is_pruned(schema: Schema, value: object) -> bool:
    """Whether a value has no fields but those of the schema."""
    if isinstance(value, list):
        items = schema.get("items")
        return not isinstance(items, dict) or all(_is_pruned(items, held) for held in value)
    if not isinstance(value, dict):
        return True
    fields, others = schema.get("properties") or {}, schema.get("additionalProperties")
    is_object = schema.get("x-kubernetes-embedded-resource")
    for name, held in value.items():
        field = fields.get(name, others if isinstance(others, dict) else None)
        if field is not None:
            if not _is_pruned(field, held):
                return False
        elif not (
            others is True
            or schema.get("x-kubernetes-preserve-unknown-fields")
            or (is_object and name in ("metadata", "apiVersion", "kind"))
        ):
            return False
    return True
