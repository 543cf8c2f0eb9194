"""`baseload up` from its start to Ctrl-C: nodes come for pods, and are there again at the next start."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from baseload.cli.main import main
from tests.cli.servers import get, running, send
from tests.world.lives import deployment, node_class, pool, within

PODS = "/api/v1/namespaces/default/pods"
CLAIMS = "/apis/karpenter.sh/v1/nodeclaims"
Tree = dict[str, Any]


def wait(holds: Callable[[], bool], seconds: float = 40) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.1)


def ready(address: str) -> list[str]:
    """The uids of the pods that are Ready."""
    return sorted(
        it["metadata"]["uid"]
        for it in get(address, PODS)["items"]
        if any((one["type"], one["status"]) == ("Ready", "True") for one in it["status"].get("conditions", []))
    )


@pytest.fixture
def manifests(tmp_path: Path) -> Path:
    spot = within("karpenter.sh/capacity-type", "spot")
    objects = [node_class(), pool(spot, limits={"cpu": "100"}), deployment("web", 5)]
    file = tmp_path / "manifests.yaml"
    file.write_text(yaml.safe_dump_all(objects), encoding="utf-8")
    return file


def test_a_new_cluster_has_the_definitions_and_neither_pools_nor_nodes() -> None:
    with running("up") as (address, _):
        for path in (CLAIMS, "/apis/karpenter.sh/v1/nodepools", "/apis/karpenter.k8s.aws/v1/ec2nodeclasses"):
            assert get(address, path)["items"] == []
        assert get(address, "/api/v1/nodes")["items"] == []


def test_nodes_come_for_pods_and_all_is_there_again_after_a_restart(tmp_path: Path, manifests: Path) -> None:
    folder = tmp_path / "data"
    with running("up", "--speed", "30", "--data-dir", str(folder), "-f", str(manifests)) as (address, _):
        wait(lambda: len(ready(address)) == 5)
        before = ready(address)
        [claim] = get(address, CLAIMS)["items"]
        assert claim["metadata"]["labels"]["node.kubernetes.io/instance-type"]
        assert int(claim["status"]["capacity"]["cpu"]) >= 5

    with running("up", "--speed", "30", "--data-dir", str(folder)) as (address, _):
        wait(lambda: ready(address) == before)
        assert [it["metadata"]["uid"] for it in get(address, CLAIMS)["items"]] == [claim["metadata"]["uid"]]
        scale = {"spec": {"replicas": 60}}
        path = "/apis/apps/v1/namespaces/default/deployments/web"
        send(address, "PATCH", path, scale, "application/merge-patch+json")
        wait(lambda: len(ready(address)) == 60)
        assert set(before) < set(ready(address))
    kept = json.loads((folder / "life.json").read_text(encoding="utf-8"))
    assert kept["region"] == "us-east-1"


def test_a_cluster_stays_in_its_region(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with running("up", "--data-dir", str(tmp_path / "data"), "--region", "eu-central-1"):
        pass
    assert main(["up", "--data-dir", str(tmp_path / "data"), "--region", "us-west-2"]) == 2
    assert "is in eu-central-1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--speed", "0"], "--speed"),
        (["--region", "eu-centrall-1"], "did you mean eu-central-1?"),
        (["--cloud", "cloud.yaml"], "cloud.yaml: cloud.spott: "),
        (["--options", "options.yaml"], "options.yaml: batchIdleDuratio: "),
    ],
)
def test_bad_input_is_told_and_nothing_is_started(
    arguments: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cloud.yaml").write_text("cloud: {spott: {}}", encoding="utf-8")
    (tmp_path / "options.yaml").write_text("batchIdleDuratio: 2s", encoding="utf-8")
    assert main(["up", *arguments, "--kubeconfig", "config"]) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "config").exists()


def test_state_that_cannot_be_read_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "life.json").write_text("{", encoding="utf-8")
    assert main(["up", "--data-dir", str(tmp_path)]) == 2
    assert "life.json: cannot be read" in capsys.readouterr().err
