"""What may stand in a schema, keyword by keyword, whether it is structural or not; rules (CEL) are not looked at."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from baseload.kube.structural import fault
from baseload.kube.structural.fault import Fault

Schema = dict[str, Any]

_TYPES: Final = ["array", "boolean", "integer", "number", "object", "string"]
_OF_EVERY_OBJECT: Final = ("metadata", "kind", "apiVersion")
_UNKNOWN: Final = ("id", "additionalItems", "patternProperties", "definitions", "dependencies", "$ref")
_LIST_TYPES: Final = ["atomic", "set", "map"]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in an object a schema stands."""

    is_root: bool = False
    is_in_metadata: bool = False
    no_default: str = ""  # why there may be no default


def faults(schema: Schema, path: str) -> Iterator[Fault]:
    """What may not stand in a schema."""
    yield from _of(schema, path, _Place(is_root=True))


def _of(schema: Schema, path: str, place: _Place) -> Iterator[Fault]:
    yield from _keywords(schema, path, place)
    yield from _fields(schema, path, place)
    inner = replace(place, is_root=False)
    if isinstance(schema.get("not"), dict):
        yield from _of(schema["not"], f"{path}.not", inner)
    for name in ("allOf", "oneOf", "anyOf"):
        for index, choice in enumerate(schema.get(name) or []):
            yield from _of(choice, f"{path}.{name}[{index}]", inner)
    items = schema.get("items")
    if isinstance(items, dict):
        yield from _of(items, f"{path}.items", inner)
    yield from _kinds(schema, path)
    yield from _map_keys(schema, path)
    yield from _required_keys(schema, path)


def _keywords(schema: Schema, path: str, place: _Place) -> Iterator[Fault]:
    kind = schema.get("type") or ""
    if kind and kind not in _TYPES:
        yield fault.unsupported(f"{path}.type", kind, _TYPES)
    if schema.get("default") is not None and place.no_default:
        yield fault.forbidden(f"{path}.default", f"must not be set {place.no_default}")
    for name in _UNKNOWN:
        if schema.get(name):
            yield fault.forbidden(f"{path}.{name}", f"{name} is not supported")
    if kind == "null":
        yield fault.forbidden(f"{path}.type", "type cannot be set to null, use nullable as an alternative")
    if isinstance(schema.get("items"), list):
        yield fault.forbidden(f"{path}.items", "items must be a schema object and not an array")
    if place.is_in_metadata and schema.get("x-kubernetes-embedded-resource"):
        yield fault.forbidden(f"{path}.x-kubernetes-embedded-resource", "must not be used inside of resource meta")
    if schema.get("uniqueItems"):
        why = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        yield fault.forbidden(f"{path}.uniqueItems", why)
    if schema.get("x-kubernetes-preserve-unknown-fields") is False:
        yield fault.invalid(f"{path}.x-kubernetes-preserve-unknown-fields", False, "must be true or undefined")


def _fields(schema: Schema, path: str, place: _Place) -> Iterator[Fault]:
    fields, others = schema.get("properties") or {}, schema.get("additionalProperties")
    inner = replace(place, is_root=False)
    if others is not None and others is not True and fields:
        why = "additionalProperties and properties are mutual exclusive"
        yield fault.forbidden(f"{path}.additionalProperties", why)
    if isinstance(others, dict):
        why = "inside additionalProperties applying to object metadata" if place.is_in_metadata else place.no_default
        yield from _of(others, f"{path}.additionalProperties", replace(inner, no_default=why))
    is_object = place.is_root or bool(schema.get("x-kubernetes-embedded-resource"))
    for name, field in fields.items():
        there = inner
        if is_object and name in _OF_EVERY_OBJECT:
            why = f"in top-level {name}" if place.is_root else inner.no_default
            there = replace(inner, is_in_metadata=True, no_default=why)
        yield from _of(field, f"{path}.properties[{name}]", there)


