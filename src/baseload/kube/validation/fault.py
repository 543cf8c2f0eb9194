"""One fault of an object, in the words in which an API server lists it among the causes of a refusal.

The words begin with the kind of fault, and hold the value as Go prints it: texts in quotes, maps and lists as JSON.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

Tree: TypeAlias = dict[str, Any]
"""A map of an object that a server could decode: its fields have the types of their schema, and nulls are gone"""


class Fault(NamedTuple):
    """What is wrong, and at which field."""

    path: str
    message: str


Faults: TypeAlias = Iterator[Fault]


def required(path: str, why: str = "") -> Fault:
    """A field that must be given is not."""
    return Fault(path, f"Required value: {why}" if why else "Required value")


def invalid(path: str, value: object, why: str) -> Fault:
    """A value that its field cannot have."""
    return Fault(path, f"Invalid value: {shown(value)}: {why}")


def unsupported(path: str, value: object, supported: Iterable[str]) -> Fault:
    """A value that is none of a closed list."""
    listed = ", ".join(f'"{choice}"' for choice in supported)
    return Fault(path, f"Unsupported value: {shown(value)}: supported values: {listed}")


def forbidden(path: str, why: str) -> Fault:
    """A field that may not be given, or not be changed."""
    return Fault(path, f"Forbidden: {why}")


def duplicate(path: str, value: object, why: str = "") -> Fault:
    """A value that is there already."""
    return Fault(path, f"Duplicate value: {shown(value)}" + (f": {why}" if why else ""))


def not_found(path: str, value: object, why: str = "") -> Fault:
    """A value that names nothing."""
    return Fault(path, f"Not found: {shown(value)}" + (f": {why}" if why else ""))


def immutable(path: str, value: object) -> Fault:
    """A value that was changed and may not be."""
    return invalid(path, value, "field is immutable")


def shown(value: object) -> str:
    """A value as messages print it."""
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def among(path: str, value: object, supported: tuple[str, ...]) -> Faults:
    """A value that must be one of a closed list."""
    if value not in supported:
        yield unsupported(path, value, supported)


def not_negative(path: str, value: Any) -> Faults:
    """A number, where one is given, that is none below 0."""
    if value is not None and value < 0:
        yield invalid(path, value, "must be greater than or equal to 0")


def positive(path: str, value: Any) -> Faults:
    """A number that is above 0."""
    if value <= 0:
        yield invalid(path, value, "must be greater than zero")


def below(faults: Faults, path: str) -> Faults:
    """Faults seen from further out."""
    for fault in faults:
        glue = "" if fault.path.startswith("[") or not fault.path else "."
        yield Fault(f"{path}{glue}{fault.path}", fault.message)
