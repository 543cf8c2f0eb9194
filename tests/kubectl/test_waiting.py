"""kubectl wait in all its forms, and delete that waits: each needs watches that begin with what is there."""

import json

import pytest

from tests.kubectl import manifests
from tests.kubectl.conftest import Kubectl
from tests.kubectl.test_watching import running
from tests.servers.asking import ask

pytestmark = pytest.mark.both_kubectls
MAP = '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}}'
POD = "/api/v1/namespaces/default/pods/a"


def test_one_waits_for_a_field_to_have_a_value(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=manifests.pod("a"))

    with running(kubectl, "wait", "--for=jsonpath={.status.phase}=Running", "pod/a", "--timeout=20s") as told:
        phase = json.dumps({"status": {"phase": "Running"}})
        kubectl("patch", "pod", "a", "--subresource=status", "--type=merge", "-p", phase)
        assert told.readline() == "pod/a condition met\n"
    assert kubectl("wait", "--for=jsonpath={.spec.containers[0].image}", "pod/a") == "pod/a condition met\n"


def test_one_waits_for_an_object_to_be_there(kubectl: Kubectl) -> None:
    with running(kubectl, "wait", "--for=create", "configmap/one", "--timeout=20s") as told:
        kubectl("create", "-f", "-", stdin=MAP)
        assert told.readline() == "configmap/one condition met\n"


def test_one_waits_for_an_object_to_be_gone(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=MAP)

    with running(kubectl, "wait", "--for=delete", "configmap/one", "--timeout=20s") as told:
        kubectl("delete", "configmap", "one")
        assert told.read() in ("configmap/one condition met\n", "")  # "" where the delete was there first
    assert kubectl("wait", "--for=delete", "configmap/one") == ""


def test_a_condition_may_be_false_or_never_come(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=manifests.pod("a"))
    false = json.dumps({"status": {"conditions": [{"type": "Ready", "status": "False"}]}})
    kubectl("patch", "pod", "a", "--subresource=status", "--type=merge", "-p", false)

    assert kubectl("wait", "--for=condition=Ready=false", "pod/a") == "pod/a condition met\n"
    assert kubectl.refused("wait", "--for=condition=Ready", "pod", "--all", "--timeout=3s") == (
        "error: timed out waiting for the condition on pods/a\n"
    )
    assert kubectl.refused("wait", "--for=condition=Ready", "pod/b") == (
        'Error from server (NotFound): pods "b" not found\n'
    )


def test_a_delete_waits_until_the_last_finalizer_is_gone(kubectl: Kubectl) -> None:
    held = MAP.replace('"name"', '"finalizers": ["example.com/hold"], "name"')
    kubectl("create", "-f", "-", stdin=held)

    with running(kubectl, "delete", "configmap", "one", "--timeout=20s") as told:
        assert told.readline().startswith('configmap "one" deleted')
        kubectl("patch", "configmap", "one", "--type=merge", "-p", '{"metadata":{"finalizers":null}}')
        assert told.read() == ""
    assert kubectl("get", "configmap", "one", "--ignore-not-found") == ""


def test_a_pod_is_deleted_with_the_grace_that_is_asked_for(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=manifests.pod("a", "n1"))

    kubectl("delete", "pod", "a", "--grace-period=77", "--wait=false")
    kubectl("delete", "pod", "a", "--grace-period=5", "--wait=false")

    _, held = ask(kubectl.server, "GET", POD)
    assert held["metadata"]["deletionGracePeriodSeconds"] == 5
    outcome = kubectl.run("delete", "pod", "a", "--force")
    assert "Immediate deletion does not wait for confirmation" in outcome.err
    assert ask(kubectl.server, "GET", POD)[0] == 404
