"""Pools with a fixed number of nodes, with the gate StaticCapacity: API, cloud and controllers on a virtual clock."""

from collections.abc import Iterator

import pytest

from baseload.control.settings import Settings
from baseload.decide.provision.options import Options
from tests.control.stage import Stage, Tree, node_class, pool, running

STATIC = Settings(options=Options(feature_gates={"StaticCapacity": True}))


@pytest.fixture
def stage() -> Iterator[Stage]:
    """A stage with an EC2NodeClass, ended after the test."""
    one = Stage()
    one.create(node_class())
    yield one
    one.close()


def fixed(replicas: int, **spec: Tree) -> Tree:
    tree = pool()
    tree["spec"] |= {"replicas": replicas, **spec}
    return tree


def names(stage: Stage) -> list[str]:
    return [it["metadata"]["name"] for it in stage.all("NodeClaim")]


def test_a_static_pool_gets_its_nodes_though_no_pod_asks_for_them(stage: Stage) -> None:
    stage.create(fixed(3))
    stage.start(STATIC)
    stage.until(lambda: len(stage.living()) == 3, 60)
    stage.run(300)

    assert len(names(stage)) == len(stage.living()) == 3
    assert "consolidatable" not in str(stage.all("NodeClaim")).lower()


def test_without_the_gate_nothing_comes(stage: Stage) -> None:
    stage.create(fixed(3))
    stage.start()
    stage.run(300)

    assert names(stage) == []


def test_a_claim_that_goes_is_replaced_at_once(stage: Stage) -> None:
    stage.create(fixed(2))
    stage.start(STATIC)
    stage.until(lambda: len(stage.living()) == 2, 60)
    stage.run(60)
    lost = names(stage)[0]
    stage.delete("NodeClaim", lost)
    stage.run(5)

    assert len(names(stage)) == 3  # the one that goes, and its successor
    stage.until(lambda: lost not in names(stage), 200)
    assert len(names(stage)) == 2


def test_the_limit_of_nodes_holds_and_is_told_by_waiting(stage: Stage) -> None:
    stage.create(fixed(5, limits={"nodes": "3"}))
    stage.start(STATIC)
    stage.run(120)
    assert len(names(stage)) == 3

    stage.patch("NodePool", "default", {"spec": {"limits": {"nodes": "4"}}})
    stage.run(5)
    assert len(names(stage)) == 4


def test_fewer_replicas_end_the_nodes_that_nobody_uses(stage: Stage) -> None:
    stage.create(fixed(3))
    stage.replicas = 1
    stage.start(STATIC)
    stage.until(lambda: running(stage) == 1, 90)
    stage.until(lambda: len(stage.all("Node")) == 3, 90)
    stage.run(30)
    used = stage.all("Pod")[0]["spec"]["nodeName"]

    stage.patch("NodePool", "default", {"spec": {"replicas": 1}})
    stage.until(lambda: len(names(stage)) == 1, 120)

    assert [it["metadata"]["name"] for it in stage.all("Node")] == [used]
    assert running(stage) == 1
