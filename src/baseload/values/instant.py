"""RFC 3339 instants (`2026-11-30T12:00:00Z`) as whole nanoseconds since the epoch, by calendar arithmetic alone.

Neither the machine's clock, its time zone nor its locale takes part. Offsets are folded into UTC; digits beyond the
nanosecond are cut. Written texts are in UTC and carry a fraction only where there is one.
"""

import re
from datetime import date
from functools import lru_cache
from typing import Final

from baseload.values.errors import quoted

SECOND: Final = 10**9
_DAY: Final = 86400
_EPOCH: Final = date(1970, 1, 1).toordinal()
_FIRST: Final = (date.min.toordinal() - _EPOCH) * _DAY
_END: Final = (date.max.toordinal() + 1 - _EPOCH) * _DAY

_TEXT: Final = re.compile(
    r"(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})[Tt]"
    r"(?P<hour>[01][0-9]|2[0-3]):(?P<minute>[0-5][0-9]):(?P<second>[0-5][0-9])(?:\.(?P<fraction>[0-9]+))?"
    r"(?:[Zz]|(?P<sign>[+-])(?P<off_hour>[01][0-9]|2[0-3]):(?P<off_minute>[0-5][0-9]))"
)


class InstantError(ValueError):
    """A text is no RFC 3339 instant, or one outside the years 1 to 9999."""


@lru_cache(maxsize=4096)  # what happens at one moment is written by many
def parse(text: str) -> int:
    """The nanoseconds since the epoch of an instant's text."""
    match = _TEXT.fullmatch(text)
    if match is None:
        raise _error(text)
    try:
        day = date(int(match["year"]), int(match["month"]), int(match["day"])).toordinal()
    except ValueError as error:
        raise _error(text) from error
    seconds = (day - _EPOCH) * _DAY + _clock(match["hour"], match["minute"]) + int(match["second"])
    if match["sign"]:
        offset = _clock(match["off_hour"], match["off_minute"])
        seconds += offset if match["sign"] == "-" else -offset
    if not _FIRST <= seconds < _END:
        raise _error(text)
    return seconds * SECOND + int((match["fraction"] or "")[:9].ljust(9, "0"))


def format(nanoseconds: int) -> str:
    """The instant in UTC; the shortest fraction that is exact, none for whole seconds."""
    seconds, fraction = divmod(nanoseconds, SECOND)
    if not _FIRST <= seconds < _END:
        raise InstantError(f"{nanoseconds} ns since the epoch lies outside the years 1 to 9999")
    decimals = f".{fraction:09}".rstrip("0") if fraction else ""
    return f"{_to_the_second(seconds)}{decimals}Z"


@lru_cache(maxsize=4096)
def _to_the_second(seconds: int) -> str:
    days, clock = divmod(seconds, _DAY)
    minutes, second = divmod(clock, 60)
    return f"{date.fromordinal(days + _EPOCH).isoformat()}T{minutes // 60:02}:{minutes % 60:02}:{second:02}"


def _clock(hours: str, minutes: str) -> int:
    return int(hours) * 3600 + int(minutes) * 60


def _error(text: str) -> InstantError:
    return InstantError(f"{quoted(text)} is not an RFC 3339 instant, e.g. 2026-11-30T12:00:00Z")
