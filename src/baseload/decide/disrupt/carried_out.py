"""A view after commands were carried out in full: replacements are there, pods where they were planned, nodes gone.

A pod that was not planned for (protected, say, on a node whose time was up) comes up anew where something owns it, and
waits for a place.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from msgspec.structs import replace as with_fields

from baseload.catalog.columns import InstanceTypes
from baseload.decide.lifecycle import conditions, markers
from baseload.decide.lifecycle.changed import claim_saying, with_status
from baseload.decide.lifecycle.conditions import Said
from baseload.decide.lifecycle.names import CONSOLIDATABLE, INITIALIZED, LAUNCHED, REGISTERED
from baseload.decide.provision.pods import is_reschedulable
from baseload.decide.provision.pools import is_static
from baseload.kube.types.core import Node, NodeSpec, NodeStatus, Pod, PodStatus
from baseload.kube.types.karpenter import NodeClaim, NodeClaimSpec, NodeClaimStatus, NodePool
from baseload.kube.types.meta import Condition, NodeSelectorRequirement, ObjectMeta, Resources, Taint
from baseload.model import statenode
from baseload.model.view import View, name_of
from baseload.plan.disrupt import Command
from baseload.plan.provision import PlannedClaim
from baseload.values import taint as taints
from baseload.values.label import HOSTNAME
from baseload.values.resource import written


def carried_out(view: View, commands: Sequence[Command], tables: Mapping[str, InstanceTypes], now: int) -> View:
    """The view after commands."""
    gone = {candidate.node for command in commands for candidate in command.candidates}
    claims = [claim for command in commands for claim in command.replacements]
    to = {moved.pod: moved.to for command in commands for moved in command.pods}
    to |= {pod: claim.name for claim in claims for pod in claim.pods}
    return launched(without(placed(view, to, now), gone), claims, tables, now)


def launched(view: View, claims: Iterable[PlannedClaim], tables: Mapping[str, InstanceTypes], now: int) -> View:
    """The view with the nodes of planned claims, initialised."""
    pools = {pool.metadata.name: pool for pool in view.node_pools}
    made = [_made(claim, pools[claim.node_pool], tables[claim.node_pool], now) for claim in claims]
    if not made:
        return view
    nodes, node_claims = (tuple(one) for one in zip(*made, strict=True))
    return replace(view, nodes=(*view.nodes, *nodes), node_claims=(*view.node_claims, *node_claims))


def placed(view: View, to: Mapping[str, str], now: int) -> View:
    """The view with pods on other nodes, which the claims of those nodes note."""
    if not to:
        return view
    pods = tuple(_on(pod, to[name_of(pod)], now) if name_of(pod) in to else pod for pod in view.pods)
    targets = set(to.values())
    landed = {s.claim.metadata.name for s in view.state_nodes if s.claim is not None and s.name in targets}
    last = conditions.written(now)
    claims = tuple(
        with_status(claim, last_pod_event_time=last) if claim.metadata.name in landed else claim
        for claim in view.node_claims
    )
    return replace(view, pods=pods, node_claims=claims)


def without(view: View, names: Iterable[str]) -> View:
    """The view without some nodes; of the pods that are still there those that would come up elsewhere wait."""
    wanted = set(names)
    gone = [state for state in view.state_nodes if state.name in wanted]
    if not gone:
        return view
    nodes = {state.node.metadata.name for state in gone if state.node is not None}
    claims = {state.claim.metadata.name for state in gone if state.claim is not None}
    pods = (_homeless(pod) if pod.spec.node_name in nodes else pod for pod in view.pods)
    return replace(
        view,
        pods=tuple(pod for pod in pods if pod is not None),
        nodes=tuple(node for node in view.nodes if node.metadata.name not in nodes),
        node_claims=tuple(claim for claim in view.node_claims if claim.metadata.name not in claims),
    )


def marked(view: View, now: int) -> View:
    """The view with the claims' Consolidatable condition as it is at a moment (4.3)."""
    pools = {pool.metadata.name: pool for pool in view.node_pools}
    owner = {state.claim.metadata.name: state.pool for state in view.state_nodes if state.claim is not None}

    def said(claim: NodeClaim) -> NodeClaim:
        pool = pools.get(owner.get(claim.metadata.name, ""))
        return claim if pool is None or is_static(pool) else _marked(claim, pool, now)

    return replace(view, node_claims=tuple(map(said, view.node_claims)))


