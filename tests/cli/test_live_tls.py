"""`--context` against `serve --tls`, with the kubeconfig that the server wrote, and with users of less power."""

import asyncio
import base64
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
import yaml

from baseload.kube.client import kubeconfig
from baseload.kube.client.errors import Forbidden
from baseload.kube.client.port import Resource
from baseload.timeline.wall import WallClock
from baseload.world import clients
from tests.cli.conftest import Run
from tests.cli.inputs import POOL
from tests.cli.servers import running
from tests.cli.test_live import WEB
from tests.servers import kubectls

LISTED = (
    "pods,nodes,nodeclaims,nodepools,ec2nodeclasses,daemonsets,deployments.apps,replicasets.apps,statefulsets,pdb,pvc,"
    "pv,sc,csinodes,namespaces,services"
)


@pytest.fixture
def begin(tmp_path: Path) -> Path:
    """The manifests that the server begins with."""
    file = tmp_path / "begin.yaml"
    file.write_text(f"{POOL}\n---\n{WEB}")
    return file


def kubectl(folder: Path, *arguments: str, stdin: str = "") -> str:
    environment = {**os.environ, "KUBECONFIG": str(folder / "config"), "HOME": str(folder)}
    command = [str(kubectls.program(kubectls.NEW)), *arguments]
    return subprocess.run(command, input=stdin, env=environment, capture_output=True, text=True, check=True).stdout


def known_as(folder: Path, user: dict[str, object]) -> str:
    """A further kubeconfig, of the same server for another user."""
    config = yaml.safe_load((folder / "config").read_text())
    config["users"][0]["user"] = user
    (folder / "other").write_text(yaml.safe_dump(config))
    return str(folder / "other")


def test_the_kubeconfig_that_serve_writes_is_enough_and_plans_as_kubectl_s_dump_does(
    run_live: Run, begin: Path, tmp_path: Path
) -> None:
    with running("serve", "--tls", "--kubeconfig", str(tmp_path / "config"), "-f", str(begin)) as (address, _):
        assert address.startswith("https://")
        for output in ("json", "table"):
            status, live, said = run_live("plan", "provision", "--context", "baseload", "-o", output)
            assert status == 0
            assert "web-x3" in live
            assert said.startswith(f"read from context baseload ({address}, Kubernetes v1.37")
            dump = tmp_path / "dump.yaml"
            dump.write_text(kubectl(tmp_path, "get", LISTED, "-A", "-o", "yaml"))
            assert run_live("plan", "provision", "-f", str(dump), "-o", output)[:2] == (0, live)


def test_the_rules_that_a_refused_user_is_told_are_enough(run_live: Run, begin: Path, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens.csv"
    tokens.write_text("sesame,ann,7\n")
    flags = ("--tls", "--token-auth-file", str(tokens), "--kubeconfig", str(tmp_path / "config"), "-f", str(begin))
    with running("serve", *flags):
        anns = known_as(tmp_path, {"token": "sesame"})
        status, out, said = run_live("plan", "provision", "--kubeconfig", anns)
        assert (status, out) == (2, "")
        first, *told = said.splitlines()
        assert first.startswith("context baseload: may not list ")
        assert 'User "ann" cannot list resource' in first
        assert "sesame" not in said
        rules = yaml.safe_load("\n".join(told[1:]))
        role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "reader"}}
        kubectl(tmp_path, "apply", "-f", "-", stdin=yaml.safe_dump({**role, **rules}))
        kubectl(tmp_path, "create", "clusterrolebinding", "ann", "--clusterrole=reader", "--user=ann")
        status, out, _ = run_live("plan", "provision", "--kubeconfig", anns, "-o", "json")
        assert status == 0
        assert "web-x3" in out


def test_an_exec_plugin_lets_in_and_its_absence_is_bad_input(run_live: Run, begin: Path, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens.csv"
    tokens.write_text('sesame,ann,7,"system:masters"\n')
    version = "client.authentication.k8s.io/v1"
    program = tmp_path / "plugin.py"
    told = {"kind": "ExecCredential", "apiVersion": version, "status": {"token": "sesame"}}
    program.write_text(f"import json\nprint(json.dumps({told}))\n")
    flags = ("--tls", "--token-auth-file", str(tokens), "--kubeconfig", str(tmp_path / "config"), "-f", str(begin))
    plugin = {"apiVersion": version, "command": sys.executable, "args": [str(program)], "interactiveMode": "Never"}
    with running("serve", *flags):
        file = known_as(tmp_path, {"exec": plugin})
        status, out, _ = run_live("plan", "provision", "--kubeconfig", file, "-o", "json")
        assert status == 0
        assert "web-x3" in out
        file = known_as(tmp_path, {"exec": {**plugin, "command": "no-such-plugin", "installHint": "brew install it"}})
        assert run_live("plan", "provision", "--kubeconfig", file) == (
            2,
            "",
            "users[].user.exec: no-such-plugin cannot be run: No such file or directory (brew install it)\n",
        )
        file = known_as(tmp_path, {"token": "other"})
        assert run_live("plan", "provision", "--kubeconfig", file) == (
            2,
            "",
            "context baseload: the server does not know who asks: Unauthorized "
            "(log in again, or mend the user of the context)\n",
        )


def test_a_pod_is_let_in_as_its_service_account(begin: Path, tmp_path: Path) -> None:
    with running("serve", "--tls", "--kubeconfig", str(tmp_path / "config"), "-f", str(begin)) as (address, _):
        account = tmp_path / "account"
        account.mkdir()
        cluster = yaml.safe_load((tmp_path / "config").read_text())["clusters"][0]["cluster"]
        (account / "ca.crt").write_bytes(base64.b64decode(cluster["certificate-authority-data"]))
        (account / "token").write_text(kubectl(tmp_path, "create", "token", "default"))
        host, _, port = address.removeprefix("https://").partition(":")
        pod = {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}

        async def run() -> None:
            access = kubeconfig.find(environment=pod, account=account)
            client = clients.over_http(access, WallClock(), Random(1))
            with pytest.raises(Forbidden, match='User "system:serviceaccount:default:default" cannot list resource'):
                await client.list(Resource("", "v1", "pods"))
            kubectl(
                tmp_path,
                "create",
                "clusterrolebinding",
                "pod",
                "--clusterrole=view",
                "--serviceaccount=default:default",
            )
            assert (await client.list(Resource("apps", "v1", "deployments"))).objects[0].key == ("default", "web")
            await client.close()

        asyncio.run(run())
