"""What is wrong at one place of an object or of a definition."""

import json
from dataclasses import dataclass

from baseload.kube.merge import go_text

Tree = dict[str, object]


@dataclass(frozen=True, slots=True)
class Fault:
    """One cause of a refusal, as `details.causes` carries it."""

    path: str
    reason: str
    message: str


def required(path: str, why: str = "") -> Fault:
    return Fault(path, "FieldValueRequired", f"Required value: {why}" if why else "Required value")


def invalid(path: str, value: object, why: str) -> Fault:
    return Fault(path, "FieldValueInvalid", f"Invalid value: {shown(value)}: {why}")


def mistyped(path: str, value: object, why: str) -> Fault:
    return Fault(path, "FieldValueTypeInvalid", f"Invalid value: {shown(value)}: {why}")


def forbidden(path: str, why: str) -> Fault:
    return Fault(path, "FieldValueForbidden", f"Forbidden: {why}")


def duplicate(path: str, value: object) -> Fault:
    return Fault(path, "FieldValueDuplicate", f"Duplicate value: {shown(value)}")


def unsupported(path: str, value: object, supported: list[str]) -> Fault:
    listed = ", ".join(f'"{choice}"' for choice in supported)
    return Fault(path, "FieldValueNotSupported", f"Unsupported value: {shown(value)}: supported values: {listed}")


def too_many(path: str, count: int, most: int) -> Fault:
    noun = "items" if most != 1 else "item"
    return Fault(path, "FieldValueTooMany", f"Too many: {count}: must have at most {most} {noun}")


def too_long(path: str, most: int) -> Fault:
    return Fault(path, "FieldValueTooLong", f"Too long: may not be more than {most} bytes")


def shown(value: object) -> str:
    """A value as messages print it: JSON, but for numbers."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return number(value)
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, sort_keys=True)


def number(value: float) -> str:
    """A number as Go prints it."""
    return go_text.plain(value)


def child(path: str, name: str) -> str:
    """The path of a field."""
    return f"{path}.{name}" if path else name
