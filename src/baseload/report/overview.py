"""A cluster's nodes as a terminal shows them: what there is in all, the NodePools, a line a node, the pods that wait.

Lines are made of spans, each with the style that a terminal gives it; `plain` is their text alone. A terminal that is
too narrow for the whole table gets one with shorter bars and fewer columns, and in the end cut names.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from baseload.plan.overview import RESOURCES, NodeRow, Overview, PodRow, PoolRow
from baseload.report import amounts
from baseload.report.table import counted, fold
from baseload.values import instant, span
from baseload.values.quantity import UNIT
from baseload.values.resource import counts_bytes


class Span(NamedTuple):
    """A piece of a line in one style: a rich style's name, "" for none."""

    text: str
    style: str = ""


Line = tuple[Span, ...]

_STYLES: Final = {
    "Ready": "green",
    "Running": "green",
    "Cordoned": "yellow",
    "Initializing": "cyan",
    "Starting": "cyan",
    "Launching": "cyan",
    "Booting": "cyan",
    "Pending": "yellow",
    "Disrupted": "magenta",
    "Terminating": "magenta",
    "NotReady": "red",
    "Unknown": "red",
    "NodeGone": "red",
    "Failed": "red",
}
_HEADER: Final = ("NODE", "TYPE", "ZONE", "CAPACITY", "NODEPOOL", "$/HOUR", "CPU", "MEMORY", "PODS", "AGE", "STATE")
_RIGHT: Final = frozenset({"$/HOUR", "AGE"})
_BAR: Final = "bright_blue"
_GI: Final = 2**30 * UNIT
_SHORTEST: Final = 16  # characters of a name that is cut


@dataclass(frozen=True, slots=True)
class _Layout:
    """How long bars are, which columns are left out, and whether states say why."""

    bar: int
    without: frozenset[str] = frozenset()
    reasons: bool = False


_LAYOUTS: Final = (
    _Layout(10, reasons=True),
    _Layout(5, reasons=True),
    _Layout(5),
    _Layout(5, frozenset({"NODEPOOL"})),
    _Layout(5, frozenset({"NODEPOOL", "ZONE"})),
    _Layout(0, frozenset({"NODEPOOL", "ZONE"})),
    _Layout(0, frozenset({"NODEPOOL", "ZONE", "CAPACITY"})),
    _Layout(0, frozenset({"NODEPOOL", "ZONE", "CAPACITY", "TYPE"})),
)


def lines(
    overview: Overview, *, title: str = "", problem: str = "", width: int | None = None, pods: bool = False
) -> list[Line]:
    """The whole picture; `width` None where there is no terminal to fit in, `pods` with the pods of each node."""
    found: list[Line] = [
        (Span(f"{instant.format(overview.now // instant.SECOND * instant.SECOND)}  {title}".rstrip(), "dim"),)
    ]
    if problem:
        found.append((Span(problem, "bold red"),))
    found += [*_totals(overview, width), *map(_pool, overview.pools), ()]
    if overview.nodes or overview.coming:
        found += _table(overview, width, pods)
    found += _waiting(overview, pods)
    return [_cut(line, width) for line in found]


def plain(lines: Iterable[Line]) -> str:
    """The text of lines."""
    return "".join("".join(span.text for span in line).rstrip() + "\n" for line in lines)


def fitting(lines: Sequence[Line], height: int) -> list[Line]:
    """As many lines as a terminal has room for, with a word on the rest."""
    if len(lines) <= height:
        return list(lines)
    left = len(lines) - height + 1
    return [*lines[: height - 1], (Span(f"… {counted(left, 'more line')}", "dim"),)]


# -- above the table


