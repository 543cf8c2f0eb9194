"""The comparison sees a plan that is the reference's, and names what differs in one that is not."""

from collections.abc import Callable

import pytest

from .algebra import Manifest, selectors
from .building import apart, decided, node, pod, pool
from .compare import compare
from .provision import RELAXED, Result


def decision() -> Result:
    """One pod on a node, one on a claim, one nowhere."""
    return decided(pool(), node("a"), pod("a", "2", **apart()), pod("b", **apart()), pod("c", "99"))


def plan_of(result: Result) -> Manifest:
    claims = [
        {
            "name": f"claim-{i}",
            "nodePool": claim.pool,
            "instanceType": claim.instance_type,
            "instanceTypes": claim.types,
            "zone": claim.zone,
            "capacityType": claim.capacity_type,
            "pricePerHour": float(claim.price),
            "labels": dict(claim.labels),
            "annotations": {RELAXED: claim.annotations[RELAXED]},
            "requests": {name: f"{value}n" for name, value in claim.requests.items()},
            "requirements": [s for r in claim.requirements.values() for s in selectors(r)],
            "pods": list(claim.pods),
        }
        for i, claim in enumerate(result.claims)
    ]
    placements = [
        {"pod": name, "node": where} if kind == "node" else {"pod": name, "nodeClaim": f"claim-{where}"}
        for name, (kind, where) in result.placements.items()
    ]
    unschedulable = [{"pod": name} for name in result.errors]
    return {"placements": placements, "nodeClaims": claims, "unschedulable": unschedulable}


def test_the_same_decision_shows_no_difference() -> None:
    assert compare(decision(), plan_of(decision())) == []


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda plan: plan["placements"].pop(), "number of placements"),
        (lambda plan: plan["placements"][0].update(node="b"), "default/a"),
        (lambda plan: plan["nodeClaims"][0]["requests"].update(cpu="1"), "requests"),
        (lambda plan: plan["nodeClaims"][0]["instanceTypes"].reverse(), "instanceTypes"),
        (lambda plan: plan["nodeClaims"][0]["labels"].update(team="x"), "labels"),
        (lambda plan: plan["nodeClaims"][0]["requirements"].pop(), "requirements"),
        (lambda plan: plan["nodeClaims"][0].update(pricePerHour=9.0), "pricePerHour"),
        (lambda plan: plan["unschedulable"].clear(), "unschedulable"),
        (lambda plan: plan.update(buffers=[{"buffer": "b", "replicas": 1, "provisioning": "x"}]), "buffers"),
    ],
)
def test_a_difference_is_named_by_its_field(change: Callable[[Manifest], object], named: str) -> None:
    plan = plan_of(decision())
    change(plan)
    assert any(named in line for line in compare(decision(), plan))
