"""`baseload explain node` on manifests: one node's whole story."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from baseload.cli.main import main
from tests.decide.explain_node.building import CATALOG, NOON, Object, budget, node, pod, pool

Golden = Callable[[Path, str], None]
Explain = Callable[..., tuple[int, str, str]]
API = {"NodePool": "karpenter.sh/v1", "NodeClaim": "karpenter.sh/v1", "PodDisruptionBudget": "policy/v1"}

GUARDED = [
    pool(),
    *node("a", "xlarge"),
    *node("b"),
    *(pod(f"db-{at}", "b" if at else "a", "1" if at == 0 else "500m", app="db") for at in range(3)),
    budget("db", "db", healthy=3, expected=3, maxUnavailable=0),
]


@pytest.fixture
def explain(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Explain:
    """Runs `explain node` on objects; what it ends with, prints and says."""

    def explains(name: str, objects: list[Object], *flags: str, now: str = NOON) -> tuple[int, str, str]:
        items = [{"apiVersion": API.get(one["kind"], "v1"), **one} for one in objects]
        (tmp_path / "cluster.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
        (tmp_path / "catalog.json").write_text(json.dumps(CATALOG))
        (tmp_path / "options.yaml").write_text(yaml.safe_dump({"now": now} if now else {}))
        files = {"-f": "cluster.json", "--catalog": "catalog.json", "--options": "options.yaml"}
        given = [part for flag, file in files.items() for part in (flag, str(tmp_path / file))]
        status = main(["explain", "node", name, *given, "--validate", "warn", *flags])
        return status, *capsys.readouterr()

    return explains


def test_a_guarded_node_is_told_with_its_rule_its_change_and_its_price(explain: Explain, golden: Golden) -> None:
    status, out, _ = explain("a", GUARDED)
    assert status == 0
    golden(Path(__file__).with_name("golden") / "explain-node.txt", out)


def test_the_json_has_the_rule_the_change_and_the_command_that_follows(explain: Explain) -> None:
    story = json.loads(explain("a", GUARDED, "-o", "json")[1])
    assert (story["apiVersion"], story["kind"]) == ("baseload.dev/v1alpha1", "NodeStory")
    assert (story["candidate"], story["disrupted"], story["by"]) == (False, False, None)
    [fix] = story["change"]["fixes"]
    place = {"object": "PodDisruptionBudget default/db", "path": "spec.maxUnavailable"}
    assert fix == {**place, "from": 0, "to": 1}
    assert story["change"]["command"]["pods"] == [{"pod": "default/db-0", "to": "b"}]
    assert story["costPerHour"] == 0.8
    assert [one["method"] for one in story["methods"]] == [
        *("Emptiness", "StaticDrift", "Drift", "MultiNodeConsolidation", "SingleNodeConsolidation")
    ]


def test_the_name_of_its_nodeclaim_will_do(explain: Explain) -> None:
    assert explain("claim-a", GUARDED)[1] == explain("a", GUARDED)[1]


def test_a_node_that_goes_is_told_with_its_command(explain: Explain) -> None:
    _, out, _ = explain("b", [pool(), *node("b")])
    assert "It is disrupted now, by Emptiness." in out
    assert "  delete it, saves $0.1000 an hour\n" in out


def test_a_node_that_is_not_there_is_bad_input_with_the_nearest_name(explain: Explain) -> None:
    status, out, err = explain("claim-aa", GUARDED)
    assert (status, out) == (2, "")
    assert 'there is no node "claim-aa" in the input (did you mean claim-a?)' in err


def test_without_a_moment_it_is_told_for_this_one(explain: Explain) -> None:
    assert "since the options name no `now`" in explain("b", [pool(), *node("b")], now="")[2]


def test_every_way_in_which_a_node_may_still_go_is_told_where_all_is_asked_for(explain: Explain) -> None:
    free = [pool(), *node("b"), pod("web", "b")]
    assert "What may still take it" not in explain("b", free)[1]
    assert "What may still take it" in explain("b", free, "-v")[1]
