"""Capacity buffers as virtual pods (§22) and pools of a fixed size (§21)."""

import copy
import math

from . import pools, resources, selecting
from .algebra import NODEPOOL, Manifest
from .cluster import StateNode

LATEST = "9999-12-31T23:59:59Z"
FIXED_SIZE = ("Deployment", "StatefulSet", "ReplicaSet")
FAKE = "baseload.reference/buffer"


def shape_of(buffer: Manifest, objects: list[Manifest]) -> tuple[Manifest, int | None] | None:
    """§22.1: the pod's template, and the workload's replicas when there is a workload."""
    namespace, spec = buffer["metadata"].get("namespace"), buffer["spec"]
    ref = spec.get("podTemplateRef") or spec.get("scalableRef") or {}
    kinds = ("PodTemplate",) if spec.get("podTemplateRef") else FIXED_SIZE
    for obj in objects:
        same = obj["metadata"]["name"] == ref.get("name") and obj["metadata"].get("namespace") == namespace
        if not same or obj["kind"] not in kinds or ref.get("kind", obj["kind"]) != obj["kind"]:
            continue
        if obj["kind"] == "PodTemplate":
            return obj["template"], None
        return obj["spec"]["template"], int(obj["spec"].get("replicas", 1))
    return None


def pod_of(shape: Manifest) -> Manifest:
    pod = {"metadata": dict(shape.get("metadata") or {}), "spec": copy.deepcopy(shape["spec"]), "kind": "Pod"}
    stripped = [
        v for v in pod["spec"].get("volumes") or () if not v.get("persistentVolumeClaim") and not v.get("ephemeral")
    ]
    pod["spec"]["volumes"] = stripped
    pod["spec"].pop("nodeName", None)
    return pod


def replicas_of(buffer: Manifest, shape: Manifest, workload: int | None) -> int:
    """§22.2."""
    spec = buffer["spec"]
    wanted = [int(spec["replicas"])] if spec.get("replicas") is not None else []
    if spec.get("percentage") is not None and workload:
        wanted.append(math.ceil(spec["percentage"] * workload / 100))
    request = {n: v for n, v in resources.pod_request(pod_of(shape)).items() if n != "pods"}
    limits = resources.amounts(spec.get("limits"))
    bounds = [limits[name] // request[name] for name in limits if request.get(name)]
    if not wanted:
        return min(bounds, default=0)
    return min([max(wanted), *bounds])


def virtual_pods(buffer: Manifest, objects: list[Manifest], now: str | None) -> list[Manifest] | None:
    """§22.3; None when the buffer is not ready."""
    found = shape_of(buffer, objects)
    if found is None:
        return None
    shape, workload = found
    pods = []
    for i in range(1, replicas_of(buffer, shape, workload) + 1):
        pod = pod_of(shape)
        pod["metadata"] = {
            "name": f"capacity-buffer-{buffer['metadata']['name']}-{i}",
            "namespace": buffer["metadata"].get("namespace", "default"),
            "uid": f"{selecting.uid(buffer)}-{i}",
            "labels": dict(pod["metadata"].get("labels") or {}),
            "annotations": {FAKE: selecting.full_name(buffer)},
            "creationTimestamp": now or LATEST,
        }
        pods.append(pod)
    return pods


def provisioning(pods: list[Manifest] | None, places: dict[str, tuple[str, str | int]]) -> str:
    """§22.5."""
    if pods is None:
        return "NotReadyForProvisioning"
    if not pods:
        return "BufferEmpty"
    on_nodes = all(places.get(selecting.full_name(p), ("",))[0] == "node" for p in pods)
    return "FitsExistingCapacity" if on_nodes else "RequiresNewCapacity"


def static_deltas(objects: list[Manifest], nodes: list[StateNode]) -> dict[str, int]:
    """§21.2, §21.3, §21.5: claims to create or, below zero, to delete."""
    deltas = {}
    for pool in (o for o in objects if o["kind"] == "NodePool"):
        if not pools.is_static(pool) or not pools.is_ready(pool):
            continue
        name = pool["metadata"]["name"]
        claims = [o for o in objects if o["kind"] == "NodeClaim" and selecting.labels_of(o).get(NODEPOOL) == name]
        running = sum(1 for claim in claims if not selecting.is_terminating(claim))
        delta = pool["spec"]["replicas"] - running
        limits = resources.amounts(pool["spec"].get("limits"))
        if delta > 0 and "nodes" in limits:
            delta = max(min(delta, limits["nodes"] // resources.UNIT - len(claims)), 0)
        if delta:
            deltas[name] = delta
    return deltas
