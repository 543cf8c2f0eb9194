"""What kubectl tells of usage."""

import pytest

from tests.kubectl.conftest import Kubectl

pytestmark = pytest.mark.embedded_only("usage is worked out")
OBJECTS = """
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {pool: a}}
---
apiVersion: v1
kind: Pod
metadata: {name: big, labels: {app: big}}
spec:
  nodeName: n1
  containers:
  - {name: main, image: "nginx:1", resources: {requests: {cpu: 500m, memory: 1Gi}}}
  - {name: side, image: "nginx:1", resources: {requests: {cpu: 10m, memory: 8Mi}}}
---
apiVersion: v1
kind: Pod
metadata: {name: small, labels: {app: small}}
spec: {nodeName: n1, containers: [{name: main, image: "nginx:1", resources: {requests: {cpu: 20m, memory: 16Mi}}}]}
"""
CAPACITY = '{"status":{"capacity":{"cpu":"4","memory":"8Gi"},"allocatable":{"cpu":"4","memory":"4Gi"}}}'
RUNNING = '{"status":{"phase":"Running"}}'


@pytest.fixture
def measured(kubectl: Kubectl) -> Kubectl:
    kubectl("apply", "-f", "-", stdin=OBJECTS)
    kubectl("patch", "node", "n1", "--subresource=status", "--type=merge", "-p", CAPACITY)
    for pod in ("big", "small"):
        kubectl("patch", "pod", pod, "--subresource=status", "--type=merge", "-p", RUNNING)
    return kubectl


def test_nodes_use_what_their_pods_request(measured: Kubectl) -> None:
    assert [line.split() for line in measured("top", "node").splitlines()] == [
        ["NAME", "CPU(cores)", "CPU(%)", "MEMORY(bytes)", "MEMORY(%)"],
        ["n1", "530m", "13%", "1048Mi", "25%"],
    ]
    assert measured("top", "node", "-l", "pool=a", "--no-headers").split()[0] == "n1"


def test_pods_are_told_sorted_summed_and_by_container(measured: Kubectl) -> None:
    def rows(*options: str) -> list[list[str]]:
        return [line.split() for line in measured("top", "pod", *options).splitlines()]

    assert rows("--sort-by=cpu") == [
        ["NAME", "CPU(cores)", "MEMORY(bytes)"],
        ["big", "510m", "1032Mi"],
        ["small", "20m", "16Mi"],
    ]
    assert rows("--containers", "-l", "app=big", "--no-headers") == [
        ["big", "main", "500m", "1024Mi"],
        ["big", "side", "10m", "8Mi"],
    ]
    assert rows("-A", "--sum", "--no-headers")[-1] == ["530m", "1048Mi"]
    assert rows("small", "--no-headers") == [["small", "20m", "16Mi"]]
