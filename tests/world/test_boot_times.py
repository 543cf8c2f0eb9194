"""How long a node takes: from its NodeClaim to Ready less than 45 s, whatever chance decides."""

from typing import Final

import pytest

from baseload.values import instant
from baseload.values.instant import SECOND
from baseload.world.living import LifeSettings
from tests.world.lives import Life, Tree, deployment, node_class, pool, within

NODES: Final = 12  # of each cluster
LONGEST: Final = 45.0  # seconds


def took(claim: Tree) -> float:
    """Seconds from a NodeClaim's creation until its node was Ready."""
    [ready] = [it for it in claim["status"]["conditions"] if it["type"] == "Ready" and it["status"] == "True"]
    begun = instant.parse(claim["metadata"]["creationTimestamp"])
    return (instant.parse(ready["lastTransitionTime"]) - begun) / SECOND


def booted(seed: int) -> list[float]:
    """How long each node of a cluster took whose pods do not want to be together."""
    life = Life(LifeSettings(seed=seed))
    try:
        apart = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "kubernetes.io/hostname"}
        affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}}
        life.create(node_class())
        life.create(pool(within("karpenter.sh/capacity-type", "spot", "on-demand")))
        life.create(deployment("web", NODES, affinity=affinity))
        life.run(60)
        claims = life.all("karpenter.sh", "NodeClaim")
        assert len(claims) == NODES
        assert life.ready() == NODES
        for claim in claims:
            assert claim["status"]["capacity"]["cpu"].isdecimal()
            assert claim["metadata"]["labels"]["node.kubernetes.io/instance-type"]
        return [took(claim) for claim in claims]
    finally:
        life.close()


@pytest.mark.parametrize("seed", [0])
def test_a_node_is_ready_in_less_than_45_seconds(seed: int) -> None:
    assert max(booted(seed)) < LONGEST


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_node_is_ready_in_less_than_45_seconds_with_every_seed() -> None:
    times = sorted(time for seed in range(100) for time in booted(seed))
    assert times[-1] < LONGEST
