"""Whether a registered Node is what its claim promised, so that pods may count on it (spec 3.3).

It is never taken back, whatever becomes of the Node later.
"""

from collections.abc import Sequence

from baseload.decide.lifecycle import conditions
from baseload.decide.lifecycle.changed import claim_saying, is_same_taint, node_with
from baseload.decide.lifecycle.conditions import Said
from baseload.decide.lifecycle.names import INITIALIZED, REGISTERED
from baseload.kube.types.core import Node
from baseload.kube.types.karpenter import NodeClaim
from baseload.kube.types.meta import Taint
from baseload.model import statenode
from baseload.model.requests import amounts
from baseload.plan.lifecycle import Progress


def initialize(claim: NodeClaim, nodes: Sequence[Node], now: int) -> Progress:
    """`nodes` are those with the claim's provider ID."""
    held = claim.status.conditions
    if conditions.status_of(held, INITIALIZED) in ("True", "False") or not conditions.is_true(held, REGISTERED):
        return Progress(claim)
    if len(nodes) != 1:
        said = Said(INITIALIZED, "Unknown", "NodeNotFound", "Node not registered with cluster")
        return Progress(claim_saying(claim, said, now=now))
    [node] = nodes
    if (missing := _missing(claim, node)) is not None:
        reason, message = missing
        return Progress(claim_saying(claim, Said(INITIALIZED, "Unknown", reason, message), now=now))
    labels = {**node.metadata.labels, statenode.INITIALIZED: "true"}
    return Progress(claim_saying(claim, Said(INITIALIZED), now=now), node_with(node, labels=labels))


def _missing(claim: NodeClaim, node: Node) -> tuple[str, str] | None:
    """The first thing that is not so yet, as reason and message."""
    if not is_ready(node):
        return "NodeNotReady", "Node status is NotReady"
    if (taint := _startup_taint(claim, node)) is not None:
        return "StartupTaintsExist", f'StartupTaint "{_text(taint)}" still exists'
    if (taint := next((t for t in node.spec.taints if is_ephemeral(t)), None)) is not None:
        return "KnownEphemeralTaintsExist", f'KnownEphemeralTaint "{_text(taint)}" still exists'
    if resource := _unregistered_resource(claim, node):
        return "ResourceNotRegistered", f'Resource "{resource}" was requested but not registered'
    return None


def is_ready(node: Node) -> bool:
    return conditions.is_true(node.status.conditions, "Ready")


def is_ephemeral(taint: Taint) -> bool:
    """Whether a taint goes by itself while a node boots (spec 2.1)."""
    if taint.key == "node.cloudprovider.kubernetes.io/uninitialized" and taint.value != "true":
        return False
    return statenode.is_ephemeral(taint)


def _startup_taint(claim: NodeClaim, node: Node) -> Taint | None:
    startup = claim.spec.startup_taints
    return next((t for t in startup if any(is_same_taint(t, held) for held in node.spec.taints)), None)


def _unregistered_resource(claim: NodeClaim, node: Node) -> str:
    """A resource that was asked for and that the Node does not have, "" where it has all."""
    allocatable = amounts(node.status.allocatable)
    wanted = amounts(claim.spec.resources.requests)
    return next((name for name in sorted(wanted) if wanted[name] and not allocatable.get(name)), "")


def _text(taint: Taint) -> str:
    return f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}"
