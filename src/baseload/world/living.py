"""A cluster that lives: the embedded API, its actors, a simulated cloud and Karpenter's controllers on one clock.

On a virtual clock `start` puts every part on its heap, with a name and a priority that orders what is due at one
moment; on a wall clock `run` has them all run together. What the parts know of each other is put together here alone.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final, Protocol

from baseload.catalog.columns import InstanceTypes
from baseload.catalog.ec2 import DEFAULT_REGION
from baseload.catalog.nodeclass import NodeClassSettings
from baseload.cloud.port import Cloud
from baseload.cloud.simulated.cloud import SimulatedCloud
from baseload.cloud.simulated.settings import CloudSettings
from baseload.control.hosting import Host, Process
from baseload.control.karpenter import Karpenter
from baseload.control.settings import Settings as KarpenterSettings
from baseload.embedded.actors import cloud_nodes
from baseload.embedded.actors.client import ActorClient
from baseload.embedded.actors.cloud_nodes import CloudNodes
from baseload.embedded.actors.cni import Cni, CniSettings
from baseload.embedded.actors.heartbeats import Heartbeats
from baseload.embedded.actors.kubelet.kubelets import Kubelets
from baseload.embedded.actors.kubelet.script import Script
from baseload.embedded.actors.kubelet.settings import KubeletSettings
from baseload.embedded.actors.lifecycle import NodeLifecycle
from baseload.embedded.actors.network import Model, Network
from baseload.embedded.actors.pod_gc import PodGarbage
from baseload.embedded.actors.recorder import Forgetting
from baseload.embedded.actors.scheduler.scheduler import Scheduler
from baseload.embedded.actors.scheduler.settings import Settings as SchedulerSettings
from baseload.embedded.actors.storage.storage import Storage
from baseload.embedded.actors.taint_eviction import TaintEviction
from baseload.embedded.actors.workloads.controllers import Controllers
from baseload.embedded.api.app import Committed, at_once
from baseload.embedded.api.identity import Identity
from baseload.embedded.api.usage import Amounts, Usage
from baseload.embedded.local import Local
from baseload.embedded.store.record import Record
from baseload.kube.client.client import Client
from baseload.kube.client.port import Way
from baseload.kube.manifests import Manifests
from baseload.plan.disrupt import Command
from baseload.plan.provision import ProvisionPlan
from baseload.timeline.virtual import Step, VirtualClock
from baseload.values.clock import Clock
from baseload.world import catalogue, embedded
from baseload.world.disks import CloudDisks
from baseload.world.event_rows import EventRows
from baseload.world.machines import CloudMachines

KARPENTER: Final = "karpenter"
SCHEDULER: Final = "scheduler"
WORKLOADS: Final = "controller-manager"
NODE_LIFECYCLE: Final = "node-lifecycle"
STORAGE: Final = "storage"
CLOUD_NODES: Final = "cloud-controller-manager"
KUBELET: Final = "kubelet"
CNI: Final = "cni"
PROCESSES: Final = (KARPENTER, SCHEDULER, WORKLOADS, NODE_LIFECYCLE, STORAGE, CLOUD_NODES)
"""What can end and begin anew, and live in pods of the cluster"""
REACTS_AFTER: Final = 0.05
"""Seconds until kube-controller-manager looks at what happened: watch, queue, and its 20 writes a second"""
_LAST: Final = 100  # the priority of controllers, after everything that the cluster itself does


@dataclass(frozen=True, slots=True)
class Hosting:
    """The pods that a controller lives in."""

    namespace: str
    labels: str


@dataclass(frozen=True, slots=True)
class LifeSettings:
    """How everything behaves. `seed` decides whatever chance decides."""

    region: str = DEFAULT_REGION
    seed: int = 0
    karpenter: KarpenterSettings | None = field(default_factory=KarpenterSettings)
    """None: there is no Karpenter"""
    scheduler: SchedulerSettings = field(default_factory=SchedulerSettings)
    kubelet: KubeletSettings = field(default_factory=lambda: KubeletSettings(adopts_nodes=True))
    script: Script = field(default_factory=Script)
    evicts_one_look_later: bool = True
    """Whether the node lifecycle controller taints silent nodes NoExecute one look after it found them so"""
    network: Model = "works"
    cni: CniSettings = field(default_factory=CniSettings)
    cloud: CloudSettings = field(default_factory=CloudSettings)
    hosts: Mapping[str, Hosting] = field(default_factory=dict)
    """Controller -> where it lives; one that is not named lives outside of the cluster"""
    vm_memory_overhead_percent: str = "0.075"
    reserved_enis: int = 0


class Actor(Protocol):
    """What works beside the API until it is ended."""

    async def run(self) -> None: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Part:
    """A coroutine of the cluster's; of those that are due at one moment the lower priority runs first."""

    name: str
    priority: int
    run: Callable[[], Step]