def _totals(overview: Overview, width: int | None) -> Iterator[Line]:
    nodes = counted(len(overview.nodes), "node")
    states = Counter(row.state for row in overview.nodes)
    told = [f"{nodes} ({_counts(states)})" if overview.nodes else "no nodes"]
    if overview.coming:
        told.append(f"{counted(len(overview.coming), 'NodeClaim')} without a node")
    price = amounts.price(overview.price_per_hour, estimated=overview.estimated)
    told.append(f"{price} an hour, {amounts.month(overview.price_per_hour, estimated=overview.estimated)} a month")
    if overview.unpriced:
        told.append(f"{counted(overview.unpriced, 'node')} without a known price")
    yield (Span(" · ".join(told)),)
    yield (Span(f"{counted(sum(overview.pods.values()), 'pod')}{_among(overview.pods)}"),)
    if overview.nodes:
        whole = _bars(overview.nodes, amounts_too=True)
        fits = width is None or sum(len(piece.text) for piece in whole) <= width
        yield whole if fits else _bars(overview.nodes, amounts_too=False)


def _bars(nodes: Sequence[NodeRow], *, amounts_too: bool) -> Line:
    found: list[Span] = []
    for resource in RESOURCES:
        asked = sum(row.requests.get(resource, 0) for row in nodes)
        there = sum(row.allocatable.get(resource, 0) for row in nodes)
        share = asked / there if there > 0 else 0.0
        more = f", {_amount(resource, asked)} of {_amount(resource, there)}" if amounts_too else ""
        end = "" if resource == RESOURCES[-1] else "   "
        found += [Span(f"{resource} "), Span(_bar(share, 10), _BAR), Span(f" {_percent(share)}{more}{end}")]
    return tuple(found)


def _pool(pool: PoolRow) -> Line:
    limits = ", ".join(
        f"{resource} {_amount(resource, pool.used.get(resource, 0))} of {_amount(resource, limit)}"
        for resource, limit in sorted(pool.limits.items())
    )
    full = any(pool.used.get(resource, 0) >= limit for resource, limit in pool.limits.items())
    text = f"NodePool {pool.name}: {counted(pool.nodes, 'node')}, {limits or 'no limits'}"
    return (Span(text, "yellow" if full else ""),)


def _amount(resource: str, nanos: int) -> str:
    """Large amounts in few digits: cores, and bytes in Gi."""
    if resource == "cpu":
        return f"{nanos / UNIT:.1f}".removesuffix(".0")
    if counts_bytes(resource) and nanos >= 10 * _GI:
        return f"{nanos / _GI:.0f}Gi"
    return amounts.amount(resource, nanos)


def _among(counts: dict[str, int]) -> str:
    return f": {_counts(counts)}" if counts else ""


def _counts(counts: "dict[str, int] | Counter[str]") -> str:
    return ", ".join(f"{counts[state]} {state}" for state in sorted(counts))


# -- the table


def _table(overview: Overview, width: int | None, pods: bool) -> list[Line]:
    rows = (*overview.nodes, *overview.coming)
    for layout in _LAYOUTS:
        table, widths = _laid_out(rows, overview.now, layout)
        over = 0 if width is None else max(sum(widths) + 2 * (len(widths) - 1) - width, 0)
        if widths[0] - over >= min(widths[0], _SHORTEST):
            break
    widths[0] -= min(over, max(widths[0] - _SHORTEST, 0))
    right = [name in _RIGHT for name in _HEADER if name not in layout.without]
    header, *below = (_line(cells, widths, right) for cells in table)
    found = [tuple(Span(piece.text, "bold") for piece in header)]
    for row, line in zip(rows, below, strict=True):
        found.append(line)
        if pods:
            found += _pods(row.pods, overview.now)
    return found


def _laid_out(rows: Sequence[NodeRow], now: int, layout: _Layout) -> tuple[list[list[Span]], list[int]]:
    shown = [place for place, name in enumerate(_HEADER) if name not in layout.without]
    table = [[Span(_HEADER[place]) for place in shown]]
    for row in rows:
        cells = _cells(row, now, layout)
        table.append([cells[place] for place in shown])
    return table, [max(len(cells[place].text) for cells in table) for place in range(len(shown))]


