"""kubectl apply and diff, on the client's and on the server's side."""

import json

import pytest

from tests.kubectl import manifests
from tests.kubectl.conftest import Kubectl

pytestmark = pytest.mark.both_kubectls

CHANGED = manifests.DEPLOYMENT.replace("nginx:1.25", "nginx:1.26").replace("replicas: 3", "replicas: 4")


def version(kubectl: Kubectl, kind: str = "deployment", name: str = "web") -> str:
    return kubectl("get", kind, name, "-o", "jsonpath={.metadata.resourceVersion}")


def test_applying_twice_changes_nothing(kubectl: Kubectl) -> None:
    assert kubectl("apply", "-f", "-", stdin=manifests.DEPLOYMENT) == "deployment.apps/web created\n"
    assert kubectl("apply", "-f", "-", stdin=manifests.DEPLOYMENT) == "deployment.apps/web unchanged\n"
    assert kubectl("apply", "-f", "-", stdin=CHANGED) == "deployment.apps/web configured\n"
    assert kubectl("apply", "-f", "-", stdin=manifests.NODE_POOL) == "nodepool.karpenter.sh/default created\n"
    assert kubectl("apply", "-f", "-", stdin=manifests.NODE_POOL) == "nodepool.karpenter.sh/default unchanged\n"
    heavier = manifests.NODE_POOL.replace("weight: 10", "weight: 20")
    assert kubectl("apply", "-f", "-", stdin=heavier) == "nodepool.karpenter.sh/default configured\n"


EMPTIES = """
apiVersion: v1
kind: ConfigMap
metadata: {name: empties, labels: {}, annotations: {}}
data: {}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: empties}
spec:
  paused: false
  strategy: {}
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}, annotations: {}}
    spec:
      nodeSelector: {}
      containers: [{name: main, image: nginx, ports: [], resources: {}}]
"""


def test_empty_values_are_forgotten_and_so_applied_anew_each_time(kubectl: Kubectl) -> None:
    assert kubectl("apply", "-f", "-", stdin=EMPTIES) == "configmap/empties created\ndeployment.apps/empties created\n"
    before = version(kubectl, name="empties")

    told = kubectl("apply", "-f", "-", stdin=EMPTIES)

    assert told == "configmap/empties configured\ndeployment.apps/empties configured\n"
    assert version(kubectl, name="empties") == before
    assert kubectl("get", "configmap", "empties", "-o", "jsonpath={.data}{.metadata.labels}") == ""
    assert (
        kubectl("get", "deployment", "empties", "-o", "jsonpath={.spec.paused}{.spec.template.spec.nodeSelector}") == ""
    )
    assert kubectl("diff", "-f", "-", stdin=EMPTIES) == ""


def test_applying_on_the_server_twice_leaves_the_object_as_it_is(kubectl: Kubectl) -> None:
    kubectl("apply", "--server-side", "-f", "-", stdin=manifests.DEPLOYMENT)
    before = version(kubectl)

    kubectl("apply", "--server-side", "-f", "-", stdin=manifests.DEPLOYMENT)

    assert version(kubectl) == before


def test_a_conflict_names_the_manager_and_the_fields(kubectl: Kubectl) -> None:
    kubectl("apply", "--server-side", "--field-manager=first", "-f", "-", stdin=manifests.DEPLOYMENT)
    arguments = ("apply", "--server-side", "--field-manager=second", "-f", "-")

    refusal = kubectl.refused(*arguments, stdin=CHANGED)

    assert 'Apply failed with 2 conflicts: conflicts with "first":' in refusal
    assert "- .spec.replicas\n" in refusal
    assert '- .spec.template.spec.containers[name="main"].image\n' in refusal
    kubectl(*arguments, "--force-conflicts", stdin=CHANGED)
    assert kubectl("get", "deployment", "web", "-o", "jsonpath={.spec.replicas}") == "4"


def test_client_side_apply_can_go_over_to_the_server(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=manifests.DEPLOYMENT)

    kubectl("apply", "--server-side", "-f", "-", stdin=CHANGED)

    assert kubectl("get", "deployment", "web", "-o", "jsonpath={.spec.replicas}") == "4"


def test_a_diff_shows_what_apply_would_do_and_does_nothing(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=manifests.DEPLOYMENT)
    before = version(kubectl)

    outcome = kubectl.run("diff", "-f", "-", stdin=CHANGED)

    assert outcome.code == 1
    assert "-  replicas: 3\n+  replicas: 4\n" in outcome.out
    assert version(kubectl) == before
    assert kubectl("diff", "-f", "-", stdin=manifests.DEPLOYMENT) == ""


def test_a_dry_run_on_the_server_stores_nothing(kubectl: Kubectl) -> None:
    told = kubectl("apply", "--dry-run=server", "-f", "-", stdin=manifests.DEPLOYMENT)

    assert told == "deployment.apps/web created (server dry run)\n"
    assert kubectl("get", "deployments") == ""


def test_a_misspelt_field_is_refused(kubectl: Kubectl) -> None:
    misspelt = manifests.DEPLOYMENT.replace("replicas", "replikas")
    pool = manifests.NODE_POOL.replace("weight", "wait")

    refusal = kubectl.refused("apply", "-f", "-", stdin=misspelt)

    assert refusal.startswith('Error from server (BadRequest): error when creating "STDIN": Deployment in version "v1"')
    assert refusal.endswith('cannot be handled as a Deployment: strict decoding error: unknown field "spec.replikas"\n')
    assert 'strict decoding error: unknown field "spec.wait"' in kubectl.refused("apply", "-f", "-", stdin=pool)


def test_a_misspelt_field_is_warned_about_where_that_is_asked_for(kubectl: Kubectl) -> None:
    misspelt = manifests.DEPLOYMENT.replace("replicas", "replikas")

    outcome = kubectl.run("apply", "--validate=warn", "-f", "-", stdin=misspelt)

    assert outcome.err == 'Warning: unknown field "spec.replikas"\n'
    assert outcome.out == "deployment.apps/web created\n"


def test_a_pool_without_a_node_class_is_refused(kubectl: Kubectl) -> None:
    lines = [line for line in manifests.NODE_POOL.splitlines() if "nodeClassRef" not in line]

    refusal = kubectl.refused("apply", "-f", "-", stdin="\n".join(lines))

    assert refusal.startswith(
        'The NodePool "default" is invalid: \n* spec.template.spec.nodeClassRef: Required value\n'
    )


def test_a_list_is_applied_as_what_is_in_it(kubectl: Kubectl) -> None:
    maps = [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}} for name in "ab"]
    listed = json.dumps({"apiVersion": "v1", "kind": "List", "items": maps})

    assert kubectl("apply", "-f", "-", stdin=listed) == "configmap/a created\nconfigmap/b created\n"
