"""Kinds, drafts and stores for the tests of the store."""

import random
from collections.abc import Mapping

from baseload.embedded.store import parse
from baseload.embedded.store.deletion import Options
from baseload.embedded.store.ports import Journal
from baseload.embedded.store.record import Json, Record
from baseload.embedded.store.resource import Resource
from baseload.embedded.store.rules import Part
from baseload.embedded.store.store import Store
from tests.embedded.clock import Standing


def pod_grace(record: Record, asked: int | None) -> int:
    """Pods that run somewhere get 30 seconds; others have nobody to wait for."""
    return 0 if not record.node else 30 if asked is None else asked


NAMESPACE = Resource(
    "", "v1", "Namespace", "namespaces", namespaced=False, has_generation=False, has_spec_finalizers=True
)
NODE = Resource("", "v1", "Node", "nodes", namespaced=False, has_generation=False, fields=("spec.unschedulable",))
POD = Resource("", "v1", "Pod", "pods", has_node=True, fields=("spec.nodeName", "status.phase"), grace=pod_grace)
CONFIG_MAP = Resource("", "v1", "ConfigMap", "configmaps", has_status=False, has_generation=False)
REPLICA_SET = Resource("apps", "v1", "ReplicaSet", "replicasets")
DEPLOYMENT = Resource("apps", "v1", "Deployment", "deployments")
NODE_POOL = Resource("karpenter.sh", "v1", "NodePool", "nodepools", namespaced=False, needs_version=True)
NODE_CLAIM = Resource("karpenter.sh", "v1", "NodeClaim", "nodeclaims", namespaced=False, needs_version=True)

__all__ = ["Part", "Store"]  # re-exported for the tests

NOW = Options(grace_seconds=0)

ALL = (NAMESPACE, NODE, POD, CONFIG_MAP, REPLICA_SET, DEPLOYMENT, NODE_POOL, NODE_CLAIM)


def empty(
    *, history: int = 10_000, journal: Journal | None = None, clock: Standing | None = None, seed: int = 1
) -> Store:
    """A store that serves all kinds and has no objects."""
    store = Store(clock or Standing(), random.Random(seed), journal=journal, history=history)
    for resource in ALL:
        store.serve(resource)
    return store


def fresh(*, history: int = 10_000, clock: Standing | None = None) -> Store:
    """A store with the namespace default."""
    store = empty(history=history, clock=clock)
    store.create(namespace("default"))
    return store


def draft(resource: Resource, name: str, namespace: str = "default", **sections: Json) -> Record:
    """A draft with metadata (a dict) and other sections."""
    metadata = sections.pop("metadata", {})
    assert isinstance(metadata, Mapping)
    place: dict[str, Json] = {"name": name, "namespace": namespace} if resource.namespaced else {"name": name}
    return parse.parse_object(resource, {"metadata": {**place, **metadata}, **sections})


def namespace(name: str) -> Record:
    return draft(NAMESPACE, name, spec={"finalizers": ["kubernetes"]}, status={"phase": "Active"})


def config_map(name: str, namespace: str = "default", value: str = "", **metadata: Json) -> Record:
    return draft(CONFIG_MAP, name, namespace, data={"value": value}, metadata=metadata)


def pod(name: str, namespace: str = "default", node: str = "", **metadata: Json) -> Record:
    spec: dict[str, Json] = {"containers": [{"name": "main", "image": "app:1"}]}
    return draft(POD, name, namespace, spec={**spec, "nodeName": node} if node else spec, metadata=metadata)


def owner(record: Record, *, block: bool = True, controller: bool = True) -> dict[str, Json]:
    """An owner reference to an object."""
    return {
        "apiVersion": record.resource.api_version,
        "kind": record.resource.kind,
        "name": record.name,
        "uid": record.uid,
        "controller": controller,
        "blockOwnerDeletion": block,
    }
