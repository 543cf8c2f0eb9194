"""What `baseload top` tells of nodes, NodeClaims, pods and NodePools."""

from typing import Any

import msgspec
import pytest

from baseload.decide.overview import Sort, overview
from baseload.kube import manifests
from baseload.kube.sources import Source
from baseload.model.fold import Change, fold
from baseload.model.view import View
from baseload.plan.overview import NodeRow, Overview
from baseload.values import instant, selector

NOW = instant.parse("2026-11-30T12:00:00Z")
Tree = dict[str, Any]
READY = [{"type": "Ready", "status": "True"}]


def node(
    name: str, *, labels: Tree | None = None, conditions: Any = READY, meta: Tree | None = None, **spec: Any
) -> Tree:
    usual = {
        "node.kubernetes.io/instance-type": "m5.large",
        "topology.kubernetes.io/zone": "us-east-1a",
        "karpenter.sh/capacity-type": "spot",
        "karpenter.sh/nodepool": "default",
        "karpenter.sh/initialized": "true",
    }
    metadata = {"name": name, "labels": {**usual, **(labels or {})}, "creationTimestamp": "2026-11-30T11:00:00Z"}
    status = {"allocatable": {"cpu": "2", "memory": "4Gi", "pods": "10"}, "conditions": conditions}
    spec = {"providerID": f"aws:///us-east-1a/i-{name}", **spec}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {**metadata, **(meta or {})},
        "spec": spec,
        "status": status,
    }


def claim(name: str, *conditions: tuple[str, str, str], of: str = "", **meta: Any) -> Tree:
    status: Tree = {"conditions": [{"type": t, "status": s, "reason": r} for t, s, r in conditions]}
    if of:
        status["providerID"] = f"aws:///us-east-1a/i-{of}"
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {"name": name, **meta},
        "spec": {
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "x"},
            "requirements": [],
        },
        "status": status,
    }