def _kinds(schema: Schema, path: str) -> Iterator[Fault]:
    """x-kubernetes-map-type and x-kubernetes-list-type beside the type."""
    kind = schema.get("type") or ""
    for name, wanted, allowed in (("map", "object", ["atomic", "granular"]), ("list", "array", _LIST_TYPES)):
        told = schema.get(f"x-kubernetes-{name}-type")
        if told is None:
            continue
        if kind != wanted:
            why = f"must be {wanted} if x-kubernetes-{name}-type is specified"
            yield fault.invalid(f"{path}.type", kind, why) if kind else fault.required(f"{path}.type", why)
        elif told == "set":
            yield from _set_items(schema.get("items"), path)
        if told not in allowed:
            yield fault.unsupported(f"{path}.x-kubernetes-{name}-type", told, allowed)


def _set_items(items: object, path: str) -> Iterator[Fault]:
    if not isinstance(items, dict):
        return
    why = "must be atomic as item of a list with x-kubernetes-list-type=set"
    listed = items.get("x-kubernetes-list-type")
    if items.get("type") == "array" and listed not in (None, "atomic"):
        yield fault.invalid(f"{path}.items.x-kubernetes-list-type", listed, why)
    if items.get("type") == "object" and items.get("x-kubernetes-map-type") != "atomic":
        yield fault.invalid(f"{path}.items.x-kubernetes-map-type", listed, why)


def _map_keys(schema: Schema, path: str) -> Iterator[Fault]:
    keys, told, items = (
        schema.get("x-kubernetes-list-map-keys") or [],
        schema.get("x-kubernetes-list-type"),
        schema.get("items"),
    )
    if keys and told != "map":
        where, why = f"{path}.x-kubernetes-list-type", "must be map if x-kubernetes-list-map-keys is non-empty"
        yield fault.required(where, why) if told is None else fault.invalid(where, told, why)
    if told != "map":
        return
    here = f"{path}.x-kubernetes-list-map-keys"
    if not keys:
        yield fault.required(here, "must not be empty if x-kubernetes-list-type is map")
    if items is None:
        yield fault.required(f"{path}.items", "must have a schema if x-kubernetes-list-type is map")
    if not isinstance(items, dict):
        return
    if items.get("type") != "object":
        why = "must be object if parent array's x-kubernetes-list-type is map"
        yield fault.invalid(f"{path}.items.type", items.get("type") or "", why)
        return
    yield from _named_keys(keys, items.get("properties") or {}, path)


def _named_keys(keys: list[str], fields: Schema, path: str) -> Iterator[Fault]:
    here = f"{path}.x-kubernetes-list-map-keys"
    for index, key in enumerate(keys):
        if key not in fields:
            yield fault.invalid(here, keys, "entries must all be names of item properties")
        elif fields[key].get("type") in ("array", "object"):
            why = "must be a scalar type if parent array's x-kubernetes-list-type is map"
            yield fault.invalid(f"{path}.items.properties[{key}].type", "object", why)
        if key in keys[:index]:
            yield fault.invalid(here, keys, "must not contain duplicate entries")


def _required_keys(schema: Schema, path: str) -> Iterator[Fault]:
    """Items of sets and maps are never null, and keys are always there."""
    told, items = schema.get("x-kubernetes-list-type"), schema.get("items")
    if told not in ("set", "map") or not isinstance(items, dict):
        return
    if items.get("nullable"):
        yield fault.forbidden(f"{path}.items.nullable", f"cannot be nullable when x-kubernetes-list-type is {told}")
    fields = items.get("properties") or {}
    for key in schema.get("x-kubernetes-list-map-keys") or [] if told == "map" else []:
        if key not in fields:
            continue
        here, why = f"{path}.items.properties[{key}]", "this property is in x-kubernetes-list-map-keys, so it"
        if key not in (items.get("required") or []) and fields[key].get("default") is None:
            yield fault.required(f"{here}.default", f"{why} must have a default or be a required property")
        if fields[key].get("nullable"):
            yield fault.forbidden(f"{here}.nullable", f"{why} cannot be nullable")
