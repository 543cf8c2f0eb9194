"""Kubernetes' quantities and semantic versions in expressions."""

import re
from dataclasses import dataclass
from typing import Final

from baseload.kube.cel.overloads import function, method, represented_by
from baseload.kube.cel.values import Failure
from baseload.values import quantity


@dataclass(frozen=True, slots=True)
class Amount:
    """A quantity: nano-units."""

    nanos: int


represented_by("quantity", Amount)


@function("quantity(string) quantity")
def _quantity(text: str) -> Amount:
    try:
        return Amount(quantity.parse(text))
    except ValueError:
        wording = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        raise Failure(wording) from None


@function("isQuantity(string) bool")
def _is_quantity(text: str) -> bool:
    try:
        quantity.parse(text)
    except ValueError:
        return False
    return True


def _is_whole(amount: Amount) -> bool:
    return amount.nanos % quantity.UNIT == 0


@method("quantity.asInteger() int")
def _as_integer(amount: Amount) -> int:
    if not _is_whole(amount):
        raise Failure("cannot convert value to integer")
    return amount.nanos // quantity.UNIT


def _compared(one: Amount, other: Amount) -> int:
    return (one.nanos > other.nanos) - (one.nanos < other.nanos)


method("quantity.isInteger() bool")(_is_whole)
method("quantity.asApproximateFloat() double")(lambda amount: amount.nanos / quantity.UNIT)
function("sign(quantity) int")(lambda amount: (amount.nanos > 0) - (amount.nanos < 0))
method("quantity.isGreaterThan(quantity) bool")(lambda one, other: one.nanos > other.nanos)
method("quantity.isLessThan(quantity) bool")(lambda one, other: one.nanos < other.nanos)
method("quantity.compareTo(quantity) int")(_compared)
method("quantity.add(quantity) quantity")(lambda one, other: Amount(one.nanos + other.nanos))
method("quantity.add(int) quantity")(lambda one, whole: Amount(one.nanos + whole * quantity.UNIT))
method("quantity.sub(quantity) quantity")(lambda one, other: Amount(one.nanos - other.nanos))
method("quantity.sub(int) quantity")(lambda one, whole: Amount(one.nanos - whole * quantity.UNIT))


_NUMBER: Final = r"(0|[1-9][0-9]*)"
_SEMVER: Final = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}"
    r"(?:-(?P<pre>[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
)


@dataclass(frozen=True, slots=True)
class Version:
    """A semantic version; `order` compares as versions do, what comes after + aside."""

    numbers: tuple[int, int, int]
    order: tuple[object, ...]


represented_by("semver", Version)


def _version(text: str) -> Version | None:
    match = _SEMVER.fullmatch(text)
    parts = (match["pre"] or "").split(".") if match else []
    if match is None or any(part.isdigit() and len(part) > 1 and part[0] == "0" for part in parts):
        return None
    numbers = (int(match[1]), int(match[2]), int(match[3]))
    before = tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts if part)
    return Version(numbers, (*numbers, not before, before))


def _normalized(text: str) -> str:
    parts = text.removeprefix("v").split(".", 2)
    for place, part in enumerate(parts):
        stripped = part.lstrip("0") if len(part) > 1 else part
        parts[place] = stripped if stripped and stripped[0].isdigit() else f"0{stripped}" if len(part) > 1 else part
    if len(parts) < 3 and not re.search(r"[-+]", parts[-1]):
        parts += ["0"] * (3 - len(parts))
    return ".".join(parts)


@function("semver(string) semver", "semver(string, bool) semver")
def _semver(text: str, normalize: bool = False) -> Version:
    found = _version(_normalized(text) if normalize else text)
    if found is None:
        raise Failure("No Major.Minor.Patch elements found" if text.count(".") < 2 else f'Invalid version "{text}"')
    return found


@function("isSemver(string) bool", "isSemver(string, bool) bool")
def _is_semver(text: str, normalize: bool = False) -> bool:
    return _version(_normalized(text) if normalize else text) is not None


def _ordered(one: Version, other: Version) -> int:
    return (one.order > other.order) - (one.order < other.order)


method("semver.major() int")(lambda version: version.numbers[0])
method("semver.minor() int")(lambda version: version.numbers[1])
method("semver.patch() int")(lambda version: version.numbers[2])
method("semver.compareTo(semver) int")(_ordered)
method("semver.isGreaterThan(semver) bool")(lambda one, other: _ordered(one, other) > 0)
method("semver.isLessThan(semver) bool")(lambda one, other: _ordered(one, other) < 0)
