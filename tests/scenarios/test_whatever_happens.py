"""Troubles drawn by lot, all at once: when they are over all pods run, and nothing is left or was made twice."""

from random import Random
from typing import Any

import pytest

from baseload.replay.weather import NAMES
from baseload.world.living import PROCESSES
from tests.scenarios.living import Lived, lived_otherwise

Event = dict[str, Any]
STORY = "b_spot-storm"
REPLICAS = 10
CALLS = ("CreateFleet", "DescribeInstances", "TerminateInstances", "CreateTags", "ReceiveMessage", "DeleteMessage")
WRONG: tuple[Event, ...] = ({"error": "Throttled"}, {"error": "CloudUnreachable"}, {"lost": True}, {"delay": "20s"})
FAILURES = ("Dies", "Hangs", "HostFails")
"""Not `Stops`: that is told once by a message that is kept five minutes, and an API server may be down for longer"""


def trouble(lot: Random) -> Event:
    """Something that goes wrong within 40 minutes, and is over after ten more."""

    def seconds(least: int, most: int) -> str:
        return f"{lot.randrange(least, most)}s"

    kinds: tuple[Event, ...] = (
        {"do": "interrupt", "nodePool": "spot", "percent": lot.choice((20, 50, 100))},
        {"do": "nodeFailure", "nodePool": "spot", "count": lot.randrange(1, 4), "failure": lot.choice(FAILURES)},
        {"do": "nodeFailure", "nodePool": "spot", "count": 2, "failure": "Hangs", "for": seconds(30, 300)},
        {"do": "killController", "controller": "karpenter", "afterWrites": lot.randrange(60), "downFor": "30s"},
        {"do": "killController", "controller": lot.choice(PROCESSES), "downFor": seconds(1, 400)},
        {"do": "apiDown", "for": seconds(5, 400)},
        {"do": "apiDown", "controllers": sorted(lot.sample(NAMES, 3)), "for": seconds(5, 400)},
        {"do": "apiSlow", "delay": seconds(1, 8), "for": seconds(5, 400)},
        {"do": "cloudFault", "call": lot.choice(CALLS), "percent": 30, "for": seconds(5, 300), **lot.choice(WRONG)},
        {"do": "outOfCapacity", "types": [lot.choice(("c5.*", "m5.*", "c6i.*"))], "for": "300s"},
        {"do": "zoneDown", "zone": lot.choice(("us-east-1a", "us-east-1b")), "for": seconds(30, 600)},
        {"do": "scale", "workload": "web", "replicas": lot.choice((4, 12, 20))},
    )
    return {"at": seconds(120, 2400), **lot.choice(kinds)}


def lived_through(seed: int) -> Lived:
    lot = Random(seed)
    events = [trouble(lot) for _ in range(lot.randrange(4, 10))]
    return lived_otherwise(
        STORY,
        duration="80m",
        seed=seed,
        checkEvery="20m",
        events=[*events, {"at": "45m", "do": "scale", "workload": "web", "replicas": REPLICAS}],
        expect=[
            {"series": "pods.ready", "workload": "web", "at": "79m", "for": "1m", "is": REPLICAS},
            {"series": "pods.total", "at": "80m", "is": REPLICAS},
            {"series": "nodes.notReady", "at": "80m", "is": 0},
            {"series": "nodeClaims.deleting", "at": "80m", "is": 0},
        ],
    )


@pytest.mark.parametrize(
    "seed", [1, 3, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(4, 40))], ids=lambda seed: f"{seed}"
)
def test_whatever_happens_all_pods_run_in_the_end_and_no_machine_is_left_or_made_twice(seed: int) -> None:
    life = lived_through(seed)
    assert life.report.result == "holds", life.text
    figures = life.report.figures
    assert figures["nodes.total"] == figures["nodeClaims.total"] == figures["instances"], life.text
    claims = [entry.object for entry in life.told("nodeclaim.launched")]
    assert len(set(claims)) == figures["launches"], life.text
