"""Lists that are sets or maps: no item, or no key, may be there twice."""

from collections.abc import Iterator
from typing import Final, cast

from baseload.kube.structural import fault, values
from baseload.kube.structural.fault import Fault
from baseload.kube.structural.values import Schema

_ABSENT: Final[dict[str, object]] = {}


def faults(schema: Schema, value: object, path: str = "") -> Iterator[Fault]:
    """The twins in all lists of a value."""
    if isinstance(value, list):
        yield from _of_list(schema, value, path)
    elif isinstance(value, dict):
        fields = cast("dict[str, Schema]", schema.get("properties") or {})
        others = schema.get("additionalProperties")
        for name, held in value.items():
            if name in fields:
                yield from faults(fields[name], held, fault.child(path, name))
            elif isinstance(others, dict):
                yield from faults(others, held, f"{path}[{name}]")


def _of_list(schema: Schema, value: list[object], path: str) -> Iterator[Fault]:
    kind = schema.get("x-kubernetes-list-type")
    if kind == "set":
        for index in values.twins(value):
            yield fault.duplicate(f"{path}[{index}]", value[index])
    elif kind == "map":
        yield from _of_map(cast("list[str]", schema.get("x-kubernetes-list-map-keys") or []), value, path)
    items = schema.get("items")
    if isinstance(items, dict):
        for index, held in enumerate(value):
            yield from faults(items, held, f"{path}[{index}]")


def _of_map(keys: list[str], value: list[object], path: str) -> Iterator[Fault]:
    for index, held in enumerate(value):
        if held is not None and not isinstance(held, dict):
            yield fault.invalid(f"{path}[{index}]", held, "must be an object for an array of list-type map")
            return
    told: list[object] = [
        {key: held[key] for key in keys if key in held} if isinstance(held, dict) else _ABSENT for held in value
    ]
    for index in values.twins(told):
        yield fault.duplicate(f"{path}[{index}]", told[index])
