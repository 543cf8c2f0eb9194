"""What pods can be placed on: catalogues, pools, overlays, existing nodes and the daemons of each."""

from typing import Any

from .algebra import ARCH, CAPACITY_TYPE, HOSTNAME, INSTANCE_TYPE, NODEPOOL, OS, RESERVATION_ID, ZONE, Manifest
from .drawing import CAPACITY_TYPES, NODE_CLASS, NOW, TEAMS, ZONES, Draw, expression

GPU = "example.com/gpu"
TAINTS: list[Manifest] = [
    {"key": "dedicated", "value": "x", "effect": "NoSchedule"},
    {"key": "soft", "effect": "PreferNoSchedule"},
    {"key": "drain", "value": "y", "effect": "NoExecute"},
]
BOOT: Manifest = {"key": "boot", "value": "wait", "effect": "NoSchedule"}
NOT_READY: Manifest = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


def offering(price: float, capacity_type: str, zone: str, available: bool) -> Manifest:
    requirements = [expression(CAPACITY_TYPE, "In", capacity_type), expression(ZONE, "In", zone)]
    return {"Price": price, "Available": available, "Requirements": requirements}


def catalog(d: Draw) -> list[Manifest]:
    """A ladder of sizes with holes: zones a type lacks, offerings that are sold out, labels only some types have."""
    whole, reserving = not d.chance(40), d.chance(15)
    types = [instance_type(d, size, whole) for size in d.some((1, 2, 3, 4, 6, 8, 16), least=2, most=5)]
    if d.chance(15):
        types.append({**instance_type(d, 4, whole), "name": "twin-4"})
    if reserving:
        for listed in d.some(types, most=2):
            reserved = offering(0.000001, "reserved", "zone-1", available=True)
            reserved["Requirements"].append(expression(RESERVATION_ID, "In", f"cr-{listed['name']}"))
            listed["offerings"].append({**reserved, "ReservationCapacity": d.number(1, 2)})
    return types


def instance_type(d: Draw, size: int, whole: bool) -> Manifest:
    price = round(0.1 * size, 2)
    offerings = []
    for capacity_type in CAPACITY_TYPES:
        for zone in ZONES if whole else d.some(ZONES):
            available = whole or not d.chance(15)
            offerings.append(
                offering(price if capacity_type == "on-demand" else price / 2, capacity_type, zone, available)
            )
    labels = {"example.com/size": "small" if size < 4 else "large", "example.com/cores": str(size)}
    if size != 3:
        labels["example.com/family"] = "f1" if size % 2 else ("f2" if size < 8 else "f3")
    more = {GPU: "2"} if size in (4, 8) else {}
    if size == 6:
        more["hugepages-2Mi"] = "1Gi"
    return {
        "name": f"step-{size}",
        "architecture": "arm64" if size == 6 else "amd64",
        "operatingSystems": ["linux"],
        "resources": {"cpu": str(size), "memory": f"{2 * size}Gi", "pods": str(d.one((8, 4, 20))), **more},
        **({"overhead": {"cpu": "100m", "memory": "100Mi"}} if size != 2 else {}),
        "labels": labels,
        "offerings": offerings,
    }


def pool(d: Draw, name: str, names: list[str]) -> Manifest:
    spec: Manifest = {"requirements": pool_requirements(d, names), "nodeClassRef": dict(NODE_CLASS)}
    if d.chance(20):
        spec["taints"] = d.some(TAINTS, most=2)
    if d.chance(15):
        spec["startupTaints"] = [dict(BOOT)]
    template: Manifest = {"spec": spec}
    asked = {r["key"] for r in spec["requirements"]}
    labels = {key: d.one(TEAMS) for key in ("tier", "team") if key not in asked and d.chance(20)}
    if labels:
        template["metadata"] = {"labels": labels}
    result: Manifest = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name}}
    result["spec"] = {"template": template}
    if d.chance(50):
        result["spec"]["weight"] = d.one((10, 50))
    if d.chance(20):
        limits = {
            "cpu": d.one(("20", "8", "40", "4")),
            "memory": d.one(("32Gi", "8Gi")),
            "nodes": d.one(("2", "1")),
        }
        result["spec"]["limits"] = {key: limits[key] for key in d.some(sorted(limits), most=2)}
    if d.chance(5):
        result["status"] = {"conditions": [{"type": "Ready", "status": "False"}]}
    return result


