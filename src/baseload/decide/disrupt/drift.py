"""Drifted nodes are replaced one a pass, the one that drifted first (disruption and lifecycle spec 17).

Nodes without pods come before those with. Price does not count, nor do the windows of the nodes that take the pods, and
one node may be replaced by several.
"""

from baseload.decide.disrupt import filters
from baseload.decide.disrupt.candidates import Candidate
from baseload.decide.disrupt.consolidation import without_place
from baseload.decide.disrupt.moves import Move, Outcome, Stopped, tried
from baseload.decide.disrupt.situation import NO_POOL, Situation, over_budget
from baseload.decide.lifecycle import conditions
from baseload.decide.lifecycle.names import DRIFTED as DRIFTED_CONDITION
from baseload.plan.disrupt import DRIFTED, Method, Tried


def drift(situation: Situation) -> Outcome:
    """The first drifted node whose pods all have somewhere to go."""
    candidates = situation.candidates(lambda c: filters.pods_forbid_drift(c) or filters.drift_forbids(c, static=False))
    if not candidates:
        return Outcome()
    allowances = situation.allowances(DRIFTED)
    kept: list[Tried] = []
    for candidate in sorted(candidates, key=_turn):
        if allowances.get(candidate.pool_name, 0) <= 0:
            kept.append(tried(candidate, Method.DRIFT, over_budget(candidate, DRIFTED)))
            continue
        found = replaced(situation, candidate)
        if isinstance(found, Move):
            return Outcome((found,), tuple(kept))
        kept.append(tried(candidate, Method.DRIFT, found))
        if found is NO_POOL:
            return Outcome(tried=tuple(kept), error=NO_POOL.message)
    return Outcome(tried=tuple(kept))


def replaced(situation: Situation, candidate: Candidate, *, most_reasons: int | None = None) -> Move | Stopped:
    """What it would take to give up one node at whatever price."""
    simulator = situation.simulator
    if simulator is None:
        return NO_POOL
    found = simulator.without((candidate.name,), is_consolidation=False, most_reasons=most_reasons)
    if not found.all_placed:
        return without_place(found.unplaced)
    savings = candidate.price - sum(map(simulator.cheapest, found.claims))
    places = tuple(found.places.items())
    return Move(DRIFTED, Method.DRIFT, (candidate,), found.claims, places, found.moved, savings)


def _turn(candidate: Candidate) -> tuple[bool, int, str]:
    since = conditions.since(candidate.claim.status.conditions, DRIFTED_CONDITION)
    return bool(candidate.reschedulable), since or 0, candidate.name
