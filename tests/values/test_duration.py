"""Durations read and print as Go's do, to the nanosecond."""

import re
from fractions import Fraction

import pytest
from hypothesis import given

from baseload.values import duration
from baseload.values.duration import HOUR, MILLISECOND, MINUTE, SECOND, DurationError
from tests.values import strategies

NANOSECONDS = {"ns": 1, "us": 10**3, "\u00b5s": 10**3, "\u03bcs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9}
NANOSECONDS["h"] = 60 * NANOSECONDS["m"]


def parts(text: str) -> list[tuple[Fraction, int]]:
    """An independent reading: (number, nanoseconds of its unit)."""
    found = re.findall(r"([0-9.]+)([^0-9.]+)", text.lstrip("+-"))
    return [(Fraction(number.rstrip(".")), NANOSECONDS[unit]) for number, unit in found]


@given(strategies.durations)
def test_a_duration_is_the_sum_of_its_parts(text: str) -> None:
    exact = sum(number * unit for number, unit in parts(text))
    nanoseconds = abs(duration.parse(text))
    assert exact - len(parts(text)) <= nanoseconds <= exact
    if all(number.denominator == 1 for number, _ in parts(text)):
        assert nanoseconds == exact
    assert duration.parse(text) == (-nanoseconds if text.startswith("-") else nanoseconds)


@given(strategies.nanoseconds)
def test_what_is_printed_reads_back(nanoseconds: int) -> None:
    text = duration.format(nanoseconds)
    assert duration.parse(text) == nanoseconds
    assert re.fullmatch(r"-?(([0-9]+h)?[0-9]+m)?[0-9.]+s|-?[0-9.]+(ms|\u00b5s|ns)", text)


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("0", 0),
        ("-0", 0),
        ("+5s", 5 * SECOND),
        ("1h30m", HOUR + 30 * MINUTE),
        ("30m1h", HOUR + 30 * MINUTE),
        ("1.5s", 1500 * MILLISECOND),
        (".5h", 30 * MINUTE),
        ("1.s", SECOND),
        ("-250ms", -250 * MILLISECOND),
        ("1.9ns", 1),
        ("0.1h", 6 * MINUTE),
        ("0.100000000000000000000h", 6 * MINUTE),
        ("0.9223372036854775807h", 3320413933267),
        ("0.3333333333333333333h", 20 * MINUTE),
        ("9223372036854775807ns", 2**63 - 1),
        ("-9223372036854775808ns", -(2**63)),
        ("2562047h47m16.854775807s", 2**63 - 1),
    ],
)
def test_durations_by_example(text: str, nanoseconds: int) -> None:
    assert duration.parse(text) == nanoseconds


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "0s"),
        (1, "1ns"),
        (1100, "1.1\u00b5s"),
        (2_200_000, "2.2ms"),
        (3_300_000_000, "3.3s"),
        (60 * SECOND, "1m0s"),
        (90 * SECOND, "1m30s"),
        (HOUR, "1h0m0s"),
        (-720 * HOUR, "-720h0m0s"),
        (4 * MINUTE + 5001 * MILLISECOND, "4m5.001s"),
        (-(2**63), "-2562047h47m16.854775808s"),
    ],
)
def test_printed_durations_by_example(nanoseconds: int, text: str) -> None:
    assert duration.format(nanoseconds) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "-",
        "+",
        "1",
        "00",
        "h",
        ".s",
        "1 s",
        " 1s",
        "1s ",
        "1d",
        "1h-5m",
        "1e3s",
        "1S",
        "Never",
        "1.2.3s",
        "\u0661s",
    ],
)
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(DurationError, match="not a duration"):
        duration.parse(text)


@pytest.mark.parametrize(
    "text", ["9223372036854775808ns", "-9223372036854775809ns", "292277h1000000h2000000h", "9" * 5000 + "s"]
)
def test_more_than_64_bits_of_nanoseconds_are_refused(text: str) -> None:
    with pytest.raises(DurationError, match="overflow"):
        duration.parse(text)
