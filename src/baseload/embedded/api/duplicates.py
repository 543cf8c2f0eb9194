"""Fields that stand twice in one map of a body: the last one counts, and who asks for strictness is told.

Readers of JSON keep the last one without a word. A body that is as long as what was read of it, both without spaces,
has lost none, which is nearly all of them; only others are read again, slowly, for the paths.
"""

import json
from contextlib import suppress
from typing import Final, TypeAlias

import msgspec

from baseload.embedded.api import json_body

_Pair: TypeAlias = tuple[str, object]
_MOST: Final = 100


class _Pairs(list[_Pair]):
    """A map as it is written, with all its fields."""


def paths(body: bytes) -> list[str]:
    """The paths of fields that stand again, in the order in which they do; of a body that can be read."""
    tree = json_body.read(body)
    with suppress(msgspec.DecodeError):
        if len(msgspec.json.format(body, indent=-1)) <= len(msgspec.json.encode(tree)):
            return []
    found: list[str] = []
    _look(json.loads(body.decode(errors="replace"), object_pairs_hook=_Pairs), "", found)
    return found[:_MOST]


def _look(value: object, path: str, found: list[str]) -> None:
    if isinstance(value, _Pairs):
        seen: set[str] = set()
        for name, held in value:
            where = f"{path}.{name}" if path else name
            if name in seen:
                found.append(where)
            seen.add(name)
            _look(held, where, found)
    elif isinstance(value, list):
        for index, held in enumerate(value):
            _look(held, f"{path}[{index}]", found)
