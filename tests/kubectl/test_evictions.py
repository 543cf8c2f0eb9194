"""Evictions as kubectl drain makes them: which pods it refuses to touch, and what a disruption budget allows."""

import json
from typing import Any

import pytest

from tests.kubectl.conftest import Kubectl
from tests.servers.asking import ask, put

pytestmark = pytest.mark.both_kubectls
DRAIN = ("drain", "n1", "--grace-period=0")
POD = "/api/v1/namespaces/default/pods/web"
READY = [{"type": "Ready", "status": "True"}]


def pod(kubectl: Kubectl, **status: Any) -> None:
    """A pod that runs on a node and is ready, or as is said."""
    labels = {"app": "web"}
    spec = {"nodeName": "n1", "containers": [{"name": "main", "image": "nginx"}]}
    told = {"phase": "Running", "conditions": READY, **status}
    metadata = {"name": "web", "labels": labels}
    put(kubectl.server, {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": told})


def budget(kubectl: Kubectl, name: str = "web", policy: str | None = None, **status: Any) -> None:
    """A budget with the status that the disruption controller would write."""
    spec: dict[str, Any] = {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    if policy:
        spec["unhealthyPodEvictionPolicy"] = policy
    counted = {"observedGeneration": 1, "disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 1}
    told = {**counted, "expectedPods": 1, **status}
    tree = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name}, "spec": spec}
    put(kubectl.server, {**tree, "status": told})


def evict(kubectl: Kubectl, **options: Any) -> tuple[int, Any]:
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "web"}}
    return ask(kubectl.server, "POST", f"{POD}/eviction", {**eviction, **options})


def refusal(answer: tuple[int, Any]) -> tuple[int, str, list[str]]:
    code, told = answer
    return code, told["message"], [cause["message"] for cause in told.get("details", {}).get("causes", [])]


FULL = "Cannot evict pod as it would violate the pod's disruption budget."


def test_a_drain_names_the_pods_that_it_will_not_touch(kubectl: Kubectl) -> None:
    put(kubectl.server, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}})
    pod(kubectl)
    volume = {"name": "data", "emptyDir": {}}
    local = {"nodeName": "n1", "volumes": [volume], "containers": [{"name": "main", "image": "nginx"}]}
    put(kubectl.server, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "local"}, "spec": local})

    told = kubectl.refused(*DRAIN)

    assert "cannot delete Pods that declare no controller (use --force to override): default/" in told
    assert "cannot delete Pods with local storage (use --delete-emptydir-data to override): default/local" in told
    drained = kubectl(*DRAIN, "--force", "--delete-emptydir-data")
    assert drained.endswith("node/n1 drained\n")
    assert kubectl("get", "pods", "-o", "name") == ""


