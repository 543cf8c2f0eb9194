"""`baseload top` against a server: one picture for people and for programs, and a terminal that is kept up to date."""

import json
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from baseload.embedded.api.cluster import Cluster
from baseload.kube import manifests
from baseload.world import embedded, kubeconfig
from tests.cli.conftest import Run
from tests.cli.servers import send
from tests.cli.terminals import Terminal, on_terminal
from tests.embedded.clock import Standing
from tests.servers.embedded import answering

ALTERNATE, BACK = b"\x1b[?1049h", b"\x1b[?1049l"
SHOWN, HIDDEN = b"\x1b[?25h", b"\x1b[?25l"
EXAMPLE = Path(__file__).parents[2] / "examples" / "exercise"


def cluster() -> Cluster:
    """The cluster of the example: two nodes, and a Deployment without its pods."""
    return embedded.build(None, manifests.load([str(EXAMPLE)]), clock=Standing()).cluster


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    with answering(cluster()) as address:
        kubeconfig.write(tmp_path / "config", address)
        yield address


def node(name: str, **labels: str) -> dict[str, Any]:
    """A node that is Ready."""
    status = {
        "allocatable": {"cpu": "2", "memory": "4Gi", "pods": "10"},
        "conditions": [{"type": "Ready", "status": "True"}],
    }
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "status": status}


@pytest.mark.usefixtures("address")
def test_where_there_is_no_terminal_one_picture_is_printed(run_live: Run) -> None:
    status, out, said = run_live("top")
    assert (status, said) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "2026-11-30T12:00:00Z  context baseload"  # the time is the server's, which stands in this test
    assert lines[1] == "2 nodes (2 Ready) · $0.1920 an hour, $140.16 a month"
    assert lines[2] == "4 pods: 4 Running"
    [row] = [line.split() for line in lines if line.startswith("ip-192-168-1-21")]
    assert row[1:3] == ["m5.large", "us-east-1a"]
    assert "$0.0960" in row
    assert row[-1] == "Ready"


@pytest.mark.usefixtures("address")
def test_for_programs_the_same_is_printed_as_json_and_yaml(run_live: Run) -> None:
    status, out, _ = run_live("top", "-o", "json", "--context", "baseload", "--sort", "price")
    assert status == 0
    found = json.loads(out)
    assert (found["apiVersion"], found["kind"]) == ("baseload.dev/v1alpha1", "Overview")
    assert found["totals"]["nodes"] == 2
    first = found["nodes"][0]
    assert (first["instanceType"], first["pricePerHour"], first["estimated"]) == ("m5.large", 0.096, False)
    assert first["requests"]["cpu"] == "1400m"
    assert first["fill"]["pods"] == pytest.approx(2 / 29, abs=1e-4)
    assert len(first["pods"]) == 2
    assert found["nodePools"] == [{"name": "default", "nodes": 0, "used": {}, "limits": {"cpu": "500"}}]
    assert yaml.safe_load(run_live("top", "-o", "yaml", "--sort", "price")[1])["nodes"] == found["nodes"]


@pytest.mark.usefixtures("address")
def test_a_selector_chooses_nodes(run_live: Run) -> None:
    out = run_live("top", "-l", "topology.kubernetes.io/zone in (us-east-1b)", "--pods")[1]
    assert "ip-192-168-2-22" in out
    assert "    default/shop-6d9f7c8b54-n7wkp" in out
    assert "ip-192-168-1-21" not in out
    status, out, said = run_live("top", "-l", "zone in")
    assert (status, out) == (2, "")
    assert "--node-selector" in said


def test_a_cluster_without_karpenter_is_shown_too(run_live: Run, address: str) -> None:
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    for name in ("nodeclaims.karpenter.sh", "nodepools.karpenter.sh"):
        send(address, "DELETE", f"{definitions}/{name}", {})
    status, out, _ = run_live("top")
    assert status == 0
    assert "2 nodes (2 Ready)" in out
    assert "NodePool" not in out.replace("NODEPOOL", "")


def test_a_cluster_that_does_not_answer_is_status_3(run_live: Run, tmp_path: Path) -> None:
    kubeconfig.write(tmp_path / "config", "http://127.0.0.1:9")
    status, out, said = run_live("top")
    assert (status, out) == (3, "")
    assert said.startswith("baseload: context baseload: ")


