"""Running clusters for disruption, as a hypothesis strategy: half-empty, drifted and empty nodes, and what holds them.

Prices are multiples of a 64th, so that their sums are exact in floating point too.
"""

from typing import Any

from hypothesis import strategies as st

from .algebra import CAPACITY_TYPE, HOSTNAME, INSTANCE_TYPE, ZONE, Manifest
from .clusters import Cluster
from .drawing import NODE_CLASS, NOW, Draw, Seeded

ZONES = ("zone-1", "zone-2")
STEPS = (1, 2, 4, 8, 16)
EARLIER = ("2025-12-31T20:00:00Z", "2025-12-31T21:00:00Z", "2025-12-31T22:00:00Z")
PRESENT = "2025-12-31T23:59:30Z"
LONG_AGO = "2025-12-31T12:00:00Z"
TIED = HOSTNAME


def catalog(d: Draw) -> list[Manifest]:
    """A ladder of sizes on demand and on the spot market; with many spot types where the gate is open."""
    types = [step(d, f"step-{cpu}", cpu, cpu / 8) for cpu in STEPS]
    if d.chance(25):
        types += [step(d, f"alt-{n:02}", 4, (33 + n) / 64) for n in range(d.one((3, 16, 18)))]
    return types


def step(d: Draw, name: str, cpu: int, price: float) -> Manifest:
    uneven = 2 if d.chance(20) else 1
    offerings = []
    for kind, share in (("on-demand", 1.0), ("spot", 0.5)):
        for zone in ZONES:
            cost = price * share * (uneven if (kind, zone) == ("spot", "zone-2") else 1)
            requirements: list[Manifest] = [
                {"key": CAPACITY_TYPE, "operator": "In", "values": [kind]},
                {"key": ZONE, "operator": "In", "values": [zone]},
            ]
            offerings.append({"Price": cost, "Available": not d.chance(8), "Requirements": requirements})
    resources = {"cpu": str(cpu), "memory": f"{4 * cpu}Gi", "pods": "20", "ephemeral-storage": "20Gi"}
    return {
        "name": name,
        "architecture": "amd64",
        "operatingSystems": ["linux"],
        "resources": resources,
        "offerings": offerings,
    }


