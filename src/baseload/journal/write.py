"""Writing a journal: NDJSON, in the order in which things happened."""

from typing import BinaryIO, Final

import msgspec

from baseload.journal.record import Entry, Plan
from baseload.values import instant


class _Line(msgspec.Struct, gc=False):
    """An entry without a plan, which is then not written at all."""

    t: str
    seq: int
    source: str
    event: str
    object: str
    reason: str
    message: str


_MANY: Final = 1 << 16  # bytes that are gathered before they are handed on


class Writer:
    """Appends lines to a file that somebody else opened and closes; `flush` hands on what is gathered."""

    def __init__(self, out: BinaryIO, count: int = 0) -> None:
        """`count` lines are there already."""
        self._out = out
        self._encoder = msgspec.json.Encoder()
        self._gathered = bytearray()
        self._at, self._text = -1, ""
        self.count = count

    def put(
        self,
        at: int,
        source: str,
        event: str,
        object: str,
        reason: str = "",
        message: str = "",
        plan: Plan | None = None,
    ) -> None:
        """One line, at an instant in nanoseconds."""
        if at != self._at:
            self._at, self._text = at, instant.format(at)
        self.count += 1
        line: Entry | _Line
        if plan is None:
            line = _Line(self._text, self.count, source, event, object, reason, message)
        else:
            line = Entry(self._text, self.count, source, event, object, reason, message, plan)
        gathered = self._gathered
        self._encoder.encode_into(line, gathered, -1)
        gathered += b"\n"
        if len(gathered) > _MANY:
            self.flush()

    def flush(self) -> None:
        self._out.write(self._gathered)
        self._gathered.clear()
