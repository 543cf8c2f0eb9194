"""The pod garbage collector: forces the end of pods that no kubelet will ever end (cluster-actors spec 18).

Every 20 s it looks for pods on nodes that do not exist, which it gives another 40 s; for pods that are being deleted on
nodes that are out of service; and for too many pods that have ended.
"""

from typing import Final

import msgspec

from baseload.decide.node.taints import OUT_OF_SERVICE
from baseload.embedded.actors import nodes, pods
from baseload.embedded.actors.client import ActorClient
from baseload.embedded.actors.pods import Condition
from baseload.embedded.api.cluster import Cluster
from baseload.embedded.store.deletion import Options
from baseload.embedded.store.log import Event
from baseload.embedded.store.record import Record
from baseload.values.clock import Clock
from baseload.values.instant import SECOND

MANAGER: Final = "kube-controller-manager"
INTERVAL: Final = 20.0  # seconds between two looks
QUARANTINE: Final = 40 * SECOND  # how long a node has to be away
MOST: Final = 12_500  # pods that have ended and are kept: --terminated-pod-gc-threshold
_AT_ONCE: Final = Options(grace_seconds=0)


class PodGarbage:
    """Collects pods that are left over."""

    def __init__(self, cluster: Cluster, clock: Clock, most: int = MOST) -> None:
        self._client, self._clock, self._most = ActorClient(cluster, MANAGER), clock, most
        self._pods = self._client.subscribe("", "Pod", ("added", "bound", "status", "removed"), _nothing, self._wants)
        self._nodes = self._client.subscribe("", "Node", ("added", "spec", "status", "removed"), _nothing)
        self._table = self._client.store.table(self._client.resource("", "Pod"))
        self._node_kind = self._client.resource("", "Node")
        self._ended: dict[str, Record] = {}  # by uid
        self._suspects: dict[str, int | None] = {}  # nodes that are not there -> until when they are waited for
        self._out: dict[str, None] = {}  # nodes that are out of service

    async def run(self) -> None:
        """Collects until the end."""
        for pod in list(self._table.records.values()):
            self._note(pod)
        while True:
            self._hear()
            self._collect(self._clock.now())
            await self._clock.sleep(INTERVAL)

    def close(self) -> None:
        """It hears of nothing any more."""
        self._client.close()

    def _wants(self, event: Event) -> bool:
        """Whether a pod has ended, or has a node that is not there."""
        pod, old = event.record, event.old
        if event.type == "DELETED":
            return pod.uid in self._ended
        return pods.is_over(pod) or ((old is None or old.node != pod.node) and self._is_lost(pod))

    def _is_lost(self, pod: Record) -> bool:
        return bool(pod.node) and self._client.store.find(self._node_kind, "", pod.node) is None

    def _hear(self) -> None:
        for event in self._pods.take():
            pod, old = event.record, event.old
            if event.type == "DELETED":
                self._ended.pop(pod.uid, None)
            elif old is None or old.node != pod.node or pods.is_over(pod):
                self._note(pod)
        for event in self._nodes.take():
            self._note_node(event.record, is_gone=event.type == "DELETED")

    def _note(self, pod: Record) -> None:
        if pods.is_over(pod):
            self._ended[pod.uid] = pod
        if self._is_lost(pod):
            self._suspects.setdefault(pod.node, None)

    def _note_node(self, node: Record, *, is_gone: bool) -> None:
        is_out = any(taint.key == OUT_OF_SERVICE for taint in nodes.spec(node).taints)
        if is_gone:
            self._suspects.setdefault(node.name, None)
        if is_out and not is_gone and nodes.ready(node) != "True":
            self._out[node.name] = None
        else:
            self._out.pop(node.name, None)

    def _collect(self, now: int) -> None:
        too_many = len(self._ended) - self._most
        if too_many > 0:
            order = sorted(self._ended.values(), key=_age)
            for pod in order[:too_many]:
                self._end(pod)
        for name in self._out:
            for pod in self._table.on_node(name):
                if pod.deletion is not None:
                    self._end(pod)
        for name, until in list(self._suspects.items()):
            self._doubt(name, until, now)

    def _doubt(self, name: str, until: int | None, now: int) -> None:
        """A node that was not there when last looked for."""
        held = self._table.on_node(name)
        if not held or self._client.store.find(self._node_kind, "", name) is not None:
            del self._suspects[name]
        elif until is None:
            self._suspects[name] = now + QUARANTINE
        elif now >= until:
            del self._suspects[name]
            for pod in held:
                self._end(pod, "PodGC: node no longer exists")

    def _end(self, pod: Record, why: str = "") -> None:
        held = self._client.store.find(pod.resource, pod.namespace, pod.name)
        if held is None or held.uid != pod.uid:
            return
        if not pods.is_over(held):
            change: dict[str, object] = {"phase": "Failed"}
            if why:
                reason = Condition("DisruptionTarget", "True", "", self._client.now(), "DeletionByPodGC", why)
                change["conditions"] = msgspec.to_builtins(pods.status(held).with_condition(reason))
            held = self._client.merge(held, {"status": change}, "status")
        self._client.delete(held, _AT_ONCE)


def _age(pod: Record) -> tuple[bool, str, str, str]:
    """Evicted pods first, then the oldest."""
    return pods.status(pod).reason != "Evicted", pod.created, pod.namespace, pod.name


def _nothing() -> None:
    """It looks when it is time to, not when something happens."""
