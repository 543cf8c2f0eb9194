"""Where a ProvisionPlan (the JSON contract of `baseload plan provision`) differs from the reference's decision."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from . import algebra, resources
from .provision import RELAXED, PlannedClaim, Result

Plan = Mapping[str, Any]


def compare(result: Result, plan: Plan) -> list[str]:
    """Every difference as a line; none when the plan is the reference's decision.

    Claims are matched by the order in which they were opened, which is that of `nodeClaims`.
    """
    return [
        *placements(result, plan),
        *claims(result, plan),
        *difference("unschedulable", sorted(result.errors), sorted(u["pod"] for u in plan["unschedulable"])),
        *difference("staticPools", result.static, {s["nodePool"]: s["delta"] for s in plan.get("staticPools", [])}),
        *difference("buffers", result.buffers, buffers(plan)),
    ]


def difference(what: str, wanted: object, got: object) -> list[str]:
    return [] if wanted == got else [f"{what}: {got}, not {wanted}"]


def buffers(plan: Plan) -> dict[str, tuple[int, str]]:
    return {b["buffer"]: (b["replicas"], b["provisioning"]) for b in plan.get("buffers", [])}


def placements(result: Result, plan: Plan) -> list[str]:
    index = {claim["name"]: i for i, claim in enumerate(plan["nodeClaims"])}
    got: dict[str, tuple[str, str | int]] = {
        p["pod"]: ("node", p["node"]) if p.get("node") else ("claim", index[p["nodeClaim"]]) for p in plan["placements"]
    }
    faults = difference("number of placements", len(result.placements), len(plan["placements"]))
    for pod in sorted(result.placements.keys() | got.keys()):
        faults += difference(pod, result.placements.get(pod), got.get(pod))
    return faults


def claims(result: Result, plan: Plan) -> list[str]:
    listed = plan["nodeClaims"]
    faults = difference("number of nodeClaims", len(result.claims), len(listed))
    for i, (wanted, got) in enumerate(zip(result.claims, listed, strict=False)):
        faults += [f"claim {i} ({got['name']}) {fault}" for fault in claim(wanted, got)]
    return faults


def claim(wanted: PlannedClaim, got: Plan) -> list[str]:
    facts = {
        "nodePool": wanted.pool,
        "instanceTypes": wanted.types,
        "instanceType": wanted.instance_type,
        "zone": wanted.zone,
        "capacityType": wanted.capacity_type,
    }
    faults = [fault for key, value in facts.items() for fault in difference(key, value, got[key])]
    faults += difference("pods", sorted(wanted.pods), sorted(got["pods"]))
    faults += difference("requests", present(wanted.requests), present(resources.amounts(got["requests"])))
    faults += difference("labels", wanted.labels, without(got["labels"], algebra.HOSTNAME))
    faults += difference("relaxed", wanted.annotations[RELAXED], got["annotations"].get(RELAXED))
    faults += difference("requirements", written(wanted), sorted(map(flat, got["requirements"])))
    if abs(Fraction(str(got["pricePerHour"])) - wanted.price) > Fraction(1, 10**9):
        faults.append(f"pricePerHour: {got['pricePerHour']}, not {float(wanted.price)}")
    return faults


def present(amounts: Mapping[str, int]) -> dict[str, int]:
    """A resource of which nothing is asked may be left out."""
    return {name: value for name, value in amounts.items() if value}


def without(labels: Mapping[str, str], key: str) -> dict[str, str]:
    return {name: value for name, value in labels.items() if name != key}


def written(wanted: PlannedClaim) -> list[tuple[str, ...]]:
    return sorted(flat(s) for r in wanted.requirements.values() for s in algebra.selectors(r))


def flat(selector: Mapping[str, Any]) -> tuple[str, ...]:
    least = selector.get("minValues")
    values = sorted(str(value) for value in selector.get("values") or ())
    return selector["key"], selector["operator"], *values, f"minValues={least}"
