"""A view in which something about nodes is already as a pass takes it to be."""

from collections.abc import Collection
from dataclasses import replace

from msgspec.structs import replace as with_fields

from baseload.decide.lifecycle import disrupted
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
    nodes = {s.node.metadata.name for s in stale.values() if s.node is not None and disrupted.is_tainted(s.node)}
    claims = {
        s.claim.metadata.name
        for s in stale.values()
        if s.claim is not None and s.initialized and disrupted.is_chosen(s.claim)
    }
    if not nodes and not claims:
        return view
    return replace(
        view,
        nodes=tuple(disrupted.untainted(node) if node.metadata.name in nodes else node for node in view.nodes),
        node_claims=tuple(disrupted.not_chosen(c) if c.metadata.name in claims else c for c in view.node_claims),
    )
