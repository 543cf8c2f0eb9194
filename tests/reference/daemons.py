"""What DaemonSets will take of a node (§9)."""

import copy
from dataclasses import dataclass

from . import algebra, constraints, resources, selecting
from .algebra import Manifest
from .catalogue import InstanceType
from .cluster import StateNode
from .pools import Template
from .resources import Amounts
from .selecting import Port


@dataclass(frozen=True)
class Daemon:
    """The pod that stands for a DaemonSet (§9.1)."""

    pod: Manifest
    request: Amounts


def owns(daemon_set: Manifest, pod: Manifest) -> bool:
    if pod["metadata"].get("namespace") != daemon_set["metadata"].get("namespace"):
        return False
    owners = [o for o in pod["metadata"].get("ownerReferences") or () if o.get("kind") == "DaemonSet"]
    wanted = daemon_set["metadata"].get("uid")
    name = daemon_set["metadata"]["name"]
    return any(o.get("uid") == wanted if wanted and o.get("uid") else o["name"] == name for o in owners)


def representative(daemon_set: Manifest, pods: list[Manifest]) -> Daemon:
    """§9.1."""
    live = [p for p in pods if owns(daemon_set, p) and not selecting.is_finished(p)]
    live.sort(key=lambda p: p["metadata"].get("creationTimestamp") or "", reverse=True)
    shape = copy.deepcopy(daemon_set["spec"]["template"])
    shape["metadata"] = {**(shape.get("metadata") or {}), "name": daemon_set["metadata"]["name"]}
    shape["metadata"]["namespace"] = daemon_set["metadata"].get("namespace", "default")
    if not live:
        return Daemon(shape, resources.pod_request(shape, limits_too=True))
    pod = copy.deepcopy(live[0])
    word = "requiredDuringSchedulingIgnoredDuringExecution"
    if constraints.required_terms(shape):
        affinity = pod["spec"].setdefault("affinity", {}) or {}
        pod["spec"]["affinity"] = affinity
        affinity["nodeAffinity"] = {
            **(affinity.get("nodeAffinity") or {}),
            word: constraints.node_affinity(shape)[word],
        }
    return Daemon(pod, resources.pod_request(pod))


def daemons_of(objects: list[Manifest], ignore_claims: bool) -> list[Daemon]:
    pods = [o for o in objects if o["kind"] == "Pod"]
    listed = [representative(o, pods) for o in objects if o["kind"] == "DaemonSet"]
    return [d for d in listed if not (ignore_claims and constraints.uses_resource_claims(d.pod))]


def counts_on_type(daemon: Daemon, template: Template, t: InstanceType, known: frozenset[str]) -> bool:
    """§9.2: required terms are tried in turn."""
    if selecting.untolerated(daemon.pod, template.taints, [selecting.SOFT]) is not None:
        return False
    pod = copy.deepcopy(daemon.pod)
    while True:
        strict = constraints.strict_set(pod)
        if algebra.compatible(template.requirements, strict, known) and algebra.intersects(t.requirements, strict):
            return True
        if not constraints.drop_required_term(pod):
            return False


@dataclass(frozen=True)
class Group:
    """Types on which the same daemons count (§9.3)."""

    types: frozenset[str]
    request: Amounts
    ports: frozenset[Port]


def groups_of(template: Template, daemons: list[Daemon], known: frozenset[str]) -> list[Group]:
    """§9.3."""
    by_set: dict[tuple[int, ...], list[str]] = {}
    for t in template.types:
        counting = tuple(i for i, d in enumerate(daemons) if counts_on_type(d, template, t, known))
        by_set.setdefault(counting, []).append(t.name)
    return [
        Group(
            frozenset(names),
            resources.total_of(daemons[i].request for i in counting),
            frozenset(port for i in counting for port in selecting.host_ports(daemons[i].pod)),
        )
        for counting, names in by_set.items()
    ]


def least(groups: list[Group], types: list[InstanceType]) -> Amounts:
    """§9.6: the smallest of each resource over groups that still have a type; what one lacks vanishes."""
    names = {t.name for t in types}
    requests = [group.request for group in groups if group.types & names]
    shared = set(requests[0]).intersection(*requests) if requests else set()
    return {name: min(request[name] for request in requests) for name in sorted(shared)}


def reserve(node: StateNode, daemons: list[Daemon]) -> Amounts:
    """§9.7: what daemons still to come will take of an existing node."""
    labels = algebra.from_labels(node.labels)
    expected = [
        d.request
        for d in daemons
        if selecting.untolerated(d.pod, node.taints) is None
        and algebra.compatible(labels, constraints.strict_set(d.pod))
    ]
    running = [resources.pod_request(p) for p in node.bound if selecting.owned_by(p, "apps/v1", "DaemonSet")]
    return resources.floored(resources.minus(resources.total_of(expected), resources.total_of(running)))
