"""Empty nodes go, all at once as far as budgets allow, without a simulation (disruption and lifecycle spec 15)."""

from baseload.decide.disrupt import filters
from baseload.decide.disrupt.moves import Move, Outcome, tried
from baseload.decide.disrupt.situation import Situation, over_budget, ranked, spending
from baseload.plan.disrupt import EMPTY, Method, Tried


def emptiness(situation: Situation) -> Outcome:
    """One command for every empty node that may go."""
    candidates = situation.candidates(
        lambda c: filters.pods_forbid(c) or filters.emptiness(c, buffered=c.name in situation.buffered)
    )
    if not candidates:
        return Outcome()
    kept: list[Tried] = []
    taken = []
    for candidate, may_go in spending(ranked(candidates), situation.allowances(EMPTY)):
        if may_go:
            taken.append(candidate)
        else:
            kept.append(tried(candidate, Method.EMPTINESS, over_budget(candidate, EMPTY)))
    if not taken:
        return Outcome(tried=tuple(kept))
    move = Move(EMPTY, Method.EMPTINESS, tuple(taken), savings=sum(candidate.price for candidate in taken))
    return Outcome((move,), tuple(kept))
