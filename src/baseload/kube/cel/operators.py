"""Arithmetic, order, membership, size, and the conversions between types."""

import math
from collections.abc import Callable
from typing import Final

from baseload.kube.cel import values
from baseload.kube.cel.overloads import function, method, represented
from baseload.kube.cel.values import Duration, Failure, Instant, Maybe, TypeOf, UInt, Value
from baseload.values import duration, instant

_LEAST, _MOST = -(2**63), 2**63 - 1
_MOST_UNSIGNED = 2**64 - 1


def whole(number: int) -> int:
    """A number that fits into 64 bits."""
    if not _LEAST <= number <= _MOST:
        raise Failure("integer overflow")
    return number


def _unsigned(number: int) -> UInt:
    if not 0 <= number <= _MOST_UNSIGNED:
        raise Failure("unsigned integer overflow")
    return UInt(number)


def _quotient(one: int, other: int) -> int:
    if other == 0:
        raise Failure("division by zero")
    found = abs(one) // abs(other)
    return found if (one < 0) == (other < 0) else -found


def _rest(one: int, other: int) -> int:
    if other == 0:
        raise Failure("modulus by zero")
    return int(math.copysign(1, one)) * (abs(one) % abs(other))


def _float_quotient(one: float, other: float) -> float:
    if other == 0:
        return math.nan if one == 0 or math.isnan(one) else math.copysign(math.inf, one) * math.copysign(1, other)
    return one / other


_ON_WHOLE: Final[dict[str, Callable[[int, int], int]]] = {
    "_+_": lambda one, other: one + other,
    "_-_": lambda one, other: one - other,
    "_*_": lambda one, other: one * other,
    "_/_": _quotient,
    "_%_": _rest,
}
_ON_FLOATS: Final[dict[str, Callable[[float, float], float]]] = {
    "_+_": lambda one, other: one + other,
    "_-_": lambda one, other: one - other,
    "_*_": lambda one, other: one * other,
    "_/_": _float_quotient,
}


def _declare_arithmetic(name: str, on: Callable[[int, int], int]) -> None:
    function(f"{name}(int, int) int")(lambda one, other: whole(on(one, other)))
    function(f"{name}(uint, uint) uint")(lambda one, other: _unsigned(on(one, other)))


for _name, _on in _ON_WHOLE.items():
    _declare_arithmetic(_name, _on)
for _name, _on_floats in _ON_FLOATS.items():
    function(f"{_name}(double, double) double")(_on_floats)
function("_+_(string, string) string", "_+_(bytes, bytes) bytes")(lambda one, other: one + other)
function("_+_(list(A), list(A)) list(A)")(values.joined)
function("_+_(duration, duration) duration")(lambda one, other: Duration(whole(one + other)))
function("_+_(timestamp, duration) timestamp", "_+_(duration, timestamp) timestamp")(
    lambda one, other: Instant(one + other)
)
function("_-_(duration, duration) duration", "_-_(timestamp, timestamp) duration")(
    lambda one, other: Duration(whole(one - other))
)
function("_-_(timestamp, duration) timestamp")(lambda one, other: Instant(one - other))
function("-_(int) int")(lambda number: whole(-number))
function("-_(double) double")(lambda number: -number)

_ORDERED: Final = ("bool", "string", "bytes", "duration", "timestamp")
_COUNTED: Final = ("int", "uint", "double")
_ORDERS: Final[dict[str, Callable[[Value, Value], bool]]] = {
    "_<_": lambda one, other: one < other,
    "_<=_": lambda one, other: one <= other,
    "_>_": lambda one, other: one > other,
    "_>=_": lambda one, other: one >= other,
}
for _name, _order in _ORDERS.items():
    for _kind in _ORDERED:
        function(f"{_name}({_kind}, {_kind}) bool")(_order)
    for _one in _COUNTED:
        for _other in _COUNTED:
            function(f"{_name}({_one}, {_other}) bool")(_order)
function("_==_(A, A) bool")(values.equal)
function("_!=_(A, A) bool")(lambda one, other: not values.equal(one, other))


@function("_[_](list(A), int) A")
def _element(elements: list[Value], place: int) -> Value:
    if not 0 <= place < len(elements):
        raise Failure(f"index out of bounds: {place}")
    return elements[place]


@function("_[_](map(A, B), A) B")
def _value(held: dict[Value, Value], key: Value) -> Value:
    if key not in held:
        raise values.no_such_key(text(key))
    return held[key]


@function("_[_](optional(A), dyn) optional(dyn)", "_[?_](optional(A), dyn) optional(dyn)")
def _maybe_inside(maybe: Maybe, place: Value) -> Maybe:
    return _maybe_value(maybe.value, place) if maybe.is_there else maybe


@function("_[?_](list(A), int) optional(A)", "_[?_](map(A, B), A) optional(B)")
def _maybe_value(held: Value, place: Value) -> Maybe:
    if isinstance(held, dict):
        return Maybe(held[place], is_there=True) if place in held else Maybe()
    return Maybe(held[place], is_there=True) if 0 <= place < len(held) else Maybe()


@function("@in(A, list(A)) bool")
def _is_among(value: Value, elements: list[Value]) -> bool:
    return values.contains(elements, value)


