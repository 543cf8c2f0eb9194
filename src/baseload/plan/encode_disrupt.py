"""Disruption plans as the JSON contract."""

from collections.abc import Callable
from typing import Final

from baseload.plan.disrupt import (
    ClaimStep,
    Command,
    Compared,
    Comparison,
    DisruptPasses,
    DisruptPlan,
    Mode,
    Outlay,
    Tried,
)
from baseload.plan.encode import API_VERSION, Json, Parts, price, rejection

_HEAD: Final[Json] = {"apiVersion": API_VERSION, "kind": "DisruptPlan"}


def to_json(plan: DisruptPlan) -> Json:
    """A DisruptPlan of the contract."""
    return {**_HEAD, **_plan(plan, Parts(None))}


def passes_to_json(passes: DisruptPasses) -> Json:
    """A DisruptPlan of several passes."""
    return {**_HEAD, **_passes(passes, Parts(None))}


def compared_to_json(compared: Compared[DisruptPlan] | Compared[DisruptPasses], mode: Mode) -> Json:
    """The plan of a mode with what it came to; with both modes the compatible one, and the other under `optimal`."""
    parts = Parts(None)
    of_mode = {} if mode == "both" else {"mode": mode}
    told: Json = {**_HEAD, **of_mode, **_either(compared.optimal if mode == "optimal" else compared.compatible, parts)}
    if mode == "both":
        told["optimal"] = _either(compared.optimal, parts)
    return {**told, "comparison": _comparison(compared.comparison)}


def _comparison(of: Comparison) -> Json:
    def each(value: Callable[[Outlay], Json | float | None]) -> Json:
        return {"compatible": value(of.compatible), "optimal": value(of.optimal)}

    share = of.above_bound
    return {
        "moves": each(lambda outlay: outlay.moves),
        "nodes": each(lambda outlay: outlay.nodes),
        "pricePerHour": {"before": price(of.before), **each(lambda outlay: price(outlay.price_per_hour))},
        "bound": price(of.bound),
        "aboveBound": None if share is None else round(share, 6),
    }


def _either(plan: DisruptPlan | DisruptPasses, parts: Parts) -> Json:
    return _plan(plan, parts) if isinstance(plan, DisruptPlan) else _passes(plan, parts)


def _passes(passes: DisruptPasses, parts: Parts) -> Json:
    end = passes.end
    told: Json = {"nodes": end.nodes, "pricePerHour": price(end.price_per_hour), "stable": end.stable}
    if end.loop is not None:
        moves = [{"method": str(it.method), "reason": it.reason, "nodes": _types(it)} for it in passes.going_round]
        told["loop"] = {"from": end.loop[0], "to": end.loop[1], "moves": moves}
    if end.repeated:
        told["repeated"] = [{"kind": str(one.kind), "times": one.times, "message": one.message} for one in end.repeated]
    return {"passes": [_plan(plan, parts) for plan in passes.passes], "end": told}


def _types(command: Command) -> list[str]:
    """The candidates as a loop tells them, whose names are others each time."""
    return [f"{it.node_pool}/{it.instance_type}" for it in command.candidates]


def _plan(plan: DisruptPlan, parts: Parts) -> Json:
    return {
        "commands": [command_to_json(command, parts) for command in plan.commands],
        "skipped": [{"node": s.node, "reason": str(s.reason), "message": s.message} for s in plan.skipped],
        "tried": [_tried(one) for one in plan.tried],
        "nodeClaims": [_claim(claim) for claim in plan.node_claims],
        "drain": {
            "evict": plan.drain.evict,
            "delete": [{"pod": pod, "gracePeriodSeconds": grace} for pod, grace in plan.drain.delete],
        },
        "unavailableOfferings": [
            {"instanceType": it.instance_type, "zone": it.zone, "capacityType": it.capacity_type}
            for it in plan.unavailable_offerings
        ],
        "notes": plan.notes,
    }


def command_to_json(command: Command, parts: Parts) -> Json:
    """A command as plans hold it."""
    return {
        "reason": command.reason,
        "method": str(command.method),
        "candidates": [
            {
                "node": it.node,
                "nodeClaim": it.node_claim,
                "nodePool": it.node_pool,
                "instanceType": it.instance_type,
                "disruptionCost": round(it.disruption_cost, 6),
                "pricePerHour": price(it.price_per_hour),
            }
            for it in command.candidates
        ],
        "replacements": [parts.claim(claim) for claim in command.replacements],
        "pods": [{"pod": moved.pod, "to": moved.to} for moved in command.pods],
        "savingsPerHour": price(command.savings_per_hour),
    }


def _tried(one: Tried) -> Json:
    told: Json = {"node": one.node, "method": str(one.method), "reason": str(one.reason), "message": one.message}
    if one.pods:
        told["pods"] = one.pods
    if one.rejections:
        told["rejections"] = [{"pod": pod, "rejections": [rejection(r) for r in by]} for pod, by in one.rejections]
    return told


def _claim(claim: ClaimStep) -> Json:
    conditions = [{"type": c.type, "status": c.status, "reason": c.reason} for c in claim.conditions]
    return {"name": claim.name, "deleted": claim.deleted, "conditions": conditions}
