"""What the reference solver decides on a case, in the shape of the plan contract, so that one checker judges both.

The reference says nothing of taints, of what binds, nor of annotations other than that of relaxed minValues: what a
case expects of these is for the plan alone.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import yaml

from tests.cases.checker import Case
from tests.reference import algebra
from tests.reference.provision import RELAXED, PlannedClaim, Result, solve

Json = Mapping[str, Any]

NOT_SAID: Final = ("nodeTaints", "binding", "nodeAnnotations")


def within_reach(case: Case) -> Case:
    """The case without what the reference says nothing of."""
    said = {key: wanted for key, wanted in case.expect.items() if key not in NOT_SAID}
    annotations = case.expect.get("nodeAnnotations", {})
    said["nodeAnnotations"] = {pod: {RELAXED: told[RELAXED]} for pod, told in annotations.items() if RELAXED in told}
    return replace(case, expect=said)


def decided(case: Case) -> Json:
    """The reference's plan of a case that has instance types of its own."""
    assert case.catalog is not None
    options = yaml.safe_load(case.options_file.read_text(encoding="utf-8")) if case.options_file else {}
    catalog = json.loads(case.catalog.read_text(encoding="utf-8"))
    return plan_of(solve([dict(obj) for obj in case.objects], catalog, options))


def plan_of(result: Result) -> Json:
    names = [f"{claim.pool}-{place}" for place, claim in enumerate(result.claims, start=1)]
    return {
        "placements": [
            {"pod": pod, "node": place} if kind == "node" else {"pod": pod, "nodeClaim": names[int(place)]}
            for pod, (kind, place) in result.placements.items()
        ],
        "nodeClaims": [_claim(name, claim) for name, claim in zip(names, result.claims, strict=True)],
        "unschedulable": [{"pod": pod} for pod in result.errors],
        "staticPools": [{"nodePool": pool, "delta": delta} for pool, delta in result.static.items()],
        "buffers": [
            {"buffer": name, "replicas": replicas, "provisioning": provisioning}
            for name, (replicas, provisioning) in result.buffers.items()
        ],
    }


def _claim(name: str, claim: PlannedClaim) -> Json:
    return {
        "name": name,
        "nodePool": claim.pool,
        "instanceType": claim.instance_type,
        "instanceTypes": claim.types,
        "labels": claim.labels,
        "annotations": claim.annotations,
        "requests": {resource: f"{nanos}n" for resource, nanos in claim.requests.items()},
        "requirements": [
            entry for requirement in claim.requirements.values() for entry in algebra.selectors(requirement)
        ],
        "pods": claim.pods,
    }
