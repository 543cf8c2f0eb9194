"""What all tests share: golden files and how hypothesis runs.

A golden file holds what a command printed when somebody last looked at it. `pytest --update-golden` writes what is
printed now in its place; the difference then stands in the commit, to be read there.
"""

import difflib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples in every run, so that a red run can be repeated; no deadline, since the machine may be busy.
settings.register_profile("short", derandomize=True, deadline=None, max_examples=50, database=None)
settings.register_profile("long", deadline=None, max_examples=2000, print_blob=True)

Golden = Callable[[Path, str], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write what is printed now into the golden files")


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile("long" if config.option.markexpr == "long" else "short")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compares a text with a golden file, or writes the file under --update-golden."""

    def compare(file: Path, text: str) -> None:
        if request.config.getoption("--update-golden"):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            return
        wanted = file.read_text(encoding="utf-8") if file.exists() else ""
        changes = difflib.unified_diff(wanted.splitlines(), text.splitlines(), str(file), "now", lineterm="")
        difference = "\n".join(changes)
        assert text == wanted, f"{difference}\nIf this is meant: pytest --update-golden"

    return compare
