"""Cron's schedules, against tables worked out by hand and a search minute by minute."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baseload.values import cron, instant
from baseload.values.cron import CronError


def following(text: str, after: str, count: int, zone: str = "") -> list[str]:
    schedule, moment, found = cron.parse(text, zone), instant.parse(after), []
    for _ in range(count):
        due = schedule.next(moment)
        assert due is not None
        moment = due
        found.append(instant.format(due))
    return found


@pytest.mark.parametrize(
    ("text", "after", "expected"),
    [
        ("*/15 * * * *", "2026-11-30T12:05:30Z", ["2026-11-30T12:15:00Z", "2026-11-30T12:30:00Z"]),
        ("0 9-17/4 * * MON-FRI", "2026-11-27T14:00:00Z", ["2026-11-27T17:00:00Z", "2026-11-30T09:00:00Z"]),
        ("30 2 29 2 *", "2026-01-01T00:00:00Z", ["2028-02-29T02:30:00Z"]),
        ("0 0 13 * fri", "2026-11-01T00:00:00Z", ["2026-11-06T00:00:00Z", "2026-11-13T00:00:00Z"]),
        (
            "0 0 */10 * 1",
            "2026-11-01T00:00:00Z",
            ["2026-11-02T00:00:00Z", "2026-11-09T00:00:00Z"],
        ),
        ("5,10 0 1 jan,JUL ?", "2026-11-01T00:00:00Z", ["2027-01-01T00:05:00Z", "2027-01-01T00:10:00Z"]),
        ("3/20 * * * *", "2026-11-01T00:03:00Z", ["2026-11-01T00:23:00Z", "2026-11-01T00:43:00Z"]),
        ("@hourly", "2026-11-30T12:00:00Z", ["2026-11-30T13:00:00Z"]),
        ("@weekly", "2026-11-30T12:00:00Z", ["2026-12-06T00:00:00Z"]),
        ("@yearly", "2026-11-30T12:00:00Z", ["2027-01-01T00:00:00Z"]),
        ("@every 1h30m", "2026-11-30T12:00:00.5Z", ["2026-11-30T13:30:00Z", "2026-11-30T15:00:00Z"]),
    ],
)
def test_when_something_is_due(text: str, after: str, expected: list[str]) -> None:
    assert following(text, after, len(expected)) == expected


def test_a_zone_tells_what_noon_is() -> None:
    assert following("0 12 * * *", "2026-07-01T00:00:00Z", 1, "Asia/Kolkata") == ["2026-07-01T06:30:00Z"]
    assert following("0 12 * * *", "2026-07-01T00:00:00Z", 1, "Europe/Berlin") == ["2026-07-01T10:00:00Z"]


def test_what_falls_into_the_hour_that_summer_time_leaves_out_is_not_due_that_day() -> None:
    found = following("30 2 * * *", "2026-03-28T12:00:00Z", 1, "Europe/Berlin")

    assert found == ["2026-03-30T00:30:00Z"]


def test_what_falls_into_the_hour_that_comes_twice_is_due_twice() -> None:
    found = following("30 2 * * *", "2026-10-24T12:00:00Z", 3, "Europe/Berlin")

    assert found == ["2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", "2026-10-26T01:30:00Z"]


def test_the_latest_time_of_a_span_and_whether_many_were_missed() -> None:
    schedule = cron.parse("*/5 * * * *")
    begin, end = instant.parse("2026-11-30T12:01:00Z"), instant.parse("2026-11-30T12:23:00Z")

    assert schedule.latest(begin, end) == instant.parse("2026-11-30T12:20:00Z")
    assert schedule.latest(instant.parse("2026-11-30T12:21:00Z"), end) is None
    assert schedule.is_more_than(3, begin, end)
    assert not schedule.is_more_than(4, begin, end)


def test_a_day_that_never_comes_is_never_due() -> None:
    assert cron.parse("0 0 30 2 *").next(instant.parse("2026-11-30T12:00:00Z")) is None


@pytest.mark.parametrize("text", ["", "* * * *", "60 * * * *", "5-1 * * * *", "*/0 * * * *", "x * * * *", "@every x"])
def test_what_is_no_schedule_is_refused(text: str) -> None:
    with pytest.raises(CronError):
        cron.parse(text)


FIELDS = st.tuples(
    st.sampled_from(["*", "0", "*/7", "10-50/13"]),
    st.sampled_from(["*", "0", "2", "*/5", "1-3"]),
    st.sampled_from(["*", "1", "31", "10-20/3"]),
    st.sampled_from(["*", "3", "10,11"]),
    st.sampled_from(["*", "0", "mon-wed"]),
)
ZONES = st.sampled_from(["", "Europe/Berlin", "Asia/Kolkata", "America/St_Johns"])
START = datetime(2026, 1, 1, tzinfo=UTC)


@given(FIELDS, ZONES, st.integers(0, 365 * 1440))
def test_the_next_and_the_latest_time_are_those_of_a_search_minute_by_minute(
    fields: tuple[str, ...], zone: str, minute: int
) -> None:
    schedule = cron.parse(" ".join(fields), zone)
    moment = START + timedelta(minutes=minute)
    after = int(moment.timestamp()) * instant.SECOND
    where = ZoneInfo(zone) if zone else UTC

    def is_due(at: datetime) -> bool:
        local = at.astimezone(where)
        days = local.day in schedule.days, local.isoweekday() % 7 in schedule.weekdays
        is_day = all(days) if schedule.any_day or schedule.any_weekday else any(days)
        is_time = local.hour in schedule.hours and local.minute in schedule.minutes
        return is_day and is_time and local.month in schedule.months

    due = schedule.next(after)
    steps = 2000
    found = next((at for step in range(1, steps) if is_due(at := moment + timedelta(minutes=step))), None)
    if found is not None:
        assert due == int(found.timestamp()) * instant.SECOND
    else:
        assert due is None or due >= after + steps * 60 * instant.SECOND
    if due is not None:
        assert schedule.latest(after, due) == due
        assert schedule.latest(after, due - instant.SECOND) is None
