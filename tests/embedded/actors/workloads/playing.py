"""A stage with the workload controllers on it, and a stand-in for scheduler and kubelets that a test can direct."""

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec

from baseload.embedded.actors.client import ActorClient
from baseload.embedded.actors.pods import Condition, ContainerState, ContainerStatus, PodStatus, Terminated, status
from baseload.embedded.actors.workloads.controllers import Controllers
from baseload.embedded.api.cluster import Cluster
from baseload.embedded.store.deletion import Options
from baseload.embedded.store.record import Record
from baseload.values import instant
from baseload.values.clock import Clock
from tests.embedded.actors.acting import Stage


@dataclass(slots=True)
class Kubelet:
    """Binds pods in turn to nodes, has them Ready after a while, and ends those that are deleted."""

    cluster: Cluster
    clock: Clock
    nodes: tuple[str, ...] = ("n1", "n2", "n3")
    ready_after: float = 1.0
    stop_after: float = 1.0
    is_broken: Callable[[Record], bool] = lambda pod: False  # it never becomes Ready
    exits: Callable[[Record], int | None] = lambda pod: None  # the code with which it ends as soon as it runs
    _turn: int = 0
    _due: list[tuple[int, int, str, str]] = field(default_factory=list)
    _sequence: int = 0

    async def run(self) -> None:
        client, bell = ActorClient(self.cluster, "kubelet"), self.clock.bell()
        heard = client.subscribe("", "Pod", ("added", "marked"), bell.ring)
        for pod in list(client.records("", "Pod").values()):
            self._plan(pod)
        while True:
            now = self.clock.now()
            for event in heard.take():
                self._plan(event.record)
            while self._due and self._due[0][0] <= now:
                _, _, key, uid = heapq.heappop(self._due)
                held = client.records("", "Pod").get(key)
                if held is not None and held.uid == uid:
                    self._act(client, held)
            wait = (self._due[0][0] - now) / instant.SECOND if self._due else 3600
            await bell.wait(wait)

    def _plan(self, pod: Record) -> None:
        seconds = self.stop_after if pod.deletion is not None else self.ready_after
        self._sequence += 1
        moment = self.clock.now() + int(seconds * instant.SECOND)
        heapq.heappush(self._due, (moment, self._sequence, pod.key, pod.uid))

    def _act(self, client: ActorClient, pod: Record) -> None:
        if pod.deletion is not None:
            client.delete(pod, Options(grace_seconds=0))
            return
        if not pod.node:
            pod = client.bind(pod, self.nodes[self._turn % len(self.nodes)])
            self._turn += 1
        if (code := self.exits(pod)) is not None:
            end(client, pod, code)
        else:
            run(client, pod, is_ready=not self.is_broken(pod))


def run(client: ActorClient, pod: Record, *, is_ready: bool = True) -> Record:
    """Has a pod run."""
    held, ready = status(pod), "True" if is_ready else "False"
    told = PodStatus("Running", held.conditions, pod_ip="10.0.0.1", start_time=client.now())
    conditions = told.with_condition(Condition("Ready", ready, last_transition_time=client.now()))
    return client.write_status(pod, msgspec.structs.replace(told, conditions=conditions), ("running", len(conditions)))


def end(client: ActorClient, pod: Record, code: int) -> Record:
    """Has a pod end with an exit code."""
    state = ContainerState(terminated=Terminated(code, finished_at=client.now(), started_at=client.now()))
    told = ContainerStatus("main", "nginx:1", state=state)
    phase = "Failed" if code else "Succeeded"
    held = status(pod)
    new = PodStatus(phase, held.conditions, start_time=client.now(), container_statuses=(told,))
    return client.write_status(pod, new, ("ended", len(held.conditions)))


@dataclass(slots=True)
class Play(Stage):
    """A cluster with workload controllers, and with a kubelet unless a test does without."""

    with_kubelet: bool = True
    kubelet: Kubelet = field(init=False)
    controllers: Controllers = field(init=False)

    def __post_init__(self) -> None:
        Stage.__post_init__(self)
        self.controllers = Controllers(self.cluster, self.clock)
        self.kubelet = Kubelet(self.cluster, self.clock)
        self.clock.start(self.controllers.run(), name="controllers")
        if self.with_kubelet:
            self.clock.start(self.kubelet.run(), name="kubelet", priority=1)

    def pods(self, namespace: str = "default") -> list[Record]:
        """The pods that are not being deleted, by name."""
        return sorted((pod for pod in self._all(namespace) if pod.deletion is None), key=lambda pod: pod.name)

    def _all(self, namespace: str) -> Iterable[Record]:
        return [pod for pod in self.user.records("", "Pod").values() if pod.namespace == namespace]

    def patch(self, group: str, kind: str, name: str, change: dict[str, Any], subresource: str = "") -> Record:
        """A user's merge patch."""
        held = self.cluster.store.get(self.user.resource(group, kind), "default", name)
        return self.user.merge(held, change, subresource)

    def scale(self, kind: str, name: str, replicas: int) -> None:
        self.patch("apps", kind, name, {"spec": {"replicas": replicas}})

    def events(self, name: str) -> list[tuple[str, str, str]]:
        """Type, reason and message of what was told of an object, in the order in which it was first told."""
        trees = [msgspec.json.decode(b"{%b}" % held.body.raw) for held in self.user.records("", "Event").values()]
        return [
            (tree["type"], tree["reason"], tree["message"]) for tree in trees if tree["involvedObject"]["name"] == name
        ]


def template(labels: dict[str, str], **spec: Any) -> dict[str, Any]:
    whole = {"containers": [{"name": "main", "image": "nginx:1"}], **spec}
    return {"metadata": {"labels": labels}, "spec": whole}


def workload(kind: str, name: str, replicas: int | None = None, **spec: Any) -> dict[str, Any]:
    """A workload of the apps group with the label app=NAME."""
    labels = {"app": name}
    held: dict[str, Any] = {"selector": {"matchLabels": labels}, "template": template(labels)}
    if replicas is not None:
        held["replicas"] = replicas
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name}, "spec": {**held, **spec}}


def image(name: str) -> dict[str, Any]:
    """The patch that gives a workload another image."""
    return {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": name}]}}}}
