"""Whether the values of a custom resource are those that its schema wants, as an API server says it.

Each value is held against its schema on its own: type, then what the schema composes (anyOf, oneOf, allOf, not), then
what its type may be asked for. An update is lenient to what it leaves alone: a value that was there before, at a place
that can be told to be the same, is not looked at, so that a schema may grow stricter over objects that are there.
"""

from collections.abc import Iterator, Mapping
from typing import Final, cast

from baseload.kube.merge.tree import same
from baseload.kube.schema import definitions
from baseload.kube.structural import fault, formats
from baseload.kube.structural.fault import Fault

Schema = Mapping[str, object]

ABSENT: Final = object()
"""In the place of an old value where there is none"""

_INTEGERS: Final = {"int32": 2**31, "int64": 2**63}
_LARGEST: Final = 2**63
_EXACT: Final = 2**53  # from there on a float does not tell all whole numbers apart
_LARGEST_SINGLE: Final = 3.4028235677973366e38
_NUMERIC: Final = ("integer", "number")


def faults(schema: Schema, value: object, old: object = ABSENT, *, at: str = "") -> list[Fault]:
    """All that is wrong with a value, given what was there before; paths begin at `at`."""
    found = _Values(at)
    found.compare(schema, value, old, "")
    return found.faults


class _Values:
    """The faults of one value, and of all that is in it."""

    def __init__(self, at: str) -> None:
        self.faults: list[Fault] = []
        self._at = at

    def compare(self, schema: Schema, value: object, old: object, path: str) -> None:
        if old is not ABSENT and same(old, value):
            return
        schema = definitions.resolved(cast("dict[str, object]", schema))
        if "$ref" in schema:
            return
        self._type(schema, value, path)
        if value is None:
            self._choice(schema, value, path)
            return
        self._composed(schema, value, old, path)
        if isinstance(value, str):
            self._text(schema, value, path)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            self._number(schema, value, path)
        elif isinstance(value, list):
            self._list(schema, value, old, path)
        self._choice(schema, value, path)
        if isinstance(value, dict):
            self._map(schema, value, old, path)

    # -- telling

    def _place(self, path: str) -> str:
        return f"{self._at}.{path}" if self._at and path else path or self._at

    def _invalid(self, path: str, value: object, why: str) -> None:
        self.faults.append(fault.invalid(self._place(path) or "<nil>", value, f"{path} in body {why}"))

    def _mistyped(self, path: str, wanted: str, found: str) -> None:
        why = f'{path} in body must be of type {wanted}: "{found}"'
        self.faults.append(fault.mistyped(self._place(path) or "<nil>", found, why))

    def _composite(self, why: str) -> None:
        """A fault that an API server ties to no field."""
        self.faults.append(fault.invalid(self._at or "<nil>", "", why))

    # -- each value

    def _type(self, schema: Schema, value: object, path: str) -> None:
        wanted, format = types(schema), _format(schema)
        if not wanted and not format:
            return
        if value is None:
            if wanted and not schema.get("nullable"):
                self._mistyped(path, ",".join(wanted), "null")
            return
        found = type_of(value)
        fits = found in wanted or _is_whole(value, wanted) or (found == "integer" and "number" in wanted)
        if fits or (format and not set(wanted) & set(_NUMERIC) and isinstance(value, str | list)):
            return
        if format and not isinstance(value, str | list):
            self._mistyped(path, format, {"integer": "int64", "number": "float64"}.get(found, ""))
        elif wanted:
            self._mistyped(path, ",".join(wanted), found)

    def _choice(self, schema: Schema, value: object, path: str) -> None:
        choices = schema.get("enum")
        if isinstance(choices, list) and choices and not any(_equals(value, choice) for choice in choices):
            told = [choice if isinstance(choice, str) else fault.shown(choice) for choice in choices]
            self.faults.append(fault.unsupported(self._place(path), value, told))

    def _text(self, schema: Schema, value: str, path: str) -> None:
        least, most, pattern = schema.get("minLength"), schema.get("maxLength"), schema.get("pattern")
        if isinstance(most, int) and len(value) > most:
            self.faults.append(fault.too_long(self._place(path), most))
        elif isinstance(least, int) and len(value) < least:
            self._invalid(path, value, f"should be at least {least} chars long")
        elif isinstance(pattern, str) and pattern and not definitions.matches(value, pattern):
            self._invalid(path, value, f"should match '{pattern}'")
        accepts = formats.of(schema.get("format")) if "string" in (types(schema) or ("string",)) else None
        if accepts is not None and not accepts(value):
            self._mistyped_text(path, str(schema["format"]), value)

    def _mistyped_text(self, path: str, format: str, value: str) -> None:
        quoted = fault.shown(value)
        why = f"{path} in body must be of type {format}: {quoted}"
        self.faults.append(fault.mistyped(self._place(path), value, why))

    def _number(self, schema: Schema, value: float, path: str) -> None:
        wanted, format = types(schema), _format(schema)
        kind = wanted[0] if len(wanted) == 1 else ""
        if not _is_in_range(value, kind, format):
            told = f"with format {format}" if format else "(default format)"
            self._composite(f"Checked value must be of type {kind} {told} in {path}")
        self._multiple(schema, value, path)
        least, most = (_bound(schema.get(name), value) for name in ("minimum", "maximum"))
        if least is not None:
            if schema.get("exclusiveMinimum") and value <= least:
                self._invalid(path, value, f"should be greater than {fault.number(least)}")
            elif value < least:
                self._invalid(path, value, f"should be greater than or equal to {fault.number(least)}")
        if most is not None:
            if schema.get("exclusiveMaximum") and value >= most:
                self._invalid(path, value, f"should be less than {fault.number(most)}")
            elif value > most:
                self._invalid(path, value, f"should be less than or equal to {fault.number(most)}")

    def _multiple(self, schema: Schema, value: float, path: str) -> None:
        factor = _bound(schema.get("multipleOf"), value)
        if factor is None:
            return
        if factor <= 0:
            why = f"factor MultipleOf declared for {path} must be positive: {fault.number(factor)}"
            self.faults.append(fault.invalid(self._place(path), factor, why))
        elif not float(value / factor).is_integer():
            self._invalid(path, value, f"should be a multiple of {fault.number(factor)}")

    def _list(self, schema: Schema, value: list[object], old: object, path: str) -> None:
        items = schema.get("items")
        if isinstance(items, dict):
            before = _correlated(schema, old)
            for index, held in enumerate(value):
                was = before.get(_key(schema, held), ABSENT) if before else ABSENT
                self.compare(items, held, was, f"{path}[{index}]")
        least, most = schema.get("minItems"), schema.get("maxItems")
        if isinstance(least, int) and len(value) < least:
            self._invalid(path, len(value), f"should have at least {least} items")
        if isinstance(most, int) and len(value) > most:
            self.faults.append(fault.too_many(self._place(path), len(value), most))

    def _map(self, schema: Schema, value: dict[str, object], old: object, path: str) -> None:
        least, most = schema.get("minProperties"), schema.get("maxProperties")
        if isinstance(least, int) and len(value) < least:
            self._invalid(path, len(value), f"should have at least {least} properties")
        if isinstance(most, int) and len(value) > most:
            self.faults.append(fault.too_many(self._place(path), len(value), most))
        fields = cast("dict[str, Schema]", schema.get("properties") or {})
        others = schema.get("additionalProperties")
        before = old if isinstance(old, dict) else {}
        for name, held in value.items():
            field = fields.get(name, others if isinstance(others, dict) else None)
            if field is not None:
                self.compare(field, held, before.get(name, ABSENT), fault.child(path, name))
        for name in cast("list[str]", schema.get("required") or []):
            if name not in value:
                self.faults.append(fault.required(self._place(fault.child(path, name))))

    # -- compositions

    def _composed(self, schema: Schema, value: object, old: object, path: str) -> None:
        for name, judge in (("anyOf", self._any), ("oneOf", self._one), ("allOf", self._all)):
            schemas = schema.get(name)
            if isinstance(schemas, list) and schemas and not (name == "anyOf" and is_int_or_string(schema)):
                judge(path, [self._tried(each, value, old, path) for each in schemas])
        unwanted = schema.get("not")
        if isinstance(unwanted, dict) and not self._tried(unwanted, value, old, path):
            self._composite(f'"{path}" must not validate the schema (not)')

    def _tried(self, schema: Schema, value: object, old: object, path: str) -> list[Fault]:
        tried = _Values(self._at)
        tried.compare(schema, value, old, path)
        return tried.faults

    def _any(self, path: str, tried: list[list[Fault]]) -> None:
        if all(tried):
            self._composite(f'"{path}" must validate at least one schema (anyOf)')
            self.faults += tried[0]

    def _one(self, path: str, tried: list[list[Fault]]) -> None:
        fitting = sum(not found for found in tried)
        if fitting != 1:
            told = "Found none valid" if not fitting else f"Found {fitting} valid alternatives"
            self._composite(f'"{path}" must validate one and only one schema (oneOf). {told}')
            self.faults += tried[0] if not fitting else []

    def _all(self, path: str, tried: list[list[Fault]]) -> None:
        for found in tried:
            self.faults += found
        if any(tried):
            told = ". None validated" if all(tried) else ""
            self._composite(f'"{path}" must validate all the schemas (allOf){told}')


