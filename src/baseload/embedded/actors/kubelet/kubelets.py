"""All kubelets of a cluster: one task that follows machines, nodes and pods, and hands each pod to its node.

They hear of pods by the class of change, so that what they write themselves does not wake them.
"""

from collections.abc import Mapping
from typing import Final

from baseload.embedded.actors import nodes
from baseload.embedded.actors.client import ActorClient
from baseload.embedded.actors.heartbeats import Heartbeats
from baseload.embedded.actors.kubelet.leases import Leases
from baseload.embedded.actors.kubelet.machines import Change, Machine, Machines
from baseload.embedded.actors.kubelet.node import NodeRun
from baseload.embedded.actors.kubelet.pod import PodRun
from baseload.embedded.actors.kubelet.script import Script
from baseload.embedded.actors.kubelet.settings import DEFAULTS, KubeletSettings
from baseload.embedded.actors.kubelet.strained import Strained
from baseload.embedded.actors.kubelet.volumes import Volumes
from baseload.embedded.actors.lives import Lives
from baseload.embedded.actors.network import Network
from baseload.embedded.api.cluster import Cluster
from baseload.embedded.api.usage import Amounts
from baseload.embedded.store.log import Event
from baseload.embedded.store.record import Record
from baseload.model.requests import amounts
from baseload.values.clock import Clock

MANAGER: Final = "kubelet"
_OF_PODS: Final = ("added", "bound", "marked", "removed")
_OF_NODES: Final = ("added", "removed")


