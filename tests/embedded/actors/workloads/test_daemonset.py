"""DaemonSets: a pod on every node that it belongs on."""

from typing import Any

import pytest

from baseload.embedded.actors.workloads import daemon
from baseload.embedded.actors.workloads.daemon import DaemonPod, Ground, Verdict
from baseload.embedded.store.deletion import Options
from baseload.embedded.store.record import Record
from baseload.kube.types.core import PodSpec, Toleration
from baseload.kube.types.meta import Taint
from baseload.values.instant import SECOND
from tests.embedded.actors.acting import node
from tests.embedded.actors.workloads.playing import Play, end, image, run, template, workload


@pytest.mark.parametrize(
    ("key", "effect", "expected"),
    [
        ("node.kubernetes.io/unschedulable", "NoSchedule", (True, True)),
        ("node.kubernetes.io/not-ready", "NoExecute", (True, True)),
        ("node.kubernetes.io/not-ready", "NoSchedule", (False, True)),
        ("node.cilium.io/agent-not-ready", "NoSchedule", (False, True)),
        ("dedicated", "NoExecute", (False, False)),
        ("dedicated", "PreferNoSchedule", (True, True)),
    ],
)
def test_which_taints_keep_daemons_off_and_which_drive_them_away(
    key: str, effect: str, expected: tuple[bool, bool]
) -> None:
    spec = PodSpec()
    ground = Ground("n1", {}, (Taint(key, "", effect),))

    assert daemon.runs_on(spec, daemon.tolerations(spec), ground) == expected


def test_pods_on_the_hosts_network_tolerate_that_the_network_is_not_there() -> None:
    wanted = Toleration("node.kubernetes.io/network-unavailable", "Exists", effect="NoSchedule")

    assert wanted in daemon.tolerations(PodSpec(host_network=True))
    assert wanted not in daemon.tolerations(PodSpec())


def test_surging_keeps_the_old_pod_until_the_new_one_is_available() -> None:
    old = DaemonPod("old", "1", is_present=False, is_bound=True, is_ready=True, is_available=True)
    new = DaemonPod("new", "2", is_present=True, is_bound=True)
    there = DaemonPod("new", "2", is_present=True, is_bound=True, is_ready=True, is_available=True)

    assert daemon.on_node([old, new], belongs=True, may_stay=True, surges=True) == Verdict()
    assert daemon.on_node([old, there], belongs=True, may_stay=True, surges=True).delete == ("old",)
    assert daemon.on_node([old, new], belongs=True, may_stay=True, surges=False).delete == ("new",)


def test_failures_are_deleted_after_a_second_then_twice_as_late_each_time_up_to_15_minutes() -> None:
    wait, waits = 0, []
    for _ in range(12):
        wait = daemon.next_wait(wait, 0, 0)
        waits.append(wait // SECOND)

    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]


class Nodes(Play):
    """A stage whose kubelet puts a daemon's pod where it belongs."""

    def patch_node(self, name: str, change: dict[str, Any]) -> None:
        self.user.merge(self.cluster.store.get(self.user.resource("", "Node"), "", name), change)

    def settle(self, *, is_ready: bool = True) -> None:
        """Has all pods run where their affinity says, and ends those that are being deleted."""
        for _ in range(8):
            self.run(0.01)
            for pod in list(self.user.records("", "Pod").values()):
                if pod.deletion is not None:
                    self.user.delete(pod, Options(grace_seconds=0))
                elif not pod.node:
                    run(self.user, self.user.bind(pod, place(self, pod)), is_ready=is_ready)


