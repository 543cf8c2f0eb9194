r"""The JSONPath of additionalPrinterColumns: fields, keys in brackets, indices, and filters by one equal field.

`.status.conditions[?(@.type=="Ready")].status`, `.metadata.labels.karpenter\.sh/nodepool`, `.spec.taints[0].key`.
A path that leads nowhere gives nothing; so does one that is none, as a column must not break a table.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from baseload.embedded.store.record import Json

_STEP: Final = re.compile(
    r"""\.(?P<field>(?:\\.|[^.\[\]\\])+)
    | \[\s*(?P<index>-?\d+)\s*\]
    | \[\s*(?P<all>\*)\s*\]
    | \[\s*'(?P<key>[^']*)'\s*\]
    | \[\?\(\s*@\.(?P<at>[\w.]+)\s*==\s*["'](?P<equals>[^"']*)["']\s*\)\]""",
    re.VERBOSE,
)


def find(tree: Json, path: str) -> list[Json]:
    """All that the path leads to."""
    found = [tree]
    for step in _steps(path):
        found = [value for held in found for value in _next(held, step)]
    return found


@lru_cache(maxsize=1024)
def _steps(path: str) -> tuple[tuple[str, str, str], ...]:
    text = path.strip().removeprefix("{").removesuffix("}").removeprefix("$")
    text = text if text.startswith((".", "[")) else f".{text}"
    steps = []
    position = 0
    while position < len(text):
        match = _STEP.match(text, position)
        if match is None:
            return (("nothing", "", ""),)
        kind = match.lastgroup or ""
        if kind == "equals":
            steps.append(("filter", match["at"], match["equals"]))
        else:
            value = match[kind]
            steps.append((kind, re.sub(r"\\(.)", r"\1", value) if kind == "field" else value, ""))
        position = match.end()
    return tuple(steps)


def _next(held: Json, step: tuple[str, str, str]) -> Iterator[Json]:
    kind, name, wanted = step
    if kind in ("field", "key"):
        if isinstance(held, dict) and name in held:
            yield held[name]
    elif not isinstance(held, list):
        return
    elif kind == "index":
        at = int(name)
        if -len(held) <= at < len(held):
            yield held[at]
    elif kind == "all":
        yield from held
    elif kind == "filter":
        for item in held:
            if any(value == wanted for value in find(item, name)):
                yield item
