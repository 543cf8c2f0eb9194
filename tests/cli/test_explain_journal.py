"""`baseload explain pod` and `explain node` from the journal of a run."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from baseload.cli.main import main
from baseload.journal.read import read
from baseload.journal.record import Entry
from tests.replay.stories import NODE_CLASS, SMALL, deployment, lived, node, pool
from tests.world.lives import within

Explain = Callable[..., tuple[int, str, str]]


@pytest.fixture
def explain(capsys: pytest.CaptureFixture[str]) -> Explain:
    def explains(*arguments: str) -> tuple[int, str, str]:
        status = main(["explain", *arguments])
        return status, *capsys.readouterr()

    return explains


def first(entries: tuple[Entry, ...], event: str, kind: str = "") -> str:
    """The name of the first object of a kind that something befell."""
    return next(it.object for it in entries if it.event == event and it.object.startswith(kind)).partition(" ")[2]


def test_a_pod_that_waited_for_a_new_node_tells_for_which_and_until_when(tmp_path: Path, explain: Explain) -> None:
    _, entries = lived(tmp_path, manifests=[NODE_CLASS, pool(SMALL), deployment("web", 1)])
    name = first(entries, "pod.created")
    status, out, _ = explain("pod", name, "--journal", str(tmp_path / "journal"))
    assert status == 0
    lines = out.splitlines()
    assert lines[0] == f"Pod {name}, created +50ms of Deployment web"
    assert lines[2].startswith("It waited ")
    assert lines[2].endswith("s for a node.")
    claim = first(entries, "nodeclaim.created")
    assert f"created as NodeClaim {claim}" in out
    assert "Plan 1: a new node for it and 0 other pods: " in out
    for event in ("nodeclaim.launched", "nodeclaim.registered", "node.ready"):
        assert event in out
    assert f"It was bound to Node {first(entries, 'node.ready')}." in lines
    status, out, _ = explain("pod", name.removeprefix("default/"), "--journal", str(tmp_path / "journal"), "-o", "json")
    told = json.loads(out)
    [life] = told["lives"]
    assert (told["kind"], life["node"]) == ("PodLife", first(entries, "node.ready"))
    assert [wait["for"] for wait in life["waits"]] == ["node", "containers"]
    assert life["decisions"][0]["nodeClaim"] == claim


def test_a_pod_without_a_place_tells_what_every_target_said(tmp_path: Path, explain: Explain) -> None:
    arm = within("kubernetes.io/arch", "arm64")
    picky = deployment("web", 1, nodeSelector={"kubernetes.io/arch": "amd64"})
    _, entries = lived(tmp_path, manifests=[NODE_CLASS, pool(arm), picky, node("floor")])
    name = first(entries, "pod.created")
    _, out, _ = explain("pod", name, "--journal", str(tmp_path / "journal"))
    assert "It waits for a node to the end." in out
    assert "no place" in out
    assert "nodePool/default: " in out
    assert "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector" in out
    assert "It was never bound to a node." in out


def test_a_node_tells_for_whom_it_was_launched_who_came_and_how_it_ended(tmp_path: Path, explain: Explain) -> None:
    _, entries = lived(
        tmp_path,
        manifests=[NODE_CLASS, pool(SMALL), deployment("web", 2)],
        events=[{"at": "5m", "do": "nodeFailure", "nodePool": "default", "failure": "Dies"}],
    )
    name = first(entries, "node.registered")
    told = [
        explain("node", it, "--journal", str(tmp_path / "journal"))
        for it in (
            name,
            first(entries, "nodeclaim.created"),
            first(entries, "instance.launched"),
        )
    ]
    assert {status for status, _, _ in told} == {0}
    assert len({out for _, out, _ in told}) == 1
    out = told[0][1]
    assert out.startswith(f"Node {name}, NodeClaim default-")
    assert "Plan 1 made it for 2 pods:" in out
    assert "2 pods came to it:" in out
    assert "instance.ending Server.InternalError: " in " ".join(out.split())
    _, out, _ = explain("node", name, "--journal", str(tmp_path / "journal"), "-o", "json")
    life = json.loads(out)
    assert (life["kind"], life["node"], len(life["pods"])) == ("NodeLife", name, 2)
    assert life["decision"]["plan"] == "Plan 1"


def test_what_the_journal_does_not_know_is_bad_input(tmp_path: Path, explain: Explain) -> None:
    _, entries = lived(tmp_path, duration="1m", manifests=[node("floor"), deployment("web", 1)])
    assert read(str(tmp_path / "journal")) == entries
    journal = str(tmp_path / "journal")
    status, out, err = explain("node", "flor", "--journal", journal)
    assert (status, out) == (2, "")
    assert err == f"{journal}: the journal tells of no node flor (did you mean floor?)\n"
    assert explain("pod", "nobody", "--journal", journal)[0] == 2
    assert explain("pod", "web", "--journal", journal, "-f", "x.yaml")[0] == 2
    assert explain("node", "floor")[0] == 2
    (tmp_path / "text").write_text("hello\n", encoding="utf-8")
    assert "line 1: " in explain("node", "floor", "--journal", str(tmp_path / "text"))[2]


def test_why_a_node_was_given_up_is_told_in_the_words_of_its_events(tmp_path: Path, explain: Explain) -> None:
    spot = within("karpenter.sh/capacity-type", "spot")
    _, entries = lived(
        tmp_path,
        manifests=[NODE_CLASS, pool(SMALL, spot), deployment("web", 1)],
        events=[{"at": "5m", "do": "interrupt", "nodePool": "default"}],
    )
    _, out, _ = explain("node", first(entries, "node.registered"), "--journal", str(tmp_path / "journal"))
    told = [" ".join(line.split()) for line in out.splitlines()]
    assert "+5m0s event.told TerminatingOnInterruption: Interruption triggered termination for the Node" in told
    assert not any("Status condition transitioned" in line for line in told)
    evicted = first(entries, "pod.evicted")
    _, out, _ = explain("pod", evicted, "--journal", str(tmp_path / "journal"))
    assert "+5m0s pod.evicted api: Eviction API: evicting" in " ".join(out.split())
