"""Plans as the JSON contract: plain maps and lists that any encoder takes, in an order that is always the same.

Amounts become canonical quantities, prices numbers of at most ten digits. Thousands of claims share their
requirements, type lists and amounts, so every such part is made once and shared by the maps that hold it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

from baseload.plan.provision import (
    Demand,
    Fix,
    Nearest,
    Placement,
    PlannedClaim,
    ProvisionPlan,
    Rejection,
    Unschedulable,
)
from baseload.plan.story import PodStory
from baseload.values.requirement import NodeSelectorRequirement, Requirement
from baseload.values.resource import written
from baseload.values.taint import Taint

Json = dict[str, object]
T = TypeVar("T")

API_VERSION: Final = "baseload.dev/v1alpha1"


def to_json(plan: ProvisionPlan, *, shared: Callable[[object], object] | None = None) -> Json:
    """A ProvisionPlan of the contract. `shared` turns a part that many claims share into what stands for it."""
    parts = Parts(shared)
    return {
        "apiVersion": API_VERSION,
        "kind": "ProvisionPlan",
        "placements": [_placement(placement) for placement in plan.placements],
        "nodeClaims": [parts.claim(claim) for claim in plan.node_claims],
        "unschedulable": [unschedulable(pod) for pod in plan.unschedulable],
        "staticPools": [{"nodePool": pool.node_pool, "delta": pool.delta} for pool in plan.static_pools],
        "buffers": [
            {"buffer": buffer.buffer, "replicas": buffer.replicas, "provisioning": buffer.provisioning}
            for buffer in plan.buffers
        ],
        "expanded": [{"workload": expanded.workload, "pods": expanded.pods} for expanded in plan.expanded],
        "totals": {
            "pods": plan.pods,
            "placed": len(plan.placements),
            "newNodes": len(plan.node_claims),
            "pricePerHour": price(plan.price_per_hour),
        },
        "notes": plan.notes,
    }


def story_to_json(story: PodStory) -> Json:
    """One pod's story; places and reasons are written as in a ProvisionPlan."""
    parts = Parts(None)
    other = story.alternative
    return {
        "apiVersion": API_VERSION,
        "kind": "PodStory",
        "pod": story.pod,
        "phase": story.phase,
        "workload": story.workload,
        "requests": parts.quantities(story.requests),
        "asks": [{"path": ask.path, "text": ask.text} for ask in story.asks],
        "runsOn": story.runs_on,
        "node": story.node,
        "nodeClaim": None if story.claim is None else parts.claim(story.claim),
        "unschedulable": None if story.unschedulable is None else unschedulable(story.unschedulable),
        "rejections": [rejection(held) for held in story.refusals],
        "alternative": None
        if other is None
        else {
            "without": other.without,
            "node": other.node,
            "nodeClaim": None if other.claim is None else parts.claim(other.claim),
            "rejections": [rejection(held) for held in other.rejections],
        },
    }


def price(dollars: float | None) -> float | None:
    """Dollars an hour without the noise of sums: ten digits, which the tiny prices of reserved capacity keep too."""
    return None if dollars is None else float(f"{dollars:.10g}")


def runner_up(claim: PlannedClaim) -> tuple[str, float | None, bool] | None:
    """The next type in the order of prices, its price, and whether that is an estimate."""
    rows = zip(claim.instance_types, claim.prices, claim.estimates, strict=True)
    return next((row for row in rows if row[0] != claim.instance_type), None)


def _offer(instance_type: str, price_per_hour: float | None, estimated: bool) -> Json:
    offer: Json = {"instanceType": instance_type, "pricePerHour": price(price_per_hour)}
    return offer | {"estimated": True} if estimated else offer


def unschedulable(pod: Unschedulable) -> Json:
    """A pod without a place, and all that is known of why."""
    return {
        "pod": pod.pod,
        "reason": str(pod.reason),
        "message": pod.message,
        "conflict": [_demand(demand) for demand in pod.conflict],
        "nearest": _nearest(pod.nearest),
        "fix": _fix(pod.fix),
        "rejections": [rejection(held) for held in pod.rejections],
    }


def _placement(placement: Placement) -> Json:
    if placement.node is not None:
        return {"pod": placement.pod, "node": placement.node}
    return {"pod": placement.pod, "nodeClaim": placement.node_claim}


def _demand(demand: Demand) -> Json:
    return {
        "object": demand.object,
        "path": demand.path,
        "key": demand.key,
        "operator": demand.operator,
        "values": demand.values,
    }


def _nearest(nearest: Nearest | None) -> Json | None:
    return None if nearest is None else {"target": nearest.target, "lacking": nearest.lacking}


def _fix(fix: Fix | None) -> Json | None:
    return None if fix is None else {"object": fix.object, "path": fix.path, "from": fix.from_, "to": fix.to}


def rejection(held: Rejection) -> Json:
    """Why one target does not take a pod."""
    return {"target": held.target, "reason": str(held.reason), "message": held.message}


def _taints(taints: Sequence[Taint]) -> list[Json]:
    return [
        {"key": t.key, "value": t.value, "effect": t.effect} if t.value else {"key": t.key, "effect": t.effect}
        for t in taints
    ]


class Parts:
    """The parts of claims that were made already."""

    def __init__(self, shared: Callable[[object], object] | None) -> None:
        self._shared = shared
        self._amounts: dict[tuple[str, int], str] = {}
        self._encoded: dict[tuple[str, int], object] = {}  # (part, identity), which the plan keeps alive -> encoding

    def claim(self, claim: PlannedClaim) -> Json:
        encoded: Json = {
            "name": claim.name,
            "nodePool": claim.node_pool,
            "instanceType": claim.instance_type,
            "zone": claim.zone,
            "capacityType": claim.capacity_type,
            "pricePerHour": price(claim.price_per_hour),
        }
        if claim.estimated:
            encoded["estimated"] = True
        second = runner_up(claim)
        encoded |= {
            "labels": self.part("labels", claim.labels, _same),
            "annotations": self.part("annotations", claim.annotations, _same),
            "taints": self.part("taints", claim.taints, _taints),
            "startupTaints": self.part("startupTaints", claim.startup_taints, _taints),
            "requests": self.quantities(claim.requests),
            "allocatable": self.part("allocatable", claim.allocatable, self.quantities),
            "fill": {resource: round(share, 4) for resource, share in claim.fill.items()},
            "binding": claim.binding,
            "requirements": self.part("requirements", claim.requirements, _requirements),
            "instanceTypes": self.part("instanceTypes", claim.instance_types, _same),
            "runnerUp": None if second is None else _offer(*second),
            "pods": claim.pods,
        }
        return encoded

    def quantities(self, amounts: Mapping[str, int]) -> dict[str, str]:
        known = self._amounts
        texts = {}
        for resource, nanos in amounts.items():
            text = known.get((resource, nanos))
            if text is None:
                text = known[resource, nanos] = written(resource, nanos)
            texts[resource] = text
        return texts

    def part(self, name: str, held: T, encode: Callable[[T], object]) -> object:
        """The encoding of a part, the same for each claim that holds the same object."""
        key = (name, id(held))
        if key not in self._encoded:
            encoded = encode(held)
            self._encoded[key] = encoded if self._shared is None else self._shared(encoded)
        return self._encoded[key]


def _same(held: T) -> T:
    return held


def _requirements(requirements: Sequence[Requirement]) -> list[NodeSelectorRequirement]:
    return [entry for requirement in requirements for entry in requirement.selectors()]
