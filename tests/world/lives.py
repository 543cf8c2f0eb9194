"""A whole cluster on a virtual clock, and a user with manifests."""

from typing import Any

import msgspec

from baseload.embedded.actors.client import ActorClient
from baseload.embedded.store.record import Record, encode
from baseload.timeline.virtual import VirtualClock
from baseload.values import instant
from baseload.values.instant import SECOND
from baseload.world.living import LifeSettings, Living

Tree = dict[str, Any]
START = instant.parse("2026-11-30T12:00:00Z")


class Life:
    """A cluster that lives from the start of a test on; `close` ends it."""

    def __init__(self, settings: LifeSettings | None = None) -> None:
        self.clock = VirtualClock(START)
        self.living = Living(self.clock, settings or LifeSettings())
        self.user = ActorClient(self.living.cluster, "user")
        self.living.start(self.clock)
        self.run(1)

    def close(self) -> None:
        self.clock.close()
        self.living.close()

    def create(self, tree: Tree, namespace: str = "default") -> Record:
        kind = self.user.kind(str(tree["apiVersion"]).rpartition("/")[0], tree["kind"])
        return self.user.create(kind, namespace if kind.resource.namespaced else "", msgspec.json.encode(tree))

    def run(self, seconds: float) -> None:
        self.clock.run(self.clock.now() + round(seconds * SECOND))

    def all(self, group: str, kind: str) -> list[Tree]:
        """As kubectl shows them, by namespace and name."""
        held = self.user.records(group, kind)
        return [msgspec.json.decode(encode(held[key])) for key in sorted(held)]

    def ready(self) -> int:
        """How many pods are Ready."""
        return sum(
            {"type": "Ready", "status": "True"}.items() <= condition.items()
            for pod in self.all("", "Pod")
            for condition in pod["status"].get("conditions", [])
        )


def node_class(**spec: Any) -> Tree:
    tags = {"karpenter.sh/discovery": "demo"}
    usual = {
        "role": "nodes",
        "amiSelectorTerms": [{"alias": "al2023@latest"}],
        "subnetSelectorTerms": [{"tags": tags}],
        "securityGroupSelectorTerms": [{"tags": tags}],
    }
    return {
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": "default"},
        "spec": {**usual, **spec},
    }


def pool(*requirements: Tree, limits: Tree | None = None, disruption: Tree | None = None, **template: Any) -> Tree:
    """A NodePool whose nodes nobody consolidates, unless `disruption` says so."""
    ref = {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}
    spec = {"nodeClassRef": ref, "requirements": list(requirements), **template}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "default"},
        "spec": {
            "template": {"spec": spec},
            "disruption": disruption or {"consolidateAfter": "Never"},
            **({"limits": limits} if limits else {}),
        },
    }


def within(key: str, *values: str) -> Tree:
    return {"key": key, "operator": "In", "values": list(values)}


def deployment(name: str, replicas: int, cpu: str = "1", **spec: Any) -> Tree:
    asked = {"requests": {"cpu": cpu, "memory": "1Gi"}}
    pods = {"containers": [{"name": "main", "image": "nginx:1", "resources": asked}], **spec}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": pods},
        },
    }
