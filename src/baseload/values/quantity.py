"""Kubernetes quantities (`500m`, `1.5Gi`, `12e6`) as exact integers of 10^-9 units, and their canonical text.

A quantity is a plain int of nano-units, so sums, comparisons and differences are Python's own and exact. What is finer
than that is rounded away from zero, as Kubernetes does: whoever asks for something gets something. The text remembers
one of three forms, and a canonical text keeps it: binary suffixes (Ki), decimal suffixes (k), or exponents of ten (e3).
The form is no part of the value; who prints a sum passes the form of the first addend.
"""

import re
from functools import lru_cache
from typing import Final, Literal

from baseload.values.errors import quoted

Quantity = int
Form = Literal["BinarySI", "DecimalSI", "DecimalExponent"]

MILLI: Final = 10**6
UNIT: Final = 10**9

_LIMIT: Final = (2**63 - 1) * UNIT
_LONGEST: Final = 1000  # characters; a longer text is a mistake, and converting it would take its time
_FARTHEST: Final = 2 * _LONGEST  # an exponent beyond this changes no result that a text of that length can have

_ALLOWED: Final = "a number, then at most one of n u m k M G T P E Ki Mi Gi Ti Pi Ei or an exponent"
_TEXT: Final = re.compile(
    r"(?P<sign>[+-]?)(?=\.?[0-9])(?P<whole>[0-9]*)(?:\.(?P<fraction>[0-9]*))?"
    r"(?:(?P<binary>[KMGTPE])i|(?P<decimal>[numkMGTPE]?)|[eE](?P<exponent>[+-]?[0-9]+))"
)
_BINARY: Final = {letter: 1024**power for power, letter in enumerate("KMGTPE", start=1)}
_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_DECIMAL_SUFFIX: Final = {exponent: letter for letter, exponent in _DECIMAL.items()}


class QuantityError(ValueError):
    """A text or number is no quantity, or one too large to count."""


def parse(text: str | int | float) -> Quantity:
    """The nano-units that a quantity stands for; JSON numbers are taken as they are written."""
    return _read(_as_text(text))[0]


def format_of(text: str | int | float) -> Form:
    """The form that Kubernetes remembers of a quantity's text."""
    return _read(_as_text(text))[1]


def format(nanos: Quantity, form: Form = "DecimalSI") -> str:
    """The canonical text: a whole number with the largest suffix that allows it.

    The binary form gives way to the decimal one for small amounts and for fractions, which it could only round.
    """
    if nanos == 0:
        return "0"
    whole, rest = divmod(nanos, UNIT)
    if form == "BinarySI" and not rest and abs(whole) >= 1024:
        return _binary_text(whole)
    return _decimal_text(nanos, form)


def _as_text(text: str | int | float) -> str:
    if isinstance(text, str):
        return text
    if isinstance(text, bool):
        raise QuantityError(f"{str(text).lower()} is not a quantity")
    if isinstance(text, int) and abs(text) * UNIT > _LIMIT:  # before str(), which refuses very long numbers
        raise QuantityError("overflow: a quantity is at most 2^63-1")
    return repr(text)


@lru_cache(maxsize=65536)
def _read(text: str) -> tuple[Quantity, Form]:
    match = _TEXT.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        raise QuantityError(f"{quoted(text)} is not a quantity: {_ALLOWED}")
    fraction = match["fraction"] or ""
    digits = int(match["whole"] + fraction)
    if match["binary"]:
        nanos = _scaled(digits * _BINARY[match["binary"]], 9 - len(fraction))
        form: Form = "DecimalSI" if 0 < nanos < UNIT else "BinarySI"
    elif match["exponent"]:
        nanos, form = _scaled(digits, 9 - len(fraction) + int(match["exponent"])), "DecimalExponent"
    else:
        nanos, form = _scaled(digits, 9 - len(fraction) + _DECIMAL[match["decimal"]]), "DecimalSI"
    if nanos > _LIMIT:
        raise QuantityError(f"overflow: {quoted(text)} is more than 2^63-1")
    return (-nanos if match["sign"] == "-" else nanos), form


def _scaled(digits: int, exponent: int) -> int:
    """digits * 10^exponent, rounded up to a whole number."""
    power: int = 10 ** min(abs(exponent), _FARTHEST)
    return digits * power if exponent >= 0 else -(-digits // power)


def _binary_text(whole: int) -> str:
    suffix = ""
    for letter in _BINARY:
        if whole % 1024:
            break
        whole //= 1024
        suffix = f"{letter}i"
    return f"{whole}{suffix}"


def _decimal_text(nanos: Quantity, form: Form) -> str:
    exponent = -9
    while nanos % 1000 == 0 and exponent < 18:
        nanos //= 1000
        exponent += 3
    if form == "DecimalExponent":
        return f"{nanos}e{exponent}" if exponent else str(nanos)
    return f"{nanos}{_DECIMAL_SUFFIX[exponent]}"
