"""From a node that falls silent to its pods' end: lifecycle, eviction by taints, pod garbage (spec 17, 18)."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baseload.embedded.actors.kubelet.machines import Machine
from baseload.embedded.actors.lifecycle import NodeLifecycle
from baseload.embedded.actors.pod_gc import PodGarbage
from baseload.embedded.actors.pods import status
from baseload.embedded.actors.taint_eviction import TaintEviction
from baseload.values import instant
from tests.embedded.actors.acting import START, node
from tests.embedded.actors.running import Floor, machine

S = instant.SECOND


class Watched(Floor):
    """Machines whose nodes are watched, from a second after the kubelets began."""

    def __init__(self, *machines: Machine, is_late: bool = True, most: int = 12_500) -> None:
        super().__init__(*machines)
        cluster, clock = self.stage.cluster, self.stage.clock
        self.run(1)
        lifecycle = NodeLifecycle(cluster, clock, self.heartbeats, evicts_one_look_later=is_late)
        clock.start(lifecycle.run())
        clock.start(TaintEviction(cluster, clock).run())
        clock.start(PodGarbage(cluster, clock, most).run())
        self.run(0)

    def taints(self, name: str) -> list[tuple[str, str]]:
        spec = self.stage.tree("", "Node", name)["spec"]
        return [(one["key"].rpartition("/")[2], one["effect"]) for one in spec.get("taints", [])]

    def until(self, what: Any, most: float = 1000) -> float:
        """Seconds since the start, to a tenth, at which something has become true."""
        for _ in range(int(most * 10)):
            if what():
                break
            self.run(0.1)
        return round((self.stage.clock.now() - START) / S, 1)


def three(**over: Any) -> tuple[Machine, ...]:
    return tuple(machine(f"n{number}", **over) for number in (1, 2, 3))


def test_a_new_node_loses_its_taint_when_it_is_ready() -> None:
    floor = Watched(machine("n1", ready_at=START + 20 * S))
    floor.run(5)
    assert floor.taints("n1") == [("not-ready", "NoSchedule"), ("not-ready", "NoExecute")][:1]
    floor.run(20)
    assert floor.taints("n1") == []
    assert ("RegisteredNode", "Node n1 event: Registered Node n1 in Controller", 1) in floor.events("n1")


def test_the_timeline_of_a_dead_node() -> None:
    floor = Watched(*three())
    floor.place("a", tolerations=[])
    floor.run(97)
    assert floor.said("a")["Ready"] == "True"
    floor.machines.end("n1")

    # Renewals at 0, 10 … 90; looks at 1, 6 … 91, 96: the last renewal was seen at 91.
    unknown = floor.until(lambda: floor.said("n1", "Node")["Ready"] == "Unknown")
    assert unknown == 146.0
    condition = next(
        one for one in floor.stage.tree("", "Node", "n1")["status"]["conditions"] if one["type"] == "MemoryPressure"
    )
    assert (condition["status"], condition["reason"], condition["message"]) == (
        "Unknown",
        "NodeStatusUnknown",
        "Kubelet stopped posting node status.",
    )
    assert floor.taints("n1") == [("unreachable", "NoSchedule")]
    assert (floor.status("a")["phase"], floor.said("a")["Ready"]) == ("Running", "False")
    assert ("NodeNotReady", "Node is not ready", 1) in floor.events("a")
    assert ("NodeNotReady", "Node n1 status is now: NodeNotReady", 1) in floor.events("n1")
    evicting = floor.until(lambda: ("unreachable", "NoExecute") in floor.taints("n1"))
    assert evicting == unknown + 5
    held = floor.held("a")
    assert held is not None
    assert held.deletion is None
    deleted = floor.until(lambda: (pod := floor.held("a")) is None or pod.deletion is not None)
    assert deleted == evicting + 300
    assert 350 <= deleted - 90 <= 361
    floor.run(1000)
    assert floor.status("a")["phase"] == "Running"  # nobody is there to end it
    reasons = {one["type"]: one.get("reason") for one in floor.status("a")["conditions"]}
    assert reasons["DisruptionTarget"] == "DeletionByTaintManager"
    assert ("TaintManagerEviction", "Marking for deletion Pod default/a", 1) in floor.events("a")


def test_the_controller_of_today_taints_in_the_look_that_finds_the_silence() -> None:
    floor = Watched(*three(), is_late=False)
    floor.machines.end("n1")
    floor.until(lambda: floor.said("n1", "Node")["Ready"] == "Unknown")

    assert sorted(floor.taints("n1")) == [("unreachable", "NoExecute"), ("unreachable", "NoSchedule")]


def test_a_node_that_comes_back_keeps_its_pods_and_they_are_ready_again() -> None:
    floor = Watched(*three())
    floor.place("a")
    floor.run(10)
    floor.machines.hang("n1")
    floor.run(200)
    assert ("unreachable", "NoExecute") in floor.taints("n1")
    floor.machines.recover("n1")
    floor.run(5)

    assert floor.taints("n1") == []
    assert (floor.said("n1", "Node")["Ready"], floor.said("a")["Ready"]) == ("True", "True")
    floor.run(600)
    held = floor.held("a")
    assert held is not None
    assert held.deletion is None
    assert ("TaintManagerEviction", "Cancelling deletion of Pod default/a", 1) in floor.events("a")


def test_a_node_without_kubelet_is_unknown_a_minute_after_it_was_seen() -> None:
    floor = Watched(*three())
    floor.stage.create(node("bare"))
    floor.run(50)
    assert floor.said("bare", "Node") == {}
    floor.run(20)

    told = floor.stage.tree("", "Node", "bare")["status"]["conditions"]
    assert {one["type"] for one in told} == {"Ready", "MemoryPressure", "DiskPressure", "PIDPressure"}
    assert {(one["status"], one["reason"], one["message"]) for one in told} == {
        ("Unknown", "NodeStatusNeverUpdated", "Kubelet never posted node status.")
    }


def test_the_second_node_of_a_zone_is_tainted_ten_seconds_after_the_first() -> None:
    floor = Watched(*three(), *(machine(f"m{number}") for number in range(4)))
    floor.run(10)
    floor.machines.end("n1")
    floor.machines.end("n2")
    first = floor.until(lambda: any(effect == "NoExecute" for _, effect in floor.taints("n1")))
    second = floor.until(lambda: any(effect == "NoExecute" for _, effect in floor.taints("n2")))

    assert second - first == 10


def test_a_small_zone_that_is_mostly_down_is_not_emptied() -> None:
    floor = Watched(*three(), machine("m1"))
    floor.run(10)
    for name in ("n1", "n2", "n3"):
        floor.machines.end(name)
    floor.run(300)

    assert [floor.taints(name) for name in ("n1", "n2", "n3")] == [[("unreachable", "NoSchedule")]] * 3


def test_where_all_nodes_are_gone_none_is_emptied_until_one_is_back() -> None:
    floor = Watched(machine("n1"), machine("n2"))
    floor.run(10)
    floor.machines.hang("n1")
    floor.run(100)
    assert ("unreachable", "NoExecute") in floor.taints("n1")
    floor.machines.hang("n2")
    floor.run(100)
    assert [floor.taints(name) for name in ("n1", "n2")] == [[("unreachable", "NoSchedule")]] * 2
    floor.machines.recover("n2")
    floor.run(30)
    assert floor.taints("n2") == []
    assert ("unreachable", "NoExecute") in floor.taints("n1")


def test_cordon_taints_and_evicts_nobody() -> None:
    floor = Watched(*three())
    floor.place("a")
    floor.run(5)
    found = floor.stage.cluster.store.get(floor.stage.user.resource("", "Node"), "", "n1")
    floor.stage.user.merge(found, {"spec": {"unschedulable": True}})
    floor.run(600)

    assert floor.taints("n1") == [("unschedulable", "NoSchedule")]
    assert floor.status("a")["phase"] == "Running"
    found = floor.stage.cluster.store.get(floor.stage.user.resource("", "Node"), "", "n1")
    floor.stage.user.merge(found, {"spec": {"unschedulable": None}})
    floor.run(1)
    assert floor.taints("n1") == []


def test_a_taint_of_a_user_evicts_at_once_or_when_the_toleration_ends() -> None:
    floor = Watched(*three())

    def tolerating(seconds: int | None) -> list[dict[str, Any]]:
        return [{"key": "mine", "operator": "Exists", **({} if seconds is None else {"tolerationSeconds": seconds})}]

    floor.place("now", annotations={"stops-after": "0"})
    floor.place("later", tolerations=[{**one, "effect": "NoExecute"} for one in tolerating(30)])
    floor.place("never", tolerations=tolerating(None))
    floor.run(5)
    found = floor.stage.cluster.store.get(floor.stage.user.resource("", "Node"), "", "n1")
    floor.stage.user.merge(found, {"spec": {"taints": [{"key": "mine", "effect": "NoExecute"}]}})
    floor.run(1)
    assert floor.held("now") is None
    floor.run(28)
    assert floor.held("later") is not None
    floor.run(3)
    assert floor.held("later") is None
    assert floor.status("never")["phase"] == "Running"


def test_a_timer_that_runs_is_not_set_anew() -> None:
    floor = Watched(*three())
    tolerations = [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds}
        for key, seconds in (("mine", 60), ("yours", 40))
    ]
    floor.place("a", tolerations=tolerations)
    floor.run(5)
    nodes = floor.stage.user.resource("", "Node")
    mine, yours = ({"key": key, "effect": "NoExecute"} for key in ("mine", "yours"))
    floor.stage.user.merge(floor.stage.cluster.store.get(nodes, "", "n1"), {"spec": {"taints": [mine]}})
    floor.run(30)
    floor.stage.user.merge(floor.stage.cluster.store.get(nodes, "", "n1"), {"spec": {"taints": [mine, yours]}})
    floor.run(29)
    held = floor.held("a")
    assert held is not None
    assert held.deletion is None
    floor.run(3)
    assert floor.held("a") is None


def test_pods_on_a_node_that_was_deleted_are_gone_after_40_to_60_seconds() -> None:
    floor = Watched(*three())
    floor.place("a", tolerations=[])
    floor.run(10)
    floor.machines.end("n1")
    heard = floor.stage.user.subscribe("", "Pod", ("status", "removed"), lambda: None)
    found = floor.stage.cluster.store.get(floor.stage.user.resource("", "Node"), "", "n1")
    floor.stage.user.delete(found)
    floor.run(39)
    assert floor.held("a") is not None
    floor.run(41)
    assert floor.held("a") is None
    last = [status(event.record) for event in heard.take()][-1]
    reason = last.condition("DisruptionTarget")
    assert last.phase == "Failed"
    assert reason is not None
    assert (reason.reason, reason.message) == ("DeletionByPodGC", "PodGC: node no longer exists")


def test_out_of_service_ends_the_pods_that_are_being_deleted() -> None:
    floor = Watched(*three())
    floor.place("a")
    floor.place("b")
    floor.run(10)
    floor.machines.end("n1")
    floor.run(100)
    floor.delete("a")
    found = floor.stage.cluster.store.get(floor.stage.user.resource("", "Node"), "", "n1")
    taint = {"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoSchedule"}
    floor.stage.user.merge(found, {"spec": {"taints": [taint]}})
    floor.run(21)

    assert floor.held("a") is None
    assert floor.held("b") is not None


def test_of_too_many_pods_that_have_ended_the_oldest_are_removed() -> None:
    floor = Watched(*three(), most=2)
    for number in range(4):
        floor.place(f"p{number}", restartPolicy="Never", annotations={"exits-after": "1"})
        floor.run(2)
    floor.run(25)

    assert [floor.held(f"p{number}") is None for number in range(4)] == [True, True, False, False]


@pytest.mark.long
@settings(max_examples=20)
@given(
    st.lists(st.tuples(st.integers(0, 120), st.sampled_from(("0", "30", "90")), st.booleans()), min_size=1, max_size=4)
)
def test_after_a_node_dies_each_of_its_pods_is_evicted_after_its_toleration(
    drawn: list[tuple[int, str, bool]],
) -> None:
    _evicted_as_tolerated(drawn)


def test_after_a_node_dies_each_pod_goes_when_its_toleration_ends() -> None:
    _evicted_as_tolerated([(0, "0", False), (30, "0", True), (120, "90", False)])


def _evicted_as_tolerated(drawn: list[tuple[int, str, bool]]) -> None:
    floor = Watched(*three())
    for index, (seconds, stops, is_static) in enumerate(drawn):
        own = {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute"}
        tolerations = [own if is_static else {**own, "tolerationSeconds": seconds}]
        floor.place(f"p{index}", tolerations=tolerations, annotations={"stops-after": stops})
    floor.run(20)
    floor.machines.end("n1")
    tainted = floor.until(lambda: ("unreachable", "NoExecute") in floor.taints("n1"))
    for second in range(130):
        for index, (seconds, _, is_static) in enumerate(drawn):
            held = floor.held(f"p{index}")
            assert held is not None
            now = (floor.stage.clock.now() - START) / S - tainted
            assert (held.deletion is not None) is (not is_static and now >= max(seconds, 0.0)), (second, index)
        floor.run(1)
