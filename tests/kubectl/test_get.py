"""kubectl get: tables with a real server's columns, and every other form of output."""

import json

import pytest
import yaml

from tests.kubectl import manifests
from tests.kubectl.conftest import Kubectl

pytestmark = pytest.mark.both_kubectls


def test_a_new_cluster_has_its_namespaces_and_their_accounts(kubectl: Kubectl) -> None:
    names = kubectl("get", "ns", "-o", "name").split()
    accounts = kubectl("get", "sa", "-A", "--no-headers").splitlines()

    assert names == [f"namespace/{name}" for name in ("default", "kube-node-lease", "kube-public", "kube-system")]
    assert [line.split()[:2] for line in accounts] == [
        [name, "default"] for name in ("default", "kube-node-lease", "kube-public", "kube-system")
    ]


def test_every_form_of_output_tells_the_same_object(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=manifests.NODE_POOL)

    as_json = json.loads(kubectl("get", "nodepool", "default", "-o", "json"))
    as_yaml = yaml.safe_load(kubectl("get", "nodepool", "default", "-o", "yaml"))
    taints = kubectl("get", "nodepool", "default", "-o", "jsonpath={.spec.template.spec.startupTaints}")

    assert as_json["spec"] == as_yaml["spec"]
    assert as_json["metadata"]["resourceVersion"] == as_yaml["metadata"]["resourceVersion"]
    assert json.loads(taints) == [{"effect": "NoExecute", "key": "cilium", "value": "true"}]
    assert kubectl("get", "nodepool", "-o", "name") == "nodepool.karpenter.sh/default\n"


def test_labels_and_fields_select_and_a_path_sorts(kubectl: Kubectl) -> None:
    several = "---".join(manifests.pod(name, node) for name, node in (("b", "n1"), ("a", "n2"), ("c", "")))
    kubectl("create", "-f", "-", stdin=several)

    assert kubectl("get", "pods", "-l", "app in (a,b)", "-o", "name").split() == ["pod/a", "pod/b"]
    assert kubectl("get", "pods", "--field-selector", "spec.nodeName=n1", "-o", "name").split() == ["pod/b"]
    assert kubectl("get", "pods", "--field-selector", "spec.nodeName!=n1", "-o", "name").split() == ["pod/a", "pod/c"]
    rows = kubectl("get", "pods", "--no-headers", "--sort-by=.spec.nodeName").splitlines()
    assert [row.split()[0] for row in rows] == ["c", "b", "a"]


def test_kubectl_prints_what_it_knows_itself_where_the_server_is_to_print_nothing(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=f"{manifests.pod('a')}---{manifests.DEPLOYMENT}")

    rows = [line.split() for line in kubectl("get", "pods,deployments", "--server-print=false").splitlines()]

    assert [row[0] for row in rows if row] == ["NAME", "pod/a", "NAME", "deployment.apps/web"]
    assert rows[0] == ["NAME", "AGE"]


def test_long_lists_come_in_chunks_and_are_complete(kubectl: Kubectl) -> None:
    several = "---".join(manifests.pod(f"p{number}") for number in range(9))
    kubectl("create", "-f", "-", stdin=several)

    rows = kubectl("get", "pods", "--no-headers", "--chunk-size=2").splitlines()

    assert [row.split()[0] for row in rows] == [f"p{number}" for number in range(9)]


def test_what_is_not_there_is_not_found(kubectl: Kubectl) -> None:
    assert kubectl.refused("get", "pod", "absent") == 'Error from server (NotFound): pods "absent" not found\n'
    assert kubectl("get", "pods") == ""
    assert "the server doesn't have a resource type" in kubectl.refused("get", "nonsense")
    unserved = kubectl.refused("get", "--raw", "/api/v1/nonsense")
    assert unserved == "Error from server (NotFound): the server could not find the requested resource\n"