def types(schema: Schema) -> tuple[str, ...]:
    """The JSON types that a schema takes; none where it takes all."""
    if schema.get("x-kubernetes-int-or-string"):
        return ("integer", "string")
    kind = schema.get("type")
    return (kind,) if isinstance(kind, str) and kind else ()


def is_int_or_string(schema: Schema) -> bool:
    """Whether a schema's anyOf only says what x-kubernetes-int-or-string says."""
    named = [choice.get("type") for choice in cast("list[Schema]", schema.get("anyOf") or [])]
    return bool(schema.get("x-kubernetes-int-or-string")) and named == ["integer", "string"]


def type_of(value: object) -> str:
    """The JSON type of a value."""
    match value:
        case bool():
            return "boolean"
        case int() if -_LARGEST <= value < _LARGEST:
            return "integer"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case dict():
            return "object"
    return "null"


def _format(schema: Schema) -> str:
    """The format, where it is one that is looked at."""
    name, wanted = str(schema.get("format") or ""), types(schema)
    if wanted == ("integer",):
        return name if name in _INTEGERS else ""
    if wanted == ("number",):
        return name if name in ("float", "double") else ""
    return name if wanted in ((), ("string",)) and formats.of(name) is not None else ""


def _is_whole(value: object, wanted: tuple[str, ...]) -> bool:
    return isinstance(value, float) and value.is_integer() and abs(value) < _EXACT and "integer" in wanted


