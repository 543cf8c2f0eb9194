"""The cloud's node lifecycle controller: deletes the Nodes of machines that are gone (cluster-actors spec 17.15).

Every 5 s the nodes that are not Ready are looked up at the cloud: one whose machine does not exist is deleted, one
whose machine is stopped is tainted. While all nodes are Ready it does nothing.
"""

from collections.abc import Callable
from typing import Final, Literal

import msgspec

from baseload.embedded.actors import nodes
from baseload.embedded.actors.client import ActorClient
from baseload.embedded.actors.recorder import Recorder
from baseload.embedded.api.cluster import Cluster
from baseload.embedded.store.record import Record
from baseload.values.clock import Clock

MANAGER: Final = "cloud-controller-manager"
COMPONENT: Final = "cloud-node-lifecycle-controller"
INTERVAL: Final = 5.0  # seconds between two looks
SHUTDOWN: Final = "node.cloudprovider.kubernetes.io/shutdown"
_LONG: Final = 1e9

State = Literal["running", "stopped", "gone"]
Cloud = Callable[[str], State]
"""What has become of the machine with a provider ID"""


class CloudNodes:
    """Keeps the nodes of a cluster to the machines of a cloud."""

    def __init__(self, cluster: Cluster, clock: Clock, cloud: Cloud) -> None:
        self._client, self._clock, self._cloud = ActorClient(cluster, MANAGER), clock, cloud
        self._recorder = Recorder(self._client, COMPONENT)
        self._bell = clock.bell()
        self._nodes = self._client.subscribe("", "Node", ("added", "removed", "status"), self._bell.ring)
        self._kind = self._client.resource("", "Node")
        self._unready: dict[str, None] = {}

    async def run(self) -> None:
        """Looks until the end."""
        for node in list(self._client.records("", "Node").values()):
            self._note(node)
        while True:
            if not self._unready:
                await self._bell.wait(_LONG)
            for event in self._nodes.take():
                if event.type == "DELETED":
                    self._unready.pop(event.record.name, None)
                elif (held := self._client.store.find(self._kind, "", event.record.name)) is not None:
                    self._note(held)
            for name in list(self._unready):
                self._look_up(name)
            if self._unready:
                await self._clock.sleep(INTERVAL)

    def close(self) -> None:
        """It hears of nothing any more."""
        self._client.close()

    def _note(self, node: Record) -> None:
        if nodes.ready(node) == "True":
            self._unready.pop(node.name, None)
            self._spare(node)
        elif nodes.spec(node).provider_id:
            self._unready.setdefault(node.name)

    def _look_up(self, name: str) -> None:
        node = self._client.store.find(self._kind, "", name)
        if node is None:
            return
        match self._cloud(nodes.spec(node).provider_id):
            case "gone":
                why = f"Deleting node {name} because it does not exist in the cloud provider"
                self._recorder.record(node, "Normal", "DeletingNode", why)
                self._client.delete(node)
            case "stopped":
                self._taint(node)
            case "running":
                pass

    def _taint(self, node: Record) -> None:
        held = nodes.spec(node).taints
        if not any(taint.key == SHUTDOWN for taint in held):
            taints = [*msgspec.to_builtins(held), {"key": SHUTDOWN, "effect": "NoSchedule"}]
            self._client.respec(node, {"taints": taints})

    def _spare(self, node: Record) -> None:
        """Its machine runs again."""
        held = nodes.spec(node).taints
        if any(taint.key == SHUTDOWN for taint in held):
            kept = [msgspec.to_builtins(taint) for taint in held if taint.key != SHUTDOWN]
            self._client.respec(node, {"taints": kept or None})
