"""kubectl delete: what goes, what goes along, and what is waited for."""

import json

import pytest

from tests.kubectl import manifests
from tests.kubectl.conftest import Kubectl


def owned(kubectl: Kubectl) -> None:
    """A deployment with a replica set that belongs to it."""
    kubectl("create", "-f", "-", stdin=manifests.DEPLOYMENT)
    owner = json.loads(kubectl("get", "deployment", "web", "-o", "json"))
    reference = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "name": "web",
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    replica_set = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web-1", "ownerReferences": [reference]},
        "spec": {key: owner["spec"][key] for key in ("replicas", "selector", "template")},
    }
    kubectl("create", "-f", "-", stdin=json.dumps(replica_set))


@pytest.mark.parametrize(("cascade", "left"), [("background", ""), ("foreground", ""), ("orphan", "web-1")])
def test_what_belongs_to_an_object_goes_as_cascade_says(kubectl: Kubectl, cascade: str, left: str) -> None:
    owned(kubectl)

    kubectl("delete", "deployment", "web", f"--cascade={cascade}", "--timeout=30s")

    assert kubectl("get", "deployments") == ""
    if not left:
        kubectl("wait", "--for=delete", "replicaset/web-1", "--timeout=30s")
    assert kubectl("get", "replicasets", "-o", "jsonpath={.items[*].metadata.name}") == left
    assert kubectl("get", "replicasets", "-o", "jsonpath={.items[*].metadata.ownerReferences}") == ""


def test_a_finalizer_holds_an_object_until_it_is_taken_away(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=manifests.NODE_POOL)
    kubectl("patch", "nodepool", "default", "--type=merge", "-p", '{"metadata":{"finalizers":["example.com/hold"]}}')

    kubectl("delete", "nodepool", "default", "--wait=false")

    assert kubectl("get", "nodepools", "-o", "name") != ""
    kubectl("patch", "nodepool", "default", "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
    assert kubectl("get", "nodepools", "-o", "name") == ""


def test_a_running_pod_waits_for_its_kubelet_unless_forced(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=f"{manifests.pod('bound', 'n1')}---{manifests.pod('pending')}")

    kubectl("delete", "pod", "bound", "pending", "--wait=false")

    assert kubectl("get", "pods", "--no-headers").split()[:3] == ["bound", "0/1", "Terminating"]
    kubectl("delete", "pod", "bound", "--grace-period=0", "--force")
    assert kubectl("get", "pods", "-o", "name") == ""


def test_a_namespace_takes_along_what_is_in_it(kubectl: Kubectl) -> None:
    space = '{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}}'
    kubectl("create", "-f", "-", stdin=space)
    kubectl("create", "-n", "other", "-f", "-", stdin=manifests.DEPLOYMENT)
    assert kubectl("get", "serviceaccount", "-n", "other", "-o", "name") == "serviceaccount/default\n"

    kubectl("delete", "namespace", "other", "--timeout=30s")

    assert kubectl("get", "deployments", "-A") == ""
    assert "may not be deleted" in kubectl.refused("delete", "namespace", "default")


def test_everything_that_is_selected_goes(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin="---".join(manifests.pod(name) for name in "abc"))

    kubectl("delete", "pods", "-l", "app!=b")

    assert kubectl("get", "pods", "-o", "name") == "pod/b\n"
    kubectl("delete", "pods", "--all")
    assert kubectl("get", "pods", "-o", "name") == ""
