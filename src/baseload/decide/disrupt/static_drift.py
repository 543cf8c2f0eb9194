"""Drifted nodes of static pools are replaced one for one, empty ones too (disruption and lifecycle spec 16).

Nothing is simulated. How many at once depends on the budgets and on how many more nodes the pool may have, since the
replacement comes first.
"""

from collections.abc import Sequence

from baseload.decide.disrupt import filters
from baseload.decide.disrupt.candidates import Candidate
from baseload.decide.disrupt.moves import Move, Outcome, Stopped, tried
from baseload.decide.disrupt.situation import Situation, over_budget
from baseload.decide.lifecycle import conditions
from baseload.decide.lifecycle.names import DISRUPTION_REASON
from baseload.kube.types.karpenter import NodeClaim, NodePool
from baseload.model.requests import amounts
from baseload.model.statenode import is_deleting
from baseload.plan.disrupt import DRIFTED, Kept, Method, Tried
from baseload.values.label import NODEPOOL
from baseload.values.quantity import UNIT

_METHOD = Method.STATIC_DRIFT


def static_drift(situation: Situation) -> Outcome:
    """A command for each node that may be replaced now, those of all pools together."""
    candidates = situation.candidates(lambda c: filters.pods_forbid_drift(c) or filters.drift_forbids(c, static=True))
    if not candidates:
        return Outcome()
    by_pool: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        by_pool.setdefault(candidate.pool_name, []).append(candidate)
    allowances = situation.allowances(DRIFTED)
    moves: list[Move] = []
    kept: list[Tried] = []
    for name, ours in by_pool.items():
        granted, stopped = _granted(situation, ours, allowances.get(name, 0))
        for place, candidate in enumerate(ours):
            claim = situation.static.claim(name) if place < granted else None
            if claim is None:
                kept.append(tried(candidate, _METHOD, stopped))
                continue
            savings = candidate.price - situation.static.price(claim)
            moves.append(Move(DRIFTED, _METHOD, (candidate,), (claim,), savings=savings))
    return Outcome(tuple(moves), tuple(kept))


def _granted(situation: Situation, candidates: Sequence[Candidate], allowance: int) -> tuple[int, Stopped]:
    """How many of a pool's candidates may be replaced now, and what keeps the others."""
    pool = candidates[0].pool
    budget = over_budget(candidates[0], DRIFTED)
    if allowance <= 0:
        return 0, budget
    active, pending, deleting = counts(situation.view.node_claims, pool)
    if active + pending > (pool.spec.replicas or 0):
        text = f"NodePool {pool.metadata.name} has {active + pending} nodes and {pool.spec.replicas} replicas"
        return 0, Stopped(Kept.REPLICAS, f"{text}, which is mended first")
    wanted = min(allowance, len(candidates))
    granted = reserve(pool, active + pending + deleting, wanted)
    if granted < wanted:
        text = f"the limit of nodes of NodePool {pool.metadata.name} leaves no room for more replacements"
        return granted, Stopped(Kept.NODE_LIMIT, text)
    if situation.static.claim(pool.metadata.name) is None:
        text = f"the requirements of NodePool {pool.metadata.name} leave no instance type to launch"
        return 0, Stopped(Kept.NO_TYPES, text)
    return granted, budget


def reserve(pool: NodePool, there: int, wanted: int) -> int:
    """How many nodes more the pool may have of those wanted."""
    limit = amounts(pool.spec.limits).get("nodes")
    return wanted if limit is None else max(0, min(wanted, limit // UNIT - there))


def counts(claims: Sequence[NodeClaim], pool: NodePool) -> tuple[int, int, int]:
    """The pool's claims: active, chosen to be disrupted, and being deleted."""
    ours = [claim for claim in claims if claim.metadata.labels.get(NODEPOOL) == pool.metadata.name]
    deleting = sum(map(is_deleting, ours))
    pending = sum(not is_deleting(c) and conditions.is_true(c.status.conditions, DISRUPTION_REASON) for c in ours)
    return len(ours) - deleting - pending, pending, deleting
