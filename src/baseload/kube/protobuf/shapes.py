"""Messages whose JSON is no map of their fields: quantities, instants, numbers that may be words, JSON in JSON."""

import base64
import math
from collections.abc import Callable
from typing import Final

import msgspec

from baseload.kube.protobuf.wire import ProtobufError
from baseload.values import duration, instant, quantity
from baseload.values.instant import InstantError
from baseload.values.quantity import QuantityError

Tree = dict[str, object]
Shape = Callable[[Tree], object]

_QUANTITY: Final = r"quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_WHOLE: Final = 1e21  # Go writes greater numbers with an exponent


def number(value: float) -> int | float:
    """A floating-point number as JSON has it."""
    if not math.isfinite(value):
        raise ProtobufError("json: unsupported value: " + {"inf": "+Inf", "-inf": "-Inf"}.get(str(value), "NaN"))
    return int(value) if value.is_integer() and abs(value) < _WHOLE else value


def encoded(value: bytes) -> str:
    """Bytes as JSON has them."""
    return base64.b64encode(value).decode()


def _quantity(fields: Tree) -> object:
    text = str(fields.get("string", "0"))
    try:
        return quantity.format(quantity.parse(text), quantity.format_of(text))
    except QuantityError as error:
        raise ProtobufError(_QUANTITY) from error


def _int_or_string(fields: Tree) -> object:
    kind = fields.get("type", 0)
    if kind not in (0, 1):
        raise ProtobufError("impossible IntOrString.Type")
    return fields.get("strVal", "") if kind else fields.get("intVal", 0)


def _time(fields: Tree) -> object:
    return _instant(_whole(fields, "seconds") * instant.SECOND) if fields else None


def _micro_time(fields: Tree) -> object:
    if not fields:
        return None
    micros = int(_whole(fields, "nanos") / 1000)  # towards zero, as Go cuts it
    text = _instant(_whole(fields, "seconds") * instant.SECOND + micros * 1000)
    head, _, fraction = text.rstrip("Z").partition(".")
    return f"{head}.{fraction:0<6}Z"


def _whole(fields: Tree, name: str) -> int:
    value = fields.get(name, 0)
    return value if isinstance(value, int) else 0


def _instant(nanoseconds: int) -> str:
    try:
        return instant.format(nanoseconds)
    except InstantError as error:
        raise ProtobufError("Time.MarshalJSON: year outside of range [0,9999]") from error


def _duration(fields: Tree) -> object:
    return duration.format(_whole(fields, "duration"))


def _json(fields: Tree) -> object:
    raw = fields.get("raw")
    if not isinstance(raw, bytes) or not raw:
        return None
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ProtobufError(f"json parse error: {error}") from error
    except RecursionError as error:
        raise ProtobufError("the body is nested too deeply") from error


def _schema_or_bool(fields: Tree) -> object:
    return fields["schema"] if "schema" in fields else fields.get("allows", False)


def _schema_or_list(fields: Tree) -> object:
    return fields.get("jSONSchemas") or fields.get("schema")


def _schema_or_names(fields: Tree) -> object:
    return fields.get("property") or fields.get("schema")


def items(fields: Tree) -> object:
    """The list that is all of its message."""
    return fields.get("items", [])


RAW: Final = frozenset({"runtime.RawExtension", "meta.v1.FieldsV1", "apiextensions.v1.JSON"})
"""Messages whose bytes are JSON text"""

READ_ANEW: Final = frozenset({"meta.v1.Time", "meta.v1.MicroTime"})
"""Messages of which a second one does not add to the first, but takes its place"""

SHAPES: Final[dict[str, Shape]] = {
    **dict.fromkeys(RAW, _json),
    "resource.Quantity": _quantity,
    "intstr.IntOrString": _int_or_string,
    "meta.v1.Time": _time,
    "meta.v1.MicroTime": _micro_time,
    "meta.v1.Duration": _duration,
    "apiextensions.v1.JSONSchemaPropsOrBool": _schema_or_bool,
    "apiextensions.v1.JSONSchemaPropsOrArray": _schema_or_list,
    "apiextensions.v1.JSONSchemaPropsOrStringArray": _schema_or_names,
}
"""Message -> what makes its JSON of its fields, which are there as far as they were sent"""
