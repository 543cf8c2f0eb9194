"""The policy Balanced: a move has to save enough for what it disrupts (disruption and lifecycle spec 20).

The share of a pool's price that a move saves is set against the share of the pool's move costs that it spends.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from baseload.catalog.columns import InstanceTypes
from baseload.decide.disrupt import costs, filters
from baseload.decide.disrupt.candidates import Candidate
from baseload.kube.types.karpenter import NodeClaim
from baseload.model.statenode import StateNode
from baseload.model.view import View, is_daemon
from baseload.values.label import CAPACITY_TYPE, INSTANCE_TYPE, NODEPOOL, ZONE

TOLERANCE: Final = 2
"""k: a move may cost so many times the share that it saves"""
THRESHOLD: Final = 1 / TOLERANCE
_PRICED: Final = (INSTANCE_TYPE, CAPACITY_TYPE, ZONE, NODEPOOL)


class Balance:
    """The totals of the pools, and the score of moves against them."""

    def __init__(self, view: View, tables: Mapping[str, InstanceTypes], candidates: Sequence[Candidate]) -> None:
        self._cost: Final = _prices(view.node_claims, tables)
        self._disruption: Final[dict[str, float]] = {}
        of_candidates: dict[str, float] = {}
        for candidate in candidates:
            of_candidates[candidate.pool_name] = of_candidates.get(candidate.pool_name, 0.0) + candidate.price
        for pool, price in of_candidates.items():
            if not self._cost.get(pool, 0.0) > 0:
                self._cost[pool] = price
        known = {candidate.name: candidate.move_cost for candidate in candidates}
        for state in view.state_nodes:
            if state.pool:
                cost = known.get(state.name)
                if cost is None:
                    cost = _of_other(view, state)
                self._disruption[state.pool] = self._disruption.get(state.pool, 0.0) + cost

    def approves(self, candidates: Sequence[Candidate], savings: float) -> bool:
        """Whether every pool among the candidates that asks for it finds the score high enough."""
        return all(score >= THRESHOLD for score in self.scores(candidates, savings).values())

    def scores(self, candidates: Sequence[Candidate], savings: float) -> dict[str, float]:
        """Balanced pool -> the score of the move there."""
        whole = sum(candidate.price for candidate in candidates)
        by_pool: dict[str, list[Candidate]] = {}
        for candidate in candidates:
            by_pool.setdefault(candidate.pool_name, []).append(candidate)
        found = {}
        for pool, ours in by_pool.items():
            if filters.is_balanced(ours[0]):
                share = savings
                if len(by_pool) > 1:
                    share = savings * (sum(c.price for c in ours) / whole) if whole > 0 else 0.0
                found[pool] = self._score(pool, ours, share)
        return found

    def _score(self, pool: str, candidates: Sequence[Candidate], share: float) -> float:
        cost, disruption = self._cost.get(pool, 0.0), self._disruption.get(pool, 0.0)
        if share <= 0 or cost <= 0 or disruption <= 0:
            return 0.0
        spent = sum(candidate.move_cost for candidate in candidates) / disruption
        return (share / cost) / spent if spent else float("inf")


def _of_other(view: View, state: StateNode) -> float:
    """The move cost of a node that is no candidate."""
    pods = view.pods_on.get(state.node.metadata.name, ()) if state.node is not None else ()
    return costs.of_move(pod for pod in pods if not is_daemon(pod))


def _prices(claims: Sequence[NodeClaim], tables: Mapping[str, InstanceTypes]) -> dict[str, float]:
    """NodePool -> the sum of the prices of its claims, those that lack a label left out."""
    found: dict[str, float] = {}
    for claim in claims:
        labels = claim.metadata.labels
        if all(labels.get(key) for key in _PRICED):
            pool = labels[NODEPOOL]
            found[pool] = found.get(pool, 0.0) + (costs.of_node(labels, tables.get(pool)) or 0.0)
    return found