def pool_requirements(d: Draw, names: list[str]) -> list[Manifest]:
    makers: dict[str, Any] = {
        CAPACITY_TYPE: lambda: expression(CAPACITY_TYPE, "In", *d.some((*CAPACITY_TYPES, "reserved"))),
        ZONE: lambda: expression(ZONE, d.one(("In", "NotIn")), *d.some(ZONES, most=2)),
        INSTANCE_TYPE: lambda: with_least(d, expression(INSTANCE_TYPE, "In", *d.some(names, least=min(2, len(names))))),
        "example.com/family": lambda: with_least(d, expression("example.com/family", "In", "f1", "f2", "f3")),
        "example.com/size": lambda: with_least(d, expression("example.com/size", "Exists")),
        "example.com/cores": lambda: expression("example.com/cores", d.one(("Lt", "Gt", "Gte")), d.one(("4", "2"))),
        "team": lambda: expression("team", "In", *d.some(TEAMS)),
        "tier": lambda: d.one((expression("tier", "Exists"), expression("tier", "NotIn", "a"))),
        "rack": lambda: d.one((expression("rack", "In", "r1", "r2"), expression("rack", "Gt", "3"))),
    }
    return [makers[key]() for key in d.some(list(makers), least=0, most=3)]


def with_least(d: Draw, requirement: Manifest) -> Manifest:
    most = len(requirement.get("values") or ("", ""))
    return {**requirement, "minValues": d.number(1, min(most, 3))} if d.chance(60) else requirement


def overlay(d: Draw, name: str) -> Manifest:
    spec: Manifest = {"requirements": [expression("example.com/size", "In", d.one(("small", "large")))]}
    if d.chance(50):
        spec["weight"] = d.one((10, 20))
    change = d.one(("price", "adjust", "capacity"))
    if change == "price":
        spec["price"] = "0.15"
    elif change == "adjust":
        spec["priceAdjustment"] = d.one(("+50%", "-0.05"))
    else:
        spec["capacity"] = {GPU: "1"}
    return {"apiVersion": "karpenter.sh/v1alpha1", "kind": "NodeOverlay", "metadata": {"name": name}, "spec": spec}


def node_labels(d: Draw, name: str) -> dict[str, str]:
    labels: dict[str, str] = {HOSTNAME: name} if not d.chance(10) else {}
    if not d.chance(10):
        labels |= {ZONE: d.one(ZONES), ARCH: "amd64", OS: "linux"}
    if d.chance(30):
        labels["team"] = d.one(TEAMS)
    return labels