class Kubelets:
    """The kubelets of a cluster's machines."""

    def __init__(
        self,
        cluster: Cluster,
        clock: Clock,
        machines: Machines,
        *,
        script: Script | None = None,
        settings: KubeletSettings = DEFAULTS,
        heartbeats: Heartbeats | None = None,
        network: Network | None = None,
        awaits_volumes: bool = False,
    ) -> None:
        """With `awaits_volumes` pods begin when their volumes are attached, which somebody else has to do."""
        self.client, self.clock, self.settings = ActorClient(cluster, MANAGER), clock, settings
        self.script = Script() if script is None else script
        self.heartbeats = Heartbeats() if heartbeats is None else heartbeats
        self.network = Network() if network is None else network
        self.lives = Lives(clock, self._hear)
        self.leases = Leases(
            self.client, self.lives, self.heartbeats, writes_every_renewal=settings.writes_every_renewal
        )
        self.strained = Strained(self)
        self.nodes: dict[str, NodeRun] = {}
        self.node_kind = self.client.resource("", "Node")
        self.is_cut_off = False
        """Whether the API is out of their reach: what runs goes on, and nothing is heard or told"""
        self.lag = 0
        """How much later they hear of pods, in nanoseconds"""
        self._made = 0
        self._machines = machines
        self.volumes = Volumes(self.client, self.lives.ring) if awaits_volumes else None
        self.waiting: dict[str, tuple[PodRun, NodeRun]] = {}  # uid -> a pod that waits for its volumes
        self._pods = self.client.subscribe("", "Pod", _OF_PODS, self.lives.ring, self._wants)
        self._nodes = self.client.subscribe("", "Node", _OF_NODES, self.lives.ring)
        self._changes = machines.follow(self.lives.ring)
        self._network = self.network.follow(self.lives.ring)

    async def run(self) -> None:
        """Runs until the end: first what is there already, then what comes."""
        if self.volumes is not None:
            self.volumes.begin()
        for machine in self._machines.machines():
            registered = machine.registers_at
            self._boot(machine, keeps_pods=registered is not None and registered <= self.clock.now())
        for node in list(self.client.records("", "Node").values()):
            self._adopt(node)
        await self.lives.run()

    def usage(self, pod: Record) -> Mapping[str, Amounts]:
        """What the containers of a pod use now, for metrics.k8s.io."""
        node = self.nodes.get(pod.node)
        found = node.pods.get(pod.uid) if node is not None else None
        if found is None:
            return {}
        run, now = found[0], self.clock.now()
        return {
            one.plan.name: {"cpu": one.cpu_at(now), "memory": one.memory_at(now)}
            for one in run.runs
            if one.state == "running"
        }

    def found(self, node: NodeRun) -> None:
        """A node has registered: takes the pods that are bound to it already."""
        table = self.client.store.table(self.client.resource("", "Pod"))
        for pod in table.on_node(node.name):
            self._take(node, pod)

    def cut_off(self) -> None:
        """The API is out of the reach of all of them from now on."""
        for node in self.nodes.values():
            if node.can_post:
                self.leases.fall_silent(node.name)
        self.is_cut_off = True

    def reconnect(self) -> None:
        """They reach it again, and tell what happened meanwhile."""
        self.is_cut_off = False
        for node in self.nodes.values():
            self.heard(node)
        self.lives.ring()

    # -- what comes

    def _hear(self) -> None:
        for change in self._changes():
            self._change(change)
        if self.is_cut_off:
            return
        for event in self._nodes.take():
            if event.type == "DELETED":
                self._unadopt(event.record)
            else:
                self._adopt(event.record)
        self._hear_of_volumes()
        for name in self._network():
            node = self.nodes.get(name)
            if node is not None:
                self._connect(node)
        for event in self._pods.take():
            self._hear_of(event)

    def _hear_of_volumes(self) -> None:
        news = self.volumes.hear() if self.volumes is not None else None
        if news is None:
            return
        for uid, (run, node) in list(self.waiting.items()):
            held = node.pods.get(uid)
            if held is None:
                del self.waiting[uid]
            elif news.is_about(run.record, node.name):
                run.begins = self.clock.now()
                self.lives.poke(held[1])

    def _wants(self, event: Event) -> bool:
        """Whether it is about a pod on a node, which the kubelet there has not let go of by itself."""
        record = event.record
        if event.type != "DELETED":
            return bool(record.node)
        node = self.nodes.get(record.node)
        return node is not None and record.uid in node.pods

    def _hear_of(self, event: Event) -> None:
        record = event.record
        node = self.nodes.get(record.node) if record.node else None
        if node is None or not node.is_registered:
            return
        held = node.pods.get(record.uid)
        if event.type == "DELETED":
            if held is not None:
                self._drop(node, *held)
        elif held is None:
            self._take(node, record)
        elif record.deletion is not None:
            held[0].mark(record)
            self.lives.poke(held[1])

    def _take(self, node: NodeRun, record: Record) -> None:
        """A pod that the node's kubelet sees for the first time."""
        if record.uid in node.pods:
            return
        run = PodRun(node, record, self.script.plan(record))
        if run.plan.fault:
            node.warn(record, "InvalidBehaviour", run.plan.fault)
        if record.deletion is not None:
            run.mark(record)
        node.pods[record.uid] = run, self.lives.begin(run.life())

    def _drop(self, node: NodeRun, run: PodRun, living: object) -> None:
        """A pod whose object is gone although the kubelet was not done with it."""
        node.forget(run)
        if run.admitted and not run.is_over:
            run.is_over = True
            node.release(run)
        self.lives.end(living)  # type: ignore[arg-type]  # a Living, kept beside its run

    # -- machines

    def _change(self, change: Change) -> None:
        node = self.nodes.get(change.machine.name)
        if change.what == "booted":
            self._boot(change.machine)
        elif node is None:
            return
        elif change.what == "gone":
            self._end(node)
        else:
            node.is_hung = change.what == "hung"
            self.heard(node)

    def _boot(self, machine: Machine, *, keeps_pods: bool = False) -> None:
        if machine.name in self.nodes:
            return
        self._made += 1
        node = self.nodes[machine.name] = NodeRun(self, machine, self._made, keeps_pods=keeps_pods)
        self._connect(node)
        node.living = self.lives.begin(node.life())

    def _connect(self, node: NodeRun) -> None:
        """Tells a node what its network is now."""
        before = node.is_configured, node.network_works
        node.is_configured, node.network_works = self.network.is_configured(node.name), self.network.works(node.name)
        if before != (node.is_configured, node.network_works) and node.is_registered:
            node.post()
            for run, living in node.pods.values():
                if run.is_waiting_for_network:
                    run.is_waiting_for_network = False
                    run.begins = self.clock.now() + int(run.plan.behaviour.starts_after * node.slowness)
                self.lives.poke(living)

    def heard(self, node: NodeRun) -> None:
        """A node fell silent, or is heard of again."""
        if not node.is_registered:
            if node.living is not None:
                self.lives.poke(node.living)
            return
        if not node.can_post:
            self.leases.fall_silent(node.name)
            return
        self.leases.begin(node.name)
        node.post()
        node.refresh()

    def _end(self, node: NodeRun) -> None:
        """A machine is gone; its Node and its pods stay until somebody finds out."""
        del self.nodes[node.name]
        if node.is_registered and node.can_post:
            self.leases.fall_silent(node.name)
        for _, living in node.pods.values():
            self.lives.end(living)
        node.pods.clear()
        self.strained.forget(node)
        if node.living is not None:
            self.lives.end(node.living)

    def _adopt(self, record: Record) -> None:
        """A Node that somebody created gets a machine, if that is wanted."""
        if not self.settings.adopts_nodes or record.name in self.nodes:
            return
        provider_id = nodes.spec(record).provider_id
        if provider_id and self._machines.knows(provider_id):
            return  # its machine has ended
        status = nodes.status(record)
        capacity = amounts(status.capacity)
        allocatable = amounts(status.allocatable) or capacity
        if nodes.ready(record) == "True":
            self.network.come_up(record.name)  # which it has not waited for in vain
        machine = Machine(record.name, capacity, allocatable, provider_id=provider_id, is_adopted=True)
        self._boot(machine, keeps_pods=True)

    def _unadopt(self, record: Record) -> None:
        """A Node is gone: the machine that was made for it ends with it, one of a cloud runs on without."""
        self.leases.forget(record.name)
        node = self.nodes.get(record.name)
        if node is not None and node.machine.is_adopted:
            self._end(node)
