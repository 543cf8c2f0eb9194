"""Provisioning decisions in the journal: which claims for which pods, and why a pod got none.

What is told of a pod without a place is told again only when it is another reason: a pod that never fits asks every ten
seconds.
"""

from collections import deque

from baseload.plan import encode
from baseload.plan.provision import PlannedClaim, ProvisionPlan, Unschedulable
from baseload.replay.notebook import Notebook


class PlansSeen:
    """The plans of a run."""

    def __init__(self, notebook: Notebook) -> None:
        self._note = notebook
        self._told: dict[str, tuple[str, str]] = {}  # pod -> reason and message
        self._planned: deque[PlannedClaim] = deque()  # those that no NodeClaim was created for yet
        self.count = 0

    def hear(self, plan: ProvisionPlan) -> None:
        self.count += 1
        self._planned = deque(plan.node_claims)
        if self._note.writer is None:
            return
        placed = [{"pod": one.pod, "node": one.node} for one in plan.placements if one.node is not None]
        fresh = [one for one in plan.unschedulable if self._told.get(one.pod) != (str(one.reason), one.message)]
        self._told = {one.pod: (str(one.reason), one.message) for one in plan.unschedulable}
        if not (plan.node_claims or fresh):
            return
        tree: dict[str, object] = {
            "placements": placed,
            "nodeClaims": [_claim(one) for one in plan.node_claims],
            "unschedulable": [_unplaced(one) for one in fresh],
        }
        new, left = len(plan.node_claims), len(plan.unschedulable)
        counts = f"{plan.pods} pods looked at, {new} NodeClaims to create, {left} pods without a place"
        self._note.tell("karpenter", "provisioning.planned", f"Plan {self.count}", message=counts, plan=tree)

    def name_of(self, pool: str) -> str:
        """Under which name the plan has the claim that is now created of a pool; "" for one that was not planned."""
        while self._planned:
            one = self._planned.popleft()
            if one.node_pool == pool:
                return f"{one.name} of Plan {self.count}"
        return ""


def _claim(one: PlannedClaim) -> dict[str, object]:
    return {
        "name": one.name,
        "nodePool": one.node_pool,
        "instanceType": one.instance_type,
        "zone": one.zone,
        "capacityType": one.capacity_type,
        "pricePerHour": encode.price(one.price_per_hour),
        "instanceTypes": len(one.instance_types),
        "binding": one.binding,
        "pods": list(one.pods),
    }


def _unplaced(one: Unschedulable) -> dict[str, object]:
    rejections = [{"target": it.target, "reason": str(it.reason), "message": it.message} for it in one.rejections]
    return {"pod": one.pod, "reason": str(one.reason), "message": one.message, "rejections": rejections}
