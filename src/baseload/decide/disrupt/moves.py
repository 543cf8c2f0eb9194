"""What methods come to: moves that may be made, and what kept the nodes for which there is none."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from baseload.decide.disrupt.candidates import Candidate
from baseload.decide.fit.planned import Claim
from baseload.plan.disrupt import Kept, Method, Tried
from baseload.values.requirement import Requirement

Deadline = Callable[[], bool]
"""Whether the time of a search is over. Decisions know no clock: whoever has one hands this in."""


def unhurried() -> bool:
    """The deadline of those who can wait."""
    return False


@dataclass(frozen=True, slots=True, eq=False)
class Move:
    """Candidates that could go, where their pods would go, and the claims that would be launched for them."""

    reason: str
    method: Method
    candidates: tuple[Candidate, ...]
    claims: tuple[Claim, ...] = ()
    places: tuple[tuple[str, str], ...] = ()  # pod, node that is there
    moved: tuple[str, ...] = ()  # all pods that were planned for
    savings: float = 0.0


@dataclass(frozen=True, slots=True)
class Stopped:
    """Why candidates are no move; `pods` are those in the way."""

    reason: Kept
    message: str
    pods: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a method came to. `is_settled`: found nothing, and will not until something changes (2.3).

    An error ends the pass: no other method is tried after it.
    """

    moves: tuple[Move, ...] = ()
    tried: tuple[Tried, ...] = ()
    is_settled: bool = False
    error: str = ""
    unreached: tuple[str, ...] = ()  # pools that a search ran out of time for


NOTHING: Final = Outcome()


def tried(candidate: Candidate, method: Method, stopped: Stopped) -> Tried:
    return Tried(candidate.name, method, stopped.reason, stopped.message, stopped.pods)


def allows(requirement: Requirement | None, value: str) -> bool:
    """Whether a requirement, or the lack of one, leaves a value open."""
    return requirement is None or requirement.has(value)
