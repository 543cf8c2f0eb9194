"""`--context`: a live cluster in place of files, or beneath them, read and never written."""

import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
import yaml

from baseload.embedded.api.cluster import Cluster
from baseload.kube import manifests
from baseload.world import embedded, kubeconfig
from tests.cli import inputs
from tests.cli.conftest import Run
from tests.cli.inputs import POOL
from tests.embedded.clock import Standing
from tests.servers.embedded import answering

SECRET = """
apiVersion: v1
kind: Secret
metadata: {name: key, namespace: default}
stringData: {key: sesame}
"""
WEB = f"{inputs.WEB}---{SECRET}"
SMALL = POOL.replace(
    "requirements:", "requirements:\n      - {key: node.kubernetes.io/instance-type, operator: In, values: [c5.xlarge]}"
)


def made(tmp_path: Path, *texts: str) -> Cluster:
    """An embedded cluster that holds manifests."""
    file = tmp_path / "begin.yaml"
    file.write_text("\n---\n".join(texts), encoding="utf-8")
    return embedded.build(None, manifests.load([str(file)]), clock=Standing()).cluster


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """A server with a NodePool and a Deployment, current in the kubeconfig."""
    with answering(made(tmp_path, POOL, WEB)) as address:
        kubeconfig.write(tmp_path / "config", address)
        yield address


def dump(address: str, *paths: str) -> str:
    """What a cluster holds, as kubectl get -o yaml prints it."""
    items = []
    for path in paths:
        with urlopen(f"{address}{path}") as answer:
            listed = json.load(answer)
        kind = {"apiVersion": listed["apiVersion"], "kind": listed["kind"].removesuffix("List")}
        items += [{**kind, **item} for item in listed["items"]]
    return yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": items})


@pytest.mark.parametrize("output", ["json", "table"])
def test_a_live_cluster_plans_as_its_dump_does(run_live: Run, address: str, tmp_path: Path, output: str) -> None:
    paths = ("/api/v1/namespaces", "/apis/apps/v1/deployments", "/apis/karpenter.sh/v1/nodepools")
    (tmp_path / "dump.yaml").write_text(dump(address, *paths))

    status, live, said = run_live("plan", "provision", "--context", "baseload", "-o", output)
    assert status == 0
    assert "web-x3" in live
    assert run_live("plan", "provision", "-f", str(tmp_path / "dump.yaml"), "-o", output)[:2] == (0, live)
    assert said.splitlines()[0].startswith(f"read from context baseload ({address}, Kubernetes v1.37")
    assert "1 Deployment, 4 namespaces, 1 NodePool" in said.splitlines()[0]


def test_only_lists_are_asked_for_and_no_secret_is_read(run_live: Run, address: str) -> None:
    assert run_live("plan", "provision", "--context", "baseload")[0] == 0

    with urlopen(f"{address}/metrics") as answer:
        text = answer.read().decode()
    counted = re.findall(r'apiserver_request_total{[^}]*,resource="([^"]*)"[^}]*,verb="([^"]*)"', text)
    assert {verb for _, verb in counted} == {"LIST"}
    asked = {resource for resource, _ in counted}
    assert {"pods", "nodes", "nodepools"} <= asked
    assert "secrets" not in asked


def test_manifests_are_added_to_the_cluster_and_take_the_place_of_what_it_has(
    run_live: Run, address: str, tmp_path: Path
) -> None:
    what_if = tmp_path / "what-if.yaml"
    what_if.write_text(SMALL + "---" + WEB.partition("---")[0].replace("name: web", "name: more"))

    status, out, said = run_live("plan", "provision", "--context", "baseload", "-f", str(what_if), "-o", "json")
    plan = json.loads(out)
    assert status == 0
    assert {claim["instanceType"] for claim in plan["nodeClaims"]} == {"c5.xlarge"}
    assert [made["workload"] for made in plan["expanded"]] == ["Deployment default/web", "Deployment default/more"]
    assert "in place of the cluster's own: NodePool default" in said.splitlines()


def test_a_pod_s_story_can_be_told_of_a_live_cluster(run_live: Run, address: str, tmp_path: Path) -> None:
    status, out, _ = run_live("explain", "pod", "web-x1", "--kubeconfig", str(tmp_path / "config"))
    assert status == 0
    assert "default/web-x1" in out


def test_without_files_and_cluster_it_is_said_how_to_name_one(run_live: Run) -> None:
    status, out, said = run_live("plan", "provision")
    assert (status, out) == (2, "")
    assert said.endswith("Error: name manifests by -f, or a cluster by --context\n")


def test_a_context_without_a_name_is_the_current_one(run_live: Run, address: str) -> None:
    named = run_live("plan", "provision", "--context", "baseload", "-o", "json")

    current = run_live("plan", "provision", "--context", "-o", "json")

    assert current == named
    assert named[0] == 0


def test_a_pod_without_a_kubeconfig_is_asked_for_its_service_account(
    run_live: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")

    status, out, said = run_live("plan", "provision", "--context")

    assert (status, out) == (2, "")
    assert said == "/var/run/secrets/kubernetes.io/serviceaccount: is no pod's service account\n"


def test_an_unknown_context_is_bad_input(run_live: Run, address: str, tmp_path: Path) -> None:
    status, out, said = run_live("plan", "provision", "--context", "baseloda")
    assert (status, out) == (2, "")
    assert said == (
        f'{tmp_path}/config: there is no context "baseloda" (did you mean "baseload"? the contexts are baseload)\n'
    )


def test_a_server_that_is_not_there_is_unreachable(run_live: Run, tmp_path: Path) -> None:
    with answering(made(tmp_path, POOL)) as address:
        kubeconfig.write(tmp_path / "config", address)
    status, out, said = run_live("plan", "provision", "--context", "baseload")
    assert (status, out) == (3, "")
    assert said == f"baseload: context baseload: cannot reach {address}: Connection refused\n"


def test_a_cluster_without_karpenter_says_so(run_live: Run, tmp_path: Path) -> None:
    cluster = made(tmp_path, WEB)
    for name in ("nodepools.karpenter.sh", "nodeclaims.karpenter.sh", "nodeoverlays.karpenter.sh"):
        resource = cluster.store.resource_of("apiextensions.k8s.io", "CustomResourceDefinition")
        assert resource is not None
        cluster.removed(cluster.store.delete(resource, "", name).record)
    pool = tmp_path / "pool.yaml"
    pool.write_text(POOL)
    with answering(cluster) as address:
        kubeconfig.write(tmp_path / "config", address)
        status, out, said = run_live("plan", "provision", "--context", "baseload", "-o", "json")
        assert status == 0
        assert json.loads(out)["totals"]["placed"] == 0
        assert "Karpenter is not installed in the cluster: it has no NodePool and no NodeClaim" in said.splitlines()
        status, out, said = run_live("plan", "provision", "--context", "baseload", "-f", str(pool), "-v", "-o", "json")
        assert json.loads(out)["totals"]["placed"] == 3
        assert "not in the cluster: NodePool of karpenter.sh/v1" in said


def test_ctrl_c_ends_a_reading_at_once(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        kubeconfig.write(tmp_path / "config", f"http://127.0.0.1:{silent.getsockname()[1]}")
        command = [sys.executable, "-m", "baseload", "plan", "provision", "--kubeconfig", str(tmp_path / "config")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            connection, _ = silent.accept()
            with connection:
                connection.recv(1)
                process.send_signal(signal.SIGINT)
                out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (130, "", "baseload: interrupted\n")
