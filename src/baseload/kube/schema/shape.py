"""The slow, collecting comparison of one object with its schema: unknown, missing and mistyped fields, and bad values.

A null is an absent field.
In `status` nothing is required: a status written by hand is often partial.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import cast

from baseload.kube import fieldpath, kinds
from baseload.kube.schema import definitions
from baseload.kube.schema.definitions import Schema
from baseload.kube.schema.finding import Finding, Weight, invalid, required, shown, unsupported
from baseload.values import instant, quantity

_MOST_LISTED = 12
_RANGES = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}
_PARSERS: dict[str, Callable[[str], object]] = {"date-time": instant.parse, "quantity": quantity.parse}


class Shape:
    """One object under comparison; `mistyped` are the places of the values that cannot be read at all."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.mistyped: list[tuple[fieldpath.Step, ...]] = []
        self._steps: list[fieldpath.Step] = []
        self._in_status = False

    def compare(self, schema: Schema, value: object) -> None:
        """Collect what is wrong with a value."""
        schema = definitions.resolved(schema)
        accepted = _accepted(schema)
        if accepted and not _is_one_of(value, accepted):
            self._mistyped(value, accepted)
        elif isinstance(value, dict):
            self._map(schema, value)
        elif isinstance(value, list):
            self._list(schema, value)
        else:
            self.findings.extend(_scalar(schema, value, fieldpath.text(self._steps)))

    def refuse_mistyped(self) -> None:
        """Make the mistyped fields weigh as much as they do where a decision needs one of them."""
        paths = {fieldpath.text(steps) for steps in self.mistyped}
        self.findings = [
            replace(finding, weight=Weight.FATAL) if finding.path in paths else finding for finding in self.findings
        ]

    def _mistyped(self, value: object, accepted: tuple[str, ...]) -> None:
        wanted = " or ".join(accepted)
        allowed = f'in quotes it is one: "{shown(value)}"' if wanted == "string" and _is_plain(value) else ""
        found = invalid(self._path(), value, f"must be of type {wanted}, not {_type_of(value)}")
        self.findings.append(replace(found, allowed=allowed))
        self.mistyped.append(tuple(self._steps))

    def _path(self, *more: fieldpath.Step) -> str:
        return fieldpath.text((*self._steps, *more))

    def _map(self, schema: Schema, value: dict[str, object]) -> None:
        fields = definitions.properties(schema) or {}
        others = schema.get("additionalProperties")
        self.findings.extend(_size(schema, len(value), "Properties", self._path()))
        if not self._in_status:
            missing = [name for name in cast("list[str]", schema.get("required", [])) if value.get(name) is None]
            self.findings.extend(required(self._path(name)) for name in missing)
        for name, held in value.items():
            field = fields.get(name, others if isinstance(others, dict) else None)
            if field is not None:
                if held is not None:
                    self._enter(name, field, held)
            elif definitions.closed(schema):
                self.findings.append(_unknown(self._path(name), name, fields, value))

    def _list(self, schema: Schema, value: list[object]) -> None:
        self.findings.extend(_size(schema, len(value), "Items", self._path()))
        items = schema.get("items")
        if isinstance(items, dict):
            for index, held in enumerate(value):
                self._enter(index, cast(Schema, items), held)

    def _enter(self, step: fieldpath.Step, schema: Schema, value: object) -> None:
        outermost = not self._steps
        self._steps.append(step)
        self._in_status = step == "status" if outermost else self._in_status
        self.compare(schema, value)
        self._steps.pop()


def _accepted(schema: Schema) -> tuple[str, ...]:
    """The JSON types that a schema takes; none named means any."""
    choices = schema.get("oneOf") or schema.get("anyOf")
    if isinstance(choices, list):
        return tuple(str(choice["type"]) for choice in cast("list[Schema]", choices))
    kind = schema.get("type")
    return (kind,) if isinstance(kind, str) else ()


def _type_of(value: object) -> str:
    match value:
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case dict():
            return "object"
    return "null"


def _is_plain(value: object) -> bool:
    return isinstance(value, bool | int | float)


def _is_one_of(value: object, accepted: tuple[str, ...]) -> bool:
    kind = _type_of(value)
    return kind in accepted or (kind == "integer" and "number" in accepted)


def _unknown(path: str, name: str, fields: dict[str, Schema], value: dict[str, object]) -> Finding:
    """An unknown field, with the known one that was probably meant: one that is not there yet."""
    near = kinds.most_similar(name, (field for field in fields if field not in value))
    if near:
        allowed = f'did you mean "{near}"?'
    elif len(fields) <= _MOST_LISTED:
        allowed = f"known fields: {', '.join(sorted(fields))}"
    else:
        allowed = ""
    return Finding(path, f'unknown field "{path}"', allowed)


def _size(schema: Schema, size: int, what: str, path: str) -> Iterator[Finding]:
    least, most = schema.get(f"min{what}"), schema.get(f"max{what}")
    if isinstance(most, int) and size > most:
        yield Finding(path, f"Too many: {size}: must have at most {most} {what.lower()}")
    if isinstance(least, int) and size < least:
        yield Finding(path, f"Invalid value: {size}: must have at least {least} {what.lower()}")


def _scalar(schema: Schema, value: object, path: str) -> Iterator[Finding]:
    choices = schema.get("enum")
    if isinstance(choices, list) and value not in choices:
        yield unsupported(path, value, [str(choice) for choice in choices])
    elif isinstance(value, str):
        yield from _text(schema, value, path)
    elif isinstance(value, int) and not isinstance(value, bool):
        yield from _number(schema, value, path)


def _text(schema: Schema, value: str, path: str) -> Iterator[Finding]:
    least, most, pattern = schema.get("minLength"), schema.get("maxLength"), schema.get("pattern")
    if isinstance(least, int) and len(value) < least:
        yield invalid(path, value, f"should be at least {least} chars long")
    elif isinstance(most, int) and len(value) > most:
        yield Finding(path, f"Too long: may not be more than {most} bytes")
    elif isinstance(pattern, str) and not definitions.matches(value, pattern):
        yield invalid(path, value, f"{path} in body should match '{pattern}'")
    parse = _PARSERS.get(str(schema.get("format")))
    if parse is not None:
        try:
            parse(value)
        except ValueError as error:
            yield Finding(path, f"Invalid value: {error}")


def _number(schema: Schema, value: int, path: str) -> Iterator[Finding]:
    least, most = _RANGES.get(str(schema.get("format")), (value, value))
    least = max(least, cast(int, schema.get("minimum", least)))
    most = min(most, cast(int, schema.get("maximum", most)))
    if value < least:
        yield invalid(path, value, f"{path} in body should be greater than or equal to {least}")
    elif value > most:
        yield invalid(path, value, f"{path} in body should be less than or equal to {most}")


def compare(schema: Schema, value: object) -> Shape:
    """Everything that is wrong with the shape of one object."""
    shape = Shape()
    shape.compare(schema, value)
    return shape