def _marked(claim: NodeClaim, pool: NodePool, now: int) -> NodeClaim:
    held = claim.status.conditions
    if markers.is_consolidatable(claim, pool, now):
        return claim if conditions.is_true(held, CONSOLIDATABLE) else claim_saying(claim, Said(CONSOLIDATABLE), now=now)
    if conditions.find(held, CONSOLIDATABLE) is None:
        return claim
    return with_status(claim, conditions=conditions.without(held, CONSOLIDATABLE))


def _on(pod: Pod, node: str, now: int) -> Pod:
    """The pod that takes another's place."""
    born = conditions.written(now)
    metadata = with_fields(pod.metadata, creation_timestamp=born, deletion_timestamp="")
    ready = Condition(type="Ready", status="True", last_transition_time=born)
    scheduled = Condition(type="PodScheduled", status="True", last_transition_time=born)
    status = PodStatus(phase="Running", start_time=born, conditions=(scheduled, ready))
    return with_fields(pod, metadata=metadata, spec=with_fields(pod.spec, node_name=node), status=status)


def _homeless(pod: Pod) -> Pod | None:
    """The pod without a node, where something makes it anew."""
    if not is_reschedulable(pod) or not pod.metadata.owner_references:
        return None
    unscheduled = Condition(type="PodScheduled", status="False", reason="Unschedulable")
    status = PodStatus(phase="Pending", conditions=(unscheduled,))
    metadata = with_fields(pod.metadata, deletion_timestamp="")
    return with_fields(pod, metadata=metadata, spec=with_fields(pod.spec, node_name=""), status=status)


def _made(planned: PlannedClaim, pool: NodePool, table: InstanceTypes, now: int) -> tuple[Node, NodeClaim]:
    name, born = planned.name, conditions.written(now)
    place = table.names.index(planned.instance_type)
    capacity = {r: written(r, amounts[place]) for r, amounts in table.capacity.items() if amounts[place]}
    allocatable = {resource: written(resource, amount) for resource, amount in planned.allocatable.items()}
    node = _node(planned, dict(capacity), dict(allocatable), born)
    template = pool.spec.template.spec
    claim = NodeClaim(
        metadata=ObjectMeta(name=name, labels=planned.labels, annotations=planned.annotations, creation_timestamp=born),
        spec=NodeClaimSpec(
            node_class_ref=template.node_class_ref,
            requirements=tuple(
                NodeSelectorRequirement(e["key"], e["operator"], tuple(e.get("values", ())), e.get("minValues"))
                for requirement in planned.requirements
                for e in requirement.selectors()
            ),
            taints=template.taints,
            startup_taints=template.startup_taints,
            expire_after=template.expire_after,
            termination_grace_period=template.termination_grace_period,
        ),
        status=NodeClaimStatus(
            node_name=name,
            provider_id=node.spec.provider_id,
            capacity=dict(capacity),
            allocatable=dict(allocatable),
            last_pod_event_time=born if planned.pods else "",
        ),
    )
    return node, claim_saying(claim, *map(Said, (LAUNCHED, REGISTERED, INITIALIZED)), now=now)


def _node(planned: PlannedClaim, capacity: Resources, allocatable: Resources, born: str) -> Node:
    own = {HOSTNAME: planned.name, statenode.REGISTERED: "true", statenode.INITIALIZED: "true"}
    ready = Condition(type="Ready", status="True", last_transition_time=born)
    held = (one for one in planned.taints if one not in planned.startup_taints)
    return Node(
        metadata=ObjectMeta(name=planned.name, labels={**planned.labels, **own}, creation_timestamp=born),
        spec=NodeSpec(provider_id=f"planned://{planned.name}", taints=tuple(map(_written, held))),
        status=NodeStatus(capacity=capacity, allocatable=allocatable, conditions=(ready,)),
    )


def _written(held: taints.Taint) -> Taint:
    return Taint(key=held.key, value=held.value, effect=held.effect)
