"""Amounts, shares and prices as people read them."""

from collections.abc import Iterable
from typing import Final

from baseload.values import quantity
from baseload.values.quantity import UNIT
from baseload.values.resource import counts_bytes

HOURS_A_MONTH: Final = 730
_MI: Final = 2**20 * UNIT
_GI: Final = 2**30 * UNIT


def amount(resource: str, nanos: int) -> str:
    """An amount of a resource; bytes in Mi, large ones in Gi."""
    if not counts_bytes(resource):
        return quantity.format(nanos)
    if abs(nanos) >= 100 * _GI:
        return f"{_decimals(nanos / _GI)}Gi"
    return f"{_decimals(nanos / _MI)}Mi"


def _decimals(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0") if abs(number) < 10 else f"{number:.0f}"


def price(dollars: float | None, *, estimated: bool = False) -> str:
    """Dollars an hour with four decimals; what is an estimate begins with ~."""
    if dollars is None:
        return "unknown"
    return f"{'~' if estimated else ''}${dollars:.4f}"


def month(dollars_an_hour: float, *, estimated: bool = False) -> str:
    """Dollars a month of 730 hours."""
    return f"{'~' if estimated else ''}${dollars_an_hour * HOURS_A_MONTH:,.2f}"


def shares(values: Iterable[float]) -> str:
    """A share in per cent, or the range of several."""
    percents = sorted(f"{value * 100:3.0f}".strip() for value in values)
    low, high = min(percents, key=int), max(percents, key=int)
    return f"{low} %" if low == high else f"{low}-{high} %"


def numbers(values: Iterable[int]) -> str:
    """A number, or the range of several."""
    found = list(values)
    low, high = min(found), max(found)
    return str(low) if low == high else f"{low}-{high}"
