"""Clusters for rules of disruption: objects as plain maps with what no rule is about filled in, and their plans.

The ladder of types is that of the spec's worked examples: small 2 CPU at 0.10, each step twice the one before, on
demand and, at two fifths, on the spot market, alike in three zones.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from baseload.catalog import kwok
from baseload.catalog.columns import InstanceTypes
from baseload.decide.disrupt.decide import disrupt
from baseload.decide.disrupt.situation import Situation
from baseload.decide.provision.options import Options
from baseload.kube import manifests
from baseload.model.view import View
from baseload.plan.disrupt import Command, DisruptPlan
from baseload.world import options as settings_file
from baseload.world.files import view_of

Object = dict[str, Any]

NOW: Final = "2026-03-10T12:00:00Z"
LONG_AGO: Final = "2026-03-10T08:00:00Z"
ZONES: Final = ("zone-1", "zone-2", "zone-3")
STEPS: Final = {"small": 2, "medium": 4, "large": 8, "xlarge": 16, "huge": 32}
PRICES: Final = {name: 0.05 * cpu for name, cpu in STEPS.items()}
CAPACITY_TYPE: Final = "karpenter.sh/capacity-type"
ZONE: Final = "topology.kubernetes.io/zone"
INSTANCE_TYPE: Final = "node.kubernetes.io/instance-type"
HOSTNAME: Final = "kubernetes.io/hostname"
ON_DEMAND: Final[Object] = {"key": CAPACITY_TYPE, "operator": "In", "values": ["on-demand"]}
ALL: Final = [{"nodes": "100%"}]


def offering(capacity_type: str, zone: str, price: float, *, available: bool = True) -> Object:
    return {
        "Price": round(price, 5),
        "Available": available,
        "Requirements": [
            {"key": CAPACITY_TYPE, "operator": "In", "values": [capacity_type]},
            {"key": ZONE, "operator": "In", "values": [zone]},
        ],
    }


def instance_type(name: str, cpu: int, offerings: Iterable[Object], **labels: str) -> Object:
    return {
        "name": name,
        "architecture": "amd64",
        "operatingSystems": ["linux"],
        "resources": {"cpu": str(cpu), "memory": f"{2 * cpu}Gi", "pods": "110", "ephemeral-storage": "20Gi"},
        "labels": labels,
        "offerings": list(offerings),
    }


def step(name: str, cpu: int, price: float) -> Object:
    """A type that is alike in all zones."""
    kinds = (("on-demand", price), ("spot", price * 0.4))
    return instance_type(name, cpu, [offering(kind, zone, cost) for kind, cost in kinds for zone in ZONES])


LADDER: Final = [step(name, cpu, PRICES[name]) for name, cpu in STEPS.items()]


def pool(
    name: str = "default",
    *,
    requirements: Iterable[Object] = (ON_DEMAND,),
    after: str = "1m",
    policy: str = "WhenEmptyOrUnderutilized",
    budgets: list[Object] | None = None,
    ready: str = "True",
    annotations: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    **spec: Any,
) -> Object:
    template = {"requirements": list(requirements), "nodeClassRef": _CLASS, "expireAfter": "Never"}
    disruption = {
        "consolidateAfter": after,
        "consolidationPolicy": policy,
        "budgets": ALL if budgets is None else budgets,
    }
    own = {"template": {"metadata": {"labels": dict(labels or {})}, "spec": template}, "disruption": disruption, **spec}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name, "uid": f"uid-{name}", "annotations": dict(annotations or {})},
        "spec": own,
        "status": {
            "conditions": [{"type": "Ready", "status": ready, "reason": "Ready", "lastTransitionTime": LONG_AGO}]
        },
    }


_CLASS: Final[Object] = {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"}
_STEADY: Final = ("Launched", "Registered", "Initialized")


def node(
    name: str,
    type: str = "small",
    *,
    zone: str = "zone-1",
    capacity_type: str = "on-demand",
    pool: str = "default",
    cpu: int | None = None,
    since: str = "2026-03-10T11:00:00Z",
    marks: Mapping[str, str] | None = None,
    drop: Iterable[str] = (),
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    taints: Iterable[Object] = (),
    ready: str = "True",
    deleting: bool = False,
    claim: Mapping[str, Any] | None = None,
) -> list[Object]:
    """A Node and its NodeClaim. `marks`: condition of the claim -> since when it is True; `drop`: labels it lacks."""
    amounts = {"cpu": str(cpu or STEPS.get(type, 4)), "memory": f"{2 * (cpu or STEPS.get(type, 4))}Gi", "pods": "110"}
    own = {
        "karpenter.sh/nodepool": pool,
        INSTANCE_TYPE: type,
        CAPACITY_TYPE: capacity_type,
        ZONE: zone,
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        **dict(labels or {}),
    }
    own = {key: value for key, value in own.items() if key not in tuple(drop)}
    of_node = {HOSTNAME: name, "karpenter.sh/registered": "true", "karpenter.sh/initialized": "true"}
    of_node = {key: value for key, value in of_node.items() if key not in tuple(drop)}
    held = dict.fromkeys(_STEADY, LONG_AGO) | ({"Consolidatable": LONG_AGO} if marks is None else dict(marks))
    conditions = [condition(type_, at) for type_, at in held.items()]
    status = {"capacity": amounts, "allocatable": amounts}
    metadata = {"name": f"nc-{name}", "labels": own, "creationTimestamp": LONG_AGO}
    if deleting:
        metadata |= {"deletionTimestamp": NOW, "finalizers": ["karpenter.sh/termination"]}
    return [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": {**own, **of_node}, "annotations": dict(annotations or {})},
            "spec": {"providerID": f"kwok://{name}", "taints": list(taints)},
            "status": {**status, "conditions": [{"type": "Ready", "status": ready}]},
        },
        {
            "apiVersion": "karpenter.sh/v1",
            "kind": "NodeClaim",
            "metadata": metadata,
            "spec": {"nodeClassRef": _CLASS, "requirements": [], "expireAfter": "Never", **dict(claim or {})},
            "status": {
                **status,
                "providerID": f"kwok://{name}",
                "nodeName": name,
                "conditions": conditions,
                "lastPodEventTime": since,
            },
        },
    ]


def condition(type: str, at: str) -> Object:
    reason = "NodePoolDrifted" if type == "Drifted" else type
    return {"type": type, "status": "True", "reason": reason, "lastTransitionTime": at}


DRIFTED: Final = {"Drifted": "2026-03-10T10:00:00Z"}


def pod(
    name: str,
    node: str | None = None,
    cpu: str = "1",
    *,
    owner: str | None = "ReplicaSet",
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    phase: str = "Running",
    started: str = LONG_AGO,
    ready: str = "True",
    deleting: bool = False,
    **spec: Any,
) -> Object:
    """A pod that runs on a node, or without one a pending one that the scheduler gave up."""
    metadata: Object = {
        "name": name,
        "namespace": "default",
        "uid": f"uid-{name}",
        "creationTimestamp": LONG_AGO,
        "labels": dict(labels or {"app": "web"}),
        "annotations": dict(annotations or {}),
    }
    if owner is not None:
        version = "v1" if owner == "Node" else "apps/v1"
        reference = {"apiVersion": version, "kind": owner, "name": "owner", "uid": "uid-owner", "controller": True}
        metadata["ownerReferences"] = [reference]
    if deleting:
        metadata["deletionTimestamp"] = NOW
    containers = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu, "memory": "256Mi"}}}]
    status: Object = {"phase": phase, "startTime": started}
    if node is None:
        unscheduled = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
        status = {"phase": "Pending", "conditions": [unscheduled]}
    else:
        spec = {"nodeName": node, **spec}
        status["conditions"] = [{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": ready}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": containers, **spec},
        "status": status,
    }


def budget(name: str = "guard", allowed: int = 0, *, labels: Mapping[str, str] | None = None, **spec: Any) -> Object:
    """A PodDisruptionBudget for pods with these labels."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": {"matchLabels": dict(labels or {"app": "web"})}, **(spec or {"minAvailable": 1})},
        "status": {"disruptionsAllowed": allowed, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1},
    }


