"""Whether a command still holds after its delay, on the view as it is by then (disruption and lifecycle spec 21).

Karpenter waits 15 s between a decision to consolidate and its start, so that pods that land meanwhile are seen. What is
empty may shrink to what still is; a consolidation goes ahead as a whole or not at all.
"""

from collections.abc import Collection
from enum import StrEnum
from typing import Final

from baseload.decide.disrupt import filters
from baseload.decide.disrupt.candidates import Candidate
from baseload.decide.disrupt.situation import Situation, ranked, spending
from baseload.plan.disrupt import EMPTY, UNDERUTILIZED, Command, Method
from baseload.values.duration import SECOND

DELAY: Final = 15 * SECOND
VALIDATED: Final = frozenset({Method.EMPTINESS, Method.MULTI_NODE, Method.SINGLE_NODE})
"""the methods whose commands wait; drift starts at once"""


class Failure(StrEnum):
    """Why a command does not hold any more."""

    BUDGET = "budget"
    SCHEDULING = "scheduling"
    CHURN = "churn"


def still_empty(
    command: Command, situation: Situation, nominated: Collection[str] = ()
) -> tuple[tuple[str, ...], Failure | None]:
    """The nodes of an emptiness command that may still go, or why none may."""
    wanted = {candidate.node for candidate in command.candidates}
    left = situation.candidates(lambda c: c.name not in wanted or _not_empty(c, situation))
    if not left:
        return (), Failure.CHURN
    free = [candidate for candidate in ranked(left) if candidate.name not in nominated]
    kept = tuple(c.name for c, may_go in spending(free, situation.allowances(EMPTY)) if may_go)
    return kept, None if kept else Failure.BUDGET


def still_holds(command: Command, situation: Situation, nominated: Collection[str] = ()) -> Failure | None:
    """Why a consolidation command does not hold any more; None where it does.

    `situation` is that of a view taken now. Karpenter looks at candidates and budgets once more after it has
    simulated; on one view that comes to the same.
    """
    wanted = {candidate.node for candidate in command.candidates}
    ours = situation.candidates(lambda c: c.name not in wanted or _not_consolidated(c))
    if len(ours) < len(wanted):
        return Failure.CHURN
    if any(candidate.name in nominated for candidate in ours):
        return Failure.BUDGET
    if not all(may_go for _, may_go in spending(ours, situation.allowances(UNDERUTILIZED))):
        return Failure.BUDGET
    return None if _simulates_alike(command, situation) else Failure.SCHEDULING


def _simulates_alike(command: Command, situation: Situation) -> bool:
    """Whether the pods still fit, on as many new nodes, of types among which the replacement's all are."""
    if situation.simulator is None:
        return False
    names = [candidate.node for candidate in command.candidates]
    if any(name not in situation.simulator.made.places for name in names):
        return False
    found = situation.simulator.without(names, is_consolidation=True)
    if not found.all_placed or len(found.claims) > 1 or len(found.claims) != len(command.replacements):
        return False
    for claim, planned in zip(found.claims, command.replacements, strict=True):
        if not set(planned.instance_types) <= set(claim.template.types.names(claim.types)):
            return False
    return True


def _not_empty(candidate: Candidate, situation: Situation) -> object:
    buffered = candidate.name in situation.buffered
    return filters.pods_forbid(candidate) or filters.emptiness(candidate, buffered=buffered)


def _not_consolidated(candidate: Candidate) -> object:
    return filters.pods_forbid(candidate) or filters.consolidation(candidate)
