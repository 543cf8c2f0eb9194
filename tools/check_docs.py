"""Holds docs/architecture.md against the code.

The page has a table with a row for every command, `| command | file | decide module | plan value |`, and a list of the
packages, `* `NAME`: what it is`. Each command of the command tree has its row and each row its command; the file is the
one that the command's table names; the modules and the value exist (an em dash where a command has none). Each package
under src/baseload stands in the list, and each name in the list is a package.
"""

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from baseload.cli.lazy import Entry, LazyGroup
from baseload.cli.main import BASELOAD

ROOT = Path(__file__).parents[1]
PAGE = "docs/architecture.md"
ROW = re.compile(r"\| `(?P<command>[a-z -]+)` \| `(?P<file>[\w/.]+)` \| (?P<decide>[^|]+) \| (?P<plan>[^|]+) \|")
PACKAGE = re.compile(r"\* `(?P<name>[\w/]+)`: ")
NONE = "—"


def commands(group: LazyGroup, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Every command with the file it lives in, relative to src/baseload."""
    for name, entry in group.table.items():
        if isinstance(entry, Entry):
            module = entry.where.partition(":")[0]
            yield prefix + name, module.removeprefix("baseload.").replace(".", "/") + ".py"
        else:
            yield from commands(entry, f"{prefix}{name} ")


def packages(source: Path) -> set[str]:
    return {file.parent.relative_to(source).as_posix() for file in source.glob("*/**/__init__.py")}


def is_module(name: str) -> bool:
    place = ROOT / "src/baseload" / name.replace(".", "/")
    return place.with_suffix(".py").exists() or (place / "__init__.py").exists()


def row_faults(row: re.Match[str], tree: dict[str, str]) -> Iterator[str]:
    command = row["command"]
    if command not in tree:
        yield f"there is no command `{command}`"
    elif row["file"] != tree[command]:
        yield f"`{command}` lives in {tree[command]}, not in {row['file']}"
    elif not (ROOT / "src/baseload" / row["file"]).exists():
        yield f"`{command}`: {row['file']} is not there"
    if row["decide"] != NONE and not is_module(row["decide"].strip("`")):
        yield f"`{command}`: there is no module {row['decide']}"
    if row["plan"] != NONE:
        module, _, value = row["plan"].strip("`").rpartition(".")
        if not is_module(module) or not hasattr(importlib.import_module(f"baseload.{module}"), value):
            yield f"`{command}`: there is no plan value {row['plan']}"


def faults(page: str) -> Iterator[str]:
    """Everything in which the page and the code differ."""
    tree = dict(commands(BASELOAD))
    rows = list(ROW.finditer(page))
    for row in rows:
        yield from row_faults(row, tree)
    for command in sorted(set(tree) - {row["command"] for row in rows}):
        yield f"the table lacks the command `{command}`"
    listed = {match["name"] for match in PACKAGE.finditer(page)}
    existing = packages(ROOT / "src/baseload")
    for name in sorted(existing - listed):
        yield f"the list lacks the package `{name}`"
    for name in sorted(listed - existing):
        yield f"there is no package `{name}`"


def main() -> int:
    found = list(faults((ROOT / PAGE).read_text(encoding="utf-8")))
    for fault in found:
        print(f"{PAGE}: {fault}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
