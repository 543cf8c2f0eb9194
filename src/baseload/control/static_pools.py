"""Keeps static pools at their number of nodes (disruption and lifecycle spec 25; gate StaticCapacity).

A pool is looked at when it changes, when one of its claims comes or goes, and every minute. What was created or deleted
is waited for before the next look, so that nothing is done twice.
"""

from typing import Final

from baseload.control.controller import Controller
from baseload.control.informer import Transition
from baseload.control.means import Means
from baseload.control.observed import CLAIM, POOL, is_provided
from baseload.decide.disrupt.surplus import surplus
from baseload.decide.lifecycle import conditions
from baseload.decide.lifecycle.creation import claim_from_template
from baseload.decide.lifecycle.names import READY
from baseload.decide.provision.pools import is_static
from baseload.decide.provision.static_pools import delta_of
from baseload.kube.client.objects import Object
from baseload.kube.types.core import Pod
from baseload.kube.types.karpenter import NodeClaim, NodePool
from baseload.model.view import is_terminal
from baseload.values.instant import SECOND
from baseload.values.label import AWS_WELL_KNOWN, CORE_WELL_KNOWN, NODEPOOL

LOOKS_EVERY: Final = 60.0
AT_LIMIT: Final = 30.0  # seconds until a pool is looked at again that may have no more nodes
SEES_WITHIN: Final = 15 * SECOND
"""So long what was written is waited for; then it is taken for lost"""
SOON: Final = 0.1
_WELL_KNOWN: Final = CORE_WELL_KNOWN | AWS_WELL_KNOWN


class StaticPools:
    """The controller of pools with a fixed number of nodes."""

    def __init__(self, means: Means) -> None:
        self._observed, self._objects, self._clock = means.observed, means.objects, means.clock
        self._created: dict[str, int] = {}  # claim that is not seen yet -> until when it is waited for
        self._deleted: dict[str, int] = {}  # claim that is not seen to be deleted yet
        self.controller: Final = Controller(self._clock, self.reconcile)
        means.observed.informer.listen(self._note)

    async def reconcile(self, name: str) -> float | None:
        """Brings a pool nearer to its number of nodes; when to look again."""
        pool = self._observed.pool(name)
        if pool is None or not _is_ours(pool):
            return None
        if self._waits():
            return SOON
        claims = [it for it in self._observed.claims() if it.metadata.labels.get(NODEPOOL) == name]
        delta = delta_of(pool, claims)
        if delta < 0:
            await self._delete(surplus(pool, claims, self._pods(claims), self._clock.now()))
        elif delta > 0 and conditions.is_true(pool.status.conditions, READY):
            await self._create(pool, delta)
        return AT_LIMIT if _is_short(pool, claims, delta) else LOOKS_EVERY

    async def _create(self, pool: NodePool, count: int) -> None:
        for _ in range(count):
            name = await self._objects.create(NodeClaim, claim_from_template(pool, _WELL_KNOWN))
            if self._observed.claim(name) is None:
                self._created[name] = self._clock.now() + SEES_WITHIN

    async def _delete(self, claims: tuple[NodeClaim, ...]) -> None:
        for claim in claims:
            await self._objects.delete(claim)
            self._deleted[claim.metadata.name] = self._clock.now() + SEES_WITHIN

    def _waits(self) -> bool:
        """Whether something that was written is not seen yet."""
        now = self._clock.now()
        find = self._observed.claim
        self._created = {name: at for name, at in self._created.items() if at > now and find(name) is None}
        self._deleted = {
            name: at
            for name, at in self._deleted.items()
            if at > now and (held := find(name)) is not None and not held.metadata.deletion_timestamp
        }
        return bool(self._created or self._deleted)

    def _pods(self, claims: list[NodeClaim]) -> dict[str, tuple[Pod, ...]]:
        found: dict[str, tuple[Pod, ...]] = {}
        for claim in claims:
            provider_id = claim.status.provider_id
            for node in self._observed.nodes_of(provider_id):
                on_node = self._observed.pods_on(node.metadata.name)
                found[provider_id] = tuple(pod for pod in on_node if not is_terminal(pod))
        return found

    def _note(self, change: Transition) -> None:
        if change.kind is POOL and change.after is not None:
            if _says(change.before) != _says(change.after):
                self.controller.queue.add(change.after.metadata.name)
        elif change.kind is CLAIM:
            one = change.after or change.before
            assert one is not None
            if _is_there(change.before) != _is_there(change.after):
                self.controller.queue.add(one.metadata.labels.get(NODEPOOL, ""))


def _is_ours(pool: NodePool) -> bool:
    is_deleted = bool(pool.metadata.deletion_timestamp)
    return is_static(pool) and not is_deleted and is_provided(pool.spec.template.spec.node_class_ref)


def _is_short(pool: NodePool, claims: list[NodeClaim], delta: int) -> bool:
    """Whether the pool lacks nodes that its limit does not let it have."""
    return len(claims) + max(0, delta) < (pool.spec.replicas or 0)


def _is_there(held: Object | None) -> bool:
    return held is not None and not held.metadata.deletion_timestamp


def _says(held: Object | None) -> object:
    """What of a pool decides here: its spec by the generation, and whether it is ready."""
    if held is None:
        return None
    pool = held.read(NodePool)
    return pool.metadata.generation, conditions.is_true(pool.status.conditions, READY)
