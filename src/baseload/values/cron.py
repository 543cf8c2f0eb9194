"""Cron's schedules: at which minutes something is due, in whatever time zone.

Five fields (minute, hour, day of the month, month, day of the week), each `*` or `?`, numbers, ranges, steps and lists,
months and days by their English names too; the words that stand for some of them; and `@every DURATION`. Where both
kinds of day are restricted, either will do. What falls into an hour that summer time leaves out is not due; what falls
into one that comes twice is due twice. Kubernetes uses robfig/cron, which does the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

from baseload.values import duration
from baseload.values.errors import quoted
from baseload.values.instant import SECOND

MINUTE: Final = 60
_WORDS: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_EVERY: Final = "@every "
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_BOUNDS: Final = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
_NAMES: Final[tuple[Mapping[str, int], ...]] = (
    {},
    {},
    {},
    {name: number for number, name in enumerate(_MONTHS, 1)},
    {name: number for number, name in enumerate(_DAYS)},
)
_OPEN: Final = ("*", "?", "*/1", "?/1")  # a wider step restricts
_YEARS: Final = 5  # in which something has to be due
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class CronError(ValueError):
    """A text is no schedule."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """The minutes at which something is due; or with `every`, the seconds between two times."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]  # Sunday is 0
    any_day: bool  # whether the day of the month was left open
    any_weekday: bool
    zone: tzinfo
    every: int = 0

    def next(self, after: int) -> int | None:
        """The first time after an instant (nanoseconds); None where there is none within five years."""
        if self.every:
            return (after // SECOND + self.every) * SECOND
        return self._search(after // SECOND // MINUTE * MINUTE + MINUTE, forwards=True)

    def latest(self, after: int, until: int) -> int | None:
        """The last time after one instant and not after another."""
        if self.every:
            times = (until // SECOND - after // SECOND) // self.every
            return (after // SECOND + times * self.every) * SECOND if times > 0 else None
        found = self._search(until // SECOND // MINUTE * MINUTE, forwards=False)
        return found if found is not None and found > after else None

    def is_more_than(self, times: int, after: int, until: int) -> bool:
        """Whether it is due more often than that between two instants."""
        for _ in range(times + 1):
            found = self.next(after)
            if found is None or found > until:
                return False
            after = found
        return True

    def _search(self, second: int, *, forwards: bool) -> int | None:
        """The nearest minute that is meant, from one on: a step leaves out what cannot be meant."""
        limit = second + (1 if forwards else -1) * _YEARS * 366 * 86400
        while second < limit if forwards else second > limit:
            local = (_EPOCH + timedelta(seconds=second)).astimezone(self.zone)
            if local.month not in self.months or not self._is_day(local):
                second = self._day_beside(local, second, forwards=forwards)
            elif local.hour not in self.hours:
                second += (MINUTE - local.minute if forwards else -local.minute - 1) * MINUTE
            elif local.minute not in self.minutes:
                second += MINUTE if forwards else -MINUTE
            else:
                return second * SECOND
        return None

    def _is_day(self, local: datetime) -> bool:
        in_month, in_week = local.day in self.days, local.isoweekday() % 7 in self.weekdays
        return in_month and in_week if self.any_day or self.any_weekday else in_month or in_week

    def _day_beside(self, local: datetime, second: int, *, forwards: bool) -> int:
        """The first minute of the next day, or the last one of the day before."""
        midnight = local.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
        if forwards:
            midnight = (midnight.replace(tzinfo=None) + timedelta(days=1)).replace(tzinfo=self.zone)
            return max(_seconds(midnight), second + MINUTE)
        return min(_seconds(midnight) - MINUTE, second - MINUTE)


def parse(text: str, zone: str = "") -> Schedule:
    """The schedule of a text, in a zone of the IANA's or in UTC."""
    where: tzinfo = ZoneInfo(zone) if zone else UTC
    if text.startswith(_EVERY):
        try:
            every = max(duration.parse(text.removeprefix(_EVERY)) // SECOND, 1)
        except duration.DurationError as error:
            raise CronError(str(error)) from error
        nothing: frozenset[int] = frozenset()
        return Schedule(nothing, nothing, nothing, nothing, nothing, True, True, where, every)
    fields = _WORDS.get(text, text).split()
    if len(fields) != len(_BOUNDS):
        raise CronError(f"{quoted(text)} is not a schedule: five fields, e.g. */5 * * * *, or a word such as @hourly")
    minutes, hours, days, months, weekdays = (
        _field(field, *bounds, names) for field, bounds, names in zip(fields, _BOUNDS, _NAMES, strict=True)
    )
    is_open = [any(part in _OPEN for part in field.split(",")) for field in fields]
    return Schedule(minutes, hours, days, months, weekdays, is_open[2], is_open[4], where)


def _field(text: str, least: int, most: int, names: Mapping[str, int]) -> frozenset[int]:
    found: set[int] = set()
    for part in text.split(","):
        whole, _, step = part.partition("/")
        first, dash, last = whole.partition("-")
        if first in ("*", "?"):
            begin, end = least, most
        else:
            begin = _number(first, names)
            end = _number(last, names) if dash else most if step else begin
        every = _number(step, {}) if step else 1
        if not least <= begin <= end <= most or every < 1:
            raise CronError(f"{quoted(part)} is not in a field of {least} to {most}")
        found.update(range(begin, end + 1, every))
    return frozenset(found)


def _number(text: str, names: Mapping[str, int]) -> int:
    known = names.get(text.lower())
    if known is not None:
        return known
    if not (text.isascii() and text.isdigit()):
        raise CronError(f"{quoted(text)} is neither a number nor a name")
    return int(text)


def _seconds(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(seconds=1)


def local(moment: int, zone: str) -> str:
    """An instant as RFC 3339 tells it in a zone, to the second."""
    where: tzinfo = ZoneInfo(zone) if zone else UTC
    text = (_EPOCH + timedelta(seconds=moment // SECOND)).astimezone(where).isoformat(timespec="seconds")
    return text.removesuffix("+00:00") + "Z" if text.endswith("+00:00") else text
