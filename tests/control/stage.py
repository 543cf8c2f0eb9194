"""A cluster with Karpenter's controllers on a virtual clock: a simulated cloud, and the least of everything else."""

from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any

import msgspec

from baseload.cloud.machines import Machine
from baseload.cloud.port import Instance
from baseload.cloud.simulated.cloud import SimulatedCloud
from baseload.control.karpenter import Karpenter
from baseload.control.settings import Settings
from baseload.embedded.api.admission import CHAIN
from baseload.embedded.api.cluster import Cluster, furnish
from baseload.embedded.local import Local
from baseload.embedded.store.record import encode
from baseload.embedded.store.store import Store
from baseload.kube.client.client import Client
from baseload.kube.client.errors import ApiError, NotFound
from baseload.kube.client.port import Resource, Way
from baseload.kube.client.requests import Deletion
from baseload.timeline.virtual import Step, Task, VirtualClock
from baseload.values.instant import SECOND
from baseload.world import own_definitions
from tests.cloud.simulated import clouds

Tree = dict[str, Any]
PODS, NODES = Resource("", "v1", "pods"), Resource("", "v1", "nodes")
RESOURCES = {
    "Pod": PODS,
    "Node": NODES,
    "Event": Resource("", "v1", "events"),
    "NodeClaim": Resource("karpenter.sh", "v1", "nodeclaims"),
    "NodePool": Resource("karpenter.sh", "v1", "nodepools"),
    "EC2NodeClass": Resource("karpenter.k8s.aws", "v1", "ec2nodeclasses"),
    "DaemonSet": Resource("apps", "v1", "daemonsets"),
    "PodDisruptionBudget": Resource("policy", "v1", "poddisruptionbudgets"),
}
ENDS = 3.0  # seconds from a pod's deletion until its kubelet lets it go, at most its grace


