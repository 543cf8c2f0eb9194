"""Going on with a journal that an earlier process wrote: where it ends, and whom it has told of already."""

from pathlib import Path
from typing import Final

import msgspec

from baseload.values.errors import BadInput, Fault

_BEGINS: Final = ("pod.created", "node.registered", "nodeclaim.created")
_ENDS: Final = ("pod.removed", "node.removed", "nodeclaim.removed")
_PLANNED: Final = "provisioning.planned"
_PLAN: Final = "Plan "
_ALLOWED: Final = "a journal of this cluster, or a name that is free"


class _Line(msgspec.Struct, frozen=True, gc=False):
    """What is looked at in a line."""

    t: str
    seq: int
    event: str
    object: str


class Left(msgspec.Struct, frozen=True):
    """What a journal holds, as far as whoever goes on with it needs to know."""

    size: int = 0
    """Bytes, without the end of a line that was still being written"""
    seq: int = 0
    """The number of its last line"""
    plan: int = 0
    """The number of the last plan in it"""
    known: frozenset[str] = frozenset()
    """The objects that are there by its last line"""


NOTHING: Final = Left()


def read(path: Path) -> Left:
    """What is left in a file; nothing where it is not there. Raises BadInput where it is no journal."""
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return NOTHING
    except OSError as error:
        raise BadInput([Fault(error.strerror or "cannot be read", file=str(path))]) from error
    size = text.rfind(b"\n") + 1
    if text and not size:
        raise BadInput([Fault("is no journal", file=str(path), allowed=_ALLOWED)])
    seq = plan = 0
    known: dict[str, None] = {}
    decode = msgspec.json.Decoder(_Line).decode
    for number, raw in enumerate(text[:size].splitlines(), 1):
        try:
            line = decode(raw)
        except msgspec.MsgspecError as error:
            raise BadInput([Fault(f"line {number}: {error}", file=str(path), allowed=_ALLOWED)]) from error
        seq = line.seq
        if line.event in _BEGINS:
            known[line.object] = None
        elif line.event in _ENDS:
            known.pop(line.object, None)
        elif line.event == _PLANNED:
            plan = int(line.object.removeprefix(_PLAN))
    return Left(size, seq, plan, frozenset(known))
