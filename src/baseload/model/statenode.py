"""A node as Karpenter's cluster state sees it: a Node and a NodeClaim paired by providerID (provisioning spec 8.3, 10).

Until its Node is registered a managed node is believed to be what its claim says.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from baseload.kube.types.core import Node
from baseload.kube.types.karpenter import NodeClaim
from baseload.kube.types.meta import Taint
from baseload.model.requests import Amounts, amounts
from baseload.values.label import HOSTNAME, INSTANCE_TYPE, NODEPOOL
from baseload.values.quantity import UNIT

REGISTERED: Final = "karpenter.sh/registered"
INITIALIZED: Final = "karpenter.sh/initialized"
_EPHEMERAL: Final = frozenset(
    {
        ("node.kubernetes.io/not-ready", "NoSchedule"),
        ("node.kubernetes.io/not-ready", "NoExecute"),
        ("node.kubernetes.io/unreachable", "NoSchedule"),
        ("node.cloudprovider.kubernetes.io/uninitialized", "NoSchedule"),
        ("karpenter.sh/unregistered", "NoExecute"),
    }
)
_READINESS: Final = "readiness.k8s.io/"


@dataclass(frozen=True, eq=False)
class StateNode:
    """At least one of `node` and `claim` is there. `is_marked`: a command that runs is about to delete it."""

    node: Node | None
    claim: NodeClaim | None
    is_marked: bool = False

    @property
    def managed(self) -> bool:
        return self.claim is not None

    @cached_property
    def registered(self) -> bool:
        return not self.managed or self._says(REGISTERED)

    @cached_property
    def initialized(self) -> bool:
        return not self.managed or self._says(INITIALIZED)

    @cached_property
    def name(self) -> str:
        return self._believed.metadata.name

    @cached_property
    def labels(self) -> dict[str, str]:
        return self._believed.metadata.labels

    @property
    def provider_id(self) -> str:
        """The machine's, "" for a Node that names none."""
        if self.claim is not None:
            return self.claim.status.provider_id
        assert self.node is not None
        return self.node.spec.provider_id

    @property
    def pool(self) -> str:
        return self.labels.get(NODEPOOL, "")

    @property
    def hostname(self) -> str:
        return self.labels.get(HOSTNAME) or self.name

    @cached_property
    def taints(self) -> tuple[Taint, ...]:
        """The taints that count for placing a pod; while a node boots, those that will go by themselves do not."""
        if self.claim is None:
            assert self.node is not None
            return self.node.spec.taints
        held = self.node.spec.taints if self.node is not None and self.registered else self.claim.spec.taints
        if self.initialized:
            return held
        startup = {(taint.key, taint.effect) for taint in self.claim.spec.startup_taints}
        return tuple(t for t in held if not is_ephemeral(t) and (t.key, t.effect) not in startup)

    @cached_property
    def capacity(self) -> Amounts:
        node, claim = self.node, self.claim
        return self._amounts(node.status.capacity if node else {}, claim.status.capacity if claim else {})

    @cached_property
    def allocatable(self) -> Amounts:
        node, claim = self.node, self.claim
        return self._amounts(node.status.allocatable if node else {}, claim.status.allocatable if claim else {})

    @property
    def charged(self) -> Amounts:
        """What counts toward its pool's limits."""
        return {**self.capacity, "nodes": UNIT}

    @cached_property
    def marked_for_deletion(self) -> bool:
        """Whether its pods are to be placed elsewhere; a managed Node's own deletionTimestamp alone does not say so."""
        if self.claim is None:
            assert self.node is not None
            return bool(self.node.metadata.deletion_timestamp)
        return self.is_marked or is_deleting(self.claim)

    @property
    def _believed(self) -> Node | NodeClaim:
        if self.node is not None and (self.claim is None or self.registered):
            return self.node
        assert self.claim is not None
        return self.claim

    def _says(self, label: str) -> bool:
        return self.node is not None and self.node.metadata.labels.get(label) == "true"

    def _amounts(self, of_node: dict[str, str | int | float], of_claim: dict[str, str | int | float]) -> Amounts:
        """Node status; what it does not state yet, or states as zero, is taken from the claim until initialisation."""
        stated = amounts(of_node)
        if self.initialized:
            return stated
        return {**amounts(of_claim), **{resource: amount for resource, amount in stated.items() if amount}}


def is_deleting(claim: NodeClaim) -> bool:
    terminating = (c.status == "True" for c in claim.status.conditions if c.type == "InstanceTerminating")
    return bool(claim.metadata.deletion_timestamp) or any(terminating)


def pair(
    nodes: tuple[Node, ...],
    claims: tuple[NodeClaim, ...],
    marked: Collection[str] = (),
    before: Iterable[StateNode] = (),
) -> tuple[StateNode, ...]:
    """The nodes that cluster state tracks (10.1), claims without an instance left out.

    While a booting Node is not tracked its claim stands for it. `marked` are the names of claims. Of `before` those
    that are the same are taken over.
    """
    known = {(id(state.node), id(state.claim), state.is_marked): state for state in before}

    def state(node: Node | None, claim: NodeClaim | None) -> StateNode:
        is_marked = claim is not None and claim.metadata.name in marked
        return known.get((id(node), id(claim), is_marked)) or StateNode(node, claim, is_marked)

    by_provider = {claim.status.provider_id: claim for claim in claims if claim.status.provider_id}
    paired: set[str] = set()
    tracked: list[StateNode] = []
    for node in nodes:
        claim = by_provider.get(node.spec.provider_id) if node.spec.provider_id else None
        if _is_tracked(node):
            tracked.append(state(node, claim))
            paired.add(node.spec.provider_id)
    waiting = (claim for provider, claim in by_provider.items() if provider not in paired)
    return (*tracked, *(state(None, claim) for claim in waiting))


def _is_tracked(node: Node) -> bool:
    labels = node.metadata.labels
    if NODEPOOL not in labels:
        return True
    if not node.spec.provider_id:
        return False
    return INSTANCE_TYPE in labels or labels.get(INITIALIZED) == "true"


def is_ephemeral(taint: Taint) -> bool:
    """Whether a taint goes by itself while a node boots, whatever its value."""
    return (taint.key, taint.effect) in _EPHEMERAL or taint.key.startswith(_READINESS)