def test_a_context_that_there_is_not_is_bad_input(run_live: Run, tmp_path: Path) -> None:
    kubeconfig.write(tmp_path / "config", "http://127.0.0.1:9")
    status, _, said = run_live("top", "--context", "prod")
    assert status == 2
    assert 'there is no context "prod"' in said


@contextmanager
def terminal(tmp_path: Path, environment: dict[str, str] | None = None) -> Iterator[Terminal]:
    """`top` on a terminal, with the kubeconfig of the test."""
    found = {"KUBECONFIG": str(tmp_path / "config"), "XDG_CACHE_HOME": str(tmp_path), **(environment or {})}
    with on_terminal("top", "--interval", "0.2", environment=found) as shown:
        yield shown


@pytest.mark.parametrize("way", ["ctrl-c", "q", "terminated"])
def test_a_terminal_is_kept_up_to_date_and_is_as_it_was_afterwards(tmp_path: Path, address: str, way: str) -> None:
    with terminal(tmp_path) as shown:
        before = shown.modes()
        shown.until("2 nodes (2 Ready)")
        assert ALTERNATE in shown.written
        assert HIDDEN in shown.written
        send(address, "POST", "/api/v1/nodes", node("new-one"))
        shown.until("3 nodes (")
        assert shown.modes() != before
        if way == "terminated":
            shown.signal(signal.SIGTERM)
        else:
            shown.type(b"\x03" if way == "ctrl-c" else b"q")
        assert shown.ended() == 0
        assert shown.modes() == before
        end = shown.written[shown.written.rindex(b"3 nodes (") :]
        assert BACK in end
        assert SHOWN in end
        assert b"Traceback" not in shown.written


@pytest.mark.usefixtures("address")
def test_a_picture_is_made_anew_for_another_size(tmp_path: Path) -> None:
    with terminal(tmp_path) as shown:
        place = shown.until("us-east-1b")
        shown.resize(60, 8)
        shown.until("more line", place)
        last = shown.written[shown.written.rindex(b"context baseload") :]
        assert b"us-east-1a" not in last
        shown.type(b"q")
        assert shown.ended() == 0


@pytest.mark.usefixtures("address")
def test_ctrl_z_gives_the_terminal_back_until_somebody_comes_again(tmp_path: Path) -> None:
    with terminal(tmp_path) as shown:
        before = shown.modes()
        place = shown.until("2 nodes (2 Ready)")
        shown.type(b"\x1a")
        place = shown.until(SHOWN.decode(), place)
        place = shown.until(BACK.decode(), place)
        shown.wait_for(lambda: shown.modes() == before)
        shown.signal(signal.SIGCONT)
        place = shown.until(ALTERNATE.decode(), place)
        shown.until("2 nodes (2 Ready)", place)
        shown.type(b"q")
        assert shown.ended() == 0
        assert shown.modes() == before


def test_a_lost_connection_is_said_and_taken_up_again(tmp_path: Path) -> None:
    with ExitStack() as first, ExitStack() as second:
        address = first.enter_context(answering(cluster()))
        kubeconfig.write(tmp_path / "config", address)
        shown = second.enter_context(terminal(tmp_path))
        shown.until("2 nodes (2 Ready)")
        first.close()
        place = shown.until("no connection for ")
        second.enter_context(answering(cluster(), int(address.rpartition(":")[2])))
        send(address, "POST", "/api/v1/nodes", node("after-all"))
        shown.until("3 nodes (", place)
        shown.type(b"q")
        assert shown.ended() == 0
        last = shown.written[shown.written.rindex(b"context baseload") :]
        assert b"no connection" not in last


def test_colours_are_left_out_where_no_color_says_so(tmp_path: Path, address: str) -> None:
    with terminal(tmp_path, {"NO_COLOR": "1"}) as shown:
        shown.until("Ready")
        shown.type(b"q")
        assert shown.ended() == 0
        assert b"\x1b[32m" not in shown.written
    with terminal(tmp_path) as shown:
        shown.until("Ready")
        shown.type(b"q")
        assert shown.ended() == 0
        assert b"\x1b[32m" in shown.written
