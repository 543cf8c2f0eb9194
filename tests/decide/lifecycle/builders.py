"""Claims, nodes and pods for tests, with defaults; moments are seconds after noon."""

from typing import Any

import msgspec

from baseload.decide.lifecycle.names import FINALIZER
from baseload.kube.types.core import Node, Pod
from baseload.kube.types.karpenter import NodeClaim
from baseload.values import instant
from baseload.values.instant import SECOND

NOON = instant.parse("2026-11-30T12:00:00Z")


def at(seconds: float) -> int:
    return NOON + round(seconds * SECOND)


def text(seconds: float) -> str:
    return instant.format(at(seconds))


def condition(type: str, status: str, since: float = 0, reason: str = "") -> dict[str, str]:
    return {"type": type, "status": status, "reason": reason or type, "lastTransitionTime": text(since)}


def claim(*conditions: dict[str, str], spec: Any = None, status: Any = None, **metadata: Any) -> NodeClaim:
    tree = {
        "metadata": {
            "name": "default-abcde",
            "uid": "uid-1",
            "creationTimestamp": text(0),
            "finalizers": [FINALIZER],
            "labels": {"karpenter.sh/nodepool": "default"},
            **metadata,
        },
        "spec": spec or {},
        "status": {"providerID": "aws:///z1/i-1", "conditions": list(conditions), **(status or {})},
    }
    return msgspec.convert(tree, NodeClaim)


def node(name: str = "n1", *taints: dict[str, str], ready: str = "True", status: Any = None, **metadata: Any) -> Node:
    tree = {
        "metadata": {"name": name, "uid": f"uid-{name}", **metadata},
        "spec": {"providerID": "aws:///z1/i-1", "taints": list(taints)},
        "status": {"conditions": [condition("Ready", ready)], **(status or {})},
    }
    return msgspec.convert(tree, Node)


def pod(name: str, *, owner: str = "ReplicaSet", phase: str = "Running", spec: Any = None, **metadata: Any) -> Pod:
    version = {"DaemonSet": "apps/v1", "ReplicaSet": "apps/v1", "Node": "v1"}[owner]
    tree = {
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": f"uid-{name}",
            "ownerReferences": [{"kind": owner, "apiVersion": version, "name": "owner"}],
            **metadata,
        },
        "spec": {"nodeName": "n1", **(spec or {})},
        "status": {"phase": phase},
    }
    return msgspec.convert(tree, Pod)
