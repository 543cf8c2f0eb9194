"""One provisioning pass on a view: which pods go on which nodes, and which nodes are launched for the rest.

The order of work is provisioning spec 29.1. A plan carries for each pod that found no place every target's reason; what
would have to change is worked out in `decide.explain`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from baseload.catalog.columns import InstanceTypes
from baseload.decide.fit.base import Cluster
from baseload.decide.fit.engine import MOST_TOLD, Fitted
from baseload.decide.fit.planned import Claim
from baseload.decide.fit.shape import FitPod
from baseload.decide.fit.why import Refusal
from baseload.decide.provision import buffers, hosts
from baseload.decide.provision.launch import Launches
from baseload.decide.provision.memory import Memory
from baseload.decide.provision.options import Options
from baseload.decide.provision.setup import Setting, set_up, setting_of
from baseload.decide.provision.static_pools import static_pools
from baseload.model.requests import amounts
from baseload.model.view import View, name_of
from baseload.plan.provision import Placement, PlannedClaim, ProvisionPlan, Rejection, Unschedulable
from baseload.plan.reason import Reason, Why
from baseload.values.quantity import UNIT

_PRECEDENCE: Final = tuple(Reason)


def provision(
    view: View,
    tables: Mapping[str, InstanceTypes],
    options: Options,
    *,
    most_reasons: int | None = MOST_TOLD,
    memory: Memory | None = None,
) -> ProvisionPlan:
    """The plan of one pass. `tables`: NodePool -> the types that it may choose from; a missing pool has none.

    Of the pods that found no place every NodePool says why, and up to `most_reasons` single nodes and claims; with None
    nobody does, which is for those who look at placements alone. `memory` is that of earlier passes on the same
    cluster.
    """
    setting = setting_of(view, tables, options, memory)
    looked_at = len(setting.sought.pending) + len(setting.sought.moving)
    left_out = [Unschedulable(name_of(pod), reason, text) for pod, reason, text in setting.sought.left_out]
    static = tuple(static_pools(view)) if options.gate("StaticCapacity") else ()
    if stopped := _stopped(setting):
        reason, text = stopped
        pods = (*setting.sought.pending, *setting.sought.moving)
        unplaced = (*(Unschedulable(name_of(pod), reason, text) for pod in pods), *left_out)
        unmet = tuple(buffers.outcome(buffer, {}) for buffer in setting.buffers)
        return ProvisionPlan((), (), unplaced, static, unmet, (), looked_at)
    plan = _pass(setting, most_reasons)
    return replace(plan, unschedulable=(*plan.unschedulable, *left_out), static_pools=static, pods=looked_at)


def _stopped(setting: Setting) -> Why | None:
    """Why no pod is placed at all: state not in sync (1.3), or no pool that could launch anything (3.1)."""
    waiting = [c.metadata.name for c in setting.view.node_claims if not c.status.provider_id]
    if waiting:
        return Reason.NOT_SYNCED, f"NodeClaim {waiting[0]} is not launched yet, which stops all provisioning"
    if not setting.view.node_pools:
        return Reason.NO_POOL, "there is no NodePool in the input, so no place is sought, not even on existing nodes"
    if not setting.pools:
        return Reason.NO_POOL, "no dynamic NodePool is ready, so no place is sought, not even on existing nodes"
    return None


def _pass(setting: Setting, most_reasons: int | None) -> ProvisionPlan:
    made = set_up(setting)
    fitted = made.fit.solve(made.pods, most_reasons=most_reasons)
    by_name = {pool.metadata.name: pool for pool in setting.pools}
    launches = Launches(made.sets, by_name, strict=setting.options.min_values_policy == "Strict")
    empty = tuple((it.name, bool(it.short)) for it in made.fit.base.all_templates if not it.mask)
    return replace(_plan(setting, made.cluster, fitted, launches), empty_pools=empty)


def _plan(setting: Setting, cluster: Cluster, fitted: Fitted, launches: Launches) -> ProvisionPlan:
    virtual = buffers.names(setting.buffers)
    claims, dropped = _claims(setting, fitted.claims, launches)
    names = {pod: claim.name for claim, pods in claims for pod in pods}
    placements = [Placement(pod.name, node=cluster.hosts[place].name) for pod, place in fitted.on_nodes]
    placements += [Placement(pod, node_claim=name) for pod, name in names.items()]
    failed = [_unschedulable(pod, refused, fitted, names) for pod, refused in fitted.failed]
    landed = {pod.name: True for pod, _ in fitted.on_nodes}
    order = {name_of(pod): at for at, pod in enumerate((*setting.sought.pending, *setting.sought.moving))}
    return ProvisionPlan(
        placements=tuple(sorted((p for p in placements if p.pod not in virtual), key=lambda p: order[p.pod])),
        node_claims=tuple(_without(claim, virtual) for claim, _ in claims),
        unschedulable=tuple(
            sorted((u for u in (*failed, *dropped) if u.pod not in virtual), key=lambda u: order[u.pod])
        ),
        static_pools=(),
        buffers=tuple(buffers.outcome(buffer, landed) for buffer in setting.buffers),
        expanded=(),
        pods=0,
    )


def _without(claim: PlannedClaim, virtual: frozenset[str]) -> PlannedClaim:
    if not virtual:
        return claim
    return replace(claim, pods=tuple(pod for pod in claim.pods if pod not in virtual))


def _claims(
    setting: Setting, claims: Sequence[Claim], launches: Launches
) -> tuple[list[tuple[PlannedClaim, tuple[str, ...]]], list[Unschedulable]]:
    """The NodeClaims that would be created, and the pods of those that would not (16.6, 18.6)."""
    made: list[tuple[PlannedClaim, tuple[str, ...]]] = []
    dropped: list[Unschedulable] = []
    opened: dict[str, int] = {}
    room = _nodes_left(setting)
    for claim in claims:
        pool = claim.template.name
        if room.get(pool, 0) < 0:
            text = f"NodePool {pool} has more nodes than its limit by then, so the NodeClaim is not created"
            dropped += (Unschedulable(pod.name, Reason.NODE_LIMIT, text) for pod in claim.pods)
            continue
        opened[pool] = opened.get(pool, 0) + 1
        planned = launches.planned(claim, f"{pool}-{opened[pool]}", setting.types[pool])
        if planned is None:
            opened[pool] -= 1
            text = "the cheapest 600 instance types do not reach the minValues, so the NodeClaim is dropped"
            dropped += (Unschedulable(pod.name, Reason.DROPPED, text) for pod in claim.pods)
            continue
        if pool in room:
            room[pool] -= UNIT
        made.append((planned, planned.pods))
    return made, dropped


def _nodes_left(setting: Setting) -> dict[str, int]:
    """How many nodes each pool may still have; creation stops only once it has more than its limit (QUIRK 18.6)."""
    limits = {pool.metadata.name: pool.spec.limits.get("nodes") for pool in setting.pools}
    running: dict[str, int] = {}
    for state in hosts.offered(setting.view):
        running[state.pool] = running.get(state.pool, 0) + 1
    found = {name: amounts({"nodes": limit})["nodes"] for name, limit in limits.items() if limit is not None}
    return {name: limit - running.get(name, 0) * UNIT for name, limit in found.items()}


def _unschedulable(pod: FitPod, refused: Sequence[Refusal], fitted: Fitted, names: Mapping[str, str]) -> Unschedulable:
    rejections = tuple(_rejection(refusal, fitted, names) for refusal in refused)
    from_pools = [refusal for refusal in refused if refusal.target == "nodePool"] or list(refused)
    if not from_pools:
        return Unschedulable(pod.name, Reason.EMPTY_POOL, "no NodePool has an instance type", rejections=rejections)
    reason = max((r.reason for r in from_pools), key=_PRECEDENCE.index)
    message = "; ".join(dict.fromkeys(f"{r.name}: {r.message}" for r in from_pools))
    return Unschedulable(pod.name, reason, message, rejections=rejections)


def _rejection(refusal: Refusal, fitted: Fitted, names: Mapping[str, str]) -> Rejection:
    name = refusal.name
    if refusal.target == "nodeClaim":
        claim = fitted.claims[refusal.place]
        name = names.get(claim.pods[0].name, f"{claim.template.name} (not created)")
    return Rejection(f"{refusal.target}/{name}", refusal.reason, refusal.message)
