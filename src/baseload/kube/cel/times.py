"""Durations and instants in expressions."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from baseload.kube.cel.overloads import function, method
from baseload.kube.cel.values import Duration, Failure, Instant
from baseload.values import duration, instant

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@function("duration(string) duration")
def _duration(text: str) -> Duration:
    try:
        return Duration(duration.parse(text))
    except ValueError:
        raise Failure(f'time: invalid duration "{text}"') from None


@function("timestamp(string) timestamp")
def _timestamp(text: str) -> Instant:
    try:
        return Instant(instant.parse(text))
    except ValueError:
        raise Failure(
            f'parsing time "{text}" as "2006-01-02T15:04:05Z07:00": cannot parse "{text}" as a time'
        ) from None


function("timestamp(int) timestamp")(lambda seconds: Instant(seconds * instant.SECOND))
function("timestamp(timestamp) timestamp", "duration(duration) duration")(lambda value: value)


def _moment(value: Instant, zone: str) -> datetime:
    return (_EPOCH + timedelta(microseconds=value // 1000)).astimezone(_zone(zone))


def _zone(name: str) -> tzinfo:
    sign, digits = (-1, name[1:]) if name.startswith("-") else (1, name.removeprefix("+"))
    hours, colon, minutes = digits.partition(":")
    if colon and hours.isdigit() and minutes.isdigit():
        return timezone(sign * timedelta(hours=int(hours), minutes=int(minutes)))
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise Failure(f"unknown time zone {name}") from None


_PARTS: Final[dict[str, Callable[[datetime], int]]] = {
    "getFullYear": lambda at: at.year,
    "getMonth": lambda at: at.month - 1,
    "getDayOfYear": lambda at: at.timetuple().tm_yday - 1,
    "getDayOfMonth": lambda at: at.day - 1,
    "getDate": lambda at: at.day,
    "getDayOfWeek": lambda at: at.isoweekday() % 7,
    "getHours": lambda at: at.hour,
    "getMinutes": lambda at: at.minute,
    "getSeconds": lambda at: at.second,
    "getMilliseconds": lambda at: at.microsecond // 1000,
}
_UNITS: Final = {
    "getHours": duration.HOUR,
    "getMinutes": duration.MINUTE,
    "getSeconds": duration.SECOND,
    "getMilliseconds": duration.MILLISECOND,
}


def _declare(name: str, part: Callable[[datetime], int]) -> None:
    @method(f"timestamp.{name}() int", f"timestamp.{name}(string) int")
    def _part(value: Instant, zone: str = "UTC") -> int:
        return part(_moment(value, zone))


def _declare_unit(name: str, unit: int) -> None:
    @method(f"duration.{name}() int")
    def _units(value: Duration) -> int:
        return abs(value) // unit * (1 if value >= 0 else -1)


for _name, _body in _PARTS.items():
    _declare(_name, _body)
for _name, _unit in _UNITS.items():
    _declare_unit(_name, _unit)
