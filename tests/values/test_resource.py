"""Amounts of resources as they are written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from baseload.values import quantity
from baseload.values.quantity import MILLI, UNIT
from baseload.values.resource import written

MI = 2**20 * UNIT


@pytest.mark.parametrize(
    ("resource", "nanos", "text"),
    [
        ("cpu", 7500 * MILLI, "7500m"),
        ("cpu", 8 * UNIT, "8"),
        ("memory", 6348 * MI, "6348Mi"),
        ("ephemeral-storage", 20 * 1024 * MI, "20Gi"),
        ("hugepages-2Mi", 1024 * MI, "1Gi"),
        ("nvidia.com/gpu", 1024 * UNIT, "1024"),
        ("memory", 0, "0"),
    ],
)
def test_bytes_have_binary_suffixes_and_counts_decimal_ones(resource: str, nanos: int, text: str) -> None:
    assert written(resource, nanos) == text


@given(st.integers(0, 2**60), st.sampled_from(["cpu", "memory", "hugepages-1Gi", "pods"]))
def test_a_printed_amount_reads_back_as_itself(nanos: int, resource: str) -> None:
    assert quantity.parse(written(resource, nanos)) == nanos
