"""Nodes whose machines the cloud does not have any more."""

from baseload.embedded.actors.cloud_nodes import SHUTDOWN, CloudNodes, State
from baseload.embedded.actors.lifecycle import NodeLifecycle
from tests.embedded.actors.running import Floor, machine


class Clouded(Floor):
    """Two machines of a cloud, whose states are said here."""

    def __init__(self) -> None:
        super().__init__(
            machine("n1", provider_id="cloud:///1"), machine("n2", provider_id="cloud:///2"), machine("bare")
        )
        self.states: dict[str, State] = {"cloud:///1": "running", "cloud:///2": "running"}
        stage = self.stage
        self.run(1)
        stage.clock.start(NodeLifecycle(stage.cluster, stage.clock, self.heartbeats).run())
        stage.clock.start(CloudNodes(stage.cluster, stage.clock, self.states.__getitem__).run())
        self.run(1)

    def names(self) -> list[str]:
        return sorted(self.stage.user.records("", "Node"))


def test_the_node_of_a_machine_that_is_gone_is_deleted_within_a_minute() -> None:
    floor = Clouded()
    floor.states["cloud:///1"] = "gone"
    floor.run(300)
    assert floor.names() == ["bare", "n1", "n2"]  # a Ready node is not looked up
    floor.machines.end("n1")
    floor.machines.end("bare")
    floor.run(66)

    assert floor.names() == ["bare", "n2"]
    why = "Deleting node n1 because it does not exist in the cloud provider"
    assert ("DeletingNode", why, 1) in floor.events("n1")


def test_the_node_of_a_machine_that_was_stopped_is_tainted_until_it_runs_again() -> None:
    floor = Clouded()
    floor.states["cloud:///1"] = "stopped"
    floor.machines.hang("n1")
    floor.run(80)

    taints = [taint["key"] for taint in floor.stage.tree("", "Node", "n1")["spec"]["taints"]]
    assert taints.count(SHUTDOWN) == 1
    floor.machines.recover("n1")
    floor.run(10)
    assert "taints" not in floor.stage.tree("", "Node", "n1")["spec"]
