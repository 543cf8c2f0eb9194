"""A cluster for actors on a virtual clock, and pods as users write them."""

import random
from dataclasses import dataclass, field
from typing import Any

import msgspec

from baseload.embedded.actors.client import ActorClient
from baseload.embedded.api.admission import CHAIN
from baseload.embedded.api.cluster import Cluster, furnish
from baseload.embedded.store.record import Record, encode
from baseload.embedded.store.store import Store
from baseload.timeline.virtual import VirtualClock
from baseload.values import instant

START = instant.parse("2026-11-30T12:00:00Z")


@dataclass(slots=True)
class Stage:
    """A new cluster, its clock, and a user's client."""

    clock: VirtualClock = field(default_factory=lambda: VirtualClock(START))
    cluster: Cluster = field(init=False)
    user: ActorClient = field(init=False)

    def __post_init__(self) -> None:
        self.cluster = Cluster(Store(self.clock, random.Random(1)), self.clock, CHAIN)
        furnish(self.cluster)
        self.user = ActorClient(self.cluster, "user")

    def create(self, tree: dict[str, Any], namespace: str = "default") -> Record:
        """Creates an object; a kind without a namespace takes none."""
        group = str(tree["apiVersion"]).rpartition("/")[0]
        kind = self.user.kind(group, str(tree["kind"]))
        return self.user.create(kind, namespace if kind.resource.namespaced else "", msgspec.json.encode(tree))

    def tree(self, group: str, kind: str, name: str, namespace: str = "default") -> dict[str, Any]:
        """An object as kubectl shows it."""
        resource = self.user.resource(group, kind)
        held = self.cluster.store.get(resource, namespace if resource.namespaced else "", name)
        tree: dict[str, Any] = msgspec.json.decode(encode(held))
        return tree

    def run(self, seconds: float) -> None:
        """Lets so much time pass."""
        self.clock.run(self.clock.now() + int(seconds * instant.SECOND))


def pod(name: str, **spec: Any) -> dict[str, Any]:
    containers = [{"name": "main", "image": "nginx:1"}]
    whole = {"containers": containers, **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": whole}


def node(name: str, **allocatable: str) -> dict[str, Any]:
    size = {"cpu": "4", "memory": "16Gi", "pods": "110", **allocatable}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"capacity": size, "allocatable": size},
    }
