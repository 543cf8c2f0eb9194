"""`baseload plan provision`: a plan on stdout, everything else on stderr, an exit status for each way to end."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from baseload.cli.main import main
from tests.cli.inputs import POOL, WEB

Run = Callable[..., tuple[int, str, str]]

DAEMON = """
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: d, namespace: n}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}, annotations: {baseload.dev/real-memory: much}}
    spec: {containers: [{name: c, image: i}]}
"""


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `plan provision` on texts; what it ends with, prints and says."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # the package's figures, whatever was refreshed on this machine

    def runs(*texts: str, flags: tuple[str, ...] = ()) -> tuple[int, str, str]:
        path = tmp_path / "cluster.yaml"
        path.write_text("\n---\n".join(texts), encoding="utf-8")
        status = main(["plan", "provision", "-f", str(path), *flags])
        return status, *capsys.readouterr()

    return runs


def test_a_plan_is_a_table_for_people(run: Run) -> None:
    status, out, _ = run(POOL, WEB)

    assert status == 0
    assert out.startswith("1 node to launch: 3 pods placed.\n\nNODE       TYPE")
    assert "Deployment default/web: default/web-x1, default/web-x2, default/web-x3" in out


def test_json_and_yaml_say_the_same(run: Run) -> None:
    _, as_json, _ = run(POOL, WEB, flags=("-o", "json"))
    _, as_yaml, _ = run(POOL, WEB, flags=("-o", "yaml"))

    plan = json.loads(as_json)
    assert plan == yaml.safe_load(as_yaml)
    assert (plan["apiVersion"], plan["kind"]) == ("baseload.dev/v1alpha1", "ProvisionPlan")
    assert plan["totals"]["newNodes"] == 1
    assert "&id" not in as_yaml


def test_pods_without_a_place_are_no_failure(run: Run) -> None:
    status, out, _ = run(POOL, WEB.replace('cpu: "1"', "cpu: 5k"))

    assert status == 0
    assert "3 pods without a place" in out


def test_nothing_to_do_is_no_failure(run: Run) -> None:
    assert run(POOL)[:2] == (0, "No node is launched: no pod is pending.\n")


def test_expand_never_plans_written_pods_alone(run: Run) -> None:
    assert run(POOL, WEB, flags=("--expand", "never"))[1] == "No node is launched: no pod is pending.\n"


def test_what_was_assumed_is_said_on_stderr(run: Run) -> None:
    _, out, err = run(POOL.replace("us-east-1a", "us-east-1a, us-east-1b"), WEB)

    assert "EC2NodeClass default" in err
    assert "taken as present" not in out


def test_verbose_names_the_kinds_that_are_passed_over(run: Run) -> None:
    config = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}}"

    assert "not looked at: 1 ConfigMap\n" in run(POOL, config, flags=("-v",))[2]
    assert "ConfigMap" not in run(POOL, config)[2]


def test_an_unknown_kind_of_an_unknown_group_is_always_named(run: Run) -> None:
    status, _, err = run(POOL, "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}}")

    assert status == 0
    assert 'warning: kind "Widget" of "example.com/v1" is unknown' in err


def test_manifests_come_from_standard_input_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f"{POOL}\n---\n{WEB}".encode())))

    assert main(["plan", "provision", "-f", "-"]) == 0
    assert "3 pods placed" in capsys.readouterr().out


BAD = {
    "an absent file": (["-f", "absent.yaml"], "absent.yaml: no such file or folder"),
    "a misspelt field": ([POOL.replace("requirements", "requirement")], "spec.template.spec.requirement"),
    "two regions": ([POOL, POOL.replace("name: default}\nspec", "name: b}\nspec").replace("us-east-1a", "eu-west-1a")],
                    "names 2 regions"),
    "an unknown region": ([POOL, "--region", "us-east-9"], "unknown region 'us-east-9'"),
    "an unknown region that nobody needs": ([WEB, "--region", "us-east-9"], "unknown region 'us-east-9'"),
    "an absent catalogue": ([POOL, "--catalog", "absent.json"], "absent.json: cannot be read"),
    "absent options": ([POOL, "--options", "absent.yaml"], "absent.yaml: no such file"),
    "a kind that the group does not have": ([POOL.replace("NodePool", "NodePol")], "the nearest is NodePool"),
    "an empty input": ([""], "there is no object in it"),
    "a daemon that uses no quantity": (
        [POOL, DAEMON], "DaemonSet n/d: spec.template.metadata.annotations"),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_bad_input_ends_with_2_and_prints_nothing(run: Run, what: str) -> None:
    arguments, said = BAD[what]
    texts = [argument for argument in arguments if "apiVersion" in argument or not argument]
    status, out, err = run(*texts, flags=tuple(argument for argument in arguments if argument not in texts))

    assert (status, out) == (2, "")
    assert said in err


@pytest.mark.parametrize(
    "flags", [[], ["-f"], ["-f", "a", "-o", "xml"], ["-f", "a", "--expand", "yes"], ["--context", "c"]]
)
def test_wrong_usage_ends_with_2_and_prints_nothing(flags: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "provision", *flags]) == 2
    assert capsys.readouterr().out == ""


def test_the_same_input_gives_the_same_bytes(run: Run) -> None:
    assert run(POOL, WEB, flags=("-o", "json")) == run(POOL, WEB, flags=("-o", "json"))


def test_a_large_plan_is_written_whole(run: Run) -> None:
    many = WEB.replace("replicas: 3", "replicas: 20000").replace('cpu: "1", memory: 1Gi', "cpu: 1m")
    status, out, _ = run(POOL, many, flags=("-o", "json"))

    assert (status, len(json.loads(out)["placements"])) == (0, 20_000)
    assert len(out) > 2**20
