"""Whether a claim's Node has come, and what it is to carry from then on (disruption and lifecycle spec 3.2).

Startup taints are put on a Node only here, so that one which an agent took away does not come back.
"""

from collections.abc import Sequence
from typing import Final

from baseload.decide.lifecycle import conditions
from baseload.decide.lifecycle.changed import claim_saying, is_same_taint, node_with, with_status, with_taints
from baseload.decide.lifecycle.conditions import Said
from baseload.decide.lifecycle.names import DO_NOT_SYNC_TAINTS, FINALIZER, REGISTERED, UNREGISTERED
from baseload.kube.types.core import Node
from baseload.kube.types.karpenter import NodeClaim
from baseload.kube.types.meta import OwnerReference, Taint
from baseload.model.statenode import REGISTERED as REGISTERED_LABEL
from baseload.plan.lifecycle import Progress, Told

_NOT_FOUND: Final = Said(REGISTERED, "Unknown", "NodeNotFound", "Node not registered with cluster")


def register(claim: NodeClaim, nodes: Sequence[Node], now: int) -> Progress:
    """`nodes` are those with the claim's provider ID."""
    if conditions.status_of(claim.status.conditions, REGISTERED) in ("True", "False"):
        return Progress(claim)
    if not claim.status.provider_id or not nodes:
        return Progress(claim_saying(claim, _NOT_FOUND, now=now))
    if len(nodes) > 1:
        said = Said(REGISTERED, "False", "MultipleNodesFound", "Invariant violated, matched multiple nodes")
        return Progress(claim_saying(claim, said, now=now))
    [node] = nodes
    registered = with_status(claim_saying(claim, Said(REGISTERED), now=now), node_name=node.metadata.name)
    return Progress(registered, synced(claim, node), told=_missing(node))


def synced(claim: NodeClaim, node: Node) -> Node:
    """The Node as a registered one: with what its claim says, and without the taint that kept pods off."""
    metadata = node.metadata
    owner = OwnerReference("karpenter.sh/v1", "NodeClaim", claim.metadata.name, claim.metadata.uid, False, True)
    owners = metadata.owner_references
    if all(held.uid != owner.uid for held in owners):
        owners = (*owners, owner)
    finalizers = metadata.finalizers if FINALIZER in metadata.finalizers else (*metadata.finalizers, FINALIZER)
    return node_with(
        node,
        taints=tuple(taint for taint in _taints(claim, node) if not is_same_taint(taint, UNREGISTERED)),
        labels={**metadata.labels, **claim.metadata.labels, REGISTERED_LABEL: "true"},
        annotations={**metadata.annotations, **claim.metadata.annotations},
        finalizers=finalizers,
        owner_references=owners,
    )


def _taints(claim: NodeClaim, node: Node) -> tuple[Taint, ...]:
    if node.metadata.labels.get(DO_NOT_SYNC_TAINTS) == "true":
        return node.spec.taints
    return with_taints(with_taints(node.spec.taints, claim.spec.taints), claim.spec.startup_taints)


def _missing(node: Node) -> tuple[Told, ...]:
    """A node without the taint may have got pods before it was known what it is."""
    if node.metadata.labels.get(REGISTERED_LABEL) == "true":
        return ()
    if any(is_same_taint(taint, UNREGISTERED) for taint in node.spec.taints):
        return ()
    what = "taint which prevents registration related race conditions on Karpenter-managed nodes"
    message = f"Missing {UNREGISTERED.key} {what}"
    return (Told("UnregisteredTaintMissing", message, "Warning"),)
