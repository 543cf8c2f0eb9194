"""Lives of the scenarios of this folder: each file is a story, and its expectations say how it goes."""

import functools
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from baseload.journal.read import read as read_journal
from baseload.journal.record import Entry
from baseload.replay import report as reports
from baseload.replay import scenario
from baseload.replay.report import Report
from baseload.replay.run import Run

FOLDER = Path(__file__).parent
NAMES = tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))


@dataclass(frozen=True, slots=True)
class Lived:
    """What became of a scenario, and its journal."""

    report: Report
    journal: tuple[Entry, ...]

    @property
    def text(self) -> str:
        """The report for people: what a test shows when an expectation fails."""
        return reports.render(self.report)

    def figure(self, name: str) -> Any:
        """A figure of the report; with a cause, `evictions:taint`, the share of that cause."""
        series, _, cause = name.partition(":")
        if not cause:
            return self.report.figures[series]
        by_cause: Any = self.report.figures[f"{series}.byCause"]
        return by_cause.get(cause, 0)

    def told(self, event: str, *, reason: str | None = None, object: str = "") -> list[Entry]:
        """The lines of an event, of a reason, about objects whose name has the text in it."""
        return [
            entry
            for entry in self.journal
            if entry.event == event and reason in (None, entry.reason) and object in entry.object
        ]


@functools.cache
def lived(name: str) -> Lived:
    """The life of a scenario of this folder; a process lives it once, however many tests ask."""
    return _lived(scenario.read(str(FOLDER / f"{name}.yaml")))


def lived_otherwise(name: str, **spec: Any) -> Lived:
    """The same with fields of its spec in place of its own: what a rule is worth is seen where it is not kept."""
    path = FOLDER / f"{name}.yaml"
    tree = yaml.safe_load(path.read_text(encoding="utf-8"))
    tree["spec"] |= spec
    return _lived(scenario.of_tree(tree, str(path)))


def spec_of(name: str) -> dict[str, Any]:
    """The spec of a scenario as it is written."""
    tree: dict[str, Any] = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    spec: dict[str, Any] = tree["spec"]
    return spec


def seconds(entries: Iterable[Entry], start: int) -> list[float]:
    """When lines were written, in seconds from an instant such as `report.start`."""
    return [(entry.moment - start) / 10**9 for entry in entries]


def _lived(read: scenario.Scenario) -> Lived:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "journal")
        with path.open("w+b") as file:
            run = Run(read, journal=file, holds_invariants=True)
            try:
                report = run.run()
            finally:
                run.close()
        return Lived(report, read_journal(str(path)))
