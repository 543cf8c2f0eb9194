"""An embedded cluster with a scheduler and nothing else, for its benchmark: nodes, applications, pods that come and go.

What others would do (users, kubelets, controllers) is done between the scheduler's turns and not counted.
"""

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from baseload.embedded.actors import pods
from baseload.embedded.actors.client import ActorClient
from baseload.embedded.actors.scheduler.scheduler import Scheduler
from baseload.embedded.actors.scheduler.settings import DEFAULTS, Settings
from baseload.embedded.api.admission import CHAIN
from baseload.embedded.api.cluster import Cluster, furnish
from baseload.embedded.store.deletion import Options
from baseload.embedded.store.record import Record
from baseload.embedded.store.store import Store
from baseload.timeline.virtual import VirtualClock
from baseload.values import instant

START: Final = instant.parse("2026-11-30T12:00:00Z")
NOW: Final = Options(grace_seconds=0)
ZONE: Final = "topology.kubernetes.io/zone"
HOSTNAME: Final = "kubernetes.io/hostname"
Tree = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Template:
    """Pods of one application, one after the other from the same bytes but for the name."""

    name: str
    spec: Tree
    owner: Tree | None = None

    def body(self, number: int) -> bytes:
        metadata: Tree = {"name": f"{self.name}-{number:06}", "labels": {"app": self.name}}
        if self.owner is not None:
            metadata["ownerReferences"] = [self.owner]
        return msgspec.json.encode({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": self.spec})


class Scheduled:
    """A cluster of so many nodes in three zones."""

    def __init__(self, nodes: int, *, cpu: str = "16", settings: Settings = DEFAULTS) -> None:
        self.clock: Final = VirtualClock(START)
        self.cluster: Final = Cluster(Store(self.clock, random.Random(1)), self.clock, CHAIN)
        furnish(self.cluster)
        self.user: Final = ActorClient(self.cluster, "user")
        self.scheduler: Final = Scheduler(self.cluster, self.clock, settings)
        self.seconds = 0.0
        """Of the processor, that the scheduler took"""
        self.number = 0
        self.clock.start(self.scheduler.run(), name="scheduler")
        for at in range(nodes):
            self.join(f"n{at}", f"z{at % 3}", cpu)

    @property
    def cycles(self) -> int:
        return self.scheduler.cycles

    def join(self, name: str, zone: str, cpu: str) -> None:
        size = {"cpu": cpu, "memory": "64Gi", "pods": "110"}
        tree = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": {HOSTNAME: name, ZONE: zone}},
            "status": {"capacity": size, "allocatable": size},
        }
        made = self.user.create(self.user.kind("", "Node"), "", msgspec.json.encode(tree))
        self.user.merge(made, {"spec": {"taints": []}})

    def application(self, name: str, cpu: int, **spec: Any) -> Template:
        """A ReplicaSet, and how its pods look; `cpu` in thousandths."""
        selector = {"matchLabels": {"app": name}}
        requests = {"cpu": f"{cpu}m", "memory": f"{cpu * 2}Mi"}
        containers = [{"name": "main", "image": "nginx:1", "resources": {"requests": requests}}]
        whole = {"containers": containers, **spec}
        tree = {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {"name": name},
            "spec": {
                "replicas": 0,
                "selector": selector,
                "template": {"metadata": {"labels": {"app": name}}, "spec": whole},
            },
        }
        made = self.user.create(self.user.kind("apps", "ReplicaSet"), "default", msgspec.json.encode(tree))
        owner = {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "name": name,
            "uid": made.uid,
            "controller": True,
            "blockOwnerDeletion": True,
        }
        return Template(name, whole, owner)

    def create(self, template: Template) -> Record:
        self.number += 1
        return self.user.create(self.user.kind("", "Pod"), "default", template.body(self.number))

    def held(self, record: Record) -> Record | None:
        found = self.cluster.store.find(record.resource, record.namespace, record.name)
        return found if found is not None and found.uid == record.uid else None

    def start(self, records: Sequence[Record]) -> None:
        """The kubelet says that they run, which is a status more for each."""
        for record in records:
            found = self.held(record)
            if found is not None and found.node:
                status = msgspec.structs.replace(pods.status(found), phase="Running", start_time=self.user.now())
                self.user.write_status(found, status, "running")

    def end(self, record: Record) -> None:
        """Marks a pod, and removes it after the scheduler has heard of that."""
        found = self.held(record)
        if found is None:
            return
        if found.node:
            self.user.delete(found)
            self.run(0.001)
        found = self.held(record)
        if found is not None:
            self.user.delete(found, NOW)

    def run(self, seconds: float) -> None:
        """Lets time pass, in which only the scheduler does something."""
        began = time.process_time()
        self.clock.run(self.clock.now() + int(seconds * instant.SECOND))
        self.seconds += time.process_time() - began
