"""The marks of a node that a command gives up: a taint that keeps pods off, and why on its claim (spec 22)."""

from baseload.decide.lifecycle import conditions
from baseload.decide.lifecycle.changed import claim_saying, is_same_taint, node_with, with_status, with_taints
from baseload.decide.lifecycle.conditions import Said
from baseload.decide.lifecycle.names import DISRUPTED, DISRUPTION_REASON
from baseload.kube.types.core import Node
from baseload.kube.types.karpenter import NodeClaim


def is_tainted(node: Node) -> bool:
    return any(is_same_taint(taint, DISRUPTED) for taint in node.spec.taints)


def tainted(node: Node) -> Node:
    return node_with(node, taints=with_taints(node.spec.taints, (DISRUPTED,)))


def untainted(node: Node) -> Node:
    return node_with(node, taints=tuple(taint for taint in node.spec.taints if not is_same_taint(taint, DISRUPTED)))


def is_chosen(claim: NodeClaim) -> bool:
    """Whether a claim says that a command gives it up."""
    return conditions.find(claim.status.conditions, DISRUPTION_REASON) is not None


def chosen(claim: NodeClaim, reason: str, now: int) -> NodeClaim:
    return claim_saying(claim, Said(DISRUPTION_REASON, reason=reason, message=reason), now=now)


def not_chosen(claim: NodeClaim) -> NodeClaim:
    return with_status(claim, conditions=conditions.without(claim.status.conditions, DISRUPTION_REASON))
