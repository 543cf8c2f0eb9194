"""All of storage in one actor: one bell, controllers that take turns, and the workers that ask the cloud."""

from typing import Final

from baseload.embedded.actors.client import ActorClient
from baseload.embedded.actors.storage.attachments import Attachments
from baseload.embedded.actors.storage.claims import Claims
from baseload.embedded.actors.storage.csi_nodes import CsiNodes
from baseload.embedded.actors.storage.disks import Disks
from baseload.embedded.actors.storage.ephemeral import EphemeralVolumes
from baseload.embedded.actors.storage.jobs import Jobs
from baseload.embedded.actors.storage.objects import Objects
from baseload.embedded.api.cluster import Cluster
from baseload.values.clock import FOREVER, Clock
from baseload.values.instant import SECOND

MANAGER: Final = "kube-controller-manager"


class Storage:
    """The storage of one cluster."""

    def __init__(self, cluster: Cluster, clock: Clock, disks: Disks) -> None:
        self._clock, self._bell = clock, clock.bell()
        self._client = ActorClient(cluster, MANAGER)
        objects = Objects(self._client)
        self._jobs = Jobs(clock)
        self._csi_nodes = CsiNodes(objects, disks, self._bell.ring)
        self._ephemeral = EphemeralVolumes(objects, self._bell.ring)
        self._claims = Claims(objects, self._jobs, disks, self._bell.ring)
        self._attachments = Attachments(objects, self._jobs, disks, self._bell.ring)

    async def run(self) -> None:
        """Works for ever."""
        await self._clock.together(self._control(), self._jobs.run())

    def close(self) -> None:
        """It hears of nothing any more."""
        self._client.close()

    async def _control(self) -> None:
        self._csi_nodes.begin()
        self._ephemeral.begin()
        self._claims.begin()
        self._attachments.begin()
        while True:
            now = self._clock.now()
            self._csi_nodes.work()
            self._ephemeral.work(now)
            self._claims.work(now)
            self._attachments.work(now)
            moments = [
                at for it in (self._ephemeral, self._claims, self._attachments) if (at := it.next(now)) is not None
            ]
            await self._bell.wait(max(0, min(moments) - now) / SECOND if moments else FOREVER)
