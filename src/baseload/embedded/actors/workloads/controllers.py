"""All workload controllers in one coroutine, as in kube-controller-manager: one bell, one index of pods, many queues.

A turn tells everybody what happened since the last one, then each controller looks at the objects that are due. What
they write comes back as events of the next turn, at the same moment unless others are due before it.
"""

from collections.abc import Iterable
from typing import Final

from baseload.embedded.actors.client import ActorClient
from baseload.embedded.actors.workloads.autoscalers import Autoscalers
from baseload.embedded.actors.workloads.budgets import Budgets
from baseload.embedded.actors.workloads.controller import ALL, MANAGER, Controller, Workplace
from baseload.embedded.actors.workloads.cronjobs import CronJobs
from baseload.embedded.actors.workloads.daemonset import DaemonSets
from baseload.embedded.actors.workloads.deployment import Deployments
from baseload.embedded.actors.workloads.endpoints import EndpointSlices
from baseload.embedded.actors.workloads.jobs import JobExpiry, Jobs
from baseload.embedded.actors.workloads.ownership import PodIndex
from baseload.embedded.actors.workloads.protection import ClaimProtection, VolumeProtection
from baseload.embedded.actors.workloads.replicaset import ReplicaSets
from baseload.embedded.actors.workloads.statefulset import StatefulSets
from baseload.embedded.api import usage as usages
from baseload.embedded.api.cluster import Cluster
from baseload.embedded.api.usage import Usage
from baseload.values import instant
from baseload.values.clock import FOREVER, Clock

KINDS: Final[tuple[type[Controller], ...]] = (
    Deployments,
    ReplicaSets,
    StatefulSets,
    DaemonSets,
    Jobs,
    JobExpiry,
    CronJobs,
    Budgets,
    EndpointSlices,
    Autoscalers,
    ClaimProtection,
    VolumeProtection,
)
"""The controllers, in the order in which they take their turn"""


class Controllers:
    """The controllers of one cluster."""

    def __init__(
        self,
        cluster: Cluster,
        clock: Clock,
        kinds: Iterable[type[Controller]] = KINDS,
        *,
        usage: Usage = usages.requested,
        reacts_after: float = 0.0,
    ) -> None:
        """`reacts_after`: seconds from what happens until they look at it, all of what came meanwhile together."""
        self._clock, self._bell, self._reacts_after = clock, clock.bell(), reacts_after
        client = ActorClient(cluster, MANAGER)
        self.place = Workplace(client, PodIndex(), self._bell.ring, usage)
        self.each = tuple(kind(self.place) for kind in kinds)

    @property
    def pods(self) -> PodIndex:
        """Who owns which pods, as the controllers know it."""
        return self.place.pods

    async def run(self) -> None:
        """Controls until the end."""
        self._begin()
        while True:
            self._turn()
            due = self._next()
            if due == 0:
                await self._clock.sleep(0)  # others that are due now come first
            await self._bell.wait(due)
            if self._reacts_after:
                await self._clock.sleep(self._reacts_after)

    def close(self) -> None:
        """It hears of nothing any more."""
        self.place.client.close()

    def _begin(self) -> None:
        place = self.place
        place.hear("", "Pod", ALL, place.pods.note)
        place.pods.load(place.client.records("", "Pod").values())
        for controller in self.each:
            controller.begin()

    def _turn(self) -> None:
        self.place.tell()
        now = self._clock.now()
        for controller in self.each:
            if controller.queue.is_due(now):
                controller.work()

    def _next(self) -> float:
        """In how many seconds the next object is due."""
        now = self._clock.now()
        first: int | None = None
        for controller in self.each:
            moment = controller.queue.next(now)
            if moment is None:
                continue
            if moment <= now:
                return 0
            first = moment if first is None or moment < first else first
        return FOREVER if first is None else (first - now) / instant.SECOND
