"""Short hands for clusters with nodes to disrupt: everything is let alone, initialised and consolidatable at NOON."""

from typing import Any

from baseload.decide.provision.pods import DO_NOT_DISRUPT

Object = dict[str, Any]

NOON = "2026-03-10T12:00:00Z"
LONG_AGO = "2026-03-01T00:00:00Z"
POOL_KEY = "karpenter.sh/nodepool"
TYPE = "node.kubernetes.io/instance-type"
ZONE = "topology.kubernetes.io/zone"
CAPACITY = "karpenter.sh/capacity-type"
CLASS = {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"}
SIZES = {"small": 2, "medium": 4, "large": 8, "xlarge": 16}


def instance_type(name: str, cpu: int, price: float) -> Object:
    """On demand at the price in every zone, spot at two fifths of it."""
    offerings = [
        {
            "Price": price * share,
            "Available": True,
            "Requirements": [
                {"key": CAPACITY, "operator": "In", "values": [capacity]},
                {"key": ZONE, "operator": "In", "values": [zone]},
            ],
        }
        for capacity, share in (("on-demand", 1.0), ("spot", 0.4))
        for zone in ("zone-1", "zone-2")
    ]
    resources = {"cpu": str(cpu), "memory": f"{2 * cpu}Gi", "pods": "30"}
    return {
        "name": name,
        "architecture": "amd64",
        "operatingSystems": ["linux"],
        "resources": resources,
        "offerings": offerings,
    }


CATALOG = [instance_type(name, cpu, 0.05 * cpu) for name, cpu in SIZES.items()]


def true(type: str, since: str = LONG_AGO, reason: str = "") -> Object:
    return {"type": type, "status": "True", "reason": reason or type, "lastTransitionTime": since}


def one_of(key: str, *values: str, **more: Any) -> Object:
    return {"key": key, "operator": "In", "values": list(values), **more}


def pool(name: str = "default", *requirements: Object, ready: bool = True, **spec: Any) -> Object:
    """On demand alone unless it says otherwise; no budget in the way."""
    disruption = {"consolidateAfter": "1m", "budgets": [{"nodes": "100%"}], **spec.pop("disruption", {})}
    held = list(requirements)
    if not any(one["key"] == CAPACITY for one in held):
        held.insert(0, one_of(CAPACITY, "on-demand"))
    template = {"spec": {"nodeClassRef": CLASS, "requirements": held, "expireAfter": "720h"}}
    return {
        "kind": "NodePool",
        "metadata": {"name": name},
        "spec": {"template": template, "disruption": disruption, **spec},
        "status": {"conditions": [true("Ready") if ready else {**true("Ready"), "status": "False"}]},
    }


def node(
    name: str,
    size: str = "small",
    *,
    of: str = "default",
    capacity: str = "on-demand",
    zone: str = "zone-1",
    conditions: tuple[str, ...] = ("Consolidatable",),
    initialized: bool = True,
    annotations: dict[str, str] | None = None,
    taints: list[Object] | None = None,
    ready: str = "True",
    claim: Object | None = None,
    touched: str = "",
) -> list[Object]:
    """A node with its claim; `touched`: when its pods changed last."""
    labels = {POOL_KEY: of, TYPE: size, CAPACITY: capacity, ZONE: zone, "kubernetes.io/arch": "amd64"}
    held = {**labels, "kubernetes.io/os": "linux", "kubernetes.io/hostname": name, "karpenter.sh/registered": "true"}
    said = [true("Launched"), true("Registered")]
    if initialized:
        held["karpenter.sh/initialized"] = "true"
        said.append(true("Initialized"))
    amounts = {"cpu": str(SIZES.get(size, 4)), "memory": f"{2 * SIZES.get(size, 4)}Gi", "pods": "30"}
    status: Object = {"providerID": f"kwok://{name}", "nodeName": name, "capacity": amounts, "allocatable": amounts}
    status["conditions"] = said + [
        true(type, reason="NodePoolDrifted" if type == "Drifted" else "") for type in conditions
    ]
    if touched:
        status["lastPodEventTime"] = touched
    return [
        {
            "kind": "Node",
            "metadata": {"name": name, "labels": held, "annotations": annotations or {}, "creationTimestamp": LONG_AGO},
            "spec": {"providerID": f"kwok://{name}", "taints": taints or []},
            "status": {
                "capacity": amounts,
                "allocatable": amounts,
                "conditions": [{**true("Ready"), "status": ready}],
            },
        },
        {
            "kind": "NodeClaim",
            "metadata": {"name": f"claim-{name}", "labels": labels, "creationTimestamp": LONG_AGO},
            "spec": {"nodeClassRef": CLASS, "requirements": [], "expireAfter": "720h", **(claim or {})},
            "status": status,
        },
    ]


def pod(name: str, on: str = "", cpu: str = "1", *, app: str = "", mark: str = "", **spec: Any) -> Object:
    """A pod of a ReplicaSet, bound to a node or waiting for one."""
    metadata: Object = {"name": name, "namespace": "default", "labels": {"app": app or name}}
    metadata["creationTimestamp"] = LONG_AGO
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": app or name, "uid": f"uid-{app or name}"}
    metadata["ownerReferences"] = [{**owner, "controller": True}]
    if mark:
        metadata["annotations"] = {DO_NOT_DISRUPT: mark}
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    status: Object = {"phase": "Running", "startTime": LONG_AGO, "conditions": [true("PodScheduled"), true("Ready")]}
    if not on:
        unscheduled = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
        status = {"phase": "Pending", "conditions": [unscheduled]}
    placed = {"nodeName": on} if on else {}
    return {
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [container], **placed, **spec},
        "status": status,
    }


def budget(name: str, app: str, *, allowed: int = 0, healthy: int = 1, expected: int = 1, **spec: Any) -> Object:
    """A PodDisruptionBudget with the status that its controller wrote."""
    return {
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": app}}, **spec},
        "status": {
            "disruptionsAllowed": allowed,
            "currentHealthy": healthy,
            "desiredHealthy": healthy - allowed,
            "expectedPods": expected,
        },
    }
