"""What an admission function gets to see."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from baseload.embedded.api.kinds import ServedKind
from baseload.embedded.store.record import Json, Record
from baseload.embedded.store.store import Store


@dataclass(frozen=True, slots=True)
class Review:
    """One write that is about to happen; `tree` may be changed in place."""

    operation: Literal["CREATE", "UPDATE"]
    kind: ServedKind
    tree: dict[str, Json]
    old: Record | None
    store: Store


Admission: TypeAlias = Callable[[Review], None]
"""Mends the object or raises a StatusError"""