class Living:
    """One cluster and everything that lives in it."""

    def __init__(
        self,
        clock: Clock,
        settings: LifeSettings,
        *,
        data_dir: Path | None = None,
        manifests: Manifests | None = None,
        tokens: Mapping[str, Identity] | None = None,
        saved: bytes | None = None,
        types: Callable[[NodeClassSettings], InstanceTypes] | None = None,
    ) -> None:
        """A new one, or as a data directory has it; `saved` is what its cloud's `save` gave then.

        `types` are the region's, by default the catalogue's. Raises BadInput for manifests that cannot be created.
        """
        self.clock, self.settings = clock, settings
        self._chance = Random(f"{settings.seed}/clients")
        chance = Random(f"{settings.seed}/names/{clock.now() if data_dir else 0}")
        self.embedded: Final = embedded.build(
            data_dir, manifests, clock=clock, chance=chance, usage=self._usage, tokens=tokens
        )
        self.cluster: Final = self.embedded.cluster
        self.committed: Committed = at_once
        self.usage: Usage = lambda pod: self.kubelets.usage(pod)
        """What metrics tell of running pods"""
        self.planned: Callable[[ProvisionPlan], None] = lambda _: None
        """Called with each of Karpenter's plans; it may only take a note"""
        self.disrupted: Callable[[Command], None] = lambda _: None
        """Called with each of Karpenter's commands of disruption; it may only take a note"""
        self.gives_reasons = False
        """Whether Karpenter's plans say why a target did not take a pod"""
        self.between: Callable[[Way, Cloud], tuple[Way, Cloud]] = lambda way, cloud: (way, cloud)
        """What stands between a Karpenter that starts and the cluster and cloud that it acts on"""
        table = types or _table(settings)
        self.cloud: Final = SimulatedCloud(
            table, clock, settings.cloud, seed=settings.seed, saved=saved, saved_in=str(data_dir or "")
        )
        self.network: Final = Network(settings.network)
        heartbeats = Heartbeats()
        machines = CloudMachines(self.cloud, self.cluster)
        cluster = self.cluster
        self.kubelets: Final = Kubelets(
            cluster,
            clock,
            machines,
            script=settings.script,
            settings=settings.kubelet,
            heartbeats=heartbeats,
            network=self.network,
            awaits_volumes=True,
        )
        self.clock_of: Callable[[str], Clock] = lambda _: clock
        """By which clock a component lives that starts"""
        self.scheduler: Scheduler | None = None  # the one that runs
        self.karpenter: Karpenter | None = None
        self.processes: Final[dict[str, Process]] = {}
        self._parts = [
            Part("cloud", 0, self.cloud.run),
            Part(KUBELET, 10, self.kubelets.run),
            Part("event-ttl", 44, Forgetting(ActorClient(cluster, "kube-apiserver"), clock).run),
            Part(CNI, 50, lambda: Cni(cluster, self.clock_of(CNI), self.network, settings.cni).run()),
        ]
        self._add(SCHEDULER, 20, self._scheduler)
        self._add_actors(
            WORKLOADS, 30, lambda clock: Controllers(cluster, clock, usage=self._usage, reacts_after=REACTS_AFTER)
        )
        self._add_actors(
            NODE_LIFECYCLE,
            40,
            lambda clock: NodeLifecycle(
                cluster, clock, heartbeats, evicts_one_look_later=settings.evicts_one_look_later
            ),
            lambda clock: TaintEviction(cluster, clock),
            lambda clock: PodGarbage(cluster, clock),
        )
        self._add_actors(CLOUD_NODES, 43, lambda clock: CloudNodes(cluster, clock, self._state))
        self._add_actors(STORAGE, 45, lambda clock: Storage(cluster, clock, CloudDisks(self.cloud, clock)))
        if settings.karpenter is not None:
            self._add(KARPENTER, _LAST, self._karpenter)

    def client(self, manager: str, way: Way | None = None) -> Client:
        """A client in this process, under the name that managedFields have for it."""
        return Client(way or self._way(), self.clock, self._chance, manager=manager)

    def start(self, clock: VirtualClock) -> None:
        """Puts everything on a virtual clock, which must be the cluster's."""
        for part in self._parts:
            clock.start(part.run(), name=part.name, priority=part.priority)

    async def run(self) -> None:
        """Lives until it is cancelled, or a defect ends it."""
        await self.clock.together(*(part.run() for part in self._parts))

    def close(self) -> None:
        """Gives the data directory back."""
        self.embedded.close()

    def _add(self, name: str, priority: int, make: Callable[[], Step]) -> None:
        """A controller, as a process that can end and begin anew."""
        process = self.processes[name] = Process(self.clock, make)
        hosting = self.settings.hosts.get(name)
        if hosting is not None:
            host = Host(self.client("host"), hosting.namespace, hosting.labels, process)
            self._parts.append(Part(f"host of {name}", _LAST - 1, host.run))
        self._parts.append(Part(name, priority, process.run))

    def _add_actors(self, name: str, priority: int, *makes: Callable[[Clock], Actor]) -> None:
        """Actors that are one process."""

        async def run() -> None:
            clock = self.clock_of(name)
            actors = [make(clock) for make in makes]
            try:
                await clock.together(*(actor.run() for actor in actors))
            finally:
                for actor in actors:
                    actor.close()

        self._add(name, priority, run)

    async def _scheduler(self) -> None:
        self.scheduler = Scheduler(self.cluster, self.clock_of(SCHEDULER), self.settings.scheduler)
        try:
            await self.scheduler.run()
        finally:
            self.scheduler.close()
            self.scheduler = None

    async def _karpenter(self) -> None:
        assert self.settings.karpenter is not None
        way, cloud = self.between(self._way(), self.cloud)
        events = EventRows(self.cluster.events, self.clock, way, KARPENTER)
        self.karpenter = Karpenter(self.client(KARPENTER, way), cloud, self.settings.karpenter, events)
        self.karpenter.provisioner.told = self.planned
        self.karpenter.disruption.told = self.disrupted
        self.karpenter.provisioner.gives_reasons = self.gives_reasons
        try:
            await self.karpenter.run()
        finally:
            self.karpenter = None

    def _state(self, provider_id: str) -> cloud_nodes.State:
        """What the cloud says of a Node's machine; one that it never had is somebody's own and runs."""
        found = self.cloud.region.inventory.find(provider_id.rpartition("/")[2])
        if found is None:
            is_adopted = any(it.machine.provider_id == provider_id for it in self.kubelets.nodes.values())
            return "running" if is_adopted else "gone"
        state = found.state
        return "gone" if state in ("terminated", "shutting-down") else "stopped" if state == "stopped" else "running"

    def _usage(self, pod: Record) -> Mapping[str, Amounts]:
        return self.usage(pod)

    def _way(self) -> Way:
        return Local(self.cluster, self.clock, lambda: self.committed())


def _table(settings: LifeSettings) -> Callable[[NodeClassSettings], InstanceTypes]:
    held = catalogue.open_ec2(settings.region).catalogue

    def types(asked: NodeClassSettings) -> InstanceTypes:
        return held.instance_types(
            settings.region,
            settings=asked,
            vm_memory_overhead_percent=settings.vm_memory_overhead_percent,
            reserved_enis=settings.reserved_enis,
        )

    return types
