"""Machines and their nodes: registration, networks, silence, adoption."""

from typing import Any

import pytest

from baseload.embedded.actors.kubelet.settings import KubeletSettings
from baseload.embedded.actors.network import Network
from baseload.embedded.actors.pods import status
from baseload.embedded.store.record import Record
from baseload.values import instant
from baseload.values.taint import Taint
from tests.embedded.actors.acting import START, node, pod
from tests.embedded.actors.running import Floor, machine

S = instant.SECOND


def test_a_machine_registers_a_node_that_becomes_ready_when_it_is_up_to_it() -> None:
    new = machine(
        "n1",
        provider_id="aws:///eu-west-1a/i-1",
        labels={"topology.kubernetes.io/zone": "a"},
        taints=(Taint("node.cilium.io/agent-not-ready", "", "NoExecute"),),
        registers_at=START + 10 * S,
        ready_at=START + 15 * S,
    )
    floor = Floor(new)
    floor.run(9)
    assert not floor.stage.user.records("", "Node")
    floor.run(2)

    tree = floor.stage.tree("", "Node", "n1")
    assert tree["spec"]["providerID"] == "aws:///eu-west-1a/i-1"
    assert [taint["key"] for taint in tree["spec"]["taints"]] == [
        "node.cilium.io/agent-not-ready",
        "node.kubernetes.io/not-ready",
    ]
    assert tree["status"]["allocatable"] == {"cpu": "1930m", "memory": "7042Mi", "pods": "59"}
    assert tree["metadata"]["labels"]["topology.kubernetes.io/zone"] == "a"
    assert floor.said("n1", "Node")["Ready"] == "False"
    floor.run(5)
    assert floor.said("n1", "Node") == {
        "MemoryPressure": "False",
        "DiskPressure": "False",
        "PIDPressure": "False",
        "Ready": "True",
    }
    assert ("NodeReady", "Node n1 status is now: NodeReady", 1) in floor.events("n1")
    (entry,) = (one for one in floor.stage.tree("", "Node", "n1")["metadata"]["managedFields"] if "subresource" in one)
    assert (entry["manager"], list(entry["fieldsV1"]["f:status"])) == ("kubelet", ["f:conditions"])
    lease = floor.stage.tree("coordination.k8s.io", "Lease", "n1", "kube-node-lease")
    assert lease["spec"] == {
        "holderIdentity": "n1",
        "leaseDurationSeconds": 40,
        "renewTime": "2026-11-30T12:00:10.000000Z",
    }


def test_a_machine_whose_kubelet_never_registers_makes_no_node() -> None:
    floor = Floor(machine("n1", registers_at=None))
    floor.run(3600)
    assert not floor.stage.user.records("", "Node")


def test_pods_that_were_bound_before_the_node_came_run_when_it_has() -> None:
    floor = Floor(machine("n1", registers_at=START + 10 * S))
    floor.place("a")
    floor.run(9)
    assert floor.status("a")["phase"] == "Pending"
    floor.run(5)
    assert floor.status("a")["phase"] == "Running"


def test_without_a_network_configuration_the_node_is_not_ready_and_host_network_pods_run() -> None:
    network = Network("none")
    floor = Floor(network=network)
    floor.place("agent", hostNetwork=True)
    floor.place("a")
    floor.run(5)

    ready = next(one for one in floor.stage.tree("", "Node", "n1")["status"]["conditions"] if one["type"] == "Ready")
    assert (ready["status"], ready["reason"]) == ("False", "KubeletNotReady")
    assert ready["message"].endswith("cni plugin not initialized")
    assert (floor.status("agent")["phase"], floor.status("a")["phase"]) == ("Running", "Pending")
    assert floor.status("agent")["podIP"] == floor.status("agent")["hostIP"]
    network.come_up("n1")
    floor.run(3)
    assert (floor.said("n1", "Node")["Ready"], floor.status("a")["phase"]) == ("True", "Running")


def test_with_a_foreign_network_configuration_the_node_is_ready_and_pods_hang() -> None:
    network = Network("foreign")
    floor = Floor(network=network)
    floor.place("a")
    floor.run(60)

    assert (floor.said("n1", "Node")["Ready"], floor.status("a")["phase"]) == ("True", "Pending")
    assert floor.container("a")["state"] == {"waiting": {"reason": "ContainerCreating"}}
    assert [reason for reason, _, _ in floor.events("a")] == ["FailedCreatePodSandBox"]
    network.come_up("n1")
    floor.run(3)
    assert floor.status("a")["phase"] == "Running"