@function("@in(A, map(A, B)) bool")
def _is_key(value: Value, held: dict[Value, Value]) -> bool:
    return value in held


_SIZED: Final = ("string", "bytes", "list(A)", "map(A, B)")
for _kind in _SIZED:
    function(f"size({_kind}) int")(len)
    method(f"{_kind}.size() int")(len)


def _unconvertible(given: str, wanted: str) -> Failure:
    return Failure(f"type conversion error from '{given}' to '{wanted}'")


@function("dyn(A) dyn")
def _dyn(value: Value) -> Value:
    return value


@function("bool(string) bool")
def _bool(told: str) -> bool:
    if told in ("true", "True", "TRUE", "t", "1"):
        return True
    if told in ("false", "False", "FALSE", "f", "0"):
        return False
    raise _unconvertible("string", "bool")


@function("int(string) int")
def _int(told: str) -> int:
    digits = told.removeprefix("-") if told.startswith("-") else told.removeprefix("+")
    if not (digits.isascii() and digits.isdigit()):
        raise _unconvertible("string", "int")
    if len(digits) > 40 or not _LEAST <= int(told) <= _MOST:
        raise _unconvertible("string", "int")
    return int(told)


@function("int(int) int", "int(uint) int", "int(double) int", "int(duration) int")
def _whole_part(number: Value) -> int:
    if isinstance(number, float) and (math.isnan(number) or not -(2.0**63) < number < 2.0**63):
        raise Failure("integer overflow")
    return whole(int(number))


function("int(timestamp) int")(lambda moment: int(moment) // instant.SECOND)


@function("uint(uint) uint", "uint(int) uint", "uint(double) uint")
def _uint(number: Value) -> UInt:
    if isinstance(number, float) and not 0 <= number < 2.0**64:
        raise Failure("unsigned integer overflow")
    return _unsigned(int(number))


@function("uint(string) uint")
def _uint_of_text(told: str) -> UInt:
    if not (told.isascii() and told.isdigit()) or len(told) > 40 or int(told) > _MOST_UNSIGNED:
        raise _unconvertible("string", "uint")
    return UInt(int(told))


function("double(double) double", "double(int) double", "double(uint) double")(float)


@function("double(string) double")
def _double(told: str) -> float:
    try:
        if told != told.strip() or "_" in told:
            raise ValueError
        return float(told)
    except ValueError:
        raise _unconvertible("string", "double") from None


@function("bytes(string) bytes")
def _bytes(told: str) -> bytes:
    return told.encode()


function("bytes(bytes) bytes")(lambda held: held)


@function("string(bytes) string")
def _text_of_bytes(held: bytes) -> str:
    try:
        return held.decode()
    except UnicodeDecodeError:
        raise Failure("invalid UTF-8 in bytes, cannot convert to string") from None


@function(
    "string(string) string",
    "string(int) string",
    "string(uint) string",
    "string(double) string",
    "string(bool) string",
    "string(duration) string",
    "string(timestamp) string",
)
def text(value: Value) -> str:
    """A value as the conversion to a string writes it."""
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return _float_text(value)
        case Duration():
            return f"{_float_text(value / duration.SECOND)}s"
        case Instant():
            return instant.format(value)
    return str(int(value) if isinstance(value, UInt) else value)


def _float_text(number: float) -> str:
    if math.isnan(number) or math.isinf(number):
        return "NaN" if math.isnan(number) else "+Inf" if number > 0 else "-Inf"
    digits, _, exponent = f"{number!r}".partition("e")
    if exponent or (number and not 1e-4 <= abs(number) < 1e6):
        return _scientific(number)
    return digits.removesuffix(".0")


def _scientific(number: float) -> str:
    """The shortest digits that are the number, with an exponent."""
    for places in range(17):
        shown = f"{number:.{places}e}"
        if float(shown) == number:
            return shown
    return f"{number:.17e}"


_NAMES: Final[dict[type, str]] = {
    bool: "bool",
    int: "int",
    UInt: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    type(None): "null_type",
    dict: "map",
    TypeOf: "type",
    Maybe: "optional_type",
    Duration: "google.protobuf.Duration",
    Instant: "google.protobuf.Timestamp",
}


def type_name(value: Value) -> str:
    """The name of a value's type."""
    return "list" if isinstance(value, list) else _NAMES.get(type(value)) or represented(type(value))


@function("type(A) type")
def _type(value: Value) -> TypeOf:
    return TypeOf(type_name(value))


@function("optional.of(A) optional(A)")
def _some(value: Value) -> Maybe:
    return Maybe(value, is_there=True)


@function("optional.ofNonZeroValue(A) optional(A)")
def _some_unless_zero(value: Value) -> Maybe:
    return Maybe(value, is_there=True) if value else Maybe()


function("optional.none() optional(A)")(Maybe)
method("optional(A).hasValue() bool")(lambda maybe: maybe.is_there)
method("optional(A).or(optional(A)) optional(A)")(lambda maybe, other: maybe if maybe.is_there else other)
method("optional(A).orValue(A) A")(lambda maybe, other: maybe.value if maybe.is_there else other)


@method("optional(A).value() A")
def _held(maybe: Maybe) -> Value:
    if not maybe.is_there:
        raise Failure("optional.none() dereference")
    return maybe.value
