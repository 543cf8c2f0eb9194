"""Which sections of a spec the cases of an area pin, and what every case has to say of itself."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tests.cases import checker

ROOT = Path(__file__).parent
read = cache(checker.read)


def folders(area: str) -> list[Path]:
    """The cases of an area."""
    return sorted(file.parent for file in (ROOT / area).glob("*/expect.yaml"))


def sections(file: str) -> dict[str, str]:
    """Section of the spec -> why no case can show it, empty where one must."""
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    told = (line.partition(" ") for line in lines if not line.startswith("#"))
    return {number: title.partition(" -- ")[2] for number, _, title in told}


def without_a_case(cases: Sequence[Path], known: dict[str, str]) -> list[str]:
    """Sections that decide something and that no case pins."""
    pinned = {rule for folder in cases for rule in read(folder).rule}
    return [number for number, reason in known.items() if not reason and number not in pinned]


def unknown_sections(cases: Sequence[Path], known: dict[str, str]) -> dict[str, str]:
    """Case -> a section that it names and that there is not, or that is said to have no case."""
    return {folder.name: rule for folder in cases for rule in read(folder).rule if known.get(rule, "unknown")}


def unclear_titles(cases: Sequence[Path], least: int) -> list[str]:
    """Titles that stand over two cases, or are no sentence of so many letters."""
    titles = [read(folder).title for folder in cases]
    return [title for title in titles if titles.count(title) > 1 or len(title) < least]
