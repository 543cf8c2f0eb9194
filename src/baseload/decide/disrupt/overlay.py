"""A view in which something about nodes is already as a pass takes it to be."""

from collections.abc import Collection
from dataclasses import replace

from msgspec.structs import replace as with_fields

from baseload.decide.lifecycle import conditions
from baseload.decide.lifecycle.names import DISRUPTED, DISRUPTION_REASON
from baseload.kube.types.core import Node
from baseload.kube.types.karpenter import NodeClaim
from baseload.model.view import View
from baseload.values import instant


def deleting(view: View, claims: Collection[str], now: int) -> View:
    """The view in which these NodeClaims are being deleted since now, those that are already as they are."""
    if not claims:
        return view

    def gone(claim: NodeClaim) -> NodeClaim:
        if claim.metadata.name not in claims or claim.metadata.deletion_timestamp:
            return claim
        written = instant.format(now - now % instant.SECOND)
        return with_fields(claim, metadata=with_fields(claim.metadata, deletion_timestamp=written))

    return replace(view, node_claims=tuple(map(gone, view.node_claims)))


def cleaned(view: View, in_command: Collection[str] = ()) -> View:
    """The view without what commands left behind that do not run any more: taints, and conditions (10.3)."""
    stale = {
        state.name: state
        for state in view.state_nodes
        if not state.marked_for_deletion and state.name not in in_command and state.claim is not None
    }
    nodes = {s.node.metadata.name for s in stale.values() if s.node is not None and _is_tainted(s.node)}
    claims = {s.claim.metadata.name for s in stale.values() if s.claim is not None and s.initialized and _says(s.claim)}
    if not nodes and not claims:
        return view
    return replace(
        view,
        nodes=tuple(_untainted(node) if node.metadata.name in nodes else node for node in view.nodes),
        node_claims=tuple(_silent(c) if c.metadata.name in claims else c for c in view.node_claims),
    )


def _is_tainted(node: Node) -> bool:
    return any(taint.key == DISRUPTED.key and taint.effect == DISRUPTED.effect for taint in node.spec.taints)


def _untainted(node: Node) -> Node:
    left = tuple(t for t in node.spec.taints if not (t.key == DISRUPTED.key and t.effect == DISRUPTED.effect))
    return with_fields(node, spec=with_fields(node.spec, taints=left))


def _says(claim: NodeClaim) -> bool:
    return conditions.find(claim.status.conditions, DISRUPTION_REASON) is not None


def _silent(claim: NodeClaim) -> NodeClaim:
    left = conditions.without(claim.status.conditions, DISRUPTION_REASON)
    return with_fields(claim, status=with_fields(claim.status, conditions=left))