def test_on_a_machine_that_hangs_nothing_goes_on_until_it_recovers() -> None:
    floor = Floor()
    floor.place("a", annotations={"exits-after": "20"}, restartPolicy="Never")
    floor.run(5)
    floor.machines.hang("n1")
    floor.run(30)
    assert floor.status("a")["phase"] == "Running"
    floor.delete("a")
    floor.run(100)
    assert floor.held("a") is not None
    assert floor.heartbeats.of("n1") is not None
    floor.machines.recover("n1")
    floor.run(2)
    assert floor.held("a") is None


def test_the_pods_of_a_machine_that_is_gone_stay_as_they_were() -> None:
    floor = Floor()
    floor.place("a")
    floor.run(5)
    floor.machines.end("n1")
    floor.run(100)
    floor.delete("a")
    floor.run(100)

    held = floor.held("a")
    assert held is not None
    assert held.deletion is not None
    renewals = floor.heartbeats.of("n1")
    assert renewals is not None
    assert renewals.last(floor.stage.clock.now()) == START


@pytest.mark.parametrize("adopts", [True, False])
def test_a_node_that_somebody_creates_runs_pods_where_that_is_wanted(adopts: bool) -> None:
    floor = Floor(machine("n1"), settings=KubeletSettings(adopts_nodes=adopts))
    floor.stage.create(node("mine", cpu="1"))
    floor.place("a", "mine")
    floor.run(5)

    assert floor.status("a")["phase"] == ("Running" if adopts else "Pending")
    assert floor.said("mine", "Node").get("Ready") == ("True" if adopts else None)
    if adopts:
        found = floor.stage.cluster.store.get(floor.stage.user.resource("", "Node"), "", "mine")
        floor.stage.user.delete(found)
        floor.run(1)
        assert "mine" not in floor.kubelets.nodes


def test_a_kubelet_that_begins_anew_runs_what_ran_and_leaves_what_has_ended() -> None:
    floor = Floor()
    floor.place("runs", terminationGracePeriodSeconds=5)
    floor.place("ended", restartPolicy="Never", annotations={"exits-after": "1"})
    floor.run(10)
    floor.machines.end("n1")
    seen = floor.stage.user.subscribe("", "Pod", ("status",), lambda: None)
    floor.machines.boot(machine("n1"))
    floor.run(10)

    told = [(event.record.name, status(event.record).phase) for event in seen.take()]
    assert told
    assert set(told) == {("runs", "Running")}
    assert (floor.said("runs")["Ready"], floor.status("ended")["phase"]) == ("True", "Succeeded")
    floor.delete("ended")
    floor.run(0.1)
    assert floor.held("ended") is None


def there(name: str, on: str, told: dict[str, Any]) -> dict[str, Any]:
    """A pod that runs, as it stands in manifests."""
    tree = pod(name)
    tree["spec"]["nodeName"] = on
    return {**tree, "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}], **told}}


def put(floor: Floor, tree: dict[str, Any]) -> None:
    user, spec = floor.stage.user, tree["spec"]
    bound = user.bind(floor.stage.create({**tree, "spec": {"containers": spec["containers"]}}), spec["nodeName"])
    user.merge(bound, {"status": tree["status"]}, "status")


def test_what_runs_on_a_node_that_was_there_goes_on() -> None:
    floor = Floor(machine("n1"), settings=KubeletSettings(adopts_nodes=True), network=Network("none"))
    seen = floor.stage.user.subscribe("", "Pod", ("status",), lambda: None)
    held = {
        "name": "main",
        "image": "nginx:1",
        "imageID": "",
        "ready": True,
        "restartCount": 3,
        "state": {"running": {"startedAt": "2026-11-30T11:00:00Z"}},
    }
    mine = node("mine", cpu="1")
    mine["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    put(floor, there("bare", "mine", {}))
    put(floor, there("told", "mine", {"containerStatuses": [held]}))
    floor.stage.create(mine)
    seen.take()
    floor.run(1)

    assert {dict(_said(event.record))["Ready"] for event in seen.take()} == {"True"}, "they are Ready throughout"
    assert floor.said("mine", "Node")["Ready"] == "True", "and so is the node, without waiting for its network"
    assert floor.container("bare")["state"] == {"running": {"startedAt": "2026-11-30T12:00:00Z"}}
    assert floor.container("told")["state"] == {"running": {"startedAt": "2026-11-30T11:00:00Z"}}
    assert floor.container("told")["restartCount"] == 3


def test_what_is_said_to_run_on_a_machine_that_boots_is_begun_there() -> None:
    floor = Floor(machine("n1", registers_at=START + 10 * S, ready_at=START + 15 * S))
    put(floor, there("a", "n1", {}))
    floor.run(11)
    assert floor.said("a")["Ready"] == "False"
    floor.run(10)
    assert floor.container("a")["state"]["running"]["startedAt"] > "2026-11-30T12:00:10Z"


def _said(record: Record) -> list[tuple[str, str]]:
    return [(one.type, one.status) for one in status(record).conditions]
