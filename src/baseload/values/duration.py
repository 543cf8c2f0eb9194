"""Go durations (`1h30m`, `1.5s`, `-250ms`) as whole nanoseconds, read and written as Go's own library does it.

A text is a sign and one or more numbers, each with its unit. A bare `0` is the one number that needs no unit. The sum
has to fit into 64 bits, which is a little over 292 years. Words such as Never are the business of the caller's field.
"""

import re
from typing import Final

from baseload.values.errors import quoted

NANOSECOND: Final = 1
MICROSECOND: Final = 1000 * NANOSECOND
MILLISECOND: Final = 1000 * MICROSECOND
SECOND: Final = 1000 * MILLISECOND
MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE

_UNITS: Final = {
    "ns": NANOSECOND,
    "us": MICROSECOND,
    "\u00b5s": MICROSECOND,  # the micro sign
    "\u03bcs": MICROSECOND,  # the Greek letter mu
    "ms": MILLISECOND,
    "s": SECOND,
    "m": MINUTE,
    "h": HOUR,
}
_PART: Final = re.compile(r"(?=\.?[0-9])(?P<whole>[0-9]*)(?:\.(?P<fraction>[0-9]*))?(?P<unit>[^0-9.]+)")
_LARGEST: Final = 2**63 - 1


class DurationError(ValueError):
    """A text is no duration, or one that 64 bits of nanoseconds cannot hold."""


def parse(text: str) -> int:
    """The nanoseconds that a duration's text stands for."""
    unsigned = text[1:] if text[:1] in ("+", "-") else text
    if unsigned == "0":
        return 0
    total = position = 0
    while position < len(unsigned) or not unsigned:
        part = _PART.match(unsigned, position)
        if part is None or part["unit"] not in _UNITS:
            wanted = "numbers, each with a unit of ns, us, ms, s, m, h, e.g. 1h30m"
            raise DurationError(f"{quoted(text)} is not a duration: {wanted}")
        total += _nanoseconds(part["whole"], part["fraction"] or "", _UNITS[part["unit"]])
        position = part.end()
    negative = text.startswith("-")
    if total > _LARGEST + negative:
        raise DurationError(f"overflow: {quoted(text)} is more than 64 bits of nanoseconds hold (about 292 years)")
    return -total if negative else total


def format(nanoseconds: int) -> str:
    """Go's text of a duration: hours, minutes and seconds, or one smaller unit below a second."""
    sign, rest = ("-", -nanoseconds) if nanoseconds < 0 else ("", nanoseconds)
    if rest == 0:
        return "0s"
    if rest < SECOND:
        unit = next(unit for unit in ("ms", "\u00b5s", "ns") if rest >= _UNITS[unit])
        return f"{sign}{_decimal(rest, _UNITS[unit])}{unit}"
    minutes, seconds = divmod(rest, MINUTE)
    text = f"{_decimal(seconds, SECOND)}s"
    if minutes:
        hours, minutes = divmod(minutes, 60)
        text = f"{hours}h{minutes}m{text}" if hours else f"{minutes}m{text}"
    return sign + text


def _nanoseconds(whole: str, fraction: str, unit: int) -> int:
    """One number with its unit; parts of a nanosecond are cut.

    Go reads the fraction as an integer of at most 2^63, ignores digits beyond, and multiplies in floating point; the
    same is done here because the last nanosecond depends on it.
    """
    digits, scale = 0, 1.0
    for digit in fraction:
        if digits * 10 + int(digit) > _LARGEST + 1:
            break
        digits = digits * 10 + int(digit)
        scale *= 10
    significant = whole.lstrip("0")
    if len(significant) > 19:  # more than 64 bits whatever the unit; int() refuses very long texts
        return _LARGEST + 2
    return int(significant or "0") * unit + int(digits * (unit / scale))


def _decimal(amount: int, unit: int) -> str:
    """amount / unit without trailing zeros; units are powers of ten."""
    whole, rest = divmod(amount, unit)
    if not rest:
        return str(whole)
    width = len(str(unit)) - 1
    return f"{whole}.{rest:0{width}}".rstrip("0")
