"""kubectl rollout, on a Deployment whose ReplicaSets are made by hand, since no controller of workloads runs."""

import json
from typing import Any

import pytest

from tests.kubectl import manifests
from tests.kubectl.conftest import Kubectl
from tests.kubectl.test_watching import running
from tests.servers.asking import put

pytestmark = pytest.mark.both_kubectls
DONE = {"observedGeneration": 1, "replicas": 3, "updatedReplicas": 3, "readyReplicas": 3, "availableReplicas": 3}


def rolled_out(kubectl: Kubectl) -> None:
    """A Deployment in its second revision, with the ReplicaSets of both."""
    kubectl("create", "-f", "-", stdin=manifests.DEPLOYMENT)
    owner = json.loads(kubectl("get", "deployment", "web", "-o", "json"))
    for revision, image in ((1, "nginx:1.24"), (2, "nginx:1.25")):
        put(kubectl.server, replica_set(owner, revision, image))


def replica_set(owner: dict[str, Any], revision: int, image: str) -> dict[str, Any]:
    labels = {"app": "web", "pod-template-hash": f"h{revision}"}
    template = {**owner["spec"]["template"], "metadata": {"labels": labels}}
    template["spec"] = {**template["spec"], "containers": [{"name": "main", "image": image}]}
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "controller": True}
    metadata = {
        "name": f"web-h{revision}",
        "labels": labels,
        "annotations": {"deployment.kubernetes.io/revision": str(revision)},
        "ownerReferences": [{**reference, "uid": owner["metadata"]["uid"]}],
    }
    spec = {"replicas": 0, "selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": spec}


def status(kubectl: Kubectl, **fields: int) -> None:
    """What the Deployment's controller would write."""
    told = json.dumps({"status": {**DONE, **fields}})
    kubectl("patch", "deployment", "web", "--subresource=status", "--type=merge", "-p", told)


def image(kubectl: Kubectl) -> str:
    return kubectl("get", "deployment", "web", "-o", "jsonpath={.spec.template.spec.containers[0].image}")


def test_the_history_lists_revisions_and_shows_one(kubectl: Kubectl) -> None:
    rolled_out(kubectl)

    listed = kubectl("rollout", "history", "deployment/web")
    shown = kubectl("rollout", "history", "deployment/web", "--revision=1")

    assert listed.splitlines()[1:4] == ["REVISION  CHANGE-CAUSE", "1         <none>", "2         <none>"]
    assert "Image:\tnginx:1.24" in shown


def test_undo_brings_an_earlier_template_back(kubectl: Kubectl) -> None:
    rolled_out(kubectl)

    assert kubectl("rollout", "undo", "deployment/web") == "deployment.apps/web rolled back\n"
    assert image(kubectl) == "nginx:1.24"
    assert kubectl("rollout", "undo", "deployment/web", "--to-revision=2") == "deployment.apps/web rolled back\n"
    assert image(kubectl) == "nginx:1.25"
    assert "unable to find specified revision 7" in kubectl.refused(
        "rollout", "undo", "deployment/web", "--to-revision=7"
    )


def test_the_status_waits_until_the_last_replica_is_available(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=manifests.DEPLOYMENT)
    status(kubectl, updatedReplicas=1, readyReplicas=1, availableReplicas=1)

    with running(kubectl, "rollout", "status", "deployment/web", "--timeout=20s") as told:
        first = told.readline()
        status(kubectl, availableReplicas=2, readyReplicas=2)
        second = told.readline()
        status(kubectl)
        last = told.readline()

    head = 'Waiting for deployment "web" rollout to finish: '
    assert first == head + "1 out of 3 new replicas have been updated...\n"
    assert second == head + "2 of 3 updated replicas are available...\n"
    assert last == 'deployment "web" successfully rolled out\n'


def test_the_status_ends_when_its_time_is_over(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=manifests.DEPLOYMENT)

    assert kubectl.refused("rollout", "status", "deployment/web", "--timeout=3s").endswith(
        "error: timed out waiting for the condition\n"
    )


def test_a_rollout_is_paused_resumed_and_restarted(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=manifests.DEPLOYMENT)

    assert kubectl("rollout", "pause", "deployment/web") == "deployment.apps/web paused\n"
    assert "can't restart paused deployment" in kubectl.refused("rollout", "restart", "deployment/web")
    assert "is already paused" in kubectl.refused("rollout", "pause", "deployment/web")
    assert kubectl("rollout", "resume", "deployment/web") == "deployment.apps/web resumed\n"
    assert kubectl("rollout", "restart", "deployment/web") == "deployment.apps/web restarted\n"
    path = r"jsonpath={.spec.template.metadata.annotations.kubectl\.kubernetes\.io/restartedAt}"
    assert kubectl("get", "deployment", "web", "-o", path) != ""
