"""`baseload plan disrupt`: a plan on stdout, everything else on stderr, an exit status for each way to end."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from baseload.cli.main import main
from tests.decide.disrupt.stage import LADDER, NOW, Made, changed, node, pod, pool

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `plan disrupt` on objects; what it ends with, prints and says."""

    def runs(*made: Made, flags: tuple[str, ...] = (), options: str = f"now: '{NOW}'") -> tuple[int, str, str]:
        objects = [one for each in made for one in (each if isinstance(each, list) else [each])]
        cluster, catalog, settings = (tmp_path / name for name in ("cluster.yaml", "catalog.json", "options.yaml"))
        cluster.write_text(yaml.safe_dump_all(objects), encoding="utf-8")
        catalog.write_text(json.dumps(LADDER), encoding="utf-8")
        settings.write_text(options, encoding="utf-8")
        given = ["-f", str(cluster), "--catalog", str(catalog), "--options", str(settings)]
        status = main(["plan", "disrupt", *given, *flags])
        return status, *capsys.readouterr()

    return runs


HALF_EMPTY = [pool(), *node("a", "large"), pod("web", "a")]


def test_a_plan_is_a_table_for_people(run: Run) -> None:
    status, out, _ = run(HALF_EMPTY)

    assert status == 0
    assert out.startswith("1 node to disrupt, 1 node to launch: saves $0.3000 an hour, $219.00 a month.\n")
    assert "pods to default-1: default/web" in out


def test_json_and_yaml_say_the_same(run: Run) -> None:
    _, as_json, _ = run(HALF_EMPTY, flags=("-o", "json"))
    _, as_yaml, _ = run(HALF_EMPTY, flags=("-o", "yaml"))

    plan = json.loads(as_json)
    assert plan == yaml.safe_load(as_yaml)
    assert (plan["apiVersion"], plan["kind"]) == ("baseload.dev/v1alpha1", "DisruptPlan")
    assert plan["commands"][0]["candidates"][0]["node"] == "a"


def test_nothing_to_do_is_no_failure(run: Run) -> None:
    assert run(pool())[:2] == (0, "No node is disrupted.\n")


def test_until_stable_tells_the_passes_and_the_end(run: Run) -> None:
    status, out, _ = run(HALF_EMPTY, flags=("--until-stable",))
    _, as_json, _ = run(HALF_EMPTY, flags=("--until-stable", "-o", "json"))

    assert (status, out.splitlines()[-1]) == (
        0,
        "After 1 pass: 1 node, $0.1000 an hour, $73.00 a month, and nothing is left to do.",
    )
    told = json.loads(as_json)
    assert [len(one["commands"]) for one in told["passes"]] == [1, 0]
    assert told["end"] == {"nodes": 1, "pricePerHour": 0.1, "stable": True}


def test_the_optimal_mode_is_off_unless_asked_for_and_never_blurred_with_the_other(run: Run) -> None:
    compatible = json.loads(run(HALF_EMPTY, flags=("-o", "json"))[1])
    optimal = json.loads(run(HALF_EMPTY, flags=("--mode", "optimal", "-o", "json"))[1])
    both = json.loads(run(HALF_EMPTY, flags=("--mode", "both", "--until-stable", "-o", "json"))[1])

    assert not {"mode", "optimal", "comparison"} & set(compatible)
    assert optimal["mode"] == "optimal"
    assert optimal["comparison"]["pricePerHour"] == {"before": 0.4, "compatible": 0.1, "optimal": 0.1}
    assert {"passes", "end", "optimal", "comparison"} <= set(both)
    assert both["comparison"]["bound"] == 0.05
    status, out, _ = run(HALF_EMPTY, flags=("--mode", "both"))
    assert status == 0
    assert out.index("COMPATIBLE") < out.index("OPTIMAL") < out.index("bound")


def test_a_mode_that_is_none_is_bad_usage(run: Run) -> None:
    status, out, err = run(pool(), flags=("--mode", "best"))

    assert (status, out) == (2, "")
    assert "'compatible', 'optimal', 'both'" in err


def test_without_a_moment_among_the_options_it_is_now_which_is_said(run: Run) -> None:
    status, _, err = run(pool(), node("a"), options="{}")

    assert status == 0
    assert re.search(r"decided for 20\d\d-.*Z, since the options name no `now`", err)
    assert "decided for" not in run(pool(), node("a"))[2]


def test_bad_input_is_told_on_stderr_alone(run: Run) -> None:
    status, out, err = run(changed(pool(), "spec.weight", "heavy"))

    assert (status, out) == (2, "")
    assert "spec.weight" in err


def test_the_pods_of_the_input_are_taken_as_they_are_unless_asked_for_more(run: Run) -> None:
    template = {"metadata": {"labels": {"app": "big"}}, "spec": pod("x", "a", "7")["spec"] | {"nodeName": ""}}
    del template["spec"]["nodeName"]
    wanting = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "big", "namespace": "default"},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "big"}}, "template": template},
    }
    as_is = json.loads(run(HALF_EMPTY, wanting, flags=("-o", "json"))[1])
    expanded = json.loads(run(HALF_EMPTY, wanting, flags=("-o", "json", "--expand", "auto"))[1])

    assert (len(as_is["commands"]), len(expanded["commands"])) == (1, 0)


@pytest.mark.parametrize("validate", ["strict", "ignore"])
def test_a_time_that_cannot_be_read_is_bad_input_however_little_is_checked(run: Run, validate: str) -> None:
    """It is of the right form, and longer than anything can count."""
    made = node("a", claim={"expireAfter": "9999999999h"})
    status, out, err = run(pool(), made, flags=("--validate", validate))

    assert (status, out) == (2, "")
    assert "NodeClaim: nc-a" in err or "NodeClaim nc-a" in err
    assert "spec.expireAfter" in err
    assert "64 bits" in err
