"""Pods that were pending before any move: they veto none, but may take the room that moved pods would have had."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

from baseload.decide.disrupt.situation import Situation
from baseload.decide.explain.edits import Edit
from baseload.model.view import name_of

MOST_PENDING: Final = 8
"""pods without which it is tried"""


def pending_pods(situation: Situation) -> tuple[str, ...]:
    """The pods that every simulation takes along."""
    return tuple(name_of(pod) for pod in situation.setting.sought.pending)


def without_pod(name: str) -> Edit:
    return Edit(f"Pod {name}", "", None)


def without_pending(situation: Situation) -> Iterator[tuple[Edit, ...]]:
    """Each of them gone by itself, be it deleted or placed."""
    yield from ((without_pod(name),) for name in islice(pending_pods(situation), MOST_PENDING))
