"""Random clusters in which most nodes are kept, each for something else."""

from random import Random
from typing import Any

from tests.decide.explain_node.building import CAPACITY, SIZES, TYPE, ZONE, Object, budget, node, one_of, pod, pool

Cluster = tuple[list[Object], Object]
"""objects and options"""

_LATELY = "2026-03-10T11:50:00Z"


def cluster(seed: int) -> Cluster:
    """One or two pools, up to six nodes, some pods on each, and rules in the way."""
    chance = Random(seed)
    objects: list[Object] = []
    pools = [_pool(chance, name) for name in ("default", "second")[: chance.randint(1, 2)]]
    objects += pools
    for at in range(chance.randint(1, 6)):
        objects += _node(chance, f"node-{at}", chance.choice(pools))
    objects += _budgets(chance, [one for one in objects if one["kind"] == "Pod"])
    for at in range(chance.choice((0, 0, 0, 1, 2))):
        objects.append(pod(f"wait-{at}", cpu=chance.choice(("500m", "1", "3", "40"))))
    gates = {"SpotToSpotConsolidation": True} if chance.random() < 0.3 else {}
    return objects, {"featureGates": gates}


def _pool(chance: Random, name: str) -> Object:
    capacity = chance.choice((("on-demand",), ("on-demand",), ("spot",), ("on-demand", "spot")))
    requirements = [one_of(CAPACITY, *capacity)]
    if chance.random() < 0.3:
        held = sorted(chance.sample(sorted(SIZES), chance.randint(1, 3)))
        more = {"minValues": chance.randint(1, len(held))} if chance.random() < 0.5 else {}
        requirements.append(one_of(TYPE, *held, **more))
    if chance.random() < 0.2:
        requirements.append(one_of(ZONE, "zone-1"))
    disruption: Object = {
        "consolidateAfter": chance.choice(("0s", "1m", "1m", "1m", "15m", "15m", "1h", "Never")),
        "consolidationPolicy": chance.choice(("WhenEmptyOrUnderutilized",) * 6 + ("WhenEmpty", "Balanced")),
        "budgets": chance.choice(
            (
                *([{"nodes": "100%"}] for _ in range(9)),
                None,
                [{"nodes": "1"}],
                [{"nodes": "0"}],
                [{"nodes": "50%"}, {"nodes": "0", "schedule": "0 9 * * *", "duration": "8h"}],
                [{"nodes": "100%"}, {"nodes": "0", "reasons": ["Empty"]}, {"nodes": "0", "reasons": ["Underutilized"]}],
            )
        ),
    }
    spec: dict[str, Any] = {}
    if name == "second" and chance.random() < 0.25:
        spec["replicas"] = chance.randint(1, 4)
        if chance.random() < 0.5:
            spec["limits"] = {"nodes": str(chance.randint(2, 6))}
    elif chance.random() < 0.3:
        spec["limits"] = {"cpu": str(chance.choice((4, 8, 20, 64)))}
    return pool(name, *requirements, ready=chance.random() < 0.95, disruption=disruption, **spec)


def _node(chance: Random, name: str, of: Object) -> list[Object]:
    size = chance.choice(sorted(SIZES))
    held = next(one for one in of["spec"]["template"]["spec"]["requirements"] if one["key"] == CAPACITY)
    after = of["spec"]["disruption"]["consolidateAfter"]
    lately = chance.random() < 0.3
    is_quiet = after in ("0s", "1m") or (after in ("15m", "1h") and not lately)
    conditions = [*(["Consolidatable"] if is_quiet and "replicas" not in of["spec"] else [])]
    if chance.random() < 0.2:
        conditions.append("Drifted")
    found = node(
        name,
        size,
        of=of["metadata"]["name"],
        capacity=chance.choice(held["values"]),
        zone=chance.choice(("zone-1", "zone-2")),
        conditions=tuple(conditions),
        initialized=chance.random() < 0.95,
        annotations={"karpenter.sh/do-not-disrupt": "true"} if chance.random() < 0.1 else {},
        ready="False" if chance.random() < 0.1 else "True",
        claim={"terminationGracePeriod": "1h"} if chance.random() < 0.2 else {},
        touched=_LATELY if lately else "",
    )
    left = SIZES[size] * 1000
    for at in range(chance.choice((0, 1, 1, 2, 3))):
        asked = chance.choice((250, 500, 1000, 2000, 4000))
        if asked < left:
            left -= asked
            found.append(_pod(chance, f"{name}-{at}", name, f"{asked}m"))
    return found


def _pod(chance: Random, name: str, on: str, cpu: str) -> Object:
    app = chance.choice("xyz")
    spec: dict[str, Any] = {}
    if chance.random() < 0.2:
        spec["nodeSelector"] = {"disk": "local"} if chance.random() < 0.7 else {ZONE: "zone-2"}
    if chance.random() < 0.15:
        term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": app}}}
        spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    mark = chance.choice(("",) * 16 + ("true", "240h", "1h"))
    return pod(name, on, cpu, app=app, mark=mark, **spec)


def _budgets(chance: Random, pods: list[Object]) -> list[Object]:
    """Budgets with the numbers of their pods, all of which are healthy."""
    found = []
    for app in "xyz":
        count = sum(one["metadata"]["labels"]["app"] == app for one in pods)
        if not count or chance.random() < 0.75:
            continue
        limit: Object = chance.choice(({"maxUnavailable": 0}, {"maxUnavailable": "50%"}, {"minAvailable": count}))
        allowed = {0: 0, "50%": -(-count // 2)}.get(limit.get("maxUnavailable", 0), 0)
        found.append(budget(f"of-{app}", app, allowed=allowed, healthy=count, expected=count, **limit))
        if chance.random() < 0.1:
            found.append(budget(f"too-{app}", app, allowed=count, healthy=count, expected=count, minAvailable=0))
    return found