def node_objects(d: Draw, name: str, pools: list[str], types: list[Manifest]) -> list[Manifest]:
    """A Node, its claim, or both, in one of the states of its life; the Node, if any, comes last."""
    state = d.one(("unmanaged", "initialized", "booting", "unregistered", "coming", "deleting"))
    amounts = {"cpu": d.one(("2", "1", "4")), "memory": d.one(("8Gi", "8Gi", "1Gi")), "pods": d.one(("10", "3"))}
    labels, taints = node_labels(d, name), [dict(d.one((TAINTS[0], BOOT)))] if d.chance(15) else []
    if state == "unmanaged":
        return [node(name, labels, f"other://{name}", amounts, taints)]
    listed = d.one(types)
    labels |= {NODEPOOL: pools[0] if d.chance(50) else d.one(pools), CAPACITY_TYPE: d.one(CAPACITY_TYPES)}
    labels |= {INSTANCE_TYPE: listed["name"], **listed["labels"]}
    claim = node_claim(name, {k: v for k, v in labels.items() if k != HOSTNAME}, amounts)
    if state in ("booting", "unregistered") or d.chance(20):
        claim["spec"]["startupTaints"] = [dict(BOOT)]
    if d.chance(10):
        claim["spec"]["taints"] = [dict(TAINTS[0])]
    if state == "coming":
        return [claim]
    if state == "unregistered":
        taints = [{"key": "karpenter.sh/unregistered", "effect": "NoExecute"}]
        young = {HOSTNAME: name, INSTANCE_TYPE: listed["name"]}
        return [claim, node(name, young, f"fake://{name}", {"cpu": "0"}, taints)]
    labels["karpenter.sh/registered"] = "true"
    if state == "deleting":
        claim["metadata"] |= {"deletionTimestamp": NOW, "finalizers": ["karpenter.sh/termination"]}
    if state == "booting":
        taints += [t for t in (dict(BOOT), dict(NOT_READY)) if t not in taints]
    else:
        labels["karpenter.sh/initialized"] = "true"
    return [claim, node(name, labels, f"fake://{name}", amounts, taints)]


def node(name: str, labels: dict[str, str], provider: str, amounts: dict[str, str], taints: list[Manifest]) -> Manifest:
    spec: Manifest = {"providerID": provider, **({"taints": taints} if taints else {})}
    metadata = {"name": name, "labels": labels}
    status = {"capacity": dict(amounts), "allocatable": dict(amounts)}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec, "status": status}


def node_claim(name: str, labels: dict[str, str], amounts: dict[str, str]) -> Manifest:
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {"name": name, "labels": dict(labels)},
        "spec": {"nodeClassRef": dict(NODE_CLASS), "requirements": []},
        "status": {"providerID": f"fake://{name}", "capacity": dict(amounts), "allocatable": dict(amounts)},
    }


def daemon_set(d: Draw, name: str) -> Manifest:
    resources: Manifest = {"requests": {"cpu": d.one(("100m", "500m")), "memory": "64Mi"}}
    if d.chance(20):
        resources = {"limits": {"cpu": "200m"}}
    container: Manifest = {"name": "c", "image": "i", "resources": resources}
    if d.chance(35):
        container["ports"] = [{"containerPort": 9000, "hostPort": 9000, "protocol": "TCP"}]
    spec: Manifest = {"containers": [container]}
    if d.chance(50):
        spec["tolerations"] = [{"operator": "Exists"}]
    if d.chance(40):
        terms = d.some(
            (
                expression("example.com/cores", "Lt", "4"),
                expression(ZONE, "In", "zone-1"),
                expression("example.com/size", "In", "large"),
                expression("team", "NotIn", "a"),
            ),
            most=2,
        )
        required = {"nodeSelectorTerms": [{"matchExpressions": [e]} for e in terms]}
        spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    labels = {"daemon": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": "kube-system", "uid": f"uid-{name}"},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}},
    }


def daemon_pod(d: Draw, daemons: Manifest, node_name: str) -> Manifest:
    """A pod of the DaemonSet that runs on a node, perhaps of an older size."""
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": daemons["metadata"]["name"], "controller": True}
    owner["uid"] = daemons["metadata"]["uid"]
    name = f"{daemons['metadata']['name']}-{node_name}"
    requests = {"cpu": d.one(("100m", "300m")), "memory": "64Mi"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "kube-system",
            "uid": f"uid-{name}",
            "labels": dict(daemons["spec"]["template"]["metadata"]["labels"]),
            "creationTimestamp": f"2025-12-01T00:00:{node_name.rpartition('-')[2].zfill(2)}Z",
            "ownerReferences": [owner],
        },
        "spec": {
            "nodeName": node_name,
            "containers": [{"name": "c", "image": "i", "resources": {"requests": requests}}],
        },
        "status": {"phase": "Running"},
    }
