"""`baseload up` from its start to Ctrl-C: nodes come for pods, and are there again at the next start."""

import base64
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from baseload.cli.main import main
from tests.cli.servers import get, running, send
from tests.cli.terminals import on_terminal
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
        (["--speed", "nan"], "'nan' is no number"),
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
    kept = {"version": 1, "region": "us-east-1", "now": 0, "cloud": base64.b64encode(b"{}").decode()}
    (tmp_path / "life.json").write_text(json.dumps(kept), encoding="utf-8")
    assert main(["up", "--data-dir", str(tmp_path)]) == 2
    assert f"{tmp_path}: not the state of a simulated cloud: " in capsys.readouterr().err


def test_objects_that_the_data_directory_has_are_left_alone_and_named(tmp_path: Path, manifests: Path) -> None:
    arguments = ("--data-dir", str(tmp_path / "data"), "-f", str(manifests))
    path = "/apis/apps/v1/namespaces/default/deployments/web"
    with running("up", *arguments) as (address, said):
        assert said[0].startswith("the API answers")
        send(address, "PATCH", path, {"spec": {"replicas": 2}}, "application/merge-patch+json")
    command = [sys.executable, "-m", "baseload", "up", *arguments]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process, ExitStack() as stack:
        stack.callback(process.kill)  # whatever fails, nothing is left running
        assert process.stderr is not None
        first, second = process.stderr.readline(), process.stderr.readline()
        assert first.startswith("3 objects of -f are there already and left alone: ")
        assert "Deployment default/web" in first
        assert get(second.split(";")[0].split()[-1], path)["spec"]["replicas"] == 2
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0


def test_a_terminal_has_one_line_that_tells_how_it_goes(tmp_path: Path, manifests: Path) -> None:
    config = str(tmp_path / "config")
    with on_terminal("up", "--speed", "30", "-f", str(manifests), "--kubeconfig", config, columns=60) as shown:
        shown.until("the API answers at ")
        place = shown.until(f"export KUBECONFIG={config}\r\n")
        shown.until("nodes 1/1 Ready", place)
        shown.type(b"\x03")
        assert shown.ended() == 0
        rest = shown.written[place:]
        *lines, last = [line for line in rest.split(b"\r\x1b[K") if line][1:]
        shown_lines = [line.removesuffix(b"^C").decode() for line in lines]  # which the terminal itself writes
        assert all(len(line) < 60 and line.startswith("20") for line in shown_lines)
        assert last == b"stopped\r\n"


@pytest.mark.parametrize(("after", "times"), [(0.4, 1), (1.2, 2), (2.0, 1)])
def test_ctrl_c_ends_it_at_any_moment_of_the_start(tmp_path: Path, manifests: Path, after: float, times: int) -> None:
    command = [sys.executable, "-m", "baseload", "up", "--data-dir", str(tmp_path / "data"), "-f", str(manifests)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(after)
        for _ in range(times):
            process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert process.returncode in (0, 130)
    assert out == ""
    assert "Traceback" not in err
    with running("up", "--data-dir", str(tmp_path / "data")) as (address, _):
        assert get(address, "/api/v1/nodes")["kind"] == "NodeList"


def test_what_happens_is_written_down_and_explained(
    tmp_path: Path, manifests: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = tmp_path / "journal"
    with running("up", "--speed", "30", "--journal", str(journal), "-f", str(manifests)) as (address, _):
        wait(lambda: len(ready(address)) == 5)
        [claim] = get(address, CLAIMS)["items"]
    assert main(["explain", "node", claim["metadata"]["name"], "--journal", str(journal)]) == 0
    out = capsys.readouterr().out
    assert " made it for 5 pods:" in out
    assert "5 pods came to it:" in out


def test_a_journal_goes_on_where_the_cluster_does_and_tells_nothing_twice(
    tmp_path: Path, manifests: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal, arguments = tmp_path / "journal", ["--speed", "30", "--data-dir", str(tmp_path / "data")]
    arguments += ["--journal", str(tmp_path / "journal")]
    with running("up", *arguments, "-f", str(manifests)) as (address, _):
        wait(lambda: len(ready(address)) == 5)
    with journal.open("ab") as file:
        file.write(b'{"t":"2026-11-30T1')  # as a process leaves it that is killed
    before = journal.read_bytes().rpartition(b"\n")[0]
    path = "/apis/apps/v1/namespaces/default/deployments/web"
    with running("up", *arguments) as (address, _):
        assert len(ready(address)) == 5
        send(address, "PATCH", path, {"spec": {"replicas": 40}}, "application/merge-patch+json")
        wait(lambda: len(ready(address)) == 40)
    assert journal.read_bytes().startswith(before + b"\n")
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    told = [
        line["object"] for line in lines if line["event"] in ("pod.created", "node.registered", "nodeclaim.created")
    ]
    assert len(told) == len(set(told)) >= 44
    plans = [line["object"] for line in lines if line["event"] == "provisioning.planned"]
    assert plans == [f"Plan {number}" for number in sorted(int(plan.split()[1]) for plan in plans)]
    assert len(set(plans)) == len(plans)
    pod = next(line["object"] for line in lines if line["event"] == "pod.created").removeprefix("Pod default/")
    assert main(["explain", "pod", f"default/{pod}", "--journal", str(journal)]) == 0
    assert "a new node for it and 4 other pods" in capsys.readouterr().out


def test_a_file_that_is_no_journal_is_not_gone_on_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, notes = str(tmp_path / "data"), tmp_path / "notes"
    with running("up", "--data-dir", folder):
        pass
    notes.write_text("milk\nbread\n")
    assert main(["up", "--data-dir", folder, "--journal", str(notes)]) == 2
    assert capsys.readouterr().err.startswith(f"{notes}: line 1: ")
    assert notes.read_text() == "milk\nbread\n"
