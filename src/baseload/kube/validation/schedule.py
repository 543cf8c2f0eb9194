"""Cron's five fields, and the few words that stand for them."""

import re
from functools import cache
from typing import Final
from zoneinfo import ZoneInfo

_FIELDS: Final = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
_MONTH_NAMES: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAY_NAMES: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_MONTHS: Final = {name: number for number, name in enumerate(_MONTH_NAMES, 1)}
_DAYS: Final = {name: number for number, name in enumerate(_DAY_NAMES)}
_NAMES: Final[tuple[dict[str, int], ...]] = ({}, {}, {}, _MONTHS, _DAYS)
_WORDS: Final = ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")
_DURATION: Final = re.compile(
    r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)(([0-9]+(\.[0-9]*)?)(ns|us|µs|ms|s|m|h))*"
)
_EVERY: Final = "@every "


class _WrongError(Exception):
    """What is wrong with a field."""


def wrong(text: str) -> str:
    """What is wrong with a schedule; "" where nothing is."""
    if text.startswith(("TZ=", "CRON_TZ=")):
        zone, _, text = text.partition("=")[2].partition(" ")
        if not is_zone(zone):
            return f"provided bad location {zone}: unknown time zone {zone}"
        text = text.strip()
    if text.startswith("@"):
        return _wrong_word(text)
    fields = text.split()
    if len(fields) != len(_FIELDS):
        return f"expected exactly 5 fields, found {len(fields)}: [{' '.join(fields)}]"
    try:
        for field, bounds, names in zip(fields, _FIELDS, _NAMES, strict=True):
            for part in field.split(","):
                _check(part, *bounds, names)
    except _WrongError as error:
        return str(error)
    return ""


def _wrong_word(text: str) -> str:
    if text in _WORDS:
        return ""
    if text.startswith(_EVERY):
        told = text.removeprefix(_EVERY)
        if _DURATION.fullmatch(told):
            return ""
        return f'failed to parse duration {text}: time: invalid duration "{told}"'
    return f"unrecognized descriptor: {text}"


def _check(part: str, least: int, most: int, names: dict[str, int]) -> None:
    """One of the ranges of a field: a number, some to some, all, each with a step."""
    whole, *step = part.split("/")
    ends = whole.split("-")
    if len(step) > 1:
        raise _WrongError(f"too many slashes: {part}")
    if len(ends) > 2:
        raise _WrongError(f"too many hyphens: {part}")
    if ends[0] in ("*", "?"):
        first, last = least, most
    else:
        first = _number(ends[0], names)
        last = _number(ends[1], names) if len(ends) > 1 else most if step else first
    every = _number(step[0], {}) if step else 1
    if first < least:
        raise _WrongError(f"beginning of range ({first}) below minimum ({least}): {part}")
    if last > most:
        raise _WrongError(f"end of range ({last}) above maximum ({most}): {part}")
    if first > last:
        raise _WrongError(f"beginning of range ({first}) beyond end of range ({last}): {part}")
    if every == 0:
        raise _WrongError(f"step of range should be a positive number: {part}")


def _number(text: str, names: dict[str, int]) -> int:
    if (known := names.get(text.lower())) is not None:
        return known
    if not re.fullmatch(r"[-+]?[0-9]+", text):
        raise _WrongError(f'failed to parse int from {text}: strconv.Atoi: parsing "{text}": invalid syntax')
    number = int(text)
    if number < 0:
        raise _WrongError(f"negative number ({number}) not allowed: {text}")
    return number


@cache
def is_zone(name: str) -> bool:
    """Whether there is a time zone of that name."""
    try:
        ZoneInfo(name)
    except (KeyError, OSError, ValueError):
        return False
    return True
