"""Simulated removals by the literal solver (disruption §13): what becomes of the pods if some nodes were gone."""

import copy
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from . import catalogue, cluster, constraints, pools, provision, selecting, solver
from .algebra import Manifest, Requirements
from .catalogue import InstanceType
from .volumes import Volumes


class Moving(solver.Pass):
    """A provisioning pass in which some pods are not placed on some nodes, and reserved capacity is no must."""

    shut: Collection[str] = ()
    barred: Collection[str] = ()

    def node_accepts(self, node: solver.Existing, asking: solver.Asking) -> Requirements | solver.Refusal:
        """§12.3."""
        if asking.name in self.barred and node.state.name in self.shut:
            return solver.Refusal("inside its window")
        return super().node_accepts(node, asking)

    def reserve(
        self, claim: solver.Claim, types: list[InstanceType], final: Requirements
    ) -> frozenset[str] | solver.Refusal:
        """§13.4."""
        held = super().reserve(claim, types, final)
        return frozenset() if isinstance(held, solver.Refusal) else held


@dataclass
class Simulated:
    """`failed` are the pods that make it impossible."""

    places: dict[str, str] = field(default_factory=dict)
    claims: list[solver.Claim] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


def marked(objects: list[Manifest], names: Collection[str], now: str) -> list[Manifest]:
    """The objects with the NodeClaims of some nodes being deleted."""
    gone = {
        node.claim["metadata"]["name"]
        for node in cluster.state_nodes(objects)
        if node.name in names and node.claim is not None
    }
    result = []
    for obj in objects:
        if obj["kind"] == "NodeClaim" and obj["metadata"]["name"] in gone:
            obj = copy.deepcopy(obj)
            obj["metadata"].setdefault("deletionTimestamp", now)
        result.append(obj)
    return result


def simulate(
    objects: list[Manifest],
    catalog: list[Manifest],
    options: Manifest,
    names: Collection[str],
    shut: Collection[str] = (),
) -> Simulated | None:
    """§13; None without a pool that could launch anything."""
    known = catalogue.well_known(catalog)
    pool_list = pools.dynamic_pools(objects, known)
    if not pool_list:
        return None
    now = options["now"]
    ours = {
        selecting.full_name(pod)
        for node in cluster.state_nodes(objects)
        if node.name in names
        for pod in cluster.leaving(marked(objects, [node.name], now), [as_marked(node)], now)
    }
    without = marked(objects, names, now)
    nodes = cluster.state_nodes(without)
    pending = waiting(without, known)
    leaving = cluster.leaving(without, nodes, now)
    types = provision.overlaid_types(without, catalog, options, pool_list)
    placing = [constraints.with_default_spread(pod, without, options) for pod in (*pending, *leaving)]
    run = Moving(
        objects=without, options=options, known=known, pool_list=pool_list, types=types, nodes=nodes, pods=placing
    )
    run.shut = shut
    started = {selecting.full_name(pod) for pod in leaving if (pod.get("status") or {}).get("phase") != "Pending"}
    run.barred = ours & started
    run.run()
    must = {selecting.full_name(pod) for pod in leaving}
    booting = {node.name for node in nodes if not node.initialized}
    places = {pod: str(place) for pod, (kind, place) in run.places.items() if kind == "node" and pod in ours}
    failed = [pod for pod in run.errors if pod in must] + [pod for pod, place in places.items() if place in booting]
    return Simulated(places, run.claims, failed)


def as_marked(node: cluster.StateNode) -> cluster.StateNode:
    """The node as one that is being deleted."""
    claim = copy.deepcopy(node.claim)
    assert claim is not None
    claim["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return cluster.StateNode(node.node, claim, node.bound)


def waiting(objects: Iterable[Manifest], known: frozenset[str]) -> list[Manifest]:
    """Provisionable pending pods that pass validation (§13.2)."""
    listed = list(objects)
    volumes = Volumes(listed)
    return [
        o
        for o in listed
        if o["kind"] == "Pod"
        and not o["spec"].get("nodeName")
        and constraints.provisionable(o)
        and not constraints.invalid_demands(o, known)
        and not volumes.unusable(o)
    ]
