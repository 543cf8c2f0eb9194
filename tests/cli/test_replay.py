"""`baseload replay`: what it prints, writes and ends with, and that it does so alike in every process."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import jsonschema
import pytest
import yaml

from baseload.cli.main import main
from baseload.replay import run
from baseload.replay.run import Run
from tests.replay.stories import NODE_CLASS, SMALL, deployment, node, pool, tree, written

Replay = Callable[..., tuple[int, str, str]]
EXAMPLES = Path(__file__).parents[2] / "examples/scenarios"


@pytest.fixture
def replay(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Replay:
    """Runs the command; what it ends with, prints and says."""

    def replays(*arguments: str) -> tuple[int, str, str]:
        """With the invariants held, asked for or not."""
        monkeypatch.setattr(run, "Run", partial(Run, holds_invariants=True))
        status = main(["replay", *arguments])
        return status, *capsys.readouterr()

    return replays


def test_a_scenario_whose_expectations_hold_ends_with_0(replay: Replay, tmp_path: Path) -> None:
    path = written(
        tmp_path,
        manifests=[node("floor"), deployment("web", 2)],
        expect=[{"series": "pods.ready", "at": "1m", "is": 2}],
    )
    status, out, err = replay(path)
    assert status == 0
    assert out.splitlines()[:4] == [
        "Scenario story, seed 0: 10m0s from 2026-01-01T00:00:00Z",
        "",
        "holds  pods.ready is 2 at 1m0s",
        "",
    ]
    assert err.startswith("10m0s lived through in ")
    assert "\r" not in err


def test_one_that_fails_is_shown_with_when_it_first_did_and_the_journal_about_it(
    replay: Replay, tmp_path: Path
) -> None:
    path = written(
        tmp_path,
        manifests=[node("floor"), deployment("web", 2)],
        events=[{"at": "5m", "do": "scale", "workload": "web", "replicas": 3}],
        expect=[{"series": "pods.total", "always": {"from": "1m"}, "is": 2}],
    )
    status, out, _ = replay(path)
    assert status == 1
    lines = out.splitlines()
    assert lines[2:4] == [
        "FAILS  pods.total is 2 always from 1m0s to 10m0s",
        "       it was 3 at 5m0.1s (spec.expect[0])",
    ]
    assert any(line.strip().startswith(">") and "event.scale" in line and "replicas 3" in line for line in lines)
    assert any("pod.created" in line for line in lines)


def test_bad_input_ends_with_2_and_prints_a_line_for_each_fault_alone(replay: Replay, tmp_path: Path) -> None:
    path = written(tmp_path, events=[{"at": "1h", "do": "apiDown"}], seed="one")
    status, out, err = replay(path)
    assert (status, out) == (2, "")
    assert err.splitlines() == [
        f"{path}: spec.seed: Invalid value: 'one' (a whole number, 0 or more)",
        f"{path}: spec.events[0].at: 1h0m0s is after the end (at most 10m0s)",
    ]
    assert replay(str(tmp_path / "none.yaml"))[0] == 2
    assert replay()[0] == 2
    assert replay(path, "--until", "soon")[0] == 2


def test_manifests_that_the_cluster_refuses_are_bad_input(replay: Replay, tmp_path: Path) -> None:
    twice = [node("floor"), {**node("floor"), "metadata": {"name": "Floor_1"}}]
    status, out, err = replay(written(tmp_path, manifests=twice))
    assert (status, out) == (2, "")
    assert "Node Floor_1" in err


def test_a_terminal_sees_how_far_it_is(replay: Replay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("baseload.cli.stderr.is_terminal", lambda: True)
    status, out, err = replay(written(tmp_path, duration="1m"))
    assert status == 0
    assert "\r" not in out
    assert "[###############               ] 50 %" in err
    assert "[##############################] 100 %" in err


def test_the_report_is_json_for_programs(replay: Replay, tmp_path: Path) -> None:
    path = written(
        tmp_path,
        manifests=[NODE_CLASS, pool(SMALL), deployment("web", 3)],
        expect=[{"series": "cost.total", "at": "10m", "above": 0}, {"series": "launches", "at": "5m", "is": 7}],
    )
    file = tmp_path / "report.json"
    status, out, _ = replay(path, "-o", "json", "--report", str(file), "--seed", "5")
    told = json.loads(out)
    assert status == 1
    assert file.read_text(encoding="utf-8") == out
    assert (told["kind"], told["seed"], told["result"], told["stopped"]) == ("ReplayReport", 5, "fails", False)
    assert [one["verdict"] for one in told["expectations"]] == ["holds", "fails"]
    assert told["figures"]["pods.ready"] == 3
    assert told["expectations"][1]["journal"]


def test_a_run_can_end_earlier_and_what_it_did_not_come_to_is_open(replay: Replay, tmp_path: Path) -> None:
    path = written(
        tmp_path,
        manifests=[node("floor"), deployment("web", 2)],
        expect=[{"series": "pods.ready", "at": "1m", "is": 2}, {"series": "pods.ready", "at": "5m", "is": 7}],
    )
    status, out, _ = replay(path, "--until", "2m", "-o", "json")
    told = json.loads(out)
    assert (status, told["duration"], told["result"]) == (0, "2m0s", "open")
    assert [one["verdict"] for one in told["expectations"]] == ["holds", "open"]


def test_sums_are_recounted_when_asked(replay: Replay, tmp_path: Path) -> None:
    path = written(tmp_path, duration="1h", manifests=[node("floor"), deployment("web", 2)])
    status, out, _ = replay(path, "--check")
    assert status == 0
    assert "6 recounts of the cluster's sums, 0 of them wrong" in out


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_examples_hold_and_are_what_the_schema_says(path: Path, replay: Replay) -> None:
    _, schema, _ = replay("--schema")
    jsonschema.validate(yaml.safe_load(path.read_text(encoding="utf-8")), json.loads(schema))
    status, out, _ = replay(str(path), "--check")
    assert status == 0, out


def test_the_schema_refuses_what_the_reader_refuses(replay: Replay) -> None:
    _, text, _ = replay("--schema")
    check = jsonschema.Draft202012Validator(json.loads(text))
    assert check.is_valid(tree(events=[{"at": "1m", "do": "zoneDown", "zone": "us-east-1a"}]))
    assert check.is_valid(tree(events=[{"at": "1m", "do": "apiDown", "controllers": ["scheduler", "kubelet"]}]))
    assert check.is_valid(tree(controllers=[{"name": "storage", "hostedBy": {"selector": "app=csi"}}]))
    for spec in (
        {"events": [{"at": "1m", "do": "zoneDwon", "zone": "us-east-1a"}]},
        {"events": [{"at": "1m", "do": "zoneDown"}]},
        {"events": [{"do": "apiDown"}]},
        {"expect": [{"series": "launches", "is": 1}]},
        {"expect": [{"series": "launches", "at": "1m", "is": 1, "workload": "web"}]},
        {"controllers": [{"name": "cni", "options": {"modle": "none"}}]},
        {"controllers": [{"name": "storage", "options": {"any": 1}}]},
        {"controllers": [{"name": "kubelet", "hostedBy": {"selector": "app=kubelet"}}]},
        {"controllers": [{"name": "scheduler", "enabled": False}]},
        {"events": [{"at": "1m", "do": "apiDown", "controllers": ["users"]}]},
        {"events": [{"at": "1m", "do": "killController", "controller": "cni"}]},
        {"seeds": 1},
    ):
        assert not check.is_valid(tree(**spec)), spec


SURROUNDINGS = (
    {"PYTHONHASHSEED": "1", "TZ": "Asia/Tokyo", "LC_ALL": "C"},
    {"PYTHONHASHSEED": "77", "TZ": "America/New_York", "LC_ALL": "de_DE.UTF-8"},
)


@pytest.mark.timeout(240)  # two fresh processes, on a machine that may be busy
def test_the_same_scenario_and_seed_give_the_same_bytes_in_every_process(tmp_path: Path) -> None:
    apart = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}}
    path = written(
        tmp_path,
        duration="40m",
        manifests=[NODE_CLASS, pool(SMALL), deployment("web", 4, affinity=affinity), deployment("api", 9)],
        events=[
            {"at": "10m", "do": "interrupt", "nodePool": "default", "percent": 50},
            {"at": "12m", "do": "nodeFailure", "nodePool": "default", "failure": "Dies", "count": 1},
            {"at": "15m", "do": "killController", "controller": "karpenter", "afterWrites": 2},
            {"at": "20m", "do": "scale", "workload": "api", "replicas": 30},
            {"at": "25m", "do": "apiDown", "for": "1m"},
            {"at": "30m", "do": "killController", "controller": "node-lifecycle"},
        ],
        expect=[{"series": "launches", "at": "40m", "is": 0}],
    )
    results = []
    for number, surroundings in enumerate(SURROUNDINGS):
        folder = tmp_path / str(number)
        folder.mkdir()
        done = subprocess.run(
            [sys.executable, "-m", "baseload", "replay", path, "--check", "--journal", "journal"],
            cwd=folder,
            env={**os.environ, **surroundings},
            capture_output=True,
            check=False,
        )
        assert done.returncode == 1, done.stderr
        results.append((done.stdout, (folder / "journal").read_bytes()))
    assert results[0] == results[1]
    assert len(results[0][1]) > 20_000


@pytest.mark.timeout(240)
def test_ctrl_c_gives_the_report_so_far(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        duration="8000h",
        manifests=[node("floor"), deployment("web", 2)],
        workloads=[{"name": "web-*", "exitsAfter": "20s"}],
        expect=[{"series": "pods.total", "always": True, "atMost": 2}],
    )
    command = [sys.executable, "-m", "baseload", "replay", path, "--check", "-o", "json"]
    command += ["--journal", str(tmp_path / "journal")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while not (tmp_path / "journal").exists() or not (tmp_path / "journal").stat().st_size:
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    told = json.loads(out)
    assert process.returncode == 130
    assert b"interrupted" in err
    assert told["stopped"] is True
    assert told["expectations"][0]["verdict"] == "open"


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--report", "out", "--journal", "./out"], "--journal would overwrite --report: out"),
        (["--report", "story.yaml"], "--report would overwrite the scenario: story.yaml"),
        (["--journal", "story.yaml"], "--journal would overwrite the scenario: story.yaml"),
        (["--report", "none/out"], "none/out: there is no folder none"),
    ],
)
def test_files_that_could_not_be_kept_are_refused_before_the_run(
    replay: Replay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: list[str], told: str
) -> None:
    path = Path(written(tmp_path, manifests=[node("floor")])).rename(tmp_path / "story.yaml")
    monkeypatch.chdir(tmp_path)
    before = path.read_text(encoding="utf-8")
    status, out, err = replay("story.yaml", *flags)
    assert (status, out) == (2, "")
    assert told in err
    assert "lived through" not in err
    assert path.read_text(encoding="utf-8") == before


def test_a_report_may_go_into_a_pipe_and_a_journal_may_not(replay: Replay, tmp_path: Path) -> None:
    path = written(tmp_path, manifests=[node("floor")])
    reads, writes = os.pipe()
    with open(reads, "rb") as end:
        try:
            assert replay(path, "--report", f"/dev/fd/{writes}")[0] == 0
            status, _, err = replay(path, "--journal", f"/dev/fd/{writes}")
        finally:
            os.close(writes)
        assert json.loads(end.read())["kind"] == "ReplayReport"
    assert status == 2
    assert err == f"Error: /dev/fd/{writes}: is no file that can be read again\n"


def test_thousands_of_faults_are_told_as_far_as_anybody_reads(replay: Replay, tmp_path: Path) -> None:
    path = written(tmp_path, events=[{"at": "1m", "do": "nothing"}] * 3000)
    status, out, err = replay(path)
    lines = err.splitlines()
    assert (status, out, len(lines)) == (2, "", 101)
    assert lines[99].startswith(f"{path}: spec.events[99].do: Invalid value: 'nothing'")
    assert lines[100] == "and 2900 more"


def test_a_scenario_is_read_from_standard_input(replay: Replay, monkeypatch: pytest.MonkeyPatch) -> None:
    def piped(text: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        return replay("-")

    asked = [{"series": "nodes.total", "at": "1m", "is": 0}]
    status, out, _ = piped(json.dumps(tree(name="piped", duration="1m", expect=asked)))
    assert (status, out.splitlines()[0]) == (0, "Scenario piped, seed 0: 1m0s from 2026-01-01T00:00:00Z")
    status, out, err = piped("kind: Scenario")
    assert (status, out) == (2, "")
    assert err.startswith("stdin: apiVersion: Required value")
