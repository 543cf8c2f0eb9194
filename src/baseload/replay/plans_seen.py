"""Provisioning decisions in the journal: which claims for which pods, and why a pod got none.

What is told of a pod without a place is told again only when it is another reason: a pod that never fits asks every ten
seconds.
"""

from collections import deque
from collections.abc import Iterator
from typing import Final

from baseload.journal.record import Plan
from baseload.plan import encode
from baseload.plan.provision import PlannedClaim, ProvisionPlan, Rejection, Unschedulable
from baseload.replay.notebook import Notebook

_POOL: Final = "nodePool/"


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
            "unschedulable": list(_unplaced(fresh)),
        }
        new, left = len(plan.node_claims), len(plan.unschedulable)
        counts = f"{plan.pods} pods looked at, {new} NodeClaims to create, {left} pods without a place"
        self._note.tell("karpenter", "provisioning.planned", f"Plan {self.count}", message=counts, plan=tree)

    def name_of(self, pool: str) -> Plan | None:
        """Under which name which plan has the claim that is now created of a pool; None for one that no plan has."""
        while self._planned:
            one = self._planned.popleft()
            if one.node_pool == pool:
                return {"of": f"Plan {self.count}", "name": one.name}
        return None


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


def _unplaced(fresh: list[Unschedulable]) -> Iterator[dict[str, object]]:
    """Pods that are refused alike stand together."""
    alike: dict[tuple[object, ...], list[str]] = {}
    for one in fresh:
        alike.setdefault((str(one.reason), one.message, _folded(one.rejections)), []).append(one.pod)
    for (reason, message, rejections), pods in alike.items():
        assert isinstance(rejections, tuple)
        told = [{"target": target, "reason": why, "message": said} for target, why, said in rejections]
        yield {"pods": pods, "reason": reason, "message": message, "rejections": told}


def _folded(rejections: tuple[Rejection, ...]) -> tuple[tuple[str, str, str], ...]:
    """Those of NodePools one by one, those of nodes and claims by their reason, with the words of the first."""
    pools = [(one.target, str(one.reason), one.message) for one in rejections if one.target.startswith(_POOL)]
    others: dict[str, list[Rejection]] = {}
    for one in rejections:
        if not one.target.startswith(_POOL):
            others.setdefault(str(one.reason), []).append(one)
    folded = (
        (held[0].target if len(held) == 1 else f"{held[0].target} and {len(held) - 1} others", why, held[0].message)
        for why, held in others.items()
    )
    return (*pools, *folded)