def test_pods_of_daemon_sets_stay(kubectl: Kubectl) -> None:
    put(kubectl.server, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}})
    template: dict[str, Any] = {"metadata": {"labels": {"app": "agent"}}}
    template["spec"] = {"containers": [{"name": "main", "image": "agent"}]}
    spec = {"selector": {"matchLabels": {"app": "agent"}}, "template": template}
    put(kubectl.server, {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent"}, "spec": spec})
    uid = kubectl("get", "daemonset", "agent", "-o", "jsonpath={.metadata.uid}")
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": uid, "controller": True}
    metadata = {"name": "agent-1", "ownerReferences": [owner]}
    running = {**template["spec"], "nodeName": "n1"}
    put(kubectl.server, {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": running})

    assert "cannot delete DaemonSet-managed Pods" in kubectl.refused(*DRAIN)
    outcome = kubectl.run(*DRAIN, "--ignore-daemonsets")
    assert outcome.out == "node/n1 already cordoned\nnode/n1 drained\n"
    assert outcome.err == "Warning: ignoring DaemonSet-managed Pods: default/agent-1\n"
    assert kubectl("get", "pods", "-o", "name") == "pod/agent-1\n"


def test_a_budget_with_nothing_left_refuses_and_says_how_many_it_needs(kubectl: Kubectl) -> None:
    pod(kubectl)
    budget(kubectl)

    assert refusal(evict(kubectl)) == (
        429,
        FULL,
        ["The disruption budget web needs 1 healthy pods and has 1 currently"],
    )


def test_a_budget_that_its_controller_has_not_seen_refuses_for_a_while(kubectl: Kubectl) -> None:
    pod(kubectl)
    budget(kubectl, observedGeneration=0)

    answer = evict(kubectl)

    assert refusal(answer) == (429, FULL, ["The disruption budget web is still being processed by the server."])
    assert answer[1]["details"]["retryAfterSeconds"] == 10


def test_two_budgets_for_one_pod_are_one_too_many(kubectl: Kubectl) -> None:
    pod(kubectl)
    budget(kubectl, "one", disruptionsAllowed=1)
    budget(kubectl, "two", disruptionsAllowed=1)

    code, told = evict(kubectl)

    assert (code, told["message"]) == (
        500,
        "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
    )


@pytest.mark.parametrize(
    ("policy", "healthy", "wanted", "goes"),
    [
        (None, 1, 1, True),
        (None, 0, 1, False),
        (None, 0, 0, False),
        ("IfHealthyBudget", 1, 1, True),
        ("AlwaysAllow", 0, 1, True),
    ],
)
def test_a_pod_that_is_not_ready_goes_as_the_policy_says(
    kubectl: Kubectl, policy: str | None, healthy: int, wanted: int, goes: bool
) -> None:
    pod(kubectl, conditions=[])
    budget(kubectl, policy=policy, currentHealthy=healthy, desiredHealthy=wanted)

    assert evict(kubectl)[0] == (201 if goes else 429)
    left = kubectl("get", "pdb", "web", "-o", "jsonpath={.status.disruptedPods}")
    assert left == ""


def test_what_has_ended_goes_whatever_the_budget(kubectl: Kubectl) -> None:
    pod(kubectl, phase="Succeeded")
    budget(kubectl)

    assert evict(kubectl)[0] == 201


def test_an_allowed_eviction_is_booked_and_marks_the_pod(kubectl: Kubectl) -> None:
    pod(kubectl)
    budget(kubectl, disruptionsAllowed=1, currentHealthy=2)

    code, told = evict(kubectl, deleteOptions={"gracePeriodSeconds": 30})

    _, left = ask(kubectl.server, "GET", "/apis/policy/v1/namespaces/default/poddisruptionbudgets/web")
    _, marked = ask(kubectl.server, "GET", POD)
    (condition,) = [it for it in marked["status"]["conditions"] if it["type"] == "DisruptionTarget"]
    assert (code, told["status"]) == (201, "Success")
    assert (left["status"]["disruptionsAllowed"], list(left["status"]["disruptedPods"])) == (0, ["web"])
    assert (condition["status"], condition["reason"]) == ("True", "EvictionByEvictionAPI")
    assert condition["message"] == "Eviction API: evicting"
    assert marked["metadata"]["deletionGracePeriodSeconds"] == 30


def test_a_dry_eviction_changes_nothing(kubectl: Kubectl) -> None:
    pod(kubectl)
    budget(kubectl, disruptionsAllowed=1, currentHealthy=2)

    code, _ = evict(kubectl, deleteOptions={"dryRun": ["All"]})

    _, left = ask(kubectl.server, "GET", "/apis/policy/v1/namespaces/default/poddisruptionbudgets/web")
    assert (code, left["status"]["disruptionsAllowed"]) == (201, 1)
    assert kubectl("get", "pods", "-o", "name") == "pod/web\n"


def test_an_eviction_of_another_pod_than_the_path_names_is_refused(kubectl: Kubectl) -> None:
    pod(kubectl)

    assert refusal(evict(kubectl, metadata={"name": "other"}))[:2] == (
        400,
        "name in URL does not match name in Eviction object",
    )
    uid = {"preconditions": {"uid": "not-that-one"}}
    code, told, _ = refusal(evict(kubectl, deleteOptions=uid))
    assert code == 409
    assert "the UID in the precondition (not-that-one) does not match the UID in record" in told


def test_evictions_of_pods_that_are_not_there_are_not_found(kubectl: Kubectl) -> None:
    assert refusal(evict(kubectl))[:2] == (404, 'pods "web" not found')
    assert json.dumps(evict(kubectl)[1]["details"]) == '{"name": "web", "kind": "pods"}'
