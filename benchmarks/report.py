"""Figures as Markdown, on the terminal or in their section of docs/benchmarks.md."""

import argparse
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from benchmarks import measure

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def tell(section: str, text: str, *, write: bool, flags: str = "") -> None:
    """Prints a section's figures, and puts them between its marks on the page where asked to.

    `flags` are those of the command beside --write, which the page names.
    """
    today = datetime.now(UTC).date().isoformat()
    stamped = f"Taken {today} with `python -m benchmarks.{section} {flags}--write`.\n{measure.machine()}.\n\n{text}"
    print(stamped)
    if write:
        page = PAGE.read_text(encoding="utf-8")
        start, end = f"<!-- {section} -->", f"<!-- end of {section} -->"
        pattern = re.compile(f"{re.escape(start)}.*?{re.escape(end)}", re.DOTALL)
        if not pattern.search(page):
            raise SystemExit(f"{PAGE.name} has no place for {section}: {start} … {end}")
        PAGE.write_text(pattern.sub(lambda _: f"{start}\n{stamped}\n{end}", page), encoding="utf-8")


class Fill(Protocol):
    """Fills what is measured, in a process of its own, and prints the memory that it took."""

    def __call__(self, *, own_specs: bool, pods: int, nodes: int) -> None: ...


def command(section: str, doc: str, figures: Callable[[], str], fill: Fill) -> None:
    """The command line of a benchmark of the embedded cluster."""
    parser = argparse.ArgumentParser(description=doc.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the figures into docs/benchmarks.md")
    parser.add_argument("--fill", nargs=3, metavar=("SPECS", "PODS", "NODES"), help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.fill:
        specs, pods, nodes = chosen.fill
        fill(own_specs=specs == "own", pods=int(pods), nodes=int(nodes))
        return
    tell(section, figures(), write=chosen.write)
