"""Machines whose pods use more than they have: kills, evictions, silence (cluster-actors spec 22-24)."""

import re
from typing import Any

from baseload.decide.node.pressure import PressureSettings
from baseload.embedded.actors.kubelet.settings import KubeletSettings
from baseload.embedded.actors.lifecycle import NodeLifecycle
from baseload.model.requests import amounts
from tests.embedded.actors.running import Floor, asking, machine

MIB = 2**20
MILD = KubeletSettings(pressure=PressureSettings(slow_down=0.0, probe_slow_down=0.0))
"""A machine that gets no slower, so that what kubelet and kernel do can be seen by itself"""


def fill(floor: Floor, count: int, memory: str, **over: Any) -> None:
    for number in range(count):
        floor.place(f"p{number}", **asking("100Mi", "10m"), annotations={"real-memory": memory}, **over)


def test_a_machine_with_room_is_never_looked_at() -> None:
    floor = Floor()
    fill(floor, 18, "161Mi")
    floor.run(5)
    steps = floor.stage.clock.steps
    floor.run(3600)

    assert floor.stage.clock.steps == steps
    assert floor.said("n1", "Node")["MemoryPressure"] == "False"


def test_below_100_mib_one_pod_a_look_is_evicted() -> None:
    floor = Floor(settings=MILD)
    floor.place("filler", **asking("6600Mi", "10m"), annotations={"real-memory": "6600Mi"})
    for number in range(20):
        floor.place(f"p{number}", **asking("1Mi", "10m"), annotations={"real-memory": "0s:10Mi,30s:24Mi"})
    floor.run(20)
    assert floor.said("n1", "Node")["MemoryPressure"] == "False"

    # The pods may use 7142Mi together and come to 7080Mi: two of 24Mi have to go until 100Mi are left.
    evicted = []
    for _ in range(6):
        floor.run(5)
        evicted.append(sum(floor.status(f"p{number}").get("reason") == "Evicted" for number in range(20)))
    assert evicted == [0, 0, 1, 1, 2, 2]
    assert floor.status("filler")["phase"] == "Running"
    assert floor.said("n1", "Node")["MemoryPressure"] == "True"


def test_the_pod_that_is_farthest_above_its_request_goes_first() -> None:
    floor = Floor(settings=MILD)
    fill(floor, 10, "600Mi")
    floor.place("big", **asking("100Mi", "10m"), annotations={"real-memory": "0s:600Mi,10s:700Mi,100s:1090Mi"})
    floor.run(115)

    # memory.available = 7782 - 516 - 6000 - x < 100 where x > 1166; the pods' own: 7142 - 6000 - x < 100, x > 1042.
    found = floor.status("big")
    assert (found["phase"], found["reason"]) == ("Failed", "Evicted")
    assert re.fullmatch(
        r"The node was low on resource: memory. Threshold quantity: 100Mi, available: [0-9]+Ki. "
        r"Container main was using [0-9]+Ki, request is 100Mi, has larger consumption of memory. ",
        found["message"],
    )
    target = next(one for one in found["conditions"] if one["type"] == "DisruptionTarget")
    assert (target["reason"], target["status"]) == ("TerminationByKubelet", "True")
    assert floor.said("n1", "Node")["MemoryPressure"] == "True"
    assert [floor.status(f"p{number}")["phase"] for number in range(10)] == ["Running"] * 10
    assert ("EvictionThresholdMet", "Attempting to reclaim memory", 1) in floor.events("n1")
    floor.run(280)
    assert floor.said("n1", "Node")["MemoryPressure"] == "True"
    floor.place("best", containers=[{"name": "main", "image": "i"}])
    floor.run(1)
    assert floor.status("best")["message"] == "Pod was rejected: The node had condition: [MemoryPressure]. "
    floor.run(60)
    assert floor.said("n1", "Node")["MemoryPressure"] == "False"


def test_what_grows_past_the_machine_between_two_looks_is_killed_and_starts_again() -> None:
    floor = Floor(settings=MILD)
    fill(floor, 5, "600Mi")
    floor.place("leak", **asking("100Mi", "10m"), annotations={"real-memory": "0s:100Mi,5s:100Mi,8s:6000Mi"})
    floor.run(12)

    found = floor.container("leak")
    assert found["restartCount"] >= 1
    assert found["lastState"]["terminated"]["reason"] == "OOMKilled"


