"""What methods come to: moves that may be made, and what kept the nodes for which there is none."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from baseload.decide.disrupt.candidates import Candidate
from baseload.decide.disrupt.simulate import Unplaced
from baseload.decide.fit.planned import Claim
from baseload.decide.fit.why import Refusal
from baseload.plan.disrupt import Kept, Method, Tried
from baseload.plan.provision import Rejection
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
    """Why candidates are no move; `unplaced` are the pods in the way."""

    reason: Kept
    message: str
    unplaced: tuple[Unplaced, ...] = ()


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
    """What is told of a candidate that stays; who refused its pods, where the simulation was asked for that."""
    pods = tuple(dict.fromkeys(one.pod for one in stopped.unplaced))
    refused = tuple((one.pod, tuple(map(_rejection, one.refusals))) for one in stopped.unplaced if one.refusals)
    return Tried(candidate.name, method, stopped.reason, stopped.message, pods, refused)


def _rejection(refusal: Refusal) -> Rejection:
    return Rejection(f"{refusal.target}/{refusal.name or 'planned'}", refusal.reason, refusal.message)


def allows(requirement: Requirement | None, value: str) -> bool:
    """Whether a requirement, or the lack of one, leaves a value open."""
    return requirement is None or requirement.has(value)
