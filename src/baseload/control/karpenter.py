"""Karpenter's controllers put together: one client, one cloud, one picture of the cluster."""

from typing import Final

from baseload.act.event_objects import EventObjects
from baseload.act.events import Events, Writer
from baseload.act.evict import Evictions
from baseload.act.instances import Instances
from baseload.act.objects import Objects
from baseload.act.offerings import Offerings
from baseload.act.placements import Placements
from baseload.cloud.port import Cloud
from baseload.control.disruption import Disruption
from baseload.control.expiration import Expiration
from baseload.control.garbage import Garbage
from baseload.control.health import RegistrationHealth
from baseload.control.intents import Intents
from baseload.control.interruption import Interruption
from baseload.control.markers import Markers
from baseload.control.means import Means
from baseload.control.nodeclaims import NodeClaims
from baseload.control.nodeclasses import NodeClasses
from baseload.control.nodepools import NodePools
from baseload.control.observed import Observed
from baseload.control.pod_events import PodEvents
from baseload.control.provisioner import Provisioner
from baseload.control.repair import Repair
from baseload.control.settings import Settings
from baseload.control.static_pools import StaticPools
from baseload.control.termination import Termination
from baseload.control.transitions import Transitions
from baseload.kube.client.client import Client


class Karpenter:
    """The controllers of nodes. What they know is in the cluster and in the cloud: another one can go on."""

    def __init__(self, client: Client, cloud: Cloud, settings: Settings, events: Writer | None = None) -> None:
        """`events` is where they tell what happens; by default that is written by the client."""
        self._clock = client.clock
        self.observed: Final = Observed(client)
        observed, objects = self.observed, Objects(client)
        self._events = told = Events(client.clock, events or EventObjects(client))
        offerings = Offerings(cloud, client.clock)
        instances = Instances(cloud, offerings, settings.cluster_name)
        Transitions(observed, told)
        health = RegistrationHealth(observed, objects)
        self._evictions = Evictions(objects, told, observed.pod)
        means = Means(observed, objects, instances, told, settings)
        self._claims = NodeClaims(means, health)
        self._termination = Termination(means, self._evictions)
        self._pools = NodePools(observed, objects, health)
        self._classes = NodeClasses(observed, objects, cloud)
        self._garbage = Garbage(means)
        self._interruption = Interruption(means, cloud, offerings)
        self._markers = Markers(means, offerings, Placements(cloud, client.clock, settings.cluster_name))
        self._pod_events = PodEvents(means)
        self._expiration = Expiration(means)
        gate = settings.options.gate
        self._repair = Repair(means) if gate("NodeRepair") else None
        self._static = StaticPools(means) if gate("StaticCapacity") else None
        intents = Intents(client.clock, batch_longest=settings.batch_longest)
        self.provisioner: Final = Provisioner(means, offerings, intents)
        self.disruption: Final = Disruption(means, intents, self.provisioner.tables)
        self.provisioner.launching = self.disruption.circles.launch

    async def run(self) -> None:
        """Works until it is cancelled, or a defect ends it."""
        await self._clock.together(self.observed.informer.run(), self._work())

    async def _work(self) -> None:
        await self.observed.synced()
        gated = [it.controller.run() for it in (self._repair, self._static) if it is not None]
        await self._clock.together(
            self._classes.controller.run(),
            self._pools.run(),
            self._claims.controller.run(),
            self._termination.controller.run(),
            self._evictions.run(),
            self._garbage.run(),
            self._interruption.run(),
            self._markers.run(),
            self._pod_events.controller.run(),
            self._expiration.controller.run(),
            *gated,
            self._events.run(),
            self.provisioner.run(),
            self.disruption.run(),
        )