def _cells(row: NodeRow, now: int, layout: _Layout) -> list[Span]:
    state = f"{row.state}: {row.reason}" if row.reason and layout.reasons else row.state
    return [
        Span(row.name),
        Span(row.instance_type or "-"),
        Span(row.zone or "-"),
        Span(row.capacity_type or "-"),
        Span(row.node_pool or "-"),
        Span(amounts.price(row.price_per_hour, estimated=row.estimated)),
        *(_filled(row, resource, layout.bar) for resource in RESOURCES),
        Span(_age(row.created, now)),
        Span(state, _STYLES.get(row.state, "")),
    ]


def _filled(row: NodeRow, resource: str, bar: int) -> Span:
    if not row.allocatable.get(resource):
        return Span("-")
    share = row.fill(resource)
    return Span(f"{_bar(share, bar)} {_percent(share):>5}".lstrip() if bar else f"{_percent(share):>5}", _BAR)


def _bar(share: float, length: int) -> str:
    """Full and empty blocks; something that is there is seen, and only what is full looks full."""
    full = min(int(share * length + 0.5), length)
    if share > 0:
        full = max(full, min(1, length))
    if share < 1:
        full = min(full, max(length - 1, 0))
    return "█" * full + "░" * (length - full)


def _percent(share: float) -> str:
    return f"{share * 100:.0f} %"


def _age(created: int | None, now: int) -> str:
    return "-" if created is None else span.text(max(now - created, 0) // instant.SECOND)


def _line(cells: Sequence[Span], widths: Sequence[int], right: Sequence[bool]) -> Line:
    found: list[Span] = []
    for place, (cell, width, to_right) in enumerate(zip(cells, widths, right, strict=True)):
        text = cell.text if len(cell.text) <= width else f"{cell.text[: width - 1]}…"
        found.append(Span(text.rjust(width) if to_right else text.ljust(width), cell.style))
        if place < len(widths) - 1:
            found.append(Span("  "))
    return tuple(found)


def _pods(pods: Sequence[PodRow], now: int) -> list[Line]:
    table = [
        [
            Span(f"    {pod.name}"),
            Span(pod.state, _STYLES.get(pod.state, "")),
            *(Span(f"{it} {amounts.amount(it, pod.requests.get(it, 0))}") for it in ("cpu", "memory")),
            Span(_age(pod.created, now)),
        ]
        for pod in pods
    ]
    if not table:
        return []
    widths = [max(len(cells[place].text) for cells in table) for place in range(len(table[0]))]
    return [_line(cells, widths, [False] * len(widths)) for cells in table]


# -- below the table


def _waiting(overview: Overview, pods: bool) -> Iterator[Line]:
    if not overview.pending:
        return
    waited = max(_age_of(pod, overview.now) for pod in overview.pending)
    many = counted(len(overview.pending), "pod")
    yield ()
    yield (Span(f"{many} without a node, for up to {span.text(waited)}", "yellow"),)
    by_reason: dict[str, list[PodRow]] = {}
    for pod in overview.pending:
        by_reason.setdefault(pod.reason, []).append(pod)
    for reason, held in by_reason.items():
        if pods:
            yield from _pods(held, overview.now)
        else:
            yield (Span(f"    {fold(pod.name for pod in sorted(held, key=lambda pod: pod.name))}"),)
        if reason:
            yield (Span(f"      {reason}", "dim"),)


def _age_of(pod: PodRow, now: int) -> int:
    return 0 if pod.created is None else max(now - pod.created, 0) // instant.SECOND


def _cut(line: Line, width: int | None) -> Line:
    """A line that is no longer than the terminal is wide."""
    if width is None or sum(len(piece.text) for piece in line) <= width:
        return line
    found: list[Span] = []
    left = width - 1
    for piece in line:
        found.append(Span(piece.text[:left], piece.style))
        left -= len(found[-1].text)
        if not left:
            break
    return (*found, Span("…"))