class Stage:
    """The cluster, its clock and its cloud; controllers come by `start`."""

    def __init__(self, *, seed: int = 1, agent: float | None = None, **cloud: Any) -> None:
        self.clock = VirtualClock(clouds.START)
        self.cluster = Cluster(Store(self.clock, Random(1)), self.clock, CHAIN)
        furnish(self.cluster, own_definitions.all_of_them())
        self.cloud: SimulatedCloud = clouds.cloud(self.clock, seed=seed, **cloud)
        self.replicas = 0  # pods of the workload that is to run
        self._made = 0
        self.agent = agent  # seconds from a node's start until its agent takes its taint away
        self.user = self.client("user")
        self.begin(self.cloud.run(), "cloud")
        self.begin(self._machines(), "machines")
        self.begin(self._components(), "components")

    def client(self, manager: str, way: Way | None = None) -> Client:
        return Client(way or Local(self.cluster, self.clock), self.clock, Random(2), manager=manager)

    def start(self, settings: Settings | None = None) -> Karpenter:
        """Karpenter, from now on."""
        karpenter = Karpenter(self.client("karpenter"), self.cloud, settings or Settings())
        self.begin(karpenter.run(), "karpenter")
        return karpenter

    def begin(self, coroutine: Step, name: str) -> Task:
        """Has something run until the end of the test."""
        return self.clock.start(coroutine, name=name)

    def close(self) -> None:
        """Ends whatever runs."""
        self.clock.close()

    def run(self, seconds: float) -> None:
        self.clock.run(self.clock.now() + round(seconds * SECOND))

    def until(self, holds: Callable[[], bool], seconds: float) -> float:
        """Runs until something holds; after how many seconds that was."""
        began = self.clock.now()
        while not holds():
            assert (self.clock.now() - began) / SECOND < seconds, f"not within {seconds} s"
            self.run(0.5)
        return (self.clock.now() - began) / SECOND

    @property
    def seconds(self) -> float:
        return (self.clock.now() - clouds.START) / SECOND

    # -- what a user does

    def create(self, tree: Tree) -> None:
        kind = self.cluster.kinds.of_version_named(tree["apiVersion"], tree["kind"])
        assert kind is not None
        namespace = "default" if kind.resource.namespaced else ""
        self._done(self.user.create(RESOURCES[tree["kind"]], tree, namespace=namespace))

    def delete(self, kind: str, name: str, namespace: str = "") -> None:
        self._done(self.user.delete(RESOURCES[kind], name, namespace=namespace))

    def patch(self, kind: str, name: str, change: Tree, subresource: str = "", namespace: str = "") -> None:
        patched = self.user.patch(
            RESOURCES[kind], name, change, kind="merge", subresource=subresource, namespace=namespace
        )
        self._done(patched)

    def all(self, kind: str) -> list[Tree]:
        """The objects of a kind, in the order of their names."""
        resource = RESOURCES[kind]
        found = self.cluster.store.resource_of(resource.group, kind)
        assert found is not None
        records = self.cluster.store.table(found).records
        return [msgspec.json.decode(encode(records[key])) for key in sorted(records)]

    def living(self) -> list[Instance]:
        """The cloud's instances that are not being given up."""
        return [it.instance for it in self.cloud.region.inventory if it.is_living]

    def _done(self, call: Any) -> None:
        done: list[bool] = []

        async def doing() -> None:
            await call
            done.append(True)

        self.clock.start(doing(), name="user")
        self.clock.run(self.clock.now())
        assert done, "a call of the user's waits for something"

    # -- the cluster's own components, as little of them as it takes

    async def _machines(self) -> None:
        follower = self.cloud.follow()
        kubelet = self.client("kubelet")
        while True:
            for change in follower.take():
                if change.what == "booted":
                    self.begin(self._boot(kubelet, change.machine), "kubelet")
                elif change.what == "gone":
                    self.begin(self._lose(kubelet, change.machine), "cloud-controller")
            await follower.wait(3600)

    async def _boot(self, kubelet: Client, machine: Machine) -> None:
        """A kubelet starts: it makes its Node, and is Ready a while later."""
        if machine.registers_after is None:
            return
        await self.clock.sleep(machine.registers_after / SECOND)
        instance = machine.instance
        taints = [{"key": "karpenter.sh/unregistered", "effect": "NoExecute"}]
        labels = {
            "kubernetes.io/hostname": instance.private_dns,
            "node.kubernetes.io/instance-type": instance.instance_type,
            "topology.kubernetes.io/zone": instance.zone,
            "kubernetes.io/arch": instance.architecture,
            "kubernetes.io/os": "linux",
        }
        node = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": instance.private_dns, "labels": labels},
            "spec": {"providerID": instance.provider_id, "taints": taints},
        }
        try:
            await kubelet.create(NODES, node)
            if machine.ready_after is not None:
                await self.clock.sleep(machine.ready_after / SECOND)
                await self._ready(kubelet, machine, "True")
                await self._untaint(kubelet, instance.private_dns, "node.kubernetes.io/not-ready")
            if self.agent is not None:
                await self.clock.sleep(self.agent)
                await self._untaint(kubelet, instance.private_dns, "agent")
        except ApiError:
            return

    async def _lose(self, client: Client, machine: Machine) -> None:
        """A machine is gone: its Node is not Ready, and a cloud's controller deletes it a while later."""
        await self._ready(client, machine, "Unknown")
        await self.clock.sleep(10)
        with suppress(NotFound):
            await client.delete(NODES, machine.instance.private_dns)

    async def _untaint(self, client: Client, node: str, key: str) -> None:
        held: Any = (await client.get(NODES, node)).tree()
        kept = [taint for taint in held["spec"].get("taints", []) if taint["key"] != key]
        version = {"resourceVersion": held["metadata"]["resourceVersion"]}
        await client.patch(NODES, node, {"metadata": version, "spec": {"taints": kept}}, kind="merge")

    async def _ready(self, kubelet: Client, machine: Machine, status: str) -> None:
        vcpus = clouds.TYPES[machine.instance.instance_type][0]
        amounts = {"cpu": str(vcpus), "memory": f"{vcpus * 4}Gi", "pods": "110", "ephemeral-storage": "20Gi"}
        ready = {"type": "Ready", "status": status, "reason": "Kubelet", "message": ""}
        change = {"status": {"capacity": amounts, "allocatable": amounts, "conditions": [ready]}}
        try:
            await kubelet.patch(NODES, machine.instance.private_dns, change, kind="merge", subresource="status")
        except NotFound:
            return

    async def _components(self) -> None:
        """A scheduler that takes the first node with room, kubelets that let pods go, a workload of replicas."""
        client = self.client("components")
        while True:
            there = self.all("Pod")
            nodes = {it["metadata"]["name"] for it in self.all("Node")}
            for it in there:
                if (on := it["spec"].get("nodeName")) and on not in nodes:
                    await self._forget(client, it)
                await self._pod(client, it)
            wanted = self.replicas - sum("deletionTimestamp" not in it["metadata"] for it in there)
            for _ in range(wanted):
                self._made += 1
                await client.create(PODS, pod(f"web-{self._made}", labels={"app": "web"}), namespace="default")
            await self.clock.sleep(0.5)

    async def _forget(self, client: Client, one: Tree) -> None:
        """A pod of a Node that is no more."""
        options = Deletion(grace_seconds=0, uid=one["metadata"]["uid"])
        with suppress(NotFound):
            await client.delete(PODS, one["metadata"]["name"], namespace=one["metadata"]["namespace"], options=options)

    async def _pod(self, client: Client, one: Tree) -> None:
        metadata = one["metadata"]
        name, namespace = metadata["name"], metadata["namespace"]
        try:
            if "deletionTimestamp" in metadata:
                grace = min(ENDS, metadata["deletionGracePeriodSeconds"])
                await self.clock.sleep(0 if not one["spec"].get("nodeName") else grace)
                options = Deletion(grace_seconds=0, uid=metadata["uid"])
                await client.delete(PODS, name, namespace=namespace, options=options)
            elif not one["spec"].get("nodeName"):
                await self._schedule(client, one)
        except ApiError:
            return

    async def _schedule(self, client: Client, pod: Tree) -> None:
        name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
        node = next((it["metadata"]["name"] for it in self.all("Node") if self._fits(pod, it)), None)
        told = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no node"}
        if node is not None:
            await client.bind(name, node, namespace=namespace)
            ready = [{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": "True"}]
            change = {"status": {"phase": "Running", "conditions": ready}}
            await client.patch(PODS, name, change, kind="merge", namespace=namespace, subresource="status")
        elif not any(held.get("reason") == "Unschedulable" for held in pod["status"].get("conditions", [])):
            change = {"status": {"conditions": [told]}}
            await client.patch(PODS, name, change, kind="merge", namespace=namespace, subresource="status")

    def _fits(self, pod: Tree, node: Tree) -> bool:
        if node["metadata"].get("deletionTimestamp") or node["spec"].get("taints"):
            return False
        if not any(it["type"] == "Ready" and it["status"] == "True" for it in node["status"].get("conditions", [])):
            return False
        there = [it for it in self.all("Pod") if it["spec"].get("nodeName") == node["metadata"]["name"]]
        return sum(cpu(it) for it in (*there, pod)) <= int(node["status"]["allocatable"]["cpu"]) * 1000


def cpu(pod: Tree) -> int:
    """What a pod asks for, in thousandths."""
    return int(pod["spec"]["containers"][0]["resources"]["requests"]["cpu"].removesuffix("m"))


def pod(name: str, millicores: int = 800, *, labels: Tree | None = None, annotations: Any = None, **spec: Any) -> Tree:
    asked = {"requests": {"cpu": f"{millicores}m", "memory": "100Mi"}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": labels or {}, "annotations": annotations or {}},
        "spec": {"containers": [{"name": "main", "image": "nginx:1", "resources": asked}], **spec},
    }


def pool(
    *, limits: Tree | None = None, requirements: tuple[Tree, ...] = (), disruption: Tree | None = None, **template: Any
) -> Tree:
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


def node_class() -> Tree:
    tags = {"karpenter.sh/discovery": "test"}
    return {
        "apiVersion": "karpenter.k8s.aws/v1",
        "kind": "EC2NodeClass",
        "metadata": {"name": "default"},
        "spec": {
            "role": "nodes",
            "amiSelectorTerms": [{"alias": "al2023@latest"}],
            "subnetSelectorTerms": [{"tags": tags}],
            "securityGroupSelectorTerms": [{"tags": tags}],
        },
    }


def condition(tree: Tree, type: str) -> tuple[str, str]:
    """A condition's status and reason, empty where it is absent."""
    held: Tree = next((it for it in tree.get("status", {}).get("conditions", []) if it["type"] == type), {})
    return held.get("status", ""), held.get("reason", "")


def running(stage: Stage) -> int:
    """The pods that run on a Ready node and are not about to go."""
    ready = {it["metadata"]["name"] for it in stage.all("Node") if condition(it, "Ready")[0] == "True"}
    there = (it for it in stage.all("Pod") if "deletionTimestamp" not in it["metadata"])
    return sum(it["status"].get("phase") == "Running" and it["spec"].get("nodeName") in ready for it in there)