def pool(d: Draw, name: str) -> Manifest:
    kinds = d.one((("on-demand",), ("spot",), ("on-demand", "spot"), ("on-demand", "spot")))
    requirements: list[Manifest] = [{"key": CAPACITY_TYPE, "operator": "In", "values": list(kinds)}]
    if d.chance(10):
        requirements.append({"key": INSTANCE_TYPE, "operator": "Exists", "minValues": d.number(2, 3)})
    budgets: list[Manifest] = d.one(
        ([{"nodes": "100%"}], [{"nodes": "100%"}], [{"nodes": "2"}], [{"nodes": "34%"}], [{"nodes": "0"}])
    )
    if d.chance(15):
        budgets = [*budgets, {"nodes": d.one(("0", "1")), "reasons": [d.one(("Empty", "Drifted", "Underutilized"))]}]
    policies = ("WhenEmptyOrUnderutilized", "WhenEmptyOrUnderutilized", "Balanced", "WhenEmpty")
    disruption = {
        "consolidateAfter": d.one(("1m", "0s", "1m", "Never")) if d.chance(40) else "1m",
        "consolidationPolicy": d.one(policies) if d.chance(45) else policies[0],
        "budgets": budgets,
    }
    spec: Manifest = {
        "template": {"spec": {"requirements": requirements, "nodeClassRef": NODE_CLASS, "expireAfter": "Never"}},
        "disruption": disruption,
    }
    if d.chance(10):
        spec["limits"] = {"cpu": str(d.one((8, 24, 64)))}
    if d.chance(30):
        spec["weight"] = d.number(1, 5)
    status = {"conditions": [{"type": "Ready", "status": "False" if d.chance(4) else "True"}]}
    metadata = {"name": name}
    return {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": metadata, "spec": spec, "status": status}


def static_pool(d: Draw) -> Manifest:
    made = pool(d, "fixed")
    made["spec"].pop("weight", None)
    made["spec"].pop("limits", None)
    made["spec"]["replicas"] = d.number(0, 3)
    if d.chance(60):
        made["spec"]["limits"] = {"nodes": str(d.number(1, 4))}
    return made


def node(d: Draw, name: str, pool: str) -> list[Manifest]:
    cpu = d.one(STEPS)
    amounts = {"cpu": str(cpu), "memory": f"{4 * cpu}Gi", "pods": "20"}
    labels = {
        "karpenter.sh/nodepool": pool,
        INSTANCE_TYPE: f"step-{cpu}" if not d.chance(5) else "odd",
        CAPACITY_TYPE: d.one(("on-demand", "spot")),
        ZONE: d.one(ZONES),
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
    }
    own = {**labels, HOSTNAME: name, "karpenter.sh/registered": "true", "karpenter.sh/initialized": "true"}
    conditions = [stated(type_, LONG_AGO) for type_ in ("Launched", "Registered", "Initialized")]
    is_fresh = d.chance(15)
    if not is_fresh and not d.chance(6):
        conditions.append(stated("Consolidatable", LONG_AGO))
    if d.chance(10):
        conditions.append(stated("Drifted", d.one(EARLIER)))
    if d.chance(4):
        del own["karpenter.sh/initialized"]
    claim: Manifest = {"name": f"nc-{name}", "labels": labels, "creationTimestamp": LONG_AGO}
    if d.chance(6):
        claim |= {"deletionTimestamp": NOW}
    spec: Manifest = {"nodeClassRef": NODE_CLASS, "requirements": [], "expireAfter": "Never"}
    if d.chance(20):
        spec["terminationGracePeriod"] = "1h"
    metadata: Manifest = {"name": name, "labels": own}
    if d.chance(4):
        metadata["annotations"] = {"karpenter.sh/do-not-disrupt": d.one(("true", "1h"))}
    taints = [{"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}] if d.chance(5) else []
    status = {"capacity": amounts, "allocatable": amounts}
    last = PRESENT if is_fresh else LONG_AGO
    ready = "False" if d.chance(4) else "True"
    return [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": metadata,
            "spec": {"providerID": f"kwok://{name}", "taints": taints},
            "status": {**status, "conditions": [{"type": "Ready", "status": ready}]},
        },
        {
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodeClaim",
            "metadata": claim,
            "spec": spec,
            "status": {
                **status,
                "providerID": f"kwok://{name}",
                "nodeName": name,
                "conditions": conditions,
                "lastPodEventTime": last,
            },
        },
    ]


def stated(type: str, since: str) -> Manifest:
    return {"type": type, "status": "True", "reason": type, "lastTransitionTime": since}


def pod(d: Draw, name: str, on: str | None) -> Manifest:
    app = d.one(("web", "db", "job"))
    metadata: Manifest = {"name": name, "namespace": "default", "uid": f"u-{name}", "labels": {"app": app}}
    requests = {"cpu": d.one(("500m", "250m", "1", "1500m", "3")), "memory": d.one(("128Mi", "1Gi"))}
    spec: Manifest = {"containers": [{"name": "c", "image": "i", "resources": {"requests": requests}}]}
    status: Manifest = {"phase": "Running", "startTime": LONG_AGO}
    if on is None:
        status = {
            "phase": "Pending",
            "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}],
        }
    else:
        spec["nodeName"] = on
        status["conditions"] = [{"type": "Ready", "status": "False" if d.chance(5) else "True"}]
        if d.chance(5):
            status["phase"] = "Pending"
    demand(d, spec, app, on)
    fate(d, metadata, spec, status)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


def demand(d: Draw, spec: Manifest, app: str, on: str | None) -> None:
    """What ties a pod to a place, or to other pods."""
    own = {"matchLabels": {"app": app}}
    match d.number(0, 19):
        case 0:
            spec["nodeSelector"] = {ZONE: d.one(ZONES)}
        case 1:
            spec["nodeSelector"] = {CAPACITY_TYPE: d.one(("on-demand", "spot"))}
        case 2 if on is not None:
            spec["nodeSelector"] = {TIED: on}
        case 3:
            term = {"topologyKey": HOSTNAME, "labelSelector": own}
            spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        case 4:
            skew: Manifest = {"maxSkew": 1, "topologyKey": d.one((ZONE, HOSTNAME)), "labelSelector": own}
            skew["whenUnsatisfiable"] = d.one(("DoNotSchedule", "ScheduleAnyway"))
            spec["topologySpreadConstraints"] = [skew]
        case 5:
            term = {"topologyKey": ZONE, "labelSelector": own}
            spec["affinity"] = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def fate(d: Draw, metadata: Manifest, spec: Manifest, status: Manifest) -> None:
    """What protects a pod, or makes it count for less."""
    owner = "ReplicaSet"
    match d.number(0, 39):
        case 0:
            metadata["annotations"] = {"karpenter.sh/do-not-disrupt": d.one(("true", "30m", "13h", "0s"))}
        case 1:
            metadata["deletionTimestamp"] = NOW
        case 2:
            metadata["deletionTimestamp"], owner = NOW, "StatefulSet"
        case 3 | 4:
            owner = "DaemonSet"
        case 5:
            owner = "Node"
        case 6:
            status["phase"] = "Succeeded"
        case 7:
            metadata["annotations"] = {
                "controller.kubernetes.io/pod-deletion-cost": d.one(("-2147483647", "134217728"))
            }
        case 8:
            spec["priority"] = d.one((33_554_432, 2_000_000_000))
        case 9:
            spec["tolerations"] = [{"key": "karpenter.sh/disrupted", "operator": "Exists"}]
    version = "v1" if owner == "Node" else "apps/v1"
    metadata["ownerReferences"] = [
        {"apiVersion": version, "kind": owner, "name": "o", "uid": "u-o", "controller": True}
    ]


def guard(d: Draw, name: str) -> Manifest:
    bound: Manifest = d.one(
        ({"minAvailable": 1}, {"maxUnavailable": 1}, {"maxUnavailable": 0}, {"minAvailable": "100%"})
    )
    if d.chance(20):
        bound = {**bound, "unhealthyPodEvictionPolicy": "AlwaysAllow"}
    spec = {"selector": {"matchLabels": {"app": d.one(("web", "db", "job"))}}, **bound}
    status = {
        "disruptionsAllowed": d.one((1, 1, 0)),
        "currentHealthy": 1,
        "desiredHealthy": 1,
        "expectedPods": 1,
    }
    metadata = {"name": name, "namespace": "default"}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": metadata,
        "spec": spec,
        "status": status,
    }


def fleet(d: Draw) -> Cluster:
    """A cluster, its catalogue and options."""
    names = ["default"] + (["other"] if d.chance(35) else [])
    objects = [pool(d, name) for name in names]
    if d.chance(15):
        objects.append(static_pool(d))
        names.append("fixed")
    for place in range(d.number(1, 7)):
        name = f"n{place}"
        made = node(d, name, d.one(names))
        objects += made[:1] if d.chance(4) else made
        for number in range(d.number(1, 4) if not d.chance(12) else 0):
            objects.append(pod(d, f"p{place}-{number}", name))
    objects += [pod(d, f"w{number}", None) for number in range(d.number(0, 2) if d.chance(25) else 0)]
    objects += [guard(d, f"g{number}") for number in range(d.number(1, 2) if d.chance(25) else 0)]
    options: Manifest = {"now": NOW, "featureGates": {"SpotToSpotConsolidation": d.chance(60)}}
    if d.chance(10):
        options["preferencePolicy"] = "Ignore"
    return objects, catalog(d), options


@st.composite
def fleets(draw: Any) -> Cluster:
    return fleet(Draw(draw))


def seeded_fleet(seed: int) -> Cluster:
    return fleet(Seeded(seed))
