"""One node after another, until one can go or be replaced by a cheaper one (disruption and lifecycle spec 19)."""

from collections.abc import Iterator, Sequence
from typing import Final

from baseload.decide.disrupt import filters
from baseload.decide.disrupt.balanced import THRESHOLD
from baseload.decide.disrupt.candidates import Candidate
from baseload.decide.disrupt.moves import Move, Outcome, Stopped, tried
from baseload.decide.disrupt.situation import NO_POOL, Situation, over_budget, ranked
from baseload.plan.disrupt import UNDERUTILIZED, Kept, Method, Tried

_METHOD: Final = Method.SINGLE_NODE


def single_node(situation: Situation) -> Outcome:
    """The first move in the ranking, pools taking turns."""
    candidates = situation.candidates(lambda c: filters.pods_forbid(c) or filters.consolidation(c))
    if not candidates:
        return Outcome()
    allowances = situation.allowances(UNDERUTILIZED)
    order = list(in_turns(ranked(candidates), situation.haste.unreached))
    kept: list[Tried] = []
    for place, candidate in enumerate(order):
        if situation.haste.single_node():
            reached = {reached.pool_name for reached in order[:place]}
            unreached = dict.fromkeys(c.pool_name for c in order[place:] if c.pool_name not in reached)
            return Outcome(tried=tuple(kept), unreached=tuple(unreached))
        if allowances.get(candidate.pool_name, 0) <= 0:
            kept.append(tried(candidate, _METHOD, over_budget(candidate, UNDERUTILIZED)))
            continue
        found = alone(situation, candidate)
        if isinstance(found, Move):
            return Outcome((found,), tuple(kept))
        kept.append(tried(candidate, _METHOD, found))
    is_settled = not any(one.reason is Kept.BUDGET for one in kept)
    return Outcome(tried=tuple(kept), is_settled=is_settled)


def alone(situation: Situation, candidate: Candidate, *, most_reasons: int | None = None) -> Move | Stopped:
    """The move of one node."""
    best = situation.balance.scores((candidate,), candidate.price) if filters.is_balanced(candidate) else {}
    if any(score < THRESHOLD for score in best.values()):
        return _too_low(min(best.values()), "even to delete the node would score")
    if situation.consolidation is None:
        return NO_POOL
    found = situation.consolidation.move((candidate,), _METHOD, most_reasons=most_reasons)
    if isinstance(found, Stopped) or not filters.is_balanced(candidate):
        return found
    scores = situation.balance.scores((candidate,), found.savings)
    if any(score < THRESHOLD for score in scores.values()):
        return _too_low(min(scores.values()), "the move scores")
    return found


def in_turns(candidates: Sequence[Candidate], first: Sequence[str] = ()) -> Iterator[Candidate]:
    """The first of each pool, the second of each, and so on; some pools before the others."""
    by_pool: dict[str, list[Candidate]] = {pool: [] for pool in first}
    for candidate in candidates:
        by_pool.setdefault(candidate.pool_name, []).append(candidate)
    longest = max(map(len, by_pool.values()), default=0)
    for turn in range(longest):
        for of_pool in by_pool.values():
            if turn < len(of_pool):
                yield of_pool[turn]


def _too_low(score: float, what: str) -> Stopped:
    return Stopped(Kept.SCORE, f"{what} {score:.2f}, Balanced asks for {THRESHOLD}")
