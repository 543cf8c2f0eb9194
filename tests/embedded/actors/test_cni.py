"""A network agent on new nodes, in both models of a node before it."""

from typing import Any

from baseload.embedded.actors.cni import Cni, CniSettings
from baseload.embedded.actors.lifecycle import NodeLifecycle
from baseload.embedded.actors.network import Model, Network
from baseload.values.taint import Taint
from tests.embedded.actors.acting import pod
from tests.embedded.actors.running import Floor, machine

STARTUP = Taint("node.cilium.io/agent-not-ready", "", "NoExecute")


class Networked(Floor):
    """One machine that registers with the start-up taint, its lifecycle and its network agent."""

    def __init__(self, model: Model) -> None:
        network = Network(model)
        super().__init__(machine("n1", taints=(STARTUP,)), network=network)
        stage = self.stage
        stage.clock.start(NodeLifecycle(stage.cluster, stage.clock, self.heartbeats).run())
        stage.clock.start(Cni(stage.cluster, stage.clock, network, CniSettings(sets_up_in=7 * 10**9)).run())
        self.run(1)

    def taints(self) -> list[str]:
        spec = self.stage.tree("", "Node", "n1")["spec"]
        return [one["key"] for one in spec.get("taints", [])]

    def agent(self) -> None:
        tree: dict[str, Any] = pod("cilium", hostNetwork=True, tolerations=[{"operator": "Exists"}])
        tree["metadata"]["labels"] = {"k8s-app": "cilium"}
        self.stage.user.bind(self.stage.create(tree), "n1")

    def bind_anyway(self, name: str) -> None:
        self.place(name, tolerations=[{"operator": "Exists"}])


def test_without_a_configuration_a_node_is_not_ready_until_its_agent_has_set_it_up() -> None:
    floor = Networked("none")
    assert sorted(floor.taints()) == ["node.cilium.io/agent-not-ready", "node.kubernetes.io/not-ready"]
    floor.run(600)
    assert floor.said("n1", "Node")["Ready"] == "False"
    floor.agent()
    floor.run(2.05 + 6.9)
    assert STARTUP.key in floor.taints()
    floor.run(0.2)

    assert floor.taints() == []
    assert (floor.said("n1", "Node")["Ready"], floor.said("n1", "Node")["NetworkUnavailable"]) == ("True", "False")


def test_with_a_foreign_configuration_pods_are_bound_and_hang_until_then() -> None:
    floor = Networked("foreign")
    assert floor.taints() == [STARTUP.key]
    floor.bind_anyway("a")
    floor.run(60)
    assert (floor.said("n1", "Node")["Ready"], floor.status("a")["phase"]) == ("True", "Pending")
    floor.agent()
    floor.run(12)

    assert floor.taints() == []
    assert floor.status("a")["phase"] == "Running"


def test_a_node_that_comes_again_under_its_name_begins_anew() -> None:
    floor = Networked("none")
    floor.agent()
    floor.run(20)
    assert floor.said("n1", "Node")["Ready"] == "True"
    floor.machines.end("n1")
    found = floor.stage.cluster.store.get(floor.stage.user.resource("", "Node"), "", "n1")
    floor.stage.user.delete(found)
    floor.run(1)
    floor.machines.boot(machine("n1", taints=(STARTUP,)))
    floor.run(1)

    assert floor.said("n1", "Node")["Ready"] == "False"
    assert STARTUP.key in floor.taints()