PROTECTED: Final = {"karpenter.sh/do-not-disrupt": "true"}
Made = Object | list[Object]


def inputs(
    *made: Made, types: Iterable[Object] = LADDER, **settings: Any
) -> tuple[View, dict[str, InstanceTypes], Options]:
    """What a pass is decided on."""
    objects = [one for each in made for one in (each if isinstance(each, list) else [each])]
    data = msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": objects})
    view = view_of(manifests.load(["-"], stdin=lambda: data, validate="strict"))
    table = kwok.read(msgspec.json.encode(list(types)), "catalog.json")
    tables = {pool.metadata.name: table for pool in view.node_pools}
    return view, tables, settings_file.of_tree({"now": NOW, **settings}, "options.yaml").options


def plan(*made: Made, types: Iterable[Object] = LADDER, **settings: Any) -> DisruptPlan:
    """The plan of one pass."""
    return disrupt(*inputs(*made, types=types, **settings))


def situation(*made: Made, types: Iterable[Object] = LADDER, **settings: Any) -> Situation:
    return Situation(*inputs(*made, types=types, **settings))


def command(plan: DisruptPlan) -> Command:
    """The one command of a plan."""
    [found] = plan.commands
    return found


def gone(plan: DisruptPlan) -> list[str]:
    """The nodes that a plan gives up."""
    return sorted(candidate.node for command in plan.commands for candidate in command.candidates)


def kept(plan: DisruptPlan) -> dict[str, str]:
    """node -> why it is kept: no method considers it, else what the last one found."""
    found = {one.node: str(one.reason) for one in plan.skipped}
    return found | {one.node: str(one.reason) for one in plan.tried}


def changed(object: Object, path: str, value: Any) -> Object:
    """A copy of an object with one field set."""
    copy: Object = msgspec.json.decode(msgspec.json.encode(object))
    *way, last = path.split(".")
    at = copy
    for name in way:
        at = at.setdefault(name, {})
    at[last] = value
    return copy
