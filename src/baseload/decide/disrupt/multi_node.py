"""Several nodes at once become none or one: a binary search over the ranking (disruption and lifecycle spec 18).

Only prefixes of the ranking are tried. One node at its top that cannot move defeats the search.
"""

from collections.abc import Sequence
from typing import Final

from baseload.decide.disrupt import costs, filters
from baseload.decide.disrupt.balanced import THRESHOLD
from baseload.decide.disrupt.candidates import Candidate
from baseload.decide.disrupt.consolidation import Consolidation
from baseload.decide.disrupt.moves import Move, Outcome, Stopped, tried
from baseload.decide.disrupt.situation import NO_POOL, Situation, over_budget, ranked, spending
from baseload.decide.fit.planned import Claim
from baseload.plan.disrupt import UNDERUTILIZED, Kept, Method, Tried

MOST: Final = 100
"""The last place that the search looks at, so that a batch may reach one node more."""
_METHOD: Final = Method.MULTI_NODE


def multi_node(situation: Situation) -> Outcome:
    """The longest prefix that the search finds a move for."""
    candidates = situation.candidates(lambda c: filters.pods_forbid(c) or filters.consolidation(c))
    if not candidates:
        return Outcome()
    kept: list[Tried] = []
    batch = []
    for candidate, may_go in spending(ranked(candidates), situation.allowances(UNDERUTILIZED)):
        if may_go:
            batch.append(candidate)
        else:
            kept.append(tried(candidate, _METHOD, over_budget(candidate, UNDERUTILIZED)))
    if len(batch) < 2:
        return Outcome(tried=tuple(kept), is_settled=not kept)
    core = situation.consolidation
    if core is None:
        kept += (tried(candidate, _METHOD, NO_POOL) for candidate in batch)
        return Outcome(tried=tuple(kept), error=NO_POOL.message)
    found, stopped = _search(situation, core, batch)
    if found is not None:
        return Outcome((found,), tuple(kept))
    if stopped is not None:
        kept += (tried(candidate, _METHOD, stopped) for candidate in batch[:2])
    is_settled = not any(one.reason is Kept.BUDGET for one in kept)
    return Outcome(tried=tuple(kept), is_settled=is_settled)


def _search(
    situation: Situation, core: Consolidation, batch: Sequence[Candidate]
) -> tuple[Move | None, Stopped | None]:
    """The last move that was found, and what stopped the last prefix that is none."""
    lower, upper = 1, min(len(batch) - 1, MOST)
    best: Move | None = None
    last: Stopped | None = None
    while lower <= upper and not situation.haste.multi_node():
        middle = (lower + upper) // 2
        found = together(situation, core, batch[: middle + 1])
        if isinstance(found, Move):
            best, lower = found, middle + 1
        else:
            last, upper = found, middle - 1
    return best, last


def together(situation: Situation, core: Consolidation, candidates: Sequence[Candidate]) -> Move | Stopped:
    """The move of these candidates, if its replacement is no type that they are already, and the saving is enough."""
    found = core.move(candidates, _METHOD)
    if isinstance(found, Stopped):
        return found
    if found.claims:
        [claim] = found.claims
        price = of_same_type(candidates, claim)
        if price is not None and (stopped := core.cut(claim, price)) is not None:
            text = f"together they would become a type that one of them is: {stopped.message}"
            return Stopped(Kept.SAME_TYPE, text)
    scores = situation.balance.scores(candidates, found.savings)
    if any(score < THRESHOLD for score in scores.values()):
        worst = min(scores.values())
        return Stopped(Kept.SCORE, f"the score of the move is {worst:.2f}, Balanced asks for {THRESHOLD}")
    return found


def of_same_type(candidates: Sequence[Candidate], claim: Claim) -> float | None:
    """The lowest price of the candidates whose type the replacement may be; None where it is none of theirs."""
    options = set(claim.template.types.names(claim.types))
    prices = [_cheapest(candidate) for candidate in candidates if candidate.instance_type in options]
    return min(prices, default=None)


def _cheapest(candidate: Candidate) -> float:
    """The price of its type's cheapest offering that goes with the node's labels; 0 without one."""
    return costs.cheapest_of_node(candidate.state.labels, candidate.table)