def test_guaranteed_pods_are_killed_last() -> None:
    floor = Floor(settings=MILD)
    whole = {"requests": {"memory": "2Gi", "cpu": "10m"}, "limits": {"memory": "2Gi", "cpu": "10m"}}
    for name in ("g1", "g2"):
        floor.place(
            name, containers=[{"name": "main", "image": "i", "resources": whole}], annotations={"real-memory": "2000Mi"}
        )
    floor.place("b", **asking("10Mi", "10m"), annotations={"real-memory": "0s:10Mi,5s:10Mi,6s:4000Mi"})
    floor.run(10)

    assert [floor.container(name)["restartCount"] for name in ("g1", "g2")] == [0, 0]
    assert floor.container("b")["restartCount"] >= 1


def test_a_starved_kubelet_falls_silent_and_is_heard_again_when_memory_is_freed() -> None:
    floor = Floor(machine("n1"), machine("n2"), machine("n3"))
    stage = floor.stage
    stage.clock.start(NodeLifecycle(stage.cluster, stage.clock, floor.heartbeats).run())
    probe = {"readinessProbe": {"exec": {"command": ["ok"]}, "periodSeconds": 5}}
    for number in range(40):
        floor.place(f"p{number}", **asking("100Mi", "10m", **probe), annotations={"real-memory": "0s:100Mi,60s:174Mi"})
    floor.run(30)
    assert (floor.said("n1", "Node")["Ready"], floor.said("p0")["Ready"]) == ("True", "True")
    floor.run(180)

    # 7782 - 690 - 6960 leaves 132 MiB: too much to evict anybody, too little for the kubelet.
    assert floor.said("n1", "Node")["Ready"] == "Unknown"
    assert floor.said("n1", "Node")["MemoryPressure"] == "Unknown"
    assert (floor.status("p0")["phase"], floor.said("p0")["Ready"]) == ("Running", "False")
    for number in range(10):
        floor.delete(f"p{number}")
    floor.run(30)
    assert floor.held("p0") is None
    assert (floor.said("n1", "Node")["Ready"], floor.said("p39")["Ready"]) == ("True", "True")


def test_a_kubelet_that_lists_its_containers_too_slowly_says_so() -> None:
    slow = KubeletSettings(pressure=PressureSettings(renewal_per_slow_down=0.0))
    capacity = amounts({"cpu": "8", "memory": "7782Mi", "pods": "110"})
    floor = Floor(
        machine("n1", capacity=capacity, allocatable={**capacity, **amounts({"memory": "7042Mi"})}), settings=slow
    )
    for number in range(60):
        floor.place(f"p{number}", **asking("50Mi", "10m"), annotations={"real-memory": "0s:50Mi,60s:114Mi"})
    floor.run(63)
    assert floor.said("n1", "Node")["Ready"] == "True"
    floor.run(200)

    ready = next(one for one in floor.stage.tree("", "Node", "n1")["status"]["conditions"] if one["type"] == "Ready")
    why = "PLEG is not healthy: pleg was last seen active 3m0s ago; threshold is 3m0s"
    assert (ready["status"], ready["reason"], ready["message"]) == ("False", "KubeletNotReady", why)
    assert ("NodeNotReady", "Node n1 status is now: NodeNotReady", 1) in floor.events("n1")


def test_a_slab_that_requests_less_than_it_uses_puts_4_gib_under_pressure_for_ever() -> None:
    capacity = amounts({"cpu": "2", "memory": "3830Mi", "pods": "17"})
    allocatable = amounts({"cpu": "1930m", "memory": "3288Mi", "pods": "17"})
    floor = Floor(machine("n1", capacity=capacity, allocatable=allocatable), settings=MILD)
    for number in range(12):
        floor.place(f"agent{number}", **asking("116Mi", "10m"), annotations={"real-memory": "273Mi"})
    floor.run(60)

    assert floor.said("n1", "Node")["MemoryPressure"] == "True"
    assert any(floor.status(f"agent{number}").get("reason") == "Evicted" for number in range(12))


def test_the_same_run_twice_writes_the_same() -> None:
    def journal() -> list[tuple[str, int, str]]:
        floor = Floor(settings=MILD)
        seen = floor.stage.user.subscribe("", "Pod", ("status", "marked", "removed"), lambda: None)
        fill(floor, 12, "0s:100Mi,90s:620Mi")
        floor.run(600)
        return [(event.record.name, event.version, str(event.record.status)) for event in seen.take()]

    assert journal() == journal()
