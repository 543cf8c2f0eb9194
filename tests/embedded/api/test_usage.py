"""What pods and nodes are told to use."""

from typing import Any, Final

import pytest

from baseload.embedded.api import usage
from tests.embedded.api.calling import MERGE, PODS, Server

METRICS: Final = "/apis/metrics.k8s.io/v1beta1"
MI: Final = 2**20 * 10**9


def pod(name: str, node: str, **requests: str) -> dict[str, Any]:
    containers = [
        {"name": "main", "image": "nginx:1", "resources": {"requests": requests}},
        {"name": "idle", "image": "nginx:1"},
    ]
    return {
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {"nodeName": node, "containers": containers},
    }


@pytest.fixture
def measuring() -> Server:
    server = Server()
    for kind in usage.kinds(usage.requested):
        server.cluster.kinds.add(kind)
    for node in ("n1", "n2"):
        server.call("POST", "/api/v1/nodes", {"metadata": {"name": node}})
    for body in (
        pod("a", "n1", cpu="250m", memory="64Mi"),
        pod("b", "n1", cpu="1", memory="1Gi"),
        pod("waits", "n1", cpu="8"),
    ):
        assert server.call("POST", PODS, body).code == 201
    for name in ("a", "b"):
        server.call("PATCH", f"{PODS}/{name}/status", {"status": {"phase": "Running"}}, MERGE)
    return server


def test_a_running_pod_uses_what_it_requests_and_others_are_not_measured(measuring: Server) -> None:
    told = measuring.call("GET", f"{METRICS}/namespaces/default/pods").tree

    assert (told["kind"], [item["metadata"]["name"] for item in told["items"]]) == ("PodMetricsList", ["a", "b"])
    first = told["items"][0]
    assert (first["kind"], first["apiVersion"]) == ("PodMetrics", "metrics.k8s.io/v1beta1")
    assert first["containers"] == [
        {"name": "main", "usage": {"cpu": "250m", "memory": "64Mi"}},
        {"name": "idle", "usage": {"cpu": "0", "memory": "0"}},
    ]
    assert measuring.call("GET", f"{METRICS}/namespaces/default/pods/a").tree == first


def test_a_node_uses_what_its_pods_use_together(measuring: Server) -> None:
    told = measuring.call("GET", f"{METRICS}/nodes").tree

    used = {item["metadata"]["name"]: item["usage"] for item in told["items"]}
    assert used == {"n1": {"cpu": "1250m", "memory": "1088Mi"}, "n2": {"cpu": "0", "memory": "0"}}
    assert measuring.call("GET", f"{METRICS}/nodes/n1").tree["usage"] == used["n1"]


def test_labels_select_what_is_measured(measuring: Server) -> None:
    for path in (f"{METRICS}/pods", f"{METRICS}/namespaces/default/pods"):
        told = measuring.call("GET", f"{path}?labelSelector=app%3Db").tree
        assert [item["metadata"]["name"] for item in told["items"]] == ["b"]
    assert measuring.call("GET", f"{METRICS}/namespaces/other/pods").tree["items"] == []


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("namespaces/default/pods/waits", 'podmetrics.metrics.k8s.io "default/waits" not found'),
        ("nodes/absent", 'nodemetrics.metrics.k8s.io "absent" not found'),
    ],
)
def test_what_is_not_measured_is_not_found(measuring: Server, path: str, message: str) -> None:
    answer = measuring.call("GET", f"{METRICS}/{path}")

    assert (answer.code, answer.reason, answer.message) == (404, "NotFound", message)


def test_whoever_hands_in_a_function_says_what_is_used(measuring: Server) -> None:
    for kind in usage.kinds(lambda pod: {pod.name: {"cpu": 10**9, "memory": 5 * MI}}):
        measuring.cluster.kinds.add(kind)

    told = measuring.call("GET", f"{METRICS}/namespaces/default/pods/a").tree
    assert told["containers"] == [{"name": "a", "usage": {"cpu": "1", "memory": "5Mi"}}]
    assert measuring.call("GET", f"{METRICS}/nodes/n1").tree["usage"] == {"cpu": "2", "memory": "10Mi"}


def test_measurements_are_only_read(measuring: Server) -> None:
    assert measuring.call("POST", f"{METRICS}/namespaces/default/pods", {}).code == 405
    assert measuring.call("GET", f"{METRICS}/nodes?watch=1").code == 405