def place(play: Play, pod: Record) -> str:
    terms = play.tree("", "Pod", pod.name)["spec"]["affinity"]["nodeAffinity"]
    (term,) = terms["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    (field,) = term["matchFields"]
    assert (field["key"], field["operator"]) == ("metadata.name", "In")
    return str(field["values"][0])


def nodes(*names: str) -> Nodes:
    play = Nodes(with_kubelet=False)
    for name in names:
        made = play.create(node(name))
        play.user.merge(made, {"spec": {"taints": None}})
    return play


def on(play: Nodes) -> dict[str, str]:
    """node -> image of its pod."""
    return {
        pod.node: play.tree("", "Pod", pod.name)["spec"]["containers"][0]["image"] for pod in play.pods() if pod.node
    }


def status(play: Nodes) -> dict[str, Any]:
    told: dict[str, Any] = play.tree("apps", "DaemonSet", "agent")["status"]
    return told


@pytest.mark.parametrize("labels", [{}, {"controller-revision-hash": "5d8f7b96c4"}])
def test_a_daemon_that_was_there_before_the_first_revision_is_of_it(labels: dict[str, str]) -> None:
    play = nodes("a", "b")
    there = {"name": "agent-there", "labels": {"app": "agent", **labels}}
    made = play.create({"apiVersion": "v1", "kind": "Pod", "metadata": there, "spec": template({})["spec"]})
    run(play.user, play.user.bind(made, "a"))
    play.create(workload("DaemonSet", "agent"))
    play.settle()
    assert [pod.node for pod in play.pods() if pod.name == "agent-there"] == ["a"]
    assert (sorted(on(play)), status(play)["updatedNumberScheduled"]) == (["a", "b"], 2)
    play.patch("apps", "DaemonSet", "agent", image("nginx:2"))
    play.settle()
    assert on(play) == {"a": "nginx:2", "b": "nginx:2"}, "a change renews it as it does all others"


def test_each_node_gets_a_pod_and_a_new_node_too() -> None:
    play = nodes("a", "b")
    play.create(workload("DaemonSet", "agent"))
    play.settle()
    assert set(on(play)) == {"a", "b"}
    play.user.merge(play.create(node("c")), {"spec": {"taints": None}})
    play.settle()

    assert set(on(play)) == {"a", "b", "c"}
    assert status(play) == {
        "currentNumberScheduled": 3,
        "numberMisscheduled": 0,
        "desiredNumberScheduled": 3,
        "numberReady": 3,
        "observedGeneration": 1,
        "updatedNumberScheduled": 3,
        "numberAvailable": 3,
    }


def test_a_node_that_is_chosen_by_a_label_only_gets_one_when_it_has_it() -> None:
    play = nodes("a", "b")
    tree = workload("DaemonSet", "agent")
    tree["spec"]["template"]["spec"]["nodeSelector"] = {"disk": "ssd"}
    play.create(tree)
    play.settle()
    assert on(play) == {}
    play.patch_node("a", {"metadata": {"labels": {"disk": "ssd"}}})
    play.settle()
    assert set(on(play)) == {"a"}
    play.patch_node("a", {"metadata": {"labels": {"disk": None}}})
    play.settle()
    assert on(play) == {}


def test_a_taint_that_keeps_pods_off_leaves_the_one_that_is_there_and_one_that_drives_them_away_does_not() -> None:
    play = nodes("a")
    play.create(workload("DaemonSet", "agent"))
    play.settle()
    play.patch_node("a", {"spec": {"taints": [{"key": "x", "effect": "NoSchedule"}]}})
    play.settle()
    assert set(on(play)) == {"a"}
    assert (status(play)["desiredNumberScheduled"], status(play)["numberMisscheduled"]) == (0, 1)
    play.patch_node("a", {"spec": {"taints": [{"key": "x", "effect": "NoExecute"}]}})
    play.settle()
    assert on(play) == {}


def test_a_cordoned_node_still_gets_its_pod() -> None:
    play = nodes("a")
    play.patch_node(
        "a",
        {
            "spec": {
                "unschedulable": True,
                "taints": [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}],
            }
        },
    )
    play.create(workload("DaemonSet", "agent"))
    play.settle()

    assert set(on(play)) == {"a"}


def test_a_failed_pod_is_replaced_and_told_of() -> None:
    play = nodes("a")
    play.create(workload("DaemonSet", "agent"))
    play.settle()
    (pod,) = play.pods()
    end(play.user, pod, 1)
    play.run(0.1)
    play.settle()

    assert play.pods()[0].uid != pod.uid
    message = f"Found failed daemon pod default/{pod.name} on node a, will try to kill it"
    assert ("Warning", "FailedDaemonPod", message) in play.events("agent")

    (pod,) = play.pods()
    end(play.user, pod, 1)
    play.run(0.5)
    assert [held.uid for held in play.pods()] == [pod.uid]
    play.run(1)
    assert pod.uid not in [held.uid for held in play.pods()]


def test_an_update_goes_node_by_node() -> None:
    play = nodes("a", "b", "c")
    play.create(workload("DaemonSet", "agent"))
    play.settle()
    play.patch("apps", "DaemonSet", "agent", image("nginx:2"))
    play.run(0.01)
    assert len(play.pods()) == 2
    play.run(60)
    assert len(play.pods()) == 2
    for _ in range(3):
        play.settle()

    assert on(play) == dict.fromkeys("abc", "nginx:2")
    assert status(play)["updatedNumberScheduled"] == 3


def test_a_broken_update_stops_at_as_many_nodes_as_may_be_unavailable() -> None:
    play = nodes("a", "b", "c", "d")
    update = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "30%"}}
    play.create(workload("DaemonSet", "agent", updateStrategy=update))
    play.settle()
    play.patch("apps", "DaemonSet", "agent", image("nginx:2"))
    for _ in range(3):
        play.settle(is_ready=False)

    assert sorted(on(play).values()) == ["nginx:1", "nginx:1", "nginx:2", "nginx:2"]
    assert status(play)["numberUnavailable"] == 2


def test_with_a_surge_the_new_pod_comes_beside_the_old_one() -> None:
    play = nodes("a", "b")
    update = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    play.create(workload("DaemonSet", "agent", updateStrategy=update))
    play.settle()
    play.patch("apps", "DaemonSet", "agent", image("nginx:2"))
    play.run(0.01)
    assert len(play.pods()) == 3
    for _ in range(3):
        play.settle()

    assert on(play) == dict.fromkeys("ab", "nginx:2")
    assert len(play.pods()) == 2
