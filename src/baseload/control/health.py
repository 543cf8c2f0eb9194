"""Whether the nodes of a pool come: the last results of its registrations, told in its status (spec 5.3)."""

from baseload.act.objects import Objects
from baseload.control.observed import Observed
from baseload.decide.lifecycle import pools
from baseload.decide.lifecycle.pools import Health
from baseload.kube.client.errors import ApiError
from baseload.kube.types.karpenter import NodeClaim, NodePool
from baseload.values.label import NODEPOOL


class RegistrationHealth:
    """The rings of all pools, by uid; after a restart what the condition stands for."""

    def __init__(self, observed: Observed, objects: Objects) -> None:
        self._observed, self._objects = observed, objects
        self._rings: dict[str, Health] = {}

    async def note(self, claim: NodeClaim, *, success: bool, reason: str = "", message: str = "") -> None:
        """A claim of a pool registered, or never did; that it cannot be told stops nothing."""
        pool = self._observed.pool(claim.metadata.labels.get(NODEPOOL, ""))
        if pool is None or not pools.is_owned_by(claim, pool):
            return
        uid = pool.metadata.uid
        health = self._rings[uid] = self._rings.get(uid, pools.health_of(pool)).after(success)
        now = self._objects.client.clock.now()
        told = pools.told(pool, health, success=success, reason=reason, message=message, now=now)
        try:
            await self._objects.write(pool, told)
        except ApiError:
            return

    def forget(self, pool: NodePool) -> None:
        self._rings.pop(pool.metadata.uid, None)
