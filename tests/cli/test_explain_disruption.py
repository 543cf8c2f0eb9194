"""`baseload explain node --journal`: why a node was given up, and what kept it before."""

import json
from pathlib import Path

import pytest

from baseload.cli.main import main
from tests.replay.stories import NODE_CLASS, SMALL, deployment, lived, pool
from tests.world.lives import within

AT_ONCE = {"consolidateAfter": "0s", "budgets": [{"nodes": "100%"}]}


def explained(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["explain", "node", *arguments]) == 0
    return capsys.readouterr().out


def test_a_node_that_was_given_up_tells_by_which_command_and_what_kept_it_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    web = deployment("web", 1)
    web["spec"]["template"]["metadata"]["annotations"] = {"karpenter.sh/do-not-disrupt": "true"}
    _, entries = lived(
        tmp_path,
        duration="30m",
        manifests=[NODE_CLASS, pool(SMALL, disruption=AT_ONCE), web],
        events=[{"at": "15m", "do": "scale", "workload": "web", "replicas": 0}],
    )
    [decided] = [entry for entry in entries if entry.event == "disruption.decided"]
    node = next(entry.object for entry in entries if entry.event == "node.registered").removeprefix("Node ")
    out = explained(capsys, node, "--journal", str(tmp_path / "journal"))
    assert 'DisruptionBlocked: Pod has "karpenter.sh/do-not-disrupt" annotation (Pod=default/web-' in out
    assert f"{decided.object} gave it up, Empty: Emptiness: delete {node}" in out
    life = json.loads(explained(capsys, node, "--journal", str(tmp_path / "journal"), "-o", "json"))
    [gone] = life["disrupted"]
    assert (gone["method"], gone["reason"], gone["nodes"], gone["replacements"]) == ("Emptiness", "Empty", [node], [])
    assert gone["savingsPerHour"] > 0
    assert "DisruptionBlocked" in {kept["reason"] for kept in life["kept"]}


def test_a_node_that_took_the_place_of_another_tells_which_command_made_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    on_demand = within("karpenter.sh/capacity-type", "on-demand")
    types = within("node.kubernetes.io/instance-type", "m5.large", "m5.2xlarge")
    _, entries = lived(
        tmp_path,
        duration="30m",
        manifests=[
            NODE_CLASS,
            pool(types, on_demand, disruption=AT_ONCE),
            deployment("big", 1, cpu="5"),
            deployment("tiny", 1),
        ],
        events=[{"at": "10m", "do": "scale", "workload": "big", "replicas": 0}],
    )
    [old, new] = [entry.object.removeprefix("Node ") for entry in entries if entry.event == "node.registered"]
    out = explained(capsys, old, "--journal", str(tmp_path / "journal"))
    assert f"gave it up, Underutilized: SingleNodeConsolidation: replace {old}" in out
    assert "replaced by default-1: m5.large, " in out
    [decided] = [entry for entry in entries if entry.event == "disruption.decided"]
    assert f"{decided.object} made it for 1 pods:" in explained(capsys, new, "--journal", str(tmp_path / "journal"))
