"""The platform for a day: what it comes to is what the plan said, and what stands on the floor stays where it is."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.scenarios.living import FOLDER, lived

PLATFORM = FOLDER.parents[1] / "examples" / "platform"
CLUSTERS = ["hub", "preprod"]


def standing(folder: Path) -> set[str]:
    """The pods that run on the floor as the manifests say."""
    found: set[str] = set()
    for path in sorted(folder.glob("*.yaml")):
        trees: list[Any] = list(yaml.safe_load_all(path.read_text(encoding="utf-8")))
        pods = [tree for tree in trees if tree["kind"] == "Pod" and tree["spec"].get("nodeName")]
        found |= {f"Pod {pod['metadata']['namespace']}/{pod['metadata']['name']}" for pod in pods}
    return found


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_what_runs_on_the_floor_is_ready_from_the_first_moment_on(cluster: str) -> None:
    life = lived(f"a_platform-{cluster}")
    there = standing(PLATFORM / cluster)
    assert there
    unready = {entry.object for entry in life.journal if entry.event in ("pod.unready", "pod.restarted")}
    moved = {entry.object for entry in life.told("pod.evicted")}
    assert not there & (unready - moved)
    assert all(
        entry.object.startswith(("Pod kube-system/karpenter-", "Pod orders/orders-api-"))
        for entry in life.told("pod.evicted")
        if entry.object in there
    )


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_the_first_node_is_the_one_of_the_plan(cluster: str) -> None:
    life = lived(f"a_platform-{cluster}")
    plan: Any = life.told("provisioning.planned")[0].plan
    [claim] = plan["nodeClaims"]
    assert claim["instanceType"] == "r6g.medium"
    assert len(claim["pods"]) == {"hub": 2, "preprod": 3}[cluster]
    assert life.told("instance.launched")[0].message.startswith("r6g.medium, ")


def test_an_interrupted_node_is_empty_before_its_two_minutes_are_over() -> None:
    life = lived("a_platform-preprod")
    for told in life.told("instance.interrupted"):
        [ending] = life.told("instance.ending", object=told.object)
        assert 0 < ending.moment - told.moment < 120 * 10**9
    assert life.figure("evictions:api") == 6
    assert life.figure("podsCutOff") == 0


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_what_was_there_is_rolled_out_by_nobody(cluster: str) -> None:
    life = lived(f"a_platform-{cluster}")
    there = standing(PLATFORM / cluster)
    assert {entry.object for entry in life.told("pod.deleted")} & there <= {
        entry.object for entry in life.told("pod.evicted")
    }
