"""Whether a kubelet takes a pod, in its own words (cluster-actors spec 19.2-19.5)."""

from typing import Any

import msgspec
import pytest

from baseload.decide.fit.ports import HostPort
from baseload.decide.fit.taints import tolerations_of
from baseload.decide.node.arrival import Arrival, Place, Refusal, refusal
from baseload.decide.node.qos import QosClass
from baseload.kube.types.core import PodSpec
from baseload.values import quantity
from baseload.values.taint import Taint


def amounts(**texts: str) -> dict[str, int]:
    return {name.replace("_", "-"): quantity.parse(text) for name, text in texts.items()}


def arrival(
    qos: QosClass = "Burstable", *, static: bool = False, asks: dict[str, int] | None = None, **spec: Any
) -> Arrival:
    read = msgspec.convert(spec, PodSpec)
    ports = (HostPort("0.0.0.0", 80, "TCP"),) if read.host_network else ()
    return Arrival(read, {"pods": quantity.UNIT, **(asks or {})}, qos, tolerations_of(read.tolerations), ports, static)


def place(**over: Any) -> Place:
    whole: dict[str, Any] = {
        "name": "n1",
        "labels": {"zone": "a"},
        "taints": (),
        "allocatable": amounts(cpu="1930m", memory="7042Mi", pods="35"),
        "used": amounts(cpu="1900m", memory="1Gi", pods="3"),
        **over,
    }
    return Place(**whole)


@pytest.mark.parametrize(
    ("asks", "reason", "amount"),
    [
        (amounts(cpu="500m"), "OutOfcpu", "cpu, requested: 500, used: 1900, capacity: 1930"),
        (amounts(memory="7Gi"), "OutOfmemory", "memory, requested: 7516192768, used: 1073741824, capacity: 7384072192"),
        (amounts(pods="40"), "OutOfpods", "pods, requested: 40, used: 3, capacity: 35"),
    ],
)
def test_a_pod_without_room_is_told_what_is_short(asks: dict[str, int], reason: str, amount: str) -> None:
    assert refusal(arrival(asks=asks), place()) == Refusal(reason, f"Node didn't have enough resource: {amount}")


def test_a_resource_that_the_node_does_not_know_is_not_looked_at() -> None:
    assert refusal(arrival(asks={"example.com/gpu": quantity.UNIT}), place()) is None


def test_labels_ports_and_taints_are_asked_again() -> None:
    taken = place(ports=(HostPort("0.0.0.0", 80, "TCP"),))
    tainted = place(taints=(Taint("a", "", "NoSchedule"), Taint("b", "", "NoExecute")))
    tolerating = [{"key": "b", "operator": "Exists"}]

    def why(one: Arrival, where: Place) -> str:
        found = refusal(one, where)
        return "" if found is None else f"{found.reason}: {found.message}"

    affinity = "NodeAffinity: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"
    assert why(arrival(nodeSelector={"zone": "b"}), place()) == affinity
    assert why(arrival(nodeSelector={"zone": "a"}), place()) == ""
    ports = "NodePorts: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports"
    assert why(arrival(hostNetwork=True), taken) == ports
    taint = "TaintToleration: Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate"
    assert why(arrival(), tainted) == taint
    assert why(arrival(static=True), tainted) == why(arrival(tolerations=tolerating), tainted) == ""


def test_a_daemon_is_tied_to_its_node_by_name() -> None:
    def tied(name: str) -> Arrival:
        field = {"key": "metadata.name", "operator": "In", "values": [name]}
        required = {"nodeSelectorTerms": [{"matchFields": [field]}]}
        return arrival(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}})

    assert refusal(tied("n1"), place()) is None
    assert refusal(tied("n2"), place()) is not None


def test_under_memory_pressure_only_best_effort_stays_out() -> None:
    pressed = place(pressures=("MemoryPressure",))
    tolerating = [{"key": "node.kubernetes.io/memory-pressure", "operator": "Exists", "effect": "NoSchedule"}]

    assert refusal(arrival("BestEffort"), pressed) == Refusal("Evicted", "The node had condition: [MemoryPressure]. ")
    for taken in (
        arrival("Burstable"),
        arrival("BestEffort", tolerations=tolerating),
        arrival("BestEffort", priority=2_000_000_000),
        arrival("BestEffort", static=True),
    ):
        assert refusal(taken, pressed) is None


def test_under_disk_pressure_only_critical_pods_come_in() -> None:
    pressed = place(pressures=("MemoryPressure", "DiskPressure"))
    why = "The node had condition: [MemoryPressure DiskPressure]. "

    assert refusal(arrival("Guaranteed"), pressed) == Refusal("Evicted", why)
    assert refusal(arrival(priority=2_000_000_000), pressed) is None
