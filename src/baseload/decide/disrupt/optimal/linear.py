"""The largest value of a linear form under linear limits, by the simplex method on a dense tableau.

For small problems that have the origin among their solutions: `rows · x <= limits`, `x >= 0`, no limit below 0. What it
finds is only ever used as a proposal whose worth is then worked out exactly, so rounding does no harm.
"""

from collections.abc import Sequence
from typing import Final

_NOTHING: Final = 1e-9
_GREEDY: Final = 2_000  # steps to the largest gain, after which the first gain is taken, which cannot go in circles
_MOST: Final = 6_000


def maximum(gains: Sequence[float], rows: Sequence[Sequence[float]], limits: Sequence[float]) -> list[float]:
    """The x that makes `gains · x` largest; what was reached where it is not bounded or takes too many steps."""
    count = len(gains)
    tableau = [[*row, limit] for row, limit in zip(rows, limits, strict=True)]
    last = [*(-gain for gain in gains), 0.0]
    inside = list(range(count, count + len(tableau)))  # row -> the variable that it stands for; from `count` on slacks
    outside = list(range(count))
    for step in range(_MOST):
        column = _entering(last, outside, greedy=step < _GREEDY)
        if column is None:
            break
        row = _leaving(tableau, column, inside)
        if row is None:
            break
        _exchange(tableau, last, row, column)
        inside[row], outside[column] = outside[column], inside[row]
    found = [0.0] * count
    for place, variable in enumerate(inside):
        if variable < count:
            found[variable] = max(0.0, tableau[place][-1])
    return found


def _entering(last: Sequence[float], outside: Sequence[int], *, greedy: bool) -> int | None:
    columns = [column for column in range(len(outside)) if last[column] < -_NOTHING]
    if not columns:
        return None
    if greedy:
        return min(columns, key=lambda column: (last[column], outside[column]))
    return min(columns, key=lambda column: outside[column])


def _leaving(tableau: Sequence[Sequence[float]], column: int, inside: Sequence[int]) -> int | None:
    ratios = [
        (row[-1] / row[column], inside[place], place) for place, row in enumerate(tableau) if row[column] > _NOTHING
    ]
    return min(ratios)[2] if ratios else None


def _exchange(tableau: list[list[float]], last: list[float], row: int, column: int) -> None:
    """The variable of a row and that of a column change places."""
    pivot = tableau[row]
    by = pivot[column]
    pivot[column] = 1.0
    pivot[:] = [value / by for value in pivot]
    for other in (*tableau, last):
        if other is pivot or not (times := other[column]):
            continue
        other[column] = 0.0
        other[:] = [value - times * share for value, share in zip(other, pivot, strict=True)]
