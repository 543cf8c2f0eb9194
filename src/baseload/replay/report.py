"""What became of a run, as a value, as the JSON contract and as text."""

from dataclasses import dataclass
from typing import Final

from baseload.journal.record import Entry
from baseload.replay import judge
from baseload.replay.figures import value
from baseload.replay.judge import Judgement, Verdict
from baseload.report.table import columns
from baseload.values import duration, instant

API_VERSION: Final = "baseload.dev/v1alpha1"
KIND: Final = "ReplayReport"
_WORDS: Final[dict[Verdict, str]] = {"holds": "holds", "fails": "FAILS", "open": "open"}


@dataclass(frozen=True, slots=True)
class Judged:
    """An expectation with what became of it, and where it failed the lines of the journal about that moment."""

    judgement: Judgement
    around: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """One run."""

    scenario: str
    seed: int
    start: int
    end: int
    is_stopped: bool
    judged: tuple[Judged, ...]
    figures: dict[str, object]
    recounts: int
    miscounts: tuple[str, ...]
    changes_seen: int | None = None  # by the invariants; None where these were not looked at
    broken: tuple[str, ...] = ()
    """Where an invariant did not hold"""
    notes: tuple[str, ...] = ()  # what the user should know besides
    timeline: tuple[str, ...] = ()
    """What happened when, for people, where that was asked for"""

    @property
    def has_failed(self) -> bool:
        return bool(self.miscounts or self.broken) or any(one.judgement.verdict == "fails" for one in self.judged)

    @property
    def result(self) -> Verdict:
        """Of all expectations together: open where one is and none fails."""
        if self.has_failed:
            return "fails"
        return "open" if any(one.judgement.verdict == "open" for one in self.judged) else "holds"


def to_json(report: Report) -> dict[str, object]:
    """A ReplayReport of the contract; moments are instants and durations from the start."""
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "scenario": report.scenario,
        "seed": report.seed,
        "start": instant.format(report.start),
        "end": instant.format(report.end),
        "duration": duration.format(report.end - report.start),
        "stopped": report.is_stopped,
        "result": report.result,
        "expectations": [_expectation(one) for one in report.judged],
        "figures": report.figures,
        "notes": list(report.notes),
        "checks": _checks(report),
        **({"timeline": list(report.timeline)} if report.timeline else {}),
    }


def _checks(report: Report) -> dict[str, object]:
    checks: dict[str, object] = {"recounts": report.recounts, "faults": list(report.miscounts)}
    if report.changes_seen is not None:
        checks |= {"changes": report.changes_seen, "broken": list(report.broken)}
    return checks


def _expectation(one: Judged) -> dict[str, object]:
    judgement, asked = one.judgement, one.judgement.expectation
    tree: dict[str, object] = {
        "path": asked.path,
        "expectation": str(asked),
        "series": asked.query.series,
        "filters": dict(asked.query.filters),
        "verdict": judgement.verdict,
        "at": duration.format(judgement.moment),
        "value": value(asked.query.series, judgement.value),
    }
    if one.around:
        tree["journal"] = [
            {"t": it.t, "seq": it.seq, "source": it.source, "event": it.event, "object": it.object}
            | {"reason": it.reason, "message": it.message}
            for it in one.around
        ]
    return tree


def render(report: Report) -> str:
    """The same for people."""
    span = duration.format(report.end - report.start)
    head = f"Scenario {report.scenario}, seed {report.seed}: {span} from {instant.format(report.start)}"
    lines = [head + (", stopped" if report.is_stopped else ""), ""]
    if report.timeline:
        lines += [*report.timeline, ""]
    for one in report.judged:
        lines += _told(one, report.start)
    if report.judged:
        lines.append("")
    lines += [*_figures(report.figures), *(f"\n{note}" for note in report.notes)]
    if report.recounts:
        lines += ["", f"{report.recounts} recounts of the cluster's sums, {len(report.miscounts)} of them wrong"]
        lines += [f"  {fault}" for fault in report.miscounts]
    if report.changes_seen is not None:
        lines += ["", f"invariants held at {report.changes_seen} changes, but for {len(report.broken)}"]
        lines += [f"  {fault}" for fault in report.broken]
    return "\n".join(lines) + "\n"


def _told(one: Judged, start: int) -> list[str]:
    judgement = one.judgement
    asked = judgement.expectation
    shown = judge.shown(asked.query, judgement.value)
    lines = [f"{_WORDS[judgement.verdict]:5}  {asked}"]
    match judgement.verdict:
        case "fails":
            lines.append(f"       it was {shown} at {duration.format(judgement.moment)} ({asked.path})")
        case "open":
            lines.append(f"       the run ended before that; it was {shown}")
        case "holds" if asked.when in ("eventually", "within"):
            lines.append(f"       from {duration.format(judgement.moment)} on")
    for entry in one.around:
        mark = ">" if entry.moment - start <= judgement.moment else " "
        lines.append(f"     {mark} {line(entry, start)}")
    return lines


def line(entry: Entry, start: int) -> str:
    """A line of a journal as people read it."""
    said = ": ".join(part for part in (entry.reason, entry.message) if part)
    parts = (f"{duration.format(entry.moment - start):>12}", entry.event, entry.object, said)
    return "  ".join(part for part in parts if part)


def _figures(figures: dict[str, object]) -> list[str]:
    rows: list[tuple[str, str, str]] = []
    peaks = figures["peaks"]
    assert isinstance(peaks, dict)
    for name, amount in figures.items():
        if isinstance(amount, dict):
            continue
        by_cause = figures.get(f"{name}.byCause")
        more = ", ".join(f"{cause} {count}" for cause, count in by_cause.items()) if isinstance(by_cause, dict) else ""
        if name in peaks:
            more = f"at most {_shown(name, peaks[name])}"
        rows.append((name, _shown(name, amount), more))
    return columns(("figure", "at the end", ""), rows, right=frozenset((1,)))


def _shown(name: str, amount: object) -> str:
    if name.startswith("cost") and isinstance(amount, int | float):
        return f"${amount:.4f}"
    return f"{amount:g}" if isinstance(amount, float) else str(amount)
