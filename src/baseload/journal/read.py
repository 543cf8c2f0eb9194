"""Reading a journal: every line that is none is named by its number.

The end of a line that was still being written, as a process leaves it that is killed, is passed over.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from baseload.journal.record import Entry
from baseload.values import instant
from baseload.values.errors import BadInput, Fault

_FORM: Final = "{t, seq, source, event, object, reason, message, plan?}, as --journal writes it"
_MOST: Final = 20  # faults that are named; a file of another kind has one in each line


def read(path: str) -> tuple[Entry, ...]:
    """All lines of a journal. Raises BadInput with those that cannot be read."""
    try:
        text = Path(path).read_bytes()
    except OSError as error:
        raise BadInput([Fault(error.strerror or "cannot be read", file=path)]) from error
    faults: list[Fault] = []
    entries = tuple(_entries(text, path, faults))
    if not entries and not faults:
        faults.append(Fault("there is no line in it", file=path, allowed=_FORM))
    if faults:
        left = len(faults) - _MOST
        more = [Fault(f"and {left} more lines that are none of a journal", file=path)] if left > 0 else []
        raise BadInput([*faults[:_MOST], *more])
    return entries


def _entries(text: bytes, path: str, faults: list[Fault]) -> Iterator[Entry]:
    decode = msgspec.json.Decoder(Entry).decode
    lines = text.split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line.strip() or (number == len(lines) > 1 and _is_torn(line)):
            continue
        try:
            entry = decode(line)
            instant.parse(entry.t)
        except (msgspec.MsgspecError, ValueError) as error:
            faults.append(Fault(f"line {number}: {error}", file=path, allowed=_FORM))
        else:
            yield entry


def _is_torn(line: bytes) -> bool:
    """Whether it begins as a line of a journal and does not end as one."""
    try:
        msgspec.json.decode(line)
    except msgspec.DecodeError as error:
        return line.startswith(b'{"t":') and "truncated" in str(error)
    return False
