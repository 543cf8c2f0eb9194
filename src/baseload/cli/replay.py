"""`baseload replay`: a scenario lived through on a virtual clock, and judged."""

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

import click

from baseload.cli import stderr
from baseload.cli.output import Printed
from baseload.cli.serving import written

if TYPE_CHECKING:
    from baseload.replay.report import Report
    from baseload.replay.scenario import Scenario

_FAILED: Final = 1
_INTERRUPTED: Final = 130
_BAR: Final = 30
_ERASED: Final = "\r\x1b[K"


@click.command()
@click.argument("scenario", type=click.Path(allow_dash=True), required=False)
@click.option("--seed", type=click.IntRange(0), metavar="N", help="In place of the scenario's own.")
@click.option("--until", metavar="DURATION", help="End the run so long after its start, e.g. 6h.")
@click.option(
    "-o",
    "--output",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="What to print: a table for people, or the same for programs as JSON.",
)
@click.option(
    "--report",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the report as JSON there, besides what is printed.",
)
@click.option(
    "--journal",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write all that happens there, a line of JSON each; `baseload explain` reads it.",
)
@click.option("--timeline", is_flag=True, help="Tell first what happened when, a line each, likes in one.")
@click.option("--check", is_flag=True, help="Recount the sums every ten minutes; hold invariants always.")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of scenarios, and run nothing.")
def replay(
    scenario: str | None,
    seed: int | None,
    until: str | None,
    output: str,
    report: Path | None,
    journal: Path | None,
    timeline: bool,
    check: bool,
    schema: bool,
) -> Printed | None:
    """Live through a SCENARIO (- for standard input) on a virtual clock, and say whether its expectations hold.

    The same scenario and seed give the same report and the same journal, byte for byte. Exit status: 0 all hold, 1 one
    fails, 2 bad input, 130 stopped by Ctrl-C, with the report so far.
    """
    if schema:
        from baseload.cli import json_writer
        from baseload.replay.schema import schema as made

        return json_writer.write(made())
    if scenario is None:
        raise click.UsageError("name a scenario")
    from baseload.cli import json_writer
    from baseload.replay import report as reports
    from baseload.replay import scenario as scenarios
    from baseload.values.duration import MINUTE

    _apart(Path(scenario), report, journal)
    read = scenarios.read(scenario, stdin=lambda: sys.stdin.buffer.read())
    read = read if seed is None else read.seeded(seed)
    read = read.checked(10 * MINUTE) if check and read.check_every is None else read
    length = None if until is None else _until(until)
    with written(journal) as out:
        lived = _lived(read, out, length, has_timeline=timeline)
    tree = reports.to_json(lived)
    with written(report, is_read=False) as file:
        if file is not None:
            file.write(json_writer.write(tree))
    from baseload.cli.main import write

    write(json_writer.write(tree) if output == "json" else reports.render(lived))
    if lived.is_stopped:
        stderr.say("baseload: interrupted")
        raise click.exceptions.Exit(_INTERRUPTED)
    if lived.has_failed:
        raise click.exceptions.Exit(_FAILED)
    return None


def _apart(scenario: Path, report: Path | None, journal: Path | None) -> None:
    """Refuses before the run files that would overwrite each other, and a report without a folder."""
    if report is not None and not report.parent.is_dir():
        raise click.ClickException(f"{report}: there is no folder {report.parent}")
    taken = {scenario.resolve(): "the scenario"}
    for name, path in (("--report", report), ("--journal", journal)):
        if path is None or path.is_char_device():
            continue
        if path.resolve() in taken:
            raise click.UsageError(f"{name} would overwrite {taken[path.resolve()]}: {path}")
        taken[path.resolve()] = name


def _until(text: str) -> int:
    from baseload.values import duration

    try:
        found = duration.parse(text)
    except duration.DurationError as error:
        raise click.BadParameter(str(error), param_hint="--until") from error
    if found <= 0:
        raise click.BadParameter("is no time", param_hint="--until")
    return found


def _lived(read: "Scenario", journal: BinaryIO | None, until: int | None, *, has_timeline: bool) -> "Report":
    from baseload.kube.bulk import keep
    from baseload.replay.run import Run
    from baseload.values import duration

    keep()
    began = time.process_time()
    run = Run(read, journal=journal, until=until, has_timeline=has_timeline)
    try:
        with _stoppable(run.stop), _bar() as bar:
            lived = run.run(bar)
    finally:
        run.close()
    spent = time.process_time() - began
    stderr.say(f"{duration.format(lived.end - lived.start)} lived through in {spent:.1f} s of CPU time")
    return lived


@contextmanager
def _stoppable(stop: Callable[[], None]) -> Iterator[None]:
    """Ctrl-C stops what goes on; a second one ends everything."""
    stopped: list[bool] = []

    def stops(number: int, frame: object) -> None:
        if stopped:
            raise KeyboardInterrupt
        stopped.append(True)
        stop()

    before = signal.signal(signal.SIGINT, stops)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _bar() -> Iterator[Callable[[int], None]]:
    """How far it is, on a terminal; a stderr that is none never sees it."""
    if not stderr.is_terminal():
        yield lambda _: None
        return
    shown = [-1]

    def show(thousandths: int) -> None:
        percent = thousandths // 10
        if percent != shown[0]:
            shown[0] = percent
            full = _BAR * thousandths // 1000
            sys.stderr.write(f"{_ERASED}[{'#' * full}{' ' * (_BAR - full)}] {percent} %")
            sys.stderr.flush()

    try:
        yield show
    finally:
        with stderr.unheard():
            sys.stderr.write(_ERASED)
            sys.stderr.flush()
