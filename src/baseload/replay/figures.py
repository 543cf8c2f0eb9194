"""The key figures of a run, which every report has: what is there in the end, and what came to pass."""

from typing import TYPE_CHECKING, Final

from baseload.replay.line import Line
from baseload.replay.series import CHOICES, KINDS, Book, Query
from baseload.values.duration import SECOND

if TYPE_CHECKING:
    from baseload.replay.witness import Witness

_ENDS: Final = (
    "pods.total",
    "pods.running",
    "pods.ready",
    "pods.pending",
    "nodes.total",
    "nodes.ready",
    "nodes.cpu",
    "nodeClaims.total",
    "instances",
)
_PEAKS: Final = ("pods.running", "pods.pending", "nodes.total", "nodes.cpu")
_COUNTS: Final = (
    "launches",
    "launches.unused",
    "terminations",
    "disruptions",
    "disruptions.repeated",
    "interruptions",
    "nodes.flaps",
    "evictions",
    "podsCutOff",
    "restarts",
    "oomKills",
    "controllers.starts",
)
_SUMS: Final = ("cost.hour", "cost.total", "controllers.downTime")
QUERIES: Final = (
    *(Query(name) for name in (*_ENDS, *_COUNTS, *_SUMS)),
    *(Query(name, (("cause", cause),)) for name, causes in CHOICES.items() for cause in causes),
)


def figures(book: Book, witness: "Witness", end: int) -> dict[str, object]:
    """Series -> value at the end; peaks; counts by cause; what was decided."""
    found: dict[str, object] = {}
    for name in (*_ENDS, *_COUNTS, *_SUMS):
        found[name] = value(name, book.line(Query(name)).at(end))
        if name in CHOICES:
            causes = {cause: book.line(Query(name, (("cause", cause),))).at(end) for cause in CHOICES[name]}
            found[f"{name}.byCause"] = {cause: count for cause, count in causes.items() if count}
    peaks: dict[str, object] = {}
    for name in _PEAKS:
        line = book.line(Query(name))
        assert isinstance(line, Line)
        peaks[name] = value(name, line.most())
    found["peaks"] = peaks
    found["longestPendingSeconds"] = round(witness.pods.longest(end) / SECOND, 3)
    found["plans"] = witness.plans.count
    return found


def value(series: str, raw: int) -> int | float:
    """A value in the unit of its series."""
    scale = KINDS[series].scale
    return raw if scale == 1 else float(f"{raw / scale:.10g}")
