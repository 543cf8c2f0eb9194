"""Short hands for the clusters of the reference's own tests."""

from typing import Any

from .algebra import CAPACITY_TYPE, HOSTNAME, INITIALIZED, INSTANCE_TYPE, NODEPOOL, REGISTERED, ZONE, Manifest
from .drawing import CAPACITY_TYPES, NODE_CLASS, ZONES, expression
from .provision import Result, solve

WEB = {"app": "web"}


def instance_type(
    name: str, cpu: int, *, labels: dict[str, str] | None = None, resources: dict[str, str] | None = None
) -> Manifest:
    offerings = [
        {
            "Price": 0.1 * cpu * (1 if capacity_type == "on-demand" else 0.5),
            "Available": True,
            "Requirements": [expression(CAPACITY_TYPE, "In", capacity_type), expression(ZONE, "In", zone)],
        }
        for capacity_type in CAPACITY_TYPES
        for zone in ZONES
    ]
    return {
        "name": name,
        "architecture": "amd64",
        "operatingSystems": ["linux"],
        "resources": {"cpu": str(cpu), "memory": f"{2 * cpu}Gi", "pods": "20", **(resources or {})},
        "labels": labels or {},
        "offerings": offerings,
    }


LADDER = [instance_type(f"step-{size}", size, labels={"size": str(size)}) for size in (1, 2, 4, 8, 16)]


def pool(name: str = "default", *requirements: Manifest, labels: dict[str, str] | None = None, **spec: Any) -> Manifest:
    inner = {"requirements": list(requirements), "nodeClassRef": dict(NODE_CLASS)}
    inner |= {key: spec.pop(key) for key in ("taints", "startupTaints") if key in spec}
    template = {"metadata": {"labels": labels or {}}, "spec": inner}
    return {"kind": "NodePool", "metadata": {"name": name}, "spec": {"template": template, **spec}}


def pod(name: str, cpu: str = "100m", *, labels: dict[str, str] | None = None, **spec: Any) -> Manifest:
    requests = {"cpu": cpu, **spec.pop("requests", {})}
    container = {"name": "c", "image": "i", "resources": {"requests": requests}, "ports": spec.pop("ports", [])}
    metadata = {"name": name, "namespace": "default", "labels": WEB if labels is None else labels}
    return {"kind": "Pod", "metadata": metadata, "spec": {"containers": [container], **spec}}


def node(name: str, cpu: str = "4", *, labels: dict[str, str] | None = None, **spec: Any) -> Manifest:
    amounts = {"cpu": cpu, "memory": "8Gi", "pods": "20"}
    return {
        "kind": "Node",
        "metadata": {"name": name, "labels": {HOSTNAME: name, **(labels or {})}},
        "spec": {"providerID": f"p://{name}", **spec},
        "status": {"capacity": amounts, "allocatable": amounts},
    }


def owned(name: str, *, initialized: bool = True, claim: Manifest | None = None, **spec: Any) -> list[Manifest]:
    """A registered node of the default pool, and its claim."""
    labels = {NODEPOOL: "default", INSTANCE_TYPE: "step-4", ZONE: "zone-1", REGISTERED: "true"}
    if initialized:
        labels[INITIALIZED] = "true"
    claimed = {"kind": "NodeClaim", "metadata": {"name": name, "labels": {NODEPOOL: "default"}}}
    return [
        node(name, labels=labels, **spec),
        {**claimed, "spec": claim or {}, "status": {"providerID": f"p://{name}"}},
    ]


def bound(one: Manifest, node_name: str) -> Manifest:
    return {**one, "spec": {**one["spec"], "nodeName": node_name}, "status": {"phase": "Running"}}


def spread(key: str = ZONE, **more: Any) -> Manifest:
    constraint = {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule"}
    return {"topologySpreadConstraints": [{**constraint, "labelSelector": {"matchLabels": WEB}, **more}]}


def pod_terms(kind: str, key: str, labels: dict[str, str] = WEB) -> Manifest:
    term = {"topologyKey": key, "labelSelector": {"matchLabels": labels}}
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


def apart(key: str = HOSTNAME) -> Manifest:
    return pod_terms("podAntiAffinity", key)


def together(key: str, labels: dict[str, str] = WEB) -> Manifest:
    return pod_terms("podAffinity", key, labels)


def node_affinity(*required: Manifest, preferred: tuple[Manifest, ...] = ()) -> Manifest:
    """Each required expression is a term of its own; the preferred ones weigh alike."""
    affinity: Manifest = {}
    if required:
        terms = [{"matchExpressions": [e]} for e in required]
        affinity["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}
    if preferred:
        affinity["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": 1, "preference": {"matchExpressions": [e]}} for e in preferred
        ]
    return {"affinity": {"nodeAffinity": affinity}}


def decided(*objects: Manifest | list[Manifest], catalog: list[Manifest] = LADDER, **options: Any) -> Result:
    flat = [one for listed in objects for one in (listed if isinstance(listed, list) else [listed])]
    return solve(flat, catalog, options)


def pods_of_claims(result: Result) -> list[list[str]]:
    return [[name.removeprefix("default/") for name in claim.pods] for claim in result.claims]


def waiting(result: Result) -> set[str]:
    return {name.removeprefix("default/") for name in result.errors}


def node_of(result: Result, name: str) -> str | int | None:
    kind, where = result.placements.get(f"default/{name}", ("", None))
    return where if kind == "node" else None


def zones(result: Result) -> list[str]:
    return [claim.zone for claim in result.claims for _ in claim.pods]
