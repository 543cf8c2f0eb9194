"""Which nodes stay whatever passes are still to come: their price is part of every end."""

from collections.abc import Iterator
from typing import Final

from baseload.decide.disrupt import budgets, filters
from baseload.decide.disrupt.budgets import BudgetError
from baseload.decide.disrupt.candidates import Candidate, Survey
from baseload.decide.disrupt.situation import Situation
from baseload.decide.provision.pools import is_static
from baseload.kube.types.karpenter import NodePool
from baseload.plan.disrupt import EMPTY, UNDERUTILIZED, Kept

_FOREVER: Final = 1 << 62  # nanoseconds since the epoch, when every window and every pod's own time is over
_MANY: Final = 1 << 30  # nodes: what a share of so many rounds up to is none only where it is none of any number
_FOR_GOOD: Final = frozenset({Kept.UNMANAGED, Kept.NODE_MARK, Kept.NO_POOL_LABEL, Kept.NO_POOL})
"""what forbids a node to every method, and does not pass"""


def staying(situation: Situation) -> Iterator[str]:
    """The names of nodes that no method gives up, now or later. Where that is not certain a node is not named."""
    for looked in Survey(situation.view, situation.tables, _FOREVER).looked():
        if looked.candidate is None:
            if looked.block is not None and looked.block[0] in _FOR_GOOD:
                yield looked.state.name
        elif _stays(looked.candidate):
            yield looked.state.name


def _stays(candidate: Candidate) -> bool:
    pool = candidate.pool
    if filters.is_drifted(candidate.claim):
        return filters.pods_forbid_drift(candidate) is not None
    if filters.pods_forbid(candidate) is not None or is_static(pool) or not filters.consolidates(pool):
        return True
    if _is_shut(pool, EMPTY) and _is_shut(pool, UNDERUTILIZED):
        return True
    return pool.spec.disruption.consolidation_policy == filters.WHEN_EMPTY and not candidate.is_empty


def _is_shut(pool: NodePool, reason: str) -> bool:
    """Whether a budget that always holds lets no node go for a reason."""
    try:
        return any(
            budgets.allowance_of(budget, _MANY, 0) <= 0
            for budget in budgets.budgets_of(pool)
            if not budget.schedule and not budget.duration and (not budget.reasons or reason in budget.reasons)
        )
    except BudgetError:
        return True
