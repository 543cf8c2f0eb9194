"""Indexes of an Indexed Job as its status writes them: `0-4,7,9-10`."""

from collections.abc import Iterable


def parse(text: str, below: int) -> set[int]:
    """The indexes of a text that are below a number; what is no index is passed over."""
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        if first.isdecimal() and (last.isdecimal() or not last):
            found.update(range(int(first), min(int(last or first) + 1, below)))
    return found


def format(indexes: Iterable[int]) -> str:
    """The indexes in order, with what follows each other as ranges; two in a row stand for themselves."""
    parts: list[list[int]] = []
    for index in sorted(indexes):
        if parts and parts[-1][-1] == index - 1:
            parts[-1].append(index)
        else:
            parts.append([index])
    return ",".join(_part(part) for part in parts)


def _part(part: list[int]) -> str:
    if len(part) == 1:
        return str(part[0])
    return f"{part[0]},{part[1]}" if len(part) == 2 else f"{part[0]}-{part[-1]}"
