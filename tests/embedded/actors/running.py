"""A cluster with kubelets on a virtual clock, and what their pods look like."""

from typing import Any

from baseload.embedded.actors.heartbeats import Heartbeats
from baseload.embedded.actors.kubelet.kubelets import Kubelets
from baseload.embedded.actors.kubelet.machines import Machine, ScriptedMachines
from baseload.embedded.actors.kubelet.script import Script
from baseload.embedded.actors.kubelet.settings import DEFAULTS, KubeletSettings
from baseload.embedded.actors.network import Network
from baseload.embedded.store.record import Record
from baseload.model.requests import amounts
from tests.embedded.actors.acting import Stage, pod


def machine(name: str, **over: Any) -> Machine:
    """A machine of 2 cores and 7782Mi, of which 7042Mi are for pods: a t4g.large."""
    capacity = amounts({"cpu": "2", "memory": "7782Mi", "pods": "59"})
    allocatable = amounts({"cpu": "1930m", "memory": "7042Mi", "pods": "59"})
    return Machine(name, **{"capacity": capacity, "allocatable": allocatable, **over})


class Floor:
    """Machines, their kubelets, and a user who binds his pods himself."""

    def __init__(
        self,
        *machines: Machine,
        script: Script | None = None,
        settings: KubeletSettings = DEFAULTS,
        network: Network | None = None,
        awaits_volumes: bool = False,
    ) -> None:
        self.stage = Stage()
        self.machines = ScriptedMachines(machines or (machine("n1"),))
        self.heartbeats = Heartbeats()
        self.network = Network() if network is None else network
        self.kubelets = Kubelets(
            self.stage.cluster,
            self.stage.clock,
            self.machines,
            script=script,
            settings=settings,
            heartbeats=self.heartbeats,
            network=self.network,
            awaits_volumes=awaits_volumes,
        )
        self.stage.clock.start(self.kubelets.run())
        self.stage.run(0)

    def run(self, seconds: float) -> None:
        self.stage.run(seconds)

    def place(self, name: str, node: str = "n1", *, annotations: dict[str, str] | None = None, **spec: Any) -> Record:
        """A pod that is bound to a node at once."""
        tree = pod(name, **spec)
        tree["metadata"]["annotations"] = {f"baseload.dev/{key}": text for key, text in (annotations or {}).items()}
        return self.stage.user.bind(self.stage.create(tree), node)

    def held(self, name: str) -> Record | None:
        return self.stage.cluster.store.find(self.stage.user.resource("", "Pod"), "default", name)

    def status(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self.stage.tree("", "Pod", name)["status"]
        return found

    def said(self, name: str, kind: str = "Pod") -> dict[str, str]:
        """Type -> status of an object's conditions."""
        return {one["type"]: one["status"] for one in self.stage.tree("", kind, name)["status"].get("conditions", [])}

    def container(self, name: str, index: int = 0) -> dict[str, Any]:
        found: dict[str, Any] = self.status(name)["containerStatuses"][index]
        return found

    def delete(self, name: str) -> None:
        held = self.held(name)
        assert held is not None
        self.stage.user.delete(held)

    def events(self, about: str) -> list[tuple[str, str, int]]:
        """Reason, message and count of the events about an object."""
        held = self.stage.user.records("", "Event").values()
        trees = [self.stage.tree("", "Event", one.name, one.namespace) for one in held]
        return [
            (tree["reason"], tree["message"], tree["count"])
            for tree in trees
            if tree["involvedObject"]["name"] == about
        ]


def asking(memory: str = "128Mi", cpu: str = "100m", **over: Any) -> dict[str, Any]:
    """Containers that request so much."""
    asked = {"requests": {"memory": memory, "cpu": cpu}, **over.pop("resources", {})}
    return {"containers": [{"name": "main", "image": "nginx:1", "resources": asked, **over}]}
