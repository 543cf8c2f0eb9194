"""Figures as Markdown, on the terminal or in their section of docs/benchmarks.md."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import measure

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks.md"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def tell(section: str, text: str, *, write: bool) -> None:
    """Prints a section's figures, and puts them between its marks on the page where asked to."""
    today = datetime.now(UTC).date().isoformat()
    stamped = f"Taken {today} with `python -m benchmarks.{section} --write`.\n{measure.machine()}.\n\n{text}"
    print(stamped)
    if write:
        page = PAGE.read_text(encoding="utf-8")
        start, end = f"<!-- {section} -->", f"<!-- end of {section} -->"
        pattern = re.compile(f"{re.escape(start)}.*?{re.escape(end)}", re.DOTALL)
        if not pattern.search(page):
            raise SystemExit(f"{PAGE.name} has no place for {section}: {start} … {end}")
        PAGE.write_text(pattern.sub(lambda _: f"{start}\n{stamped}\n{end}", page), encoding="utf-8")
