"""Field paths as the API server writes them: `spec.containers[0].resources`, `metadata.labels["a/b"]`.

A path is a sequence of map keys and list indexes; this is its text, its parsing, and the change of one field by it.
"""

import copy
import re
from collections.abc import Sequence
from itertools import pairwise

Step = str | int

_PLAIN = re.compile(r"[A-Za-z0-9_$-]+")
_STEP = re.compile(r'\.?([A-Za-z0-9_$-]+)|\[(\d+)\]|\["((?:[^"\\]|\\.)*)"\]|\[([^\[\]"]+)\]')
_ESCAPE = re.compile(r"\\(.)")


def text(steps: Sequence[Step]) -> str:
    """The steps as one path."""
    return "".join(map(_written, steps)).removeprefix(".")


def _written(step: Step) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if _PLAIN.fullmatch(step):
        return f".{step}"
    escaped = step.replace("\\", "\\\\").replace('"', '\\"')
    return f'["{escaped}"]'


def parse(path: str) -> tuple[Step, ...]:
    """The steps of a path; a key in brackets may stand without quotes, as the API server writes it."""
    steps: list[Step] = []
    at = 0
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None:
            raise ValueError(f"{path!r} is not a field path")
        name, index, quoted, bare = match.groups()
        if index is not None:
            steps.append(int(index))
        elif quoted is not None:
            steps.append(_ESCAPE.sub(r"\1", quoted))
        else:
            steps.append(name if name is not None else bare)
        at = match.end()
    return tuple(steps)


def changed(tree: object, path: str, value: object) -> object:
    """A copy of a JSON tree with one field set, or removed where the value is None; maps on the way are made."""
    steps = parse(path)
    if not steps:
        raise ValueError("the path names no field")
    root = copy.deepcopy(tree)
    at = root
    for step, following in pairwise(steps):
        at = _entered(at, step, empty=[] if isinstance(following, int) else {}, path=path)
    _put(at, steps[-1], value, path)
    return root


def _entered(at: object, step: Step, *, empty: object, path: str) -> object:
    if isinstance(at, dict) and isinstance(step, str):
        if at.get(step) is None:
            at[step] = empty
        return at[step]
    if isinstance(at, list) and isinstance(step, int) and step <= len(at):
        if step == len(at):
            at.append(empty)
        return at[step]
    raise ValueError(f"{path} leads nowhere: there is no {_written(step).removeprefix('.')}")


def _put(at: object, step: Step, value: object, path: str) -> None:
    if isinstance(at, dict) and isinstance(step, str):
        if value is None:
            at.pop(step, None)
        else:
            at[step] = value
    elif isinstance(at, list) and isinstance(step, int) and step <= len(at):
        at[step : step + 1] = [] if value is None else [value]
    else:
        raise ValueError(f"{path} leads nowhere: there is no {_written(step).removeprefix('.')}")
