"""One node's story as JSON; commands and rejections are written as in plans."""

from baseload.plan.encode import API_VERSION, Json, Parts, price, rejection
from baseload.plan.encode_disrupt import command_to_json
from baseload.plan.node_story import Change, MethodStory, NodeStory, Rule, Taker, Wait, Wall
from baseload.plan.provision import Fix


def to_json(story: NodeStory) -> Json:
    """A NodeStory."""
    parts = Parts(None)
    taken = story.taken
    told: Json = {
        "apiVersion": API_VERSION,
        "kind": "NodeStory",
        "node": story.node,
        "nodeClaim": story.node_claim,
        "nodePool": story.node_pool,
        "instanceType": story.instance_type,
        "capacityType": story.capacity_type,
        "zone": story.zone,
        "pricePerHour": price(story.price_per_hour),
        "now": story.now,
        "candidate": story.is_candidate,
        "disrupted": taken is not None or story.forced is not None,
        "by": str(taken.method) if taken is not None else str(story.forced.method) if story.forced else None,
        "pods": story.pods,
        "forced": None if story.forced is None else command_to_json(story.forced, parts),
        "methods": [_method(one, parts) for one in story.methods],
        "walls": [_wall(one) for one in story.walls],
        "change": None if story.change is None else _change(story.change, parts),
        "cutShort": story.is_cut_short,
        "wait": None if story.wait is None else _wait(story.wait, parts),
        "costPerHour": price(story.cost_per_hour),
        "pending": [{"pod": one.pod, "inTheWay": one.is_in_the_way} for one in story.pending],
        "mayStillTakeIt": [_taker(one) for one in story.takers],
    }
    return told | {"note": story.note} if story.note else told


def _method(told: MethodStory, parts: Parts) -> Json:
    return {
        "method": str(told.method),
        "verdict": str(told.verdict),
        "wall": None if told.wall is None else _wall(told.wall),
        "command": None if told.command is None else command_to_json(told.command, parts),
        "message": told.message,
    }


def _wall(wall: Wall) -> Json:
    return {
        "reason": str(wall.reason),
        "message": wall.message,
        "rules": [_rule(rule) for rule in wall.rules],
        "pods": wall.pods,
        "facts": dict(wall.facts),
        "rejections": [{"pod": pod, "rejections": [rejection(one) for one in by]} for pod, by in wall.rejections],
    }


def _rule(rule: Rule) -> Json:
    told: Json = {"object": rule.object, "path": rule.path, "value": rule.value, "facts": dict(rule.facts)}
    if rule.until is not None:
        told["until"] = rule.until
    if rule.written_in is not None:
        told["writtenIn"] = rule.written_in
    return told


def _change(change: Change, parts: Parts) -> Json:
    return {
        "fixes": [_fix(fix, place) for fix, place in zip(change.fixes, change.written_in, strict=True)],
        "method": str(change.method),
        "command": command_to_json(change.command, parts),
    }


def _fix(fix: Fix, written_in: str | None) -> Json:
    told: Json = {"object": fix.object, "path": fix.path, "from": fix.from_, "to": fix.to}
    return told if written_in is None else told | {"writtenIn": written_in}


def _wait(wait: Wait, parts: Parts) -> Json:
    return {
        "until": wait.until,
        "message": wait.message,
        "method": str(wait.method),
        "command": command_to_json(wait.command, parts),
    }


def _taker(taker: Taker) -> Json:
    return {
        "how": taker.how,
        "possible": taker.is_possible,
        "message": taker.message,
        "rule": None if taker.rule is None else _rule(taker.rule),
        "when": taker.when,
    }
