"""Two minutes' notice: who leaves in time, who is cut off by the end of the machine, and that all run again."""

from collections.abc import Iterator
from typing import Any

import pytest

from baseload.cloud.simulated import settings_file
from baseload.embedded.actors import pods
from baseload.world.living import LifeSettings
from tests.world.lives import Life, Tree, deployment, node_class, pool, within

REPLICAS = 4
SPOT = within("karpenter.sh/capacity-type", "spot")


@pytest.fixture
def lives() -> Iterator[list[Life]]:
    made: list[Life] = []
    yield made
    for life in made:
        life.close()


def begun(lives: list[Life], tree: Tree, **cloud: Any) -> Life:
    """Four pods on one spot machine, which gets its notice now."""
    life = Life(LifeSettings(cloud=settings_file.read(cloud, zones=("us-east-1a",))))
    lives.append(life)
    life.create(node_class())
    life.create(pool(SPOT))
    life.create(tree)
    life.run(90)
    assert life.ready() == REPLICAS
    region = life.living.cloud.region
    [record] = list(region.inventory)
    region.troubles.interrupt(record)
    return life


def cut_off(life: Life) -> int:
    """The pods that are still there when the machine ends, two minutes after its notice."""
    doomed = {it["metadata"]["name"] for it in life.all("", "Node")}
    life.run(119.5)
    return sum(it.node in doomed and not pods.is_over(it) for it in life.user.records("", "Pod").values())


def recovers(life: Life, seconds: float) -> None:
    life.run(seconds)
    assert life.ready() == REPLICAS
    assert len(life.all("karpenter.sh", "NodeClaim")) == 1


def test_a_clean_drain_cuts_nobody_off(lives: list[Life]) -> None:
    life = begun(lives, deployment("web", REPLICAS))
    assert cut_off(life) == 0
    recovers(life, 120)


def test_a_budget_that_blocks_keeps_its_pods_until_the_machine_takes_them(lives: list[Life]) -> None:
    life = begun(lives, deployment("web", REPLICAS))
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "maxUnavailable": 0},
    }
    life.create(budget)
    assert cut_off(life) == REPLICAS
    drains = [it["message"] for it in life.all("", "Event") if it["reason"] == "FailedDraining"]
    assert any("waiting to be evicted" in it or "violates a PDB" in it for it in drains)
    recovers(life, 400)


def test_pods_that_take_longer_than_the_notice_are_cut_off_while_they_end(lives: list[Life]) -> None:
    slow = deployment("web", REPLICAS, terminationGracePeriodSeconds=300)
    slow["spec"]["template"]["metadata"]["annotations"] = {"baseload.dev/stops-after": "290s"}
    life = begun(lives, slow)
    assert cut_off(life) == REPLICAS
    assert all(
        it.deletion is not None for it in life.user.records("", "Pod").values() if it.node and not pods.is_ready(it)
    )
    recovers(life, 400)


def test_without_a_queue_everybody_is_cut_off(lives: list[Life]) -> None:
    life = begun(lives, deployment("web", REPLICAS), queue={"exists": False})
    assert cut_off(life) == REPLICAS
    assert not any("deletionTimestamp" in it["metadata"] for it in life.all("karpenter.sh", "NodeClaim"))
    recovers(life, 600)


def test_a_storm_takes_all_spot_machines_and_no_pod_is_lost(lives: list[Life]) -> None:
    small = within("node.kubernetes.io/instance-type", "m5.large", "c5.large", "r5.large")
    life = Life()
    lives.append(life)
    life.create(node_class())
    life.create(pool(SPOT, small))
    life.create(deployment("web", 12))
    life.run(90)
    assert life.ready() == 12
    region = life.living.cloud.region
    first = list(region.inventory)
    for record in first:
        region.troubles.interrupt(record)
    life.run(240)
    assert life.ready() == 12
    assert all(not it.is_living for it in first)
    # Offerings whose machines were taken are not asked for again within three minutes.
    taken = {(it.instance.instance_type, it.instance.zone) for it in first}
    assert all((it.instance.instance_type, it.instance.zone) not in taken for it in region.inventory if it.is_living)
