"""`format`: a text with clauses, and the values that stand in their places.

A clause takes values of some types only. Where text and values are written out, that is known when the expression is
compiled; elsewhere when it is evaluated.
"""

import math
import re
from collections.abc import Callable, Iterator
from typing import Final

from baseload.kube.cel import operators
from baseload.kube.cel.overloads import method
from baseload.kube.cel.values import Duration, Failure, Instant, TypeOf, Value

_CLAUSE: Final = re.compile(r"%(?:(?P<percent>%)|(?:\.(?P<digits>[0-9]+))?(?P<verb>.)?)", re.DOTALL)
_MOST_DIGITS: Final = 1000
_WHOLE: Final = ("int", "uint")
_PRINTED: Final = (*_WHOLE, "double", "string", "bool", "bytes", "map", "list", "type", "null_type", "null", "dyn")
_TAKES: Final[dict[str, tuple[tuple[str, ...], str]]] = {
    "s": (
        (*_PRINTED, "duration", "timestamp", "google.protobuf.Duration", "google.protobuf.Timestamp"),
        "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and "
        "timestamps",
    ),
    "d": (_WHOLE, "decimal clause can only be used on integers"),
    "f": (("double",), "fixed-point clause can only be used on doubles"),
    "e": (("double",), "scientific clause can only be used on doubles"),
    "b": ((*_WHOLE, "bool"), "only integers and bools can be formatted as binary"),
    "o": (_WHOLE, "octal clause can only be used on integers"),
    "x": ((*_WHOLE, "string", "bytes"), "only integers, byte buffers, and strings can be formatted as hex"),
}
_RAISED: Final = str.maketrans("0123456789+-", "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079+\u207b")


@method("string.format(list(dyn)) string")
def _format(pattern: str, given: list[Value]) -> str:
    parts: list[str] = []
    position = used = 0
    for match in _CLAUSE.finditer(pattern):
        parts.append(pattern[position : match.start()])
        position = match.end()
        if match["percent"]:
            parts.append("%")
            continue
        verb = _verb(match)
        if used >= len(given):
            raise Failure(f"index {used} out of range")
        why = _unfit(verb, operators.type_name(given[used]))
        if why:
            raise Failure(why)
        parts.append(_FORMS[verb](given[used], min(int(match["digits"] or 6), _MOST_DIGITS)))
        used += 1
    return "".join([*parts, pattern[position:]])


def misuses(pattern: str, types: list[str]) -> Iterator[tuple[int | None, str]]:
    """What is wrong with a text for values of these types; the place of the value that is to blame, if one is."""
    used = 0
    try:
        for match in _CLAUSE.finditer(pattern):
            if match["percent"]:
                continue
            verb = _verb(match)
            if used >= len(types):
                raise Failure(f"index {used} out of range")
            if types[used] != "dyn" and (why := _unfit(verb, types[used])):
                yield used, why
                return
            used += 1
    except Failure as failure:
        yield None, str(failure)
        return
    if used < len(types):
        yield None, f"too many arguments supplied to string.format (expected {used}, got {len(types)})"


def _verb(match: re.Match[str]) -> str:
    verb = match["verb"]
    if verb is None:
        raise Failure("could not parse formatting clause: unexpected end of string")
    if verb not in _FORMS:
        raise Failure(f'could not parse formatting clause: unrecognized formatting clause "{verb}"')
    return verb


def _unfit(verb: str, kind: str) -> str:
    takes, wording = _TAKES[verb.lower()]
    return "" if kind in takes else f"error during formatting: {wording}, was given {kind}"


def _fixed(value: Value, digits: int) -> str:
    number = float(value)
    return f"{number:.{digits}f}" if math.isfinite(number) else _endless(number)


def _scientific(value: Value, width: int) -> str:
    """With an exponent; what looks like a number of digits is the width, on a real server too."""
    number = float(value)
    if not math.isfinite(number):
        return _endless(number)
    mantissa, _, exponent = f"{number:e}".partition("e")
    return f"{mantissa}\u00d710{exponent.removeprefix('+').translate(_RAISED)}".rjust(width)


def _endless(number: float) -> str:
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def _hex(value: Value, _: int) -> str:
    held = value.encode() if isinstance(value, str) else value
    return held.hex() if isinstance(held, bytes) else f"{int(held):x}"


_FORMS: Final[dict[str, Callable[[Value, int], str]]] = {
    "s": lambda value, _: _shown(value),
    "d": lambda value, _: str(int(value)),
    "f": _fixed,
    "e": _scientific,
    "b": lambda value, _: f"{int(value):b}",
    "o": lambda value, _: f"{int(value):o}",
    "x": _hex,
    "X": lambda value, _: _hex(value, 0).upper(),
}


def _shown(value: Value) -> str:
    match value:
        case None:
            return "null"
        case list():
            return f"[{', '.join(map(_within, value))}]"
        case dict():
            entries = sorted(f"{_within(key)}:{_within(held)}" for key, held in value.items())
            return f"{{{', '.join(entries)}}}"
        case bytes():
            return value.decode(errors="replace")
        case TypeOf():
            return value.name
    return operators.text(value)


def _within(value: Value) -> str:
    """A value within a list or map."""
    match value:
        case str():
            return f'"{value}"'
        case float():
            return _fixed(value, 6)
        case Duration():
            return f'duration("{operators.text(value)}")'
        case Instant():
            return f'timestamp("{operators.text(value)}")'
    return _shown(value)
