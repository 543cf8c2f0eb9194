"""Text for people: aligned columns, folded names."""

import pytest

from baseload.report import amounts
from baseload.report.table import columns, few, fold
from baseload.values.quantity import MILLI, UNIT

MI = 2**20 * UNIT


def test_columns_are_aligned_and_lines_end_without_blanks() -> None:
    assert columns(("A", "N"), [("long name", "7"), ("b", "1200")], right=frozenset({1})) == [
        "A             N",
        "long name     7",
        "b          1200",
    ]
    assert columns(("", ""), [("a", "")]) == ["", "a"]


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([f"a/web-x{n}" for n in range(1, 6)], "a/web-x1 … a/web-x5 (5)"),
        (["a/web-x1", "a/web-x2"], "a/web-x1, a/web-x2"),
        (["a/db-0", "a/db-1", "a/db-2", "a/db-3", "a/one"], "a/db-0 … a/db-3 (4), a/one"),
        (["a/web-7d9f8b6c5d-b2xkz", "a/web-7d9f8b6c5d-c8sl4", "a/web-7d9f8b6c5d-d4mnp", "a/web-7d9f8b6c5d-z9qrt"],
         "a/web-7d9f8b6c5d-b2xkz … a/web-7d9f8b6c5d-z9qrt (4)"),
        (["a/orders", "a/search", "a/stock", "a/users"], "a/orders, a/search, a/stock, a/users"),
    ],
)  # fmt: skip
def test_pods_of_one_workload_fold_into_their_ends(names: list[str], text: str) -> None:
    assert fold(names) == text


def test_wide_folds_nothing() -> None:
    assert fold([f"web-{n}" for n in range(4)], wide=True) == "web-0, web-1, web-2, web-3"


def test_a_long_list_says_how_much_is_left_out() -> None:
    assert few(["a", "b", "c"], most=2) == ["a", "b", "… and 1 more (-v lists all)"]
    assert few(["a", "b", "c"], most=2, wide=True) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("resource", "nanos", "text"),
    [
        ("cpu", 500 * MILLI, "500m"),
        ("memory", 6348 * MI, "6348Mi"),
        ("memory", MI // 2, "0.5Mi"),
        ("memory", 512 * 1024 * MI, "512Gi"),
        ("pods", 8 * UNIT, "8"),
    ],
)
def test_amounts_are_short(resource: str, nanos: int, text: str) -> None:
    assert amounts.amount(resource, nanos) == text


def test_shares_of_several_nodes_are_a_range() -> None:
    assert amounts.shares([0.948]) == "95 %"
    assert amounts.shares([1.0, 0.61]) == "61-100 %"


def test_estimates_are_marked() -> None:
    assert amounts.price(0.1496, estimated=True) == "~$0.1496"
    assert amounts.price(None) == "unknown"
    assert amounts.month(2.0) == "$1,460.00"