def pod(
    name: str, on: str = "", phase: str = "Running", *, ready: str = "True", message: str = "", **meta: Any
) -> Tree:
    asked = {"requests": {"cpu": "500m", "memory": "1Gi"}}
    conditions = [{"type": "Ready", "status": ready}] if on else []
    if message:
        conditions.append({"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message})
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", **meta},
        "spec": {
            "containers": [{"name": "main", "image": "x", "resources": asked}],
            **({"nodeName": on} if on else {}),
        },
        "status": {"phase": phase, "conditions": conditions},
    }


def view(*trees: Tree) -> View:
    text = msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": list(trees)})
    read = manifests.of_texts([Source("test", text)], validate="ignore")
    changes = [
        Change(f.api_version, f.kind, f.namespace, f.name, False, reading)
        for f, reading in zip(read.found, read.readings, strict=True)
    ]
    return fold(View(), changes)


def price(*, region: str, zone: str, instance_type: str, capacity_type: str) -> tuple[float | None, bool]:
    known = {("m5.large", "spot"): (0.04, True), ("m5.large", "on-demand"): (0.096, False)}
    return known.get((instance_type, capacity_type), (None, False))


def seen(*trees: Tree, sort: Sort = "name", only: str | None = None) -> Overview:
    return overview(view(*trees), NOW, price, sort=sort, selector=selector.parse(only) if only else None)


def the(*trees: Tree) -> NodeRow:
    [row] = seen(*trees).nodes
    return row


def test_a_node_is_as_full_as_what_its_pods_request_and_pods_that_are_over_request_nothing() -> None:
    row = the(node("a"), pod("one", "a"), pod("two", "a"), pod("done", "a", "Succeeded"))
    assert (row.fill("cpu"), row.fill("memory"), row.fill("pods")) == (0.5, 0.5, 0.2)
    assert [held.name for held in row.pods] == ["shop/one", "shop/two"]
    assert (row.price_per_hour, row.estimated) == (0.04, True)


def test_a_node_group_of_eks_says_in_its_own_labels_how_it_is_paid_for() -> None:
    labels = {
        "karpenter.sh/capacity-type": "",
        "karpenter.sh/nodepool": "",
        "eks.amazonaws.com/capacityType": "ON_DEMAND",
        "eks.amazonaws.com/nodegroup": "floor",
    }
    row = the(node("a", labels=labels))
    assert (row.capacity_type, row.node_pool, row.price_per_hour) == ("on-demand", "floor", 0.096)


ENDS = {"deletionTimestamp": "2026-11-30T11:59:00Z"}
STARTS = {"karpenter.sh/initialized": ""}
DISRUPTED = [{"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}]


def says(status: str, reason: str) -> list[Tree]:
    return [{"type": "Ready", "status": status, "reason": reason}]


@pytest.mark.parametrize(
    ("trees", "state", "reason"),
    [
        ([node("a")], "Ready", ""),
        ([node("a", conditions=[])], "NotReady", ""),
        ([node("a", conditions=says("False", "KubeletNotReady"))], "NotReady", "KubeletNotReady"),
        ([node("a", conditions=says("Unknown", "NodeStatusUnknown"))], "Unknown", "NodeStatusUnknown"),
        ([node("a", unschedulable=True)], "Cordoned", ""),
        ([node("a", taints=DISRUPTED)], "Disrupted", ""),
        ([node("a", meta=ENDS)], "Terminating", ""),
        ([node("a"), claim("c", of="a", **ENDS)], "Terminating", ""),
        (
            [node("a", labels=STARTS), claim("c", ("Initialized", "Unknown", "StartupTaintsExist"), of="a")],
            "Initializing",
            "StartupTaintsExist",
        ),
    ],
)
def test_a_node_is_in_the_state_that_people_look_for(trees: list[Tree], state: str, reason: str) -> None:
    row = the(*trees)
    assert (row.state, row.reason) == (state, reason)


@pytest.mark.parametrize(
    ("conditions", "state", "reason"),
    [
        ([], "Launching", ""),
        ([("Launched", "Unknown", "AwaitingReconciliation")], "Launching", ""),
        ([("Launched", "Unknown", "LaunchFailed")], "Launching", "LaunchFailed"),
        ([("Launched", "True", "Launched"), ("Registered", "Unknown", "NodeNotFound")], "Booting", "NodeNotFound"),
        ([("Launched", "True", ""), ("Registered", "True", "")], "NodeGone", ""),
    ],
)
def test_a_claim_without_a_node_says_how_far_it_is(conditions: Any, state: str, reason: str) -> None:
    found = seen(node("a"), claim("with", of="a"), claim("without", *conditions, of="b" if conditions else ""))
    assert [row.claim for row in found.nodes] == ["with"]
    [row] = found.coming
    assert (row.name, row.state, row.reason) == ("without", state, reason)


def test_pods_without_a_node_wait_with_the_schedulers_words_and_the_eldest_comes_first() -> None:
    found = seen(
        pod("young", phase="Pending", creationTimestamp="2026-11-30T11:59:50Z"),
        pod("old", phase="Pending", creationTimestamp="2026-11-30T11:50:00Z", message="0/1 nodes are available"),
        pod("bound", "a", phase="Pending", ready="False"),
        pod("ill", "a", ready="False"),
        pod("gone", "a", deletionTimestamp="2026-11-30T11:59:00Z"),
    )
    assert [(row.name, row.reason) for row in found.pending] == [
        ("shop/old", "0/1 nodes are available"),
        ("shop/young", ""),
    ]
    assert found.pods == {"NotReady": 1, "Pending": 2, "Starting": 1, "Terminating": 1}


@pytest.mark.parametrize(
    ("sort", "names"),
    [("name", "abc"), ("price", "bac"), ("age", "cab"), ("cpu", "cab"), ("memory", "cab")],
)
def test_the_dearest_the_fullest_and_the_youngest_come_first(sort: Sort, names: str) -> None:
    unknown = {"node.kubernetes.io/instance-type": "x9.large"}
    found = seen(
        node("b", labels={"karpenter.sh/capacity-type": "on-demand"}),
        node("c", labels=unknown, meta={"creationTimestamp": "2026-11-30T11:30:00Z"}),
        node("a"),
        pod("one", "c"),
        sort=sort,
    )
    assert "".join(row.name for row in found.nodes) == names
    assert found.unpriced == 1


def test_a_selector_leaves_nodes_out_and_no_pod_that_waits() -> None:
    found = seen(node("a"), node("b", labels={"team": "x"}), claim("c"), pod("p", phase="Pending"), only="team=x")
    assert [row.name for row in found.nodes] == ["b"]
    assert found.coming == ()
    assert len(found.pending) == 1
