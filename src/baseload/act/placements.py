"""Where the machines of a cluster stand: their subnets and security groups, read together every few minutes."""

from typing import Final

from baseload.cloud.port import Cloud
from baseload.decide.lifecycle.drift import Placed
from baseload.decide.lifecycle.launch import CLUSTER_TAG
from baseload.values.clock import Clock
from baseload.values.duration import MINUTE
from baseload.values.instant import SECOND
from baseload.values.label import NODEPOOL

FRESH: Final = 5 * MINUTE
"""So long what was read is taken as it is."""
AGAIN: Final = 10 * SECOND
"""So long after it was read a machine that was not there is not asked for again."""


class Placements:
    """The machines of one cluster."""

    def __init__(self, cloud: Cloud, clock: Clock, cluster: str) -> None:
        self._cloud, self._clock = cloud, clock
        self._tags: Final = {CLUSTER_TAG: cluster, NODEPOOL: "*"}
        self._read: int | None = None
        self._placed: dict[str, Placed] = {}

    async def of(self, provider_id: str) -> Placed | None:
        """Where a machine stands; None where the cloud does not say. Raises what the cloud raises."""
        age = None if self._read is None else self._clock.now() - self._read
        if age is None or age >= (FRESH if provider_id in self._placed else AGAIN):
            found = await self._cloud.instances(self._tags)
            self._placed = {it.provider_id: Placed(it.subnet, frozenset(it.security_groups)) for it in found}
            self._read = self._clock.now()
        return self._placed.get(provider_id)
