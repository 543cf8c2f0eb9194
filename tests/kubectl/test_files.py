"""kubectl with files, folders and kustomizations, with what was applied last, and with paths as they are."""

import json
from pathlib import Path

import pytest

from tests.kubectl import manifests
from tests.kubectl.conftest import Kubectl

pytestmark = pytest.mark.both_kubectls
MAPS = "/api/v1/namespaces/default/configmaps"
SERVICE = """
apiVersion: v1
kind: Service
metadata:
  name: dns
  namespace: kube-system
  labels: {kubernetes.io/cluster-service: "true", kubernetes.io/name: CoreDNS}
spec: {selector: {k8s-app: dns}, ports: [{name: dns, port: 53, protocol: UDP}]}
"""


def settings(name: str, **data: str) -> str:
    labels = {"part": "settings"}
    metadata = {"name": name, "labels": labels}
    return json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inner = tmp_path / "manifests" / "inner"
    inner.mkdir(parents=True)
    (inner.parent / "web.yaml").write_text(manifests.DEPLOYMENT, encoding="utf-8")
    (inner / "pool.yaml").write_text(manifests.NODE_POOL, encoding="utf-8")
    return inner.parent


def test_what_is_in_a_folder_is_applied_listed_and_deleted(kubectl: Kubectl, folder: Path) -> None:
    whole = ("-R", "-f", str(folder))

    assert kubectl("apply", *whole) == "nodepool.karpenter.sh/default created\ndeployment.apps/web created\n"
    assert kubectl("apply", *whole) == "nodepool.karpenter.sh/default unchanged\ndeployment.apps/web unchanged\n"
    assert kubectl("get", *whole, "-o", "name") == "nodepool.karpenter.sh/default\ndeployment.apps/web\n"
    told = kubectl("delete", *whole).splitlines()
    assert [line.partition(" deleted")[0] for line in told] == [
        'nodepool.karpenter.sh "default"',
        'deployment.apps "web"',
    ]
    assert 'deployments.apps "web" not found' in kubectl.refused("delete", *whole)
    assert kubectl("delete", *whole, "--ignore-not-found") == ""


def test_a_kustomization_is_applied_as_it_is_built(kubectl: Kubectl, folder: Path) -> None:
    (folder / "kustomization.yaml").write_text(
        "resources: [web.yaml, inner/pool.yaml]\nnamePrefix: one-\nimages: [{name: nginx, newTag: '2'}]\n",
        encoding="ascii",
    )

    assert kubectl("apply", "-k", str(folder)) == (
        "deployment.apps/one-web created\nnodepool.karpenter.sh/one-default created\n"
    )
    path = "jsonpath={.spec.template.spec.containers[*].image}"
    assert kubectl("get", "deployment", "one-web", "-o", path) == "nginx:2"


def test_what_is_applied_no_more_is_pruned(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=settings("a", one="1") + settings("b", one="1"))
    kubectl("create", "-f", "-", stdin=settings("by-hand", one="1"))
    prune = ("apply", "--prune", "-l", "part=settings", "--prune-allowlist=core/v1/ConfigMap", "-f", "-")

    assert kubectl(*prune, stdin=settings("a", one="1")) == "configmap/a unchanged\nconfigmap/b pruned\n"
    assert kubectl("get", "configmaps", "-l", "part", "-o", "name") == "configmap/a\nconfigmap/by-hand\n"


def test_what_was_applied_last_is_shown_and_set(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=settings("a", one="1"))
    kubectl("patch", "configmap", "a", "--type=merge", "-p", '{"data": {"two": "2"}}')
    file = kubectl.home / "set.json"
    file.write_text(settings("a", two="2"), encoding="ascii")

    assert json.loads(kubectl("apply", "view-last-applied", "configmap", "a", "-o", "json"))["data"] == {"one": "1"}
    assert kubectl("apply", "set-last-applied", "-f", str(file)) == "configmap/a configured\n"
    assert kubectl("apply", "-f", "-", stdin=settings("a", three="3")) == "configmap/a configured\n"
    assert json.loads(kubectl("get", "configmap", "a", "-o", "jsonpath={.data}")) == {"one": "1", "three": "3"}


def test_paths_are_asked_as_they_are(kubectl: Kubectl) -> None:
    kubectl("create", "--raw", MAPS, "-f", "-", stdin=settings("a", one="1"))
    held = json.loads(kubectl("get", "--raw", f"{MAPS}/a"))
    kubectl("replace", "--raw", f"{MAPS}/a", "-f", "-", stdin=json.dumps({**held, "data": {"one": "2"}}))

    assert json.loads(kubectl("get", "--raw", f"{MAPS}?labelSelector=part"))["items"][0]["data"] == {"one": "2"}
    assert json.loads(kubectl("delete", "--raw", f"{MAPS}/a"))["status"] == "Success"
    assert 'configmaps "a" not found' in kubectl.refused("get", "--raw", f"{MAPS}/a")


def test_the_cluster_tells_its_version_its_services_and_all_there_is(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=SERVICE)
    kubectl("create", "-f", "-", stdin=manifests.node("n1"))

    version = json.loads(kubectl("version", "-o", "json"))["serverVersion"]
    services = kubectl("cluster-info").splitlines()[1]
    dumped = kubectl("cluster-info", "dump", "--namespaces=default")

    assert version["gitVersion"].startswith(f"v{version['major']}.{version['minor']}.")
    path = "/api/v1/namespaces/kube-system/services/dns:dns/proxy"
    assert services == f"CoreDNS is running at {kubectl.server.address}{path}"
    assert '"kind": "NodeList"' in dumped
    assert '"name": "n1"' in dumped