def _equals(value: object, choice: object) -> bool:
    if isinstance(value, bool) is not isinstance(choice, bool):
        return False
    return value == choice


def _is_in_range(value: float, kind: str, format: str) -> bool:
    if kind == "integer":
        limit = _INTEGERS.get(format, 2**63)
        return float(value).is_integer() and -limit <= value < limit
    return format != "float" or abs(value) <= _LARGEST_SINGLE


def _bound(bound: object, value: float) -> float | None:
    """A bound in the form in which a value is compared with it: whole numbers know whole bounds alone."""
    if not isinstance(bound, int | float):
        return None
    return int(bound) if isinstance(value, int) else float(bound)


def _correlated(schema: Schema, old: object) -> dict[tuple[str, ...], object]:
    """key -> item, of a list whose items can be told apart."""
    if schema.get("x-kubernetes-list-type") != "map" or not isinstance(old, list):
        return {}
    return {_key(schema, item): item for item in old}


def _key(schema: Schema, item: object) -> tuple[str, ...]:
    keys = cast("list[str]", schema.get("x-kubernetes-list-map-keys") or [])
    return tuple(fault.shown(item.get(key)) if isinstance(item, dict) else "" for key in keys)


def twins(values: list[object]) -> Iterator[int]:
    """The index of the second of each value that is there more than once."""
    seen: dict[str, int] = {}
    for index, value in enumerate(values):
        key = fault.shown(value) if not isinstance(value, bool | int | float) else repr(value)
        seen[key] = seen.get(key, 0) + 1
        if seen[key] == 2:
            yield index
