"""The scheduler's model of the cluster: what it hears of changes, and whom each of them wakes.

Changes come by class from the store. Those that this scheduler made itself (a binding) are known already and change
nothing; what nodes say over and over (a heartbeat) is compared and passed over.
"""

from collections.abc import Callable, Mapping
from typing import Final

from baseload.decide.schedule import hints
from baseload.decide.schedule.cluster import Cluster
from baseload.decide.schedule.kinds import Pod
from baseload.decide.schedule.profile import Profile
from baseload.decide.schedule.queue import Queue
from baseload.embedded.actors import pods
from baseload.embedded.actors.client import ActorClient
from baseload.embedded.actors.scheduler.readings import Readings
from baseload.embedded.store.log import Event
from baseload.embedded.store.record import Record
from baseload.embedded.store.subscription import Wants
from baseload.kube.types import core
from baseload.values.clock import Bell, Clock

_ALL: Final = ("added", "removed", "marked", "bound", "spec", "status", "other")
_BEINGS: Final = ("added", "removed", "spec", "other")


class Model:
    """Keeps `cluster` and `queue` in step with the store; only what is assumed differs."""

    def __init__(self, client: ActorClient, clock: Clock, bell: Bell, profiles: Mapping[str, Profile]) -> None:
        self._client: Final = client
        self._clock: Final = clock
        self._profiles: Final = profiles
        hard = {profile.hard_pod_affinity_weight for profile in profiles.values()}
        self.cluster: Final = Cluster(max(hard))
        self.queue: Final = Queue()
        self.readings: Final = Readings(client, self.cluster, profiles)
        self.promised: Final[dict[str, Pod]] = {}  # uid -> a pod without a node, with the node that it is nominated to
        self.storage_version = 0
        """Rises with every change of a volume, a claim, a class or what nodes attach"""
        heard: tuple[tuple[str, str, tuple[str, ...], Callable[[Event], None], Wants | None], ...] = (
            ("", "Namespace", ("added", "removed", "other"), self._namespace, None),
            ("", "Node", ("added", "removed", "spec", "status", "other"), self._node, None),
            ("", "Service", _BEINGS, self._service, None),
            ("", "PersistentVolume", _ALL, self._storage, None),
            ("", "PersistentVolumeClaim", _ALL, self._claim, None),
            ("storage.k8s.io", "StorageClass", _BEINGS, self._storage, None),
            ("storage.k8s.io", "CSINode", _BEINGS, self._storage, None),
            ("", "Pod", _ALL, self._pod, self._is_news),
        )
        self._bell: Final = bell
        self.has_news = False
        """Whether there is something to hear"""
        self._heard: Final = [
            (client.subscribe(group, name, classes, self._ring, wants), hear)
            for group, name, classes, hear, wants in heard
        ]

    def begin(self) -> None:
        """Reads what is there."""
        for record in self._client.records("", "Node").values():
            self.cluster.set_node(self.readings.facts(record))
        for record in self._client.records("", "Pod").values():
            if not pods.is_over(record):
                self._now(record)

    def hear(self) -> None:
        """Takes in what came since the last time."""
        self.has_news = False
        for subscription, hear in self._heard:
            for event in subscription.take():
                hear(event)

    def promise(self, pod: Pod, node: str) -> None:
        """Notes to which node a pod is nominated; "" for none."""
        if node:
            pod.node = node
            self.promised[pod.uid] = pod
            self.cluster.version += 1
        else:
            self.withdraw(pod.uid)

    def withdraw(self, uid: str) -> None:
        """A pod has no promise of a node any more, if it had one."""
        if self.promised.pop(uid, None) is not None:
            self.cluster.version += 1

    def is_mine(self, record: Record) -> bool:
        return (record.body.spec(core.PodSpec).scheduler_name or "default-scheduler") in self._profiles

    def _ring(self) -> None:
        self.has_news = True
        self._bell.ring()

    # -- pods

    def _is_news(self, event: Event) -> bool:
        """Whether something becomes of a pod that is not known yet; what a kubelet says of its start is noted."""
        record, old = event.record, event.old
        if old is None or event.type == "DELETED" or not record.node:
            return True
        known, told = self.cluster.pods.get(record.uid), pods.status(record)
        if known is None or told.phase in pods.OVER or not (_is_alike(old, record) or self._is_known(known, record)):
            return True
        known.started = known.started or told.start_time
        return False

    def _is_known(self, known: Pod, record: Record) -> bool:
        """Whether a pod that has a node is known as it is."""
        ends = record.deletion is not None
        return known.node == record.node and known.is_terminating == ends and known.kind is self.readings.kind(record)

    def _pod(self, event: Event) -> None:
        record = event.record
        if not self._is_news(event):
            return
        if event.type == "DELETED" or pods.is_over(record):
            self._gone(record)
        else:
            self._now(record)

    def _gone(self, record: Record) -> None:
        gone = self.cluster.drop_pod(record.uid) or self.promised.get(record.uid)
        self.queue.remove(record.uid)
        self.withdraw(record.uid)
        if gone is not None and self.queue.may_wake:
            self.queue.wake(hints.pod_gone(gone), self._clock.now())

    def _now(self, record: Record) -> None:
        if record.node:
            self._placed(record)
        elif record.uid not in self.cluster.pods and self.is_mine(record):
            self._waits(record)

    def _placed(self, record: Record) -> None:
        known = self.cluster.pods.get(record.uid)
        if known is not None and self._is_known(known, record):
            known.started = known.started or pods.status(record).start_time
            return
        pod = self.readings.pod(record, record.node)
        self.queue.remove(record.uid)
        self.withdraw(record.uid)
        self.cluster.put_pod(pod)
        if self.queue.may_wake:
            change = hints.pod_placed(pod) if known is None else hints.pod_changed(known, pod)
            self.queue.wake(change, self._clock.now())

    def _waits(self, record: Record) -> None:
        known = self.queue.get(record.uid)
        spec = record.body.spec(core.PodSpec)
        gated = bool(spec.scheduling_gates)
        if known is None or known.pod.kind is not self.readings.kind(record) or (known.where == "gated") != gated:
            pod = self.readings.pod(record)
            self.queue.add(pod, self._clock.now(), gated=gated)
        elif known.told is not None and known.told.record is not record:
            known.told = None
        nominated = pods.status(record).nominated_node_name
        held = self.promised.get(record.uid)
        if nominated and (held is None or held.node != nominated):
            self.promise(self.readings.pod(record), nominated)
        elif not nominated and held is not None:
            self.withdraw(record.uid)

    # -- what else counts

    def _node(self, event: Event) -> None:
        record, known = event.record, self.cluster.node(event.record.name)
        before = None if known is None else known.facts
        if event.type == "DELETED":
            self.cluster.drop_node(record.name)
            if before is not None:
                self.queue.wake(hints.node_gone(before), self._clock.now())
            return
        facts = self.readings.facts(record)
        if self.cluster.set_node(facts):
            self.queue.wake(hints.node_changed(before, facts), self._clock.now())

    def _storage(self, event: Event) -> None:
        self.storage_version += 1
        self.cluster.version += 1
        self.queue.wake(hints.storage_changed(), self._clock.now())

    def _claim(self, event: Event) -> None:
        self.storage_version += 1
        self.cluster.version += 1
        self.queue.wake(hints.storage_changed(event.record.namespace, event.record.name), self._clock.now())

    def _service(self, event: Event) -> None:
        old = event.old
        if old is None or old.body is not event.record.body or event.type == "DELETED":
            self.readings.services_changed()

    def _namespace(self, event: Event) -> None:
        self.readings.namespaces_changed()
        if self.readings.reads_namespaces:
            self._read_again()

    def _read_again(self) -> None:
        """Terms that select namespaces mean others now: every pod is read anew, and those that wait try again."""
        now = self._clock.now()
        for record in self._client.records("", "Pod").values():
            known = self.cluster.pods.get(record.uid)
            if known is not None:
                self.cluster.put_pod(self.readings.pod(record, known.node))
            elif (entry := self.queue.get(record.uid)) is not None and entry.where != "gated":
                self.queue.add(self.readings.pod(record), now)


def _is_alike(old: Record, new: Record) -> bool:
    """Whether a pod is what it was, but for its status."""
    return old.body is new.body and old.shared is new.shared and old.deletion is new.deletion and old.node == new.node
