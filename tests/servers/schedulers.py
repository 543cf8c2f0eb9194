"""A real kube-scheduler beside a real API server, and random clusters posted to it."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from baseload.kube.types import core
from tests.servers.asking import MERGE, ask
from tests.servers.port import Server
from tests.servers.real import Real, free_ports, program

PROGRAM = "kube-scheduler"
PRIORITIES = {0: "", 10: "low", 50: "mid", 100: "high"}
_LONGEST = 20.0  # seconds until a pod is decided on
_SEEN = 0.1  # seconds in which a scheduler hears of nodes and pods, on watches of their own
_LABEL = {"drawn": "yes"}


@contextmanager
def scheduling(real: Real, assets: Path, folder: Path) -> Iterator[None]:
    """Runs the scheduler until the end of the block."""
    real.write_kubeconfig(folder / "kubeconfig")
    (port,) = free_ports(1)
    command = [
        str(assets / PROGRAM),
        f"--kubeconfig={folder / 'kubeconfig'}",
        f"--secure-port={port}",
        "--bind-address=127.0.0.1",
        f"--cert-dir={folder / 'scheduler'}",
        "--leader-elect=false",
        "--kube-api-qps=1000",
        "--kube-api-burst=2000",
    ]
    with program(folder, command):
        yield


def furnish(server: Server) -> None:
    """The namespaces and priorities of drawn pods."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other", "labels": {"team": "b"}}}
    assert ask(server, "POST", "/api/v1/namespaces", namespace)[0] in (201, 409)
    for value, name in PRIORITIES.items():
        tree = {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
        }
        if name:
            assert ask(server, "POST", "/apis/scheduling.k8s.io/v1/priorityclasses", tree)[0] in (201, 409)
    end = time.monotonic() + _LONGEST
    while ask(server, "GET", "/api/v1/namespaces/other/serviceaccounts/default")[0] != 200:
        assert time.monotonic() < end, "the namespace has no service account"
        time.sleep(0.05)


def post(server: Server, nodes: Sequence[core.Node], pods: Sequence[core.Pod]) -> None:
    """Creates nodes, and pods that run on them."""
    for node in nodes:
        tree = _tree(node)
        taints = tree.get("spec", {}).get("taints", [])
        code, answer = ask(server, "POST", "/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", **tree})
        assert code == 201, answer
        # Admission adds the taint of a node that is not ready.
        where = f"/api/v1/nodes/{node.metadata.name}"
        code, answer = ask(server, "PATCH", where, {"spec": {"taints": taints}}, media_type=MERGE)
        assert code == 200, answer
    for pod in pods:
        create(server, pod)
        started = {"status": {"startTime": pod.status.start_time}}
        code, answer = ask(server, "PATCH", f"{_path(pod)}/status", started, media_type=MERGE)
        assert code == 200, answer
        if pod.metadata.deletion_timestamp:
            code, answer = ask(server, "DELETE", _path(pod))
            assert code == 200, answer
    time.sleep(_SEEN)


def create(server: Server, pod: core.Pod) -> None:
    code, answer = ask(server, "POST", _path(pod).rpartition("/")[0], pod_tree(pod))
    assert code == 201, answer


def pod_tree(pod: core.Pod) -> dict[str, Any]:
    """A drawn pod as a user would write it."""
    tree = _tree(pod)
    metadata, spec = tree["metadata"], tree["spec"]
    tree.pop("status", None)
    for name in ("uid", "deletionTimestamp"):
        metadata.pop(name, None)
    for container in spec["containers"]:
        container["image"] = "nginx:1"
    for constraint in spec.get("topologySpreadConstraints", ()):
        constraint.setdefault("maxSkew", 1)
    priority = PRIORITIES[spec.pop("priority", 0)]
    if priority:
        spec["priorityClassName"] = priority
    return {"apiVersion": "v1", "kind": "Pod", **tree}


def decided(server: Server, pod: core.Pod) -> dict[str, Any]:
    """The pod once the scheduler has placed it, or said that it cannot."""
    end = time.monotonic() + _LONGEST
    while True:
        found: dict[str, Any] = ask(server, "GET", _path(pod))[1]
        if found["spec"].get("nodeName") or condition(found):
            return found
        assert time.monotonic() < end, f"nothing is decided about {pod.metadata.name}"
        time.sleep(0.01)


def condition(tree: dict[str, Any]) -> str:
    """What a pod says about why it was not placed."""
    told = (held for held in tree["status"].get("conditions", []) if held["type"] == "PodScheduled")
    return next((str(held.get("message", "")) for held in told), "")


def ending(server: Server) -> set[str]:
    """The pods that were deleted and are still there."""
    items = ask(server, "GET", "/api/v1/pods")[1]["items"]
    return {item["metadata"]["name"] for item in items if "deletionTimestamp" in item["metadata"]}


def ended(server: Server, before: set[str], expected: set[str]) -> set[str]:
    """The pods that were deleted since, when those are that should be: a scheduler deletes them beside its cycles."""
    end = time.monotonic() + 2
    while (found := ending(server) - before) != expected and time.monotonic() < end:
        time.sleep(0.02)
    return found


def clear(server: Server) -> None:
    """Removes all pods and nodes at once."""
    for item in ask(server, "GET", "/api/v1/pods")[1]["items"]:
        where = f"/api/v1/namespaces/{item['metadata']['namespace']}/pods/{item['metadata']['name']}"
        ask(server, "DELETE", where, {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0})
    for item in ask(server, "GET", "/api/v1/nodes")[1]["items"]:
        ask(server, "DELETE", f"/api/v1/nodes/{item['metadata']['name']}")


def _path(pod: core.Pod) -> str:
    return f"/api/v1/namespaces/{pod.metadata.namespace}/pods/{pod.metadata.name}"


def _tree(one: core.Node | core.Pod) -> dict[str, Any]:
    return msgspec.json.decode(msgspec.json.encode(one), type=dict[str, Any])
