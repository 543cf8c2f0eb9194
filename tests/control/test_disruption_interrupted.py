"""Disruption that is killed between any two writes: nothing stays tainted, marked or launched for nobody."""

from collections.abc import Iterable

import pytest

from tests.control.stage import Stage, condition, node_class, pool, running
from tests.control.test_disruption import ALL, ON_DEMAND, SIZES, delete_pods, taints, types
from tests.control.test_interrupted import Fate, karpenter

WORKLOAD = 5


def story(after: int | None) -> tuple[Stage, Fate, int]:
    """A node is too large for the one pod that is left, and is replaced; from where on writes may be the last."""
    stage, fate = Stage(), Fate(None)
    stage.create(node_class())
    stage.create(pool(requirements=(ON_DEMAND, SIZES), disruption=ALL))
    stage.replicas = WORKLOAD
    stage.begin(karpenter(stage, fate), "karpenter")
    stage.until(lambda: running(stage) == WORKLOAD, 200)
    delete_pods(stage, 1)
    before = len(fate.done)
    fate.after = None if after is None else before + after
    stage.until(lambda: is_over(stage), 1200)
    stage.run(120)
    assert is_over(stage)
    return stage, fate, before


def is_over(stage: Stage) -> bool:
    """One small node with its pod, and nothing that tells of the way there."""
    claims = stage.all("NodeClaim")
    return (
        types(stage) == ["m5.large"]
        and running(stage) == 1
        and len(claims) == 1
        and condition(claims[0], "DisruptionReason") == ("", "")
        and taints(stage) == [[]]
    )


def interrupted(points: Iterable[int]) -> int:
    runs = 0
    for after in points:
        stage, fate, _ = story(after)
        launched = [it.instance.tags["baseload.dev/nodeclaim-uid"] for it in stage.cloud.region.inventory]
        assert len(launched) == len(set(launched)), (after, fate.done[-10:])
        stage.close()
        runs += 1
    return runs


def test_killed_while_a_node_is_replaced_the_next_one_brings_it_to_an_end() -> None:
    stage, fate, before = story(None)
    stage.close()
    done = fate.done[before:]
    decisive = [
        at
        for at, what in enumerate(done)
        if "CreateFleet" in what or "TerminateInstances" in what or ("/nodes/" in what and "PATCH" in what)
    ]

    assert interrupted(decisive[:8]) == len(decisive[:8]) > 4


@pytest.mark.long
@pytest.mark.timeout(900)
def test_the_same_at_every_point() -> None:
    stage, fate, before = story(None)
    stage.close()
    count = len(fate.done) - before

    assert interrupted(range(count)) == count
