"""Instants are read by the calendar alone, whatever the machine's time zone."""

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baseload.values import instant
from baseload.values.instant import InstantError

MINUTES = st.integers(-23 * 60 - 59, 23 * 60 + 59)
SAFE = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29))  # noqa: DTZ001 - the zone is put to it below


@pytest.fixture(params=["UTC", "Asia/Kathmandu"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setitem(os.environ, "TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


@given(SAFE, MINUTES)
def test_an_instant_is_the_calendars(naive: datetime, offset: int) -> None:
    moment = naive.replace(tzinfo=timezone(timedelta(minutes=offset)))
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    assert instant.parse(moment.isoformat()) == (since // timedelta(microseconds=1)) * 1000


@given(st.integers(instant.parse("0001-01-01T00:00:00Z"), instant.parse("9999-12-31T23:59:59.999999999Z")))
def test_what_is_printed_reads_back(nanoseconds: int) -> None:
    assert instant.parse(instant.format(nanoseconds)) == nanoseconds


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01t00:00:01z", 10**9),
        ("1969-12-31T23:59:59.999999999Z", -1),
        ("1970-01-01T00:00:00.1234567899Z", 123456789),
        ("1970-01-01T02:30:00+02:30", 0),
        ("1969-12-31T16:00:00-08:00", 0),
        ("2000-02-29T12:00:00-00:00", 951825600 * 10**9),
    ],
)
def test_instants_by_example(zone: str, text: str, nanoseconds: int) -> None:
    assert zone
    assert instant.parse(text) == nanoseconds


def test_a_printed_instant_is_in_utc_with_the_shortest_fraction() -> None:
    assert instant.format(instant.parse("2026-11-30T12:00:00.500+02:00")) == "2026-11-30T10:00:00.5Z"
    assert instant.format(instant.parse("2026-11-30T12:00:00.000Z")) == "2026-11-30T12:00:00Z"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-11-30",
        "2026-11-30T12:00:00",
        "2026-11-30 12:00:00Z",
        "2026-11-30T12:00Z",
        "2026-11-31T12:00:00Z",
        "2025-02-29T12:00:00Z",
        "2026-13-01T12:00:00Z",
        "0000-01-01T12:00:00Z",
        "2026-11-30T24:00:00Z",
        "2026-11-30T12:60:00Z",
        "2026-11-30T12:00:60Z",
        "2026-11-30T12:00:00.Z",
        "2026-11-30T12:00:00+2:00",
        "2026-11-30T12:00:00+24:00",
        "2026-11-30T12:00:00Z\n",
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-00:01",
        "\u0662026-11-30T12:00:00Z",
    ],
)
def test_what_is_no_instant_is_refused(text: str) -> None:
    with pytest.raises(InstantError, match="not an RFC 3339 instant"):
        instant.parse(text)


def test_an_instant_beyond_the_calendar_cannot_be_printed() -> None:
    with pytest.raises(InstantError, match="outside the years"):
        instant.format(10**21)
