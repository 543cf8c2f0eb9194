"""Nodes and pods as users write them, read for the engine and for the literal rules alike."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from baseload.decide.schedule import nodes as reading
from baseload.decide.schedule.cluster import Cluster
from baseload.decide.schedule.engine import Engine
from baseload.decide.schedule.kinds import Pod
from baseload.decide.schedule.profile import DEFAULT, Profile
from baseload.kube.types import core

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"
NAMESPACES: Mapping[str, Mapping[str, str]] = {
    "default": {"kubernetes.io/metadata.name": "default"},
    "other": {"kubernetes.io/metadata.name": "other", "team": "b"},
}


def node(
    name: str,
    *,
    zone: str = "",
    labels: Mapping[str, str] | None = None,
    taints: Sequence[Mapping[str, str]] = (),
    unschedulable: bool = False,
    **allocatable: str,
) -> core.Node:
    size = {"cpu": "2", "memory": "4096Mi", "pods": "110", **allocatable}
    held = {HOSTNAME: name, **({ZONE: zone} if zone else {}), **(labels or {})}
    tree = {
        "metadata": {"name": name, "labels": held},
        "spec": {"taints": list(taints), "unschedulable": unschedulable},
        "status": {"allocatable": size},
    }
    return msgspec.convert(tree, core.Node)


def pod(
    name: str,
    cpu: str | None = None,
    memory: str | None = None,
    *,
    on: str = "",
    namespace: str = "default",
    labels: Mapping[str, str] | None = None,
    terminating: bool = False,
    started: str = "",
    **spec: Any,
) -> core.Pod:
    requests = {key: value for key, value in (("cpu", cpu), ("memory", memory)) if value is not None}
    tree = {
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": f"uid-{name}",
            "labels": dict(labels or {}),
            "deletionTimestamp": "2026-11-30T12:00:00Z" if terminating else "",
        },
        "spec": {"containers": [{"name": "main", "resources": {"requests": requests}}], "nodeName": on, **spec},
        "status": {"startTime": started},
    }
    return msgspec.convert(tree, core.Pod)


def engine(
    nodes: Sequence[core.Node],
    pods: Sequence[core.Pod] = (),
    *,
    settings: Profile = DEFAULT,
    default_selectors: Mapping[str, str] | None = None,
) -> Engine:
    """An engine that knows these nodes, and the pods that run on them."""
    cluster = Cluster(settings.hard_pod_affinity_weight)
    for one in nodes:
        cluster.set_node(reading.facts(one.metadata.name, one.metadata.labels, one.spec, one.status))
    made = Engine(cluster, settings)
    for running in pods:
        cluster.put_pod(read(made, running))
    return made


def read(made: Engine, one: core.Pod, *, spread_by: Mapping[str, str] | None = None) -> Pod:
    """A pod as the engine takes it; `spread_by` is the selector of the controller that owns it."""
    from baseload.decide.fit.constraints import spread_of
    from baseload.values.selector import Selector

    spec = msgspec.structs.replace(one.spec, node_name="")
    default = (
        ()
        if spread_by is None
        else tuple(spread_of(written, Selector.of(spread_by)) for written in made.settings.default_constraints)
    )
    kind = made.cluster.kind(
        one.metadata.namespace, one.metadata.labels, spec, namespaces=NAMESPACES, default_spread=default
    )
    return Pod(
        uid=one.metadata.uid,
        namespace=one.metadata.namespace,
        name=one.metadata.name,
        kind=kind,
        priority=one.spec.priority or 0,
        started=one.status.start_time,
        is_terminating=bool(one.metadata.deletion_timestamp),
        node=one.spec.node_name,
    )
