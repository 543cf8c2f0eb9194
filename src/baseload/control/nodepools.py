"""What NodePools say of themselves: hash, readiness, what they have, how registrations go (spec 4.2, 5)."""

from collections.abc import Iterator
from typing import Final

from baseload.act.objects import Objects
from baseload.control.controller import Controller, every
from baseload.control.health import RegistrationHealth
from baseload.control.informer import Transition
from baseload.control.observed import CLAIM, CLASS, NODE, POOL, Observed
from baseload.decide.lifecycle import pools
from baseload.decide.lifecycle.conditions import status_of
from baseload.decide.lifecycle.names import REGISTRATION_HEALTHY
from baseload.kube.client.errors import Conflict, NotFound
from baseload.kube.schema import pools as pool_rules
from baseload.kube.schema.finding import Weight
from baseload.kube.types.karpenter import NodePool
from baseload.model.statenode import StateNode, pair
from baseload.values.label import AWS_WELL_KNOWN, CORE_WELL_KNOWN, NODEPOOL

COUNTED_EVERY: Final = 5.0
_WELL_KNOWN: Final = CORE_WELL_KNOWN | AWS_WELL_KNOWN


class NodePools:
    """The controller of pools."""

    def __init__(self, observed: Observed, objects: Objects, health: RegistrationHealth) -> None:
        self._observed, self._objects, self._health = observed, objects, health
        self._clock = objects.client.clock
        self._counted: tuple[int, ...] = ()
        self._states: tuple[StateNode, ...] = ()  # that were counted
        self._controller = Controller(self._clock, self.reconcile)
        observed.informer.listen(self._note, POOL, CLASS)

    async def run(self) -> None:
        """Works for ever."""
        await self._clock.together(self._controller.run(), every(self._clock, lambda: COUNTED_EVERY, self.count))

    async def reconcile(self, name: str) -> float | None:
        """Writes what a pool is to say."""
        pool = self._observed.pool(name)
        if pool is None:
            return None
        try:
            await self._write(pool)
        except NotFound:
            return None
        return None

    async def _write(self, pool: NodePool) -> None:
        now = self._clock.now()
        node_class = self._observed.node_class(pool.spec.template.spec.node_class_ref.name)
        claims = [it for it in self._observed.claims() if it.metadata.labels.get(NODEPOOL) == pool.metadata.name]
        by_name = {claim.metadata.name: claim for claim in claims}
        for changed in pools.rehashed(pool, claims):
            await self._objects.write(by_name[changed.metadata.name], changed)
        wanted = pools.ready(pools.hashed(pool), node_class, tuple(faults(pool)), now)
        reset = pools.unknown(wanted, node_class.metadata.generation if node_class else None, now)
        if reset is not None:
            if status_of(pool.status.conditions, REGISTRATION_HEALTHY) not in ("", "Unknown"):
                self._health.forget(pool)
            wanted = reset
        await self._objects.write(pool, wanted)

    async def count(self) -> None:
        """Writes what each pool has, where a node, a claim or a pool has changed."""
        seen = self._observed.changes(NODE, CLAIM, POOL)
        if seen == self._counted:
            return
        self._states = pair(tuple(self._observed.nodes()), self._observed.claims(), before=self._states)
        for pool in self._observed.pools():
            try:
                await self._objects.write(pool, pools.counted(pool, self._states))
            except (Conflict, NotFound):
                seen = ()  # it changed meanwhile: the next look counts anew
        self._counted = seen

    def _note(self, change: Transition) -> None:
        if change.kind is POOL and change.after is not None:
            self._controller.queue.add(change.after.metadata.name)
        elif change.kind is CLASS:
            one = change.after or change.before
            assert one is not None
            for pool in self._observed.pools():
                if pool.spec.template.spec.node_class_ref.name == one.metadata.name:
                    self._controller.queue.add(pool.metadata.name)


def faults(pool: NodePool) -> Iterator[str]:
    """What Karpenter finds wrong with a pool that the API let pass."""
    for finding in pool_rules.node_pool(pool, _WELL_KNOWN):
        if finding.weight is not Weight.NOTE:
            yield f"{finding.path}: {finding.message}"
