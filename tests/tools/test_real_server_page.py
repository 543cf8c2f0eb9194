"""docs/real-server.md lists what is not compared with a real server, and why."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
MARK = re.compile(r"\bpytest\.mark\.embedded_only\(\s*\"(?P<why>[^\"]+)\"")
ROW = re.compile(r"^\| (?P<why>[^|]+?) \| [^|]+ \|$", re.MULTILINE)


def test_each_reason_not_to_compare_is_listed_and_each_that_is_listed_is_one() -> None:
    page = (ROOT / "docs" / "real-server.md").read_text(encoding="utf-8")
    listed = {row["why"] for row in ROW.finditer(page)} - {"reason", "---"}
    files = [file for folder in ("kubectl", "clients", "embedded") for file in (ROOT / "tests" / folder).rglob("*.py")]
    given = {mark["why"] for file in files for mark in MARK.finditer(file.read_text(encoding="utf-8"))}

    assert given == listed
