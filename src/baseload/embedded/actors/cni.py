"""A network agent such as Cilium's: where its pod is ready, the node's network comes up and the start-up taint goes.

The agent is a DaemonSet like any other; which pods are agents is told by their labels. Two models of a node before its
agent has come are those of `network`: without a configuration it is NotReady; with another plugin's configuration it
is Ready, pods are bound to it and hang.
"""

import heapq
from dataclasses import dataclass
from typing import Final
from weakref import WeakKeyDictionary

import msgspec

from baseload.embedded.actors import nodes, pods
from baseload.embedded.actors.client import ActorClient
from baseload.embedded.actors.network import Network
from baseload.embedded.actors.pods import Condition
from baseload.embedded.api.cluster import Cluster
from baseload.embedded.store.log import Event
from baseload.embedded.store.record import Record, Shared
from baseload.values import selector
from baseload.values.clock import FOREVER, Clock
from baseload.values.instant import SECOND

TAINT: Final = "node.cilium.io/agent-not-ready"


@dataclass(frozen=True, slots=True)
class CniSettings:
    """What is scripted of the agent."""

    agents: str = "k8s-app=cilium"
    """A label selector of its pods."""
    taint: str = TAINT
    """The key of the taint that it removes, whatever the effect."""
    sets_up_in: int = 5 * SECOND
    """From the agent's pod being Ready until the network works, in nanoseconds."""
    manager: str = "cilium-operator"
    """Who removes the taint."""


class Cni:
    """The agents of a cluster's nodes."""

    def __init__(self, cluster: Cluster, clock: Clock, network: Network, settings: CniSettings | None = None) -> None:
        self._settings = CniSettings() if settings is None else settings
        self._client, self._clock, self._network = ActorClient(cluster, self._settings.manager), clock, network
        self._agents = selector.parse(self._settings.agents)
        self._bell = clock.bell()
        self._pods = self._client.subscribe("", "Pod", ("added", "status"), self._bell.ring, self._wants)
        self._nodes = self._client.subscribe("", "Node", ("added", "removed"), self._bell.ring)
        self._node_kind = self._client.resource("", "Node")
        self._due: list[tuple[int, str, str]] = []  # when, the node's uid, its name
        self._known: WeakKeyDictionary[Shared, bool] = WeakKeyDictionary()  # whether pods of that metadata are agents
        self._begun: dict[str, None] = {}  # uids of nodes whose agent has been ready

    async def run(self) -> None:
        """Sets up networks until the end."""
        for pod in list(self._client.records("", "Pod").values()):
            self._look_at(pod)
        while True:
            self._hear()
            now = self._clock.now()
            while self._due and self._due[0][0] <= now:
                _, uid, name = heapq.heappop(self._due)
                self._set_up(uid, name)
            await self._bell.wait((self._due[0][0] - now) / SECOND if self._due else FOREVER)

    def _wants(self, event: Event) -> bool:
        return self._is_agent(event.record)

    def _is_agent(self, pod: Record) -> bool:
        shared = pod.shared
        known = self._known.get(shared)
        if known is None:
            known = self._known[shared] = self._agents.matches(shared.labels)
        return known

    def _hear(self) -> None:
        for event in self._nodes.take():
            if event.type == "DELETED":
                self._begun.pop(event.record.uid, None)
                self._network.forget(event.record.name)
            else:
                for pod in self._client.store.table(self._client.resource("", "Pod")).on_node(event.record.name):
                    self._look_at(pod)
        for event in self._pods.take():
            self._look_at(event.record)

    def _look_at(self, pod: Record) -> None:
        if not pod.node or not self._is_agent(pod) or not pods.is_ready(pod):
            return
        node = self._client.store.find(self._node_kind, "", pod.node)
        if node is not None and node.uid not in self._begun:
            self._begun[node.uid] = None
            heapq.heappush(self._due, (self._clock.now() + self._settings.sets_up_in, node.uid, node.name))

    def _set_up(self, uid: str, name: str) -> None:
        node = self._client.store.find(self._node_kind, "", name)
        if node is None or node.uid != uid:
            return
        self._network.come_up(name)
        up = Condition(
            "NetworkUnavailable",
            "False",
            self._client.now(),
            self._client.now(),
            "CiliumIsUp",
            "Cilium is running on this node",
        )
        conditions = nodes.status(node).with_conditions((up,)).conditions
        node = self._client.merge(node, {"status": {"conditions": msgspec.to_builtins(conditions)}}, "status")
        held = nodes.spec(node).taints
        if any(taint.key == self._settings.taint for taint in held):
            kept = [msgspec.to_builtins(taint) for taint in held if taint.key != self._settings.taint]
            self._client.respec(node, {"taints": kept or None})
