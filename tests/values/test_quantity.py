"""Quantities mean what Kubernetes takes them to mean, exactly, and print as Kubernetes prints them."""

import math
import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baseload.values import quantity
from baseload.values.quantity import MILLI, UNIT, QuantityError
from tests.values import strategies

SCALES = {letter: Fraction(10) ** power for letter, power in zip("num", (-9, -6, -3), strict=True)}
SCALES |= {letter: Fraction(1000) ** power for power, letter in enumerate(["", "k", "M", "G", "T", "P", "E"])}
SCALES |= {f"{letter}i": Fraction(1024) ** power for power, letter in enumerate("KMGTPE", start=1)}


def meant(text: str) -> Fraction:
    """An independent reading of a quantity, in units and before rounding."""
    match = re.fullmatch(r"([+-]?[0-9.]+)(?:[eE]([+-]?\d+)|([A-Za-z]*))", text)
    assert match is not None
    number = Fraction(match[1].rstrip("."))
    return number * Fraction(10) ** int(match[2]) if match[2] else number * SCALES[match[3]]


def rounded(units: Fraction) -> int:
    nanos = math.ceil(abs(units) * UNIT)
    return -nanos if units < 0 else nanos


@given(strategies.quantities)
def test_a_quantity_is_its_number_times_its_suffix(text: str) -> None:
    units = meant(text)
    if abs(units) > 2**63 - 1:
        with pytest.raises(QuantityError, match="overflow"):
            quantity.parse(text)
    else:
        assert quantity.parse(text) == rounded(units)


@given(st.lists(strategies.quantities.filter(lambda text: abs(meant(text)) < 2**63), max_size=5))
def test_quantities_sort_by_what_they_mean(texts: list[str]) -> None:
    by_nanos = [meant(text) for text in sorted(texts, key=quantity.parse)]
    assert [rounded(units) for units in by_nanos] == sorted(map(rounded, by_nanos))


@given(
    st.integers(-(2**63 - 1) * UNIT, (2**63 - 1) * UNIT), st.sampled_from(["BinarySI", "DecimalSI", "DecimalExponent"])
)
def test_what_is_printed_reads_back(nanos: int, form: quantity.Form) -> None:
    assert quantity.parse(quantity.format(nanos, form)) == nanos


@given(strategies.quantities.filter(lambda text: abs(meant(text)) < 2**63))
def test_a_canonical_text_stays_as_it_is(text: str) -> None:
    canonical = quantity.format(quantity.parse(text), quantity.format_of(text))
    assert quantity.format(quantity.parse(canonical), quantity.format_of(canonical)) == canonical


@pytest.mark.parametrize(
    ("text", "nanos"),
    [
        ("1", UNIT),
        ("500m", 500 * MILLI),
        ("1n", 1),
        ("+1.5", 1_500 * MILLI),
        ("-2", -2 * UNIT),
        ("5.", 5 * UNIT),
        (".5", 500 * MILLI),
        ("1E", 10**18 * UNIT),
        ("1E3", 1000 * UNIT),
        ("1e-3", MILLI),
        ("1.5Gi", 3 * 2**29 * UNIT),
        ("0e99999999999", 0),
        ("1e-99999999999", 1),
        (2, 2 * UNIT),
        (0.1, 100 * MILLI),
        (1e3, 1000 * UNIT),
    ],
)
def test_quantities_by_example(text: str | float, nanos: int) -> None:
    assert quantity.parse(text) == nanos


def test_what_is_finer_than_a_nano_rounds_away_from_zero() -> None:
    assert quantity.parse("1.0000000001") == UNIT + 1
    assert quantity.parse("-0.1n") == -1


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("1000", "1k"),
        ("1500", "1500"),
        ("1500m", "1500m"),
        ("1000m", "1"),
        ("0.5", "500m"),
        ("1024Ki", "1Mi"),
        ("1.5Gi", "1536Mi"),
        ("1023Ki", "1023Ki"),
        ("1000Ki", "1000Ki"),
        ("0.5Ki", "512"),
        ("0.1Ki", "102400m"),
        ("1e3", "1e3"),
        ("12e4", "120e3"),
        ("1E-2", "10e-3"),
        ("1e0", "1"),
        ("0Gi", "0"),
        ("-2048Ki", "-2Mi"),
        ("0.0001Ki", "102400u"),
    ],
)
def test_canonical_texts_by_example(text: str, canonical: str) -> None:
    assert quantity.format(quantity.parse(text), quantity.format_of(text)) == canonical


def test_a_small_binary_amount_prints_decimal() -> None:
    assert quantity.format_of("0.0001Ki") == "DecimalSI"
    assert quantity.format(1000 * UNIT, "BinarySI") == "1k"
    assert quantity.format(1024 * UNIT, "BinarySI") == "1Ki"


def test_a_binary_sum_that_is_no_whole_number_prints_decimal() -> None:
    assert quantity.format(quantity.parse("1Ki") + quantity.parse("1m"), "BinarySI") == "1024001m"


@pytest.mark.parametrize(
    "text",
    [
        "",
        " 1",
        "1 ",
        "1\n",
        ".",
        "-",
        "+",
        "Ki",
        "1ki",
        "1i",
        "1K",
        "1.1.1",
        "1e",
        "1e+",
        "1e1.5",
        "--1",
        "1_0",
        "0x1",
        "\u0661",
    ],
)
def test_what_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(QuantityError, match="not a quantity"):
        quantity.parse(text)


@pytest.mark.parametrize("number", [True, float("nan"), float("inf")])
def test_a_json_value_that_is_no_number_is_refused(number: float) -> None:
    with pytest.raises(QuantityError, match="not a quantity"):
        quantity.parse(number)


@pytest.mark.parametrize(
    "text", ["8Ei", "10E", "9223372036854775808", "-9223372036854775808", "1e30", 10**19, 10**400, 1e19]
)
def test_what_64_bits_of_units_cannot_hold_is_refused(text: str | float) -> None:
    with pytest.raises(QuantityError, match="overflow"):
        quantity.parse(text)


def test_an_endless_text_is_refused_at_once() -> None:
    with pytest.raises(QuantityError, match=r"000\.\.\."):
        quantity.parse("0" * 10**6)
