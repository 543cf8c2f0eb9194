"""Spot notices, stopped and broken machines: the claim goes, its pods move while there is time."""

from collections.abc import Iterator
from typing import Any

import pytest

from baseload.control.settings import Settings
from tests.control.stage import Stage, Tree, node_class, pool, running

SPOT = {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]}


@pytest.fixture
def stages() -> Iterator[list[Stage]]:
    made: list[Stage] = []
    yield made
    for one in made:
        one.close()


def begun(stages: list[Stage], settings: Settings | None = None, **cloud: Any) -> Stage:
    """Three pods on one spot machine."""
    stage = Stage(**cloud)
    stages.append(stage)
    stage.create(node_class())
    stage.create(pool(requirements=(SPOT,)))
    stage.replicas = 3
    stage.start(settings)
    stage.until(lambda: running(stage) == 3, 60)
    return stage


def interrupt(stage: Stage) -> None:
    """The machine gets its notice."""
    region = stage.cloud.region
    region.troubles.interrupt(region.inventory.get(stage.living()[0].id))


def told(stage: Stage, kind: str) -> list[tuple[str, str]]:
    """What objects of a kind were told, as type and reason."""
    return [(it["type"], it["reason"]) for it in stage.all("Event") if it["involvedObject"]["kind"] == kind]


def names(stage: Stage) -> list[str]:
    return [it["metadata"]["name"] for it in stage.all("NodeClaim")]


def test_a_spot_notice_moves_the_pods_before_the_machine_ends(stages: list[Stage]) -> None:
    stage = begun(stages)
    [lost], [claim] = stage.living(), stage.all("NodeClaim")
    moment = stage.clock.now()

    interrupt(stage)
    stage.run(5)

    assert stage.all("NodeClaim")[0]["metadata"]["deletionTimestamp"]
    stage.until(lambda: running(stage) == 3, 110)
    assert (stage.clock.now() - moment) / 1e9 < 120
    stage.until(lambda: claim["metadata"]["name"] not in names(stage), 60)
    for kind in ("NodeClaim", "Node"):
        assert ("Warning", "SpotInterrupted") in told(stage, kind)
        assert ("Warning", "TerminatingOnInterruption") in told(stage, kind)
    # Its offering is not taken again for three minutes.
    [new] = [it for it in stage.living() if it.id != lost.id]
    assert (new.instance_type, new.zone) != (lost.instance_type, lost.zone)
    assert len(stage.cloud.region.queue) == 0


def test_without_a_queue_nobody_is_told_and_the_machine_ends_after_two_minutes(stages: list[Stage]) -> None:
    stage = begun(stages, queue={"exists": False})
    [name] = names(stage)

    interrupt(stage)
    stage.run(115)

    assert "deletionTimestamp" not in stage.all("NodeClaim")[0]["metadata"]
    assert running(stage) == 3
    stage.until(lambda: name not in names(stage), 300)
    assert ("Warning", "SpotInterrupted") not in told(stage, "NodeClaim")
    stage.until(lambda: running(stage) == 3, 120)


def test_a_controller_that_follows_no_queue_leaves_the_messages_in_it(stages: list[Stage]) -> None:
    stage = begun(stages, Settings(interruption_queue=False))
    interrupt(stage)
    stage.run(60)
    assert "deletionTimestamp" not in stage.all("NodeClaim")[0]["metadata"]
    assert len(stage.cloud.region.queue) > 0


def test_a_rebalance_recommendation_is_told_and_no_more(stages: list[Stage]) -> None:
    stage = begun(stages, spot={"rebalanceAhead": "10m", "life": "15m", "swing": 0})
    stage.run(5 * 60)
    assert ("Normal", "SpotRebalanceRecommendation") in told(stage, "NodeClaim")
    assert "deletionTimestamp" not in stage.all("NodeClaim")[0]["metadata"]


def test_a_machine_that_somebody_ends_takes_its_claim_with_it_at_once(stages: list[Stage]) -> None:
    stage = begun(stages)
    stage.cloud.region.terminate(stage.living()[0].id)
    stage.run(5)
    assert stage.all("NodeClaim")[0]["metadata"]["deletionTimestamp"]
    assert ("Warning", "InstanceTerminating") in told(stage, "NodeClaim")


def test_a_machine_that_hangs_is_given_up_after_two_minutes_of_failed_checks_without_a_drain(
    stages: list[Stage],
) -> None:
    hangs = {"kind": "Hangs", "percent": 100, "after": "5m"}
    stage = begun(stages, failures=[hangs])
    [claim] = stage.all("NodeClaim")
    stage.run(5 * 60 + 60)
    assert "deletionTimestamp" not in stage.all("NodeClaim")[0]["metadata"]

    stage.until(lambda: "deletionTimestamp" in _named(stage, claim)["metadata"], 180)

    held = _named(stage, claim)["metadata"]
    assert held["annotations"]["karpenter.sh/nodeclaim-termination-timestamp"] <= held["deletionTimestamp"]
    assert ("Warning", "InstanceUnhealthy") in told(stage, "NodeClaim")


def test_a_message_that_could_not_be_seen_to_comes_again(stages: list[Stage]) -> None:
    fault = {"call": "DeleteMessage", "error": "CloudUnreachable", "skip": 2, "count": 1}
    stage = begun(stages, faults=[fault])
    interrupt(stage)
    stage.run(2)
    assert len(stage.cloud.region.queue) > 0
    stage.run(60)
    assert len(stage.cloud.region.queue) == 0


def test_conditions_that_change_are_told_in_the_words_that_people_know(stages: list[Stage]) -> None:
    stage = begun(stages)
    stage.run(5)
    messages = [
        (it["reason"], it["message"]) for it in stage.all("Event") if it["involvedObject"]["kind"] == "NodeClaim"
    ]
    for type in ("Launched", "Registered", "Initialized", "Ready"):
        words = f"Status condition transitioned, Type: {type}, Status: Unknown -> True, Reason: {type}"
        assert (type, words) in messages


def _named(stage: Stage, claim: Tree) -> Tree:
    name = claim["metadata"]["name"]
    return next(it for it in stage.all("NodeClaim") if it["metadata"]["name"] == name)
