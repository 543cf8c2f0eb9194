"""The fields of a scenario's parts as tables: each is read, described and written as JSON Schema by the same one."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from baseload.cloud.simulated import forms
from baseload.cloud.simulated.forms import Form, Tree
from baseload.values import quantity
from baseload.values.quantity import UNIT

Schema = Mapping[str, object]
_DIGITS: Final = 30  # before and after the point; no series is larger or finer, and an exponent may be any
_MOST: Final = 10**15  # of what pods use together: a pebibyte, or as many cores


@dataclass(frozen=True, slots=True)
class Field:
    """One field: what it holds, how that is written in JSON Schema, and what it means."""

    form: Form[Any]
    schema: Schema
    about: str
    is_required: bool = False

    @property
    def required(self) -> "Field":
        return Field(self.form, self.schema, self.about, True)


def read(tree: Tree, table: Mapping[str, Field]) -> dict[str, Any]:
    """The values of a map by a table; what is absent is None, what is wrong a fault."""
    found: dict[str, Any] = {}
    for name, field in table.items():
        if field.is_required:
            found[name] = tree.required(name, field.form, None)
        else:
            found[name] = tree.value(name, field.form, None)
    return found


def schema(table: Mapping[str, Field], more: Mapping[str, Schema] | None = None) -> dict[str, object]:
    """A map by a table, as JSON Schema."""
    properties = {name: {**field.schema, "description": field.about} for name, field in table.items()}
    required = [name for name, field in table.items() if field.is_required]
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {**(more or {}), **properties},
        **({"required": required} if required else {}),
    }


def _anything(given: object) -> object:
    return given


def _map(given: object) -> Mapping[str, object]:
    if not isinstance(given, Mapping) or not all(isinstance(key, str) for key in given):
        raise ValueError
    return given


def _list(given: object) -> list[object]:
    if not isinstance(given, list):
        raise ValueError
    return given


def _number(given: object) -> tuple[Fraction, str]:
    """Exact, with the text that was written."""
    if isinstance(given, bool) or not isinstance(given, int | float | str):
        raise ValueError
    try:
        value = Decimal(str(given))
    except InvalidOperation as error:
        raise ValueError from error
    if not value.is_finite() or (value and abs(value.adjusted()) > _DIGITS):
        raise ValueError
    return Fraction(value), str(given)


def _use(given: object) -> tuple[tuple[int, int], ...]:
    """A curve: moments and amounts in nano-units, straight lines between them."""
    if not isinstance(given, Mapping):
        return ((0, _amount(given)),)
    points = [(forms.DURATION.read(moment), _amount(amount)) for moment, amount in given.items()]
    if not points or any(one[0] >= other[0] for one, other in pairwise(points)):
        raise ValueError
    return tuple(points)


def _amount(given: object) -> int:
    if isinstance(given, bool) or not isinstance(given, str | int | float):
        raise ValueError
    amount = quantity.parse(given)
    if not 0 <= amount <= _MOST * UNIT:
        raise ValueError
    return amount


def whole(least: int, most: int = 2**31 - 1) -> Field:
    """A whole number of a range."""
    return Field(forms.whole(least, most), {"type": "integer", "minimum": least, "maximum": most}, "")


def one_of(*names: str) -> Field:
    return Field(forms.one_of(*names), {"enum": list(names)}, "")


def texts(of: Field) -> Field:
    return Field(forms.list_of(of.form), {"type": "array", "items": of.schema, "minItems": 1}, "")


def about(field: Field, text: str) -> Field:
    """The same, meaning this."""
    return Field(field.form, field.schema, text, field.is_required)


_SPAN: Final = {"type": "string", "pattern": r"^(0|([0-9]*\.?[0-9]+(ns|us|µs|ms|s|m|h))+)$"}

TEXT: Final = Field(forms.TEXT, {"type": "string", "minLength": 1, "maxLength": 255}, "")
BOOLEAN: Final = Field(forms.BOOLEAN, {"type": "boolean"}, "")
SPAN: Final = Field(forms.DURATION, _SPAN, "")
LENGTH: Final = Field(forms.LENGTH, _SPAN, "")
PERCENT: Final = Field(forms.PERCENT, {"type": ["number", "string"]}, "")
MAP: Final = Field(Form(_map, "a map"), {"type": "object"}, "")
LIST: Final = Field(Form(_list, "a list"), {"type": "array"}, "")
ANYTHING: Final = Field(Form(_anything, "anything"), {}, "")
NUMBER: Final = Field(Form(_number, "a number"), {"type": ["number", "string"]}, "")
USE: Final = Field(
    Form(_use, "an amount, e.g. 1500m, or a map of durations that rise to amounts, e.g. {0s: 1, 10m: 8}"),
    {"type": ["number", "string", "object"]},
    "",
)
