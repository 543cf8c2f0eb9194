"""EndpointSlices: the pods behind a Service."""

from typing import Any

from tests.embedded.actors.acting import node
from tests.embedded.actors.workloads.playing import Play, workload


def service(**spec: Any) -> dict[str, Any]:
    held = {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8080}], **spec}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": held}


def slices(play: Play) -> list[dict[str, Any]]:
    held = play.user.records("discovery.k8s.io", "EndpointSlice")
    return [play.tree("discovery.k8s.io", "EndpointSlice", one.name) for one in held.values()]


def conditions(play: Play) -> list[dict[str, bool]]:
    return [one["conditions"] for tree in slices(play) for one in tree.get("endpoints") or ()]


def test_a_slice_tells_where_the_pods_are_and_whether_they_are_to_be_asked() -> None:
    play = Play()
    tree = node("n1")
    tree["metadata"]["labels"]["topology.kubernetes.io/zone"] = "a"
    play.create(tree)
    play.create(service())
    play.create(workload("Deployment", "web", 1))
    play.run(5)

    (held,) = slices(play)
    (pod,) = play.pods()
    assert held["metadata"]["labels"] == {
        "kubernetes.io/service-name": "web",
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
    }
    assert held["metadata"]["ownerReferences"][0]["kind"] == "Service"
    assert (held["addressType"], held["ports"]) == ("IPv4", [{"name": "", "port": 8080, "protocol": "TCP"}])
    assert held["endpoints"] == [
        {
            "addresses": ["10.0.0.1"],
            "conditions": {"ready": True, "serving": True, "terminating": False},
            "nodeName": "n1",
            "targetRef": {"kind": "Pod", "namespace": "default", "name": pod.name, "uid": pod.uid},
            "zone": "a",
        }
    ]


def test_a_pod_that_is_ending_is_not_ready_but_may_still_serve() -> None:
    play = Play()
    play.create(service())
    play.create(workload("ReplicaSet", "web", 1))
    play.run(5)
    play.kubelet.stop_after = 30
    play.user.delete(play.pods()[0])
    play.run(5)

    assert {"ready": False, "serving": True, "terminating": True} in conditions(play)


def test_a_pod_that_is_not_ready_is_published_where_the_service_says_so() -> None:
    for publishes in (False, True):
        play = Play()
        play.kubelet.is_broken = lambda pod: True
        play.create(service(publishNotReadyAddresses=publishes))
        play.create(workload("ReplicaSet", "web", 1))
        play.run(5)
        assert conditions(play) == [{"ready": publishes, "serving": False, "terminating": False}]


def test_at_most_a_hundred_endpoints_are_in_a_slice() -> None:
    play = Play()
    play.create(service())
    play.create(workload("ReplicaSet", "web", 230))
    play.run(10)

    assert sorted(len(tree["endpoints"]) for tree in slices(play)) == [30, 100, 100]
    play.scale("ReplicaSet", "web", 0)
    play.run(10)
    assert sum(len(tree.get("endpoints") or ()) for tree in slices(play)) == 0


def test_named_ports_are_those_of_the_containers() -> None:
    play = Play()
    play.create(service(ports=[{"name": "http", "port": 80, "targetPort": "web"}]))
    tree = workload("ReplicaSet", "web", 1)
    tree["spec"]["template"]["spec"]["containers"][0]["ports"] = [{"name": "web", "containerPort": 3000}]
    play.create(tree)
    play.run(5)

    assert [held["ports"] for held in slices(play)] == [[{"name": "http", "port": 3000, "protocol": "TCP"}]]


def test_changes_are_gathered_for_half_a_second_and_nothing_is_written_when_nothing_changed() -> None:
    play = Play()
    play.create(service())
    play.create(workload("ReplicaSet", "web", 2))
    play.run(1.2)
    assert conditions(play) == []
    play.run(0.5)
    assert len(conditions(play)) == 2
    version = play.cluster.store.version
    play.run(3600)

    assert play.cluster.store.version == version


def test_the_slices_go_with_their_service() -> None:
    play = Play()
    held = play.create(service())
    play.create(workload("ReplicaSet", "web", 2))
    play.run(5)
    play.user.delete(held)
    play.run(5)

    assert slices(play) == []
