"""Printed tables without what is different each time: ages and uids."""

import re

_AGES = ("AGE", "CREATED AT")
_AGE = re.compile(r"(\d+[ydhms]){1,2}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_GAP = re.compile(r"(?:^|(?<=  ))\S+(?: \S+)*")


def without_ages(text: str) -> str:
    """Tables in which ages since creation are all the same, and uids too; what has no head is left as it is."""
    blocks = _UID.sub("UID", text).removesuffix("\n").split("\n\n")
    return "\n\n".join(map(_table, blocks)) + "\n"


def _table(block: str) -> str:
    lines = block.split("\n")
    starts = [match.start() for match in _GAP.finditer(lines[0])]
    rows = [_cells(line, starts) for line in lines]
    aged = [place for place, name in enumerate(rows[0]) if name in _AGES]
    if not aged:
        return block
    for row in rows[1:]:
        for place in aged:
            row[place] = _AGE.sub("AGE", row[place])
    widths = [max(len(row[place]) for row in rows) for place in range(len(starts))]
    return "\n".join(_line(row, widths) for row in rows)


def _cells(line: str, starts: list[int]) -> list[str]:
    ends = [*starts[1:], len(line)]
    return [line[start:end].rstrip() for start, end in zip(starts, ends, strict=True)]


def _line(row: list[str], widths: list[int]) -> str:
    padded = [cell.ljust(width) for cell, width in zip(row[:-1], widths, strict=False)]
    return "   ".join([*padded, row[-1]])
