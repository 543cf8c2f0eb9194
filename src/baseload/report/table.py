"""Plain aligned text: columns, wrapped lists of names, and long runs of names folded into their ends."""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

_OWN_PART: Final = re.compile(r"(.*-)(?:x?\d+|[bcdfghjklmnpqrstvwxz2456789]{5})|(.*?)\d+")
"""what tells a pod from its siblings: a number, or five characters that Kubernetes drew"""
_FEW: Final = 3  # names that are written out rather than folded


def columns(header: Sequence[str], rows: Sequence[Sequence[str]], right: frozenset[int] = frozenset()) -> list[str]:
    """Lines with the cells of each column under one another; those of `right` end flush."""
    table = [header, *rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(header))]
    return [_line(row, widths, right) for row in table]


def _line(row: Sequence[str], widths: Sequence[int], right: frozenset[int]) -> str:
    cells = (
        cell.rjust(width) if column in right else cell.ljust(width)
        for column, (cell, width) in enumerate(zip(row, widths, strict=True))
    )
    return "  ".join(cells).rstrip()


def fold(names: Iterable[str], *, wide: bool = False) -> str:
    """Names in one line: those that differ in a number at the end alone become `web-x1 … web-x5 (5)`."""
    return ", ".join(folded(names, wide=wide))


def folded(names: Iterable[str], *, wide: bool = False) -> list[str]:
    """The parts of that line."""
    return [part for _, run in groupby(names, key=_stem) for part in _run(list(run), wide)]


def _run(names: list[str], wide: bool) -> list[str]:
    if wide or len(names) <= _FEW:
        return names
    return [f"{names[0]} … {names[-1]} ({len(names)})"]


def _stem(name: str) -> str:
    """What the names of one workload have in common."""
    match = _OWN_PART.fullmatch(name)
    return (match[1] or match[2]) if match else name


def few(items: Sequence[str], *, most: int = 10, wide: bool = False) -> list[str]:
    """The first items, and how many more there are."""
    if wide or len(items) <= most:
        return list(items)
    return [*items[:most], f"… and {len(items) - most} more (-v lists all)"]


def counted(count: int, noun: str, plural: str = "") -> str:
    """`1 node`, `2 nodes`."""
    return f"{count} {noun if count == 1 else plural or noun + 's'}"
