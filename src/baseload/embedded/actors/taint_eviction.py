"""The taint eviction controller: deletes pods from nodes whose NoExecute taints they do not, or no longer, tolerate.

A timer that runs is left alone, even where a later look would give a shorter one; a pod's budget is not asked
(cluster-actors spec 17.9).
"""

import heapq
from typing import Final
from weakref import WeakKeyDictionary

import msgspec

from baseload.decide.fit.taints import Toleration, taints_of, tolerations_of
from baseload.decide.node.taints import stay
from baseload.embedded.actors import nodes, pods
from baseload.embedded.actors.client import ActorClient
from baseload.embedded.actors.pods import Condition
from baseload.embedded.actors.recorder import Recorder
from baseload.embedded.api.cluster import Cluster
from baseload.embedded.store.log import Event
from baseload.embedded.store.record import Body, Record
from baseload.kube.types.core import PodSpec
from baseload.values.clock import FOREVER, Clock
from baseload.values.instant import SECOND
from baseload.values.taint import Taint

MANAGER: Final = "kube-controller-manager"
COMPONENT: Final = "taint-eviction-controller"
_WHY: Final = "Taint manager: deleting due to NoExecute taint"

Tolerations = tuple[tuple[Toleration, int | None], ...]


class TaintEviction:
    """Empties tainted nodes."""

    def __init__(self, cluster: Cluster, clock: Clock) -> None:
        self._client, self._clock = ActorClient(cluster, MANAGER), clock
        self._recorder = Recorder(self._client, COMPONENT)
        self._bell = clock.bell()
        self._pods = self._client.subscribe(
            "", "Pod", ("added", "bound", "spec", "removed"), self._bell.ring, self._wants
        )
        self._nodes = self._client.subscribe("", "Node", ("added", "spec", "removed"), self._bell.ring)
        self._table = self._client.store.table(self._client.resource("", "Pod"))
        self._tainted: dict[str, tuple[Taint, ...]] = {}
        self._timers: dict[str, tuple[int, str, str]] = {}  # uid -> when, namespace, name
        self._heap: list[tuple[int, str]] = []
        self._tolerations: WeakKeyDictionary[Body, Tolerations] = WeakKeyDictionary()

    async def run(self) -> None:
        """Evicts until the end."""
        for node in list(self._client.records("", "Node").values()):
            self._look_at(node)
        while True:
            self._hear()
            now = self._clock.now()
            while self._heap and self._heap[0][0] <= now:
                at, uid = heapq.heappop(self._heap)
                timer = self._timers.get(uid)
                if timer is not None and timer[0] == at:
                    del self._timers[uid]
                    self._evict(uid, timer[1], timer[2])
            await self._bell.wait((self._heap[0][0] - now) / SECOND if self._heap else FOREVER)

    def _wants(self, event: Event) -> bool:
        """Whether it is about a pod that is to go, or may have to; a node that is tainted later judges its pods."""
        pod = event.record
        return pod.uid in self._timers if event.type == "DELETED" else pod.node in self._tainted

    def close(self) -> None:
        """It hears of nothing any more."""
        self._client.close()

    def _hear(self) -> None:
        for event in self._nodes.take():
            if event.type == "DELETED":
                self._tainted.pop(event.record.name, None)
            else:
                self._look_at(event.record)
        for event in self._pods.take():
            pod = event.record
            if event.type == "DELETED":
                self._timers.pop(pod.uid, None)
            elif pod.node in self._tainted:
                self._judge(pod, self._tainted[pod.node])

    def _look_at(self, node: Record) -> None:
        held = self._client.store.find(node.resource, "", node.name)
        if held is None or held.uid != node.uid:
            return
        found = tuple(taint for taint in taints_of(nodes.spec(held).taints) if taint.effect == "NoExecute")
        if found == self._tainted.get(node.name, ()):
            return
        if found:
            self._tainted[node.name] = found
        else:
            del self._tainted[node.name]
        for pod in self._table.on_node(node.name):
            self._judge(pod, found)

    def _judge(self, pod: Record, taints: tuple[Taint, ...]) -> None:
        allowed = stay(taints, self._tolerated(pod))
        if not taints or allowed.seconds is None:
            if self._timers.pop(pod.uid, None) is not None:
                what = f"Cancelling deletion of Pod {pod.namespace}/{pod.name}"
                self._recorder.record(pod, "Normal", "TaintManagerEviction", what)
            return
        if allowed.seconds == 0:
            self._timers.pop(pod.uid, None)
            self._evict(pod.uid, pod.namespace, pod.name)
        elif pod.uid not in self._timers:
            at = self._clock.now() + allowed.seconds * SECOND
            self._timers[pod.uid] = at, pod.namespace, pod.name
            heapq.heappush(self._heap, (at, pod.uid))

    def _tolerated(self, pod: Record) -> Tolerations:
        found = self._tolerations.get(pod.body)
        if found is None:
            written = pod.body.spec(PodSpec).tolerations
            seconds = (one.toleration_seconds for one in written)
            found = self._tolerations[pod.body] = tuple(zip(tolerations_of(written), seconds, strict=True))
        return found

    def _evict(self, uid: str, namespace: str, name: str) -> None:
        pod = self._client.store.find(self._table.resource, namespace, name)
        if pod is None or pod.uid != uid or pod.deletion is not None:
            return
        self._recorder.record(pod, "Normal", "TaintManagerEviction", f"Marking for deletion Pod {namespace}/{name}")
        reason = Condition("DisruptionTarget", "True", "", self._client.now(), "DeletionByTaintManager", _WHY)
        conditions = pods.status(pod).with_condition(reason)
        self._client.merge(pod, {"status": {"conditions": msgspec.to_builtins(conditions)}}, "status")
        self._client.delete(pod)
