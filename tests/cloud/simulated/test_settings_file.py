"""The settings as users write them: what is absent is the default, and every mistake is named at its path."""

from typing import Any

import pytest

from baseload.cloud.simulated import settings_file
from baseload.cloud.simulated.draws import WHOLE, Delays
from baseload.cloud.simulated.settings import (
    LATENCIES,
    LIMITS,
    Boot,
    Bucket,
    CapacityRule,
    CloudSettings,
    FailureRule,
    FaultScript,
    Outage,
    Spot,
    Where,
    Window,
)
from baseload.values.duration import HOUR, MINUTE, SECOND
from baseload.values.errors import BadInput


def faults(tree: object, zones: tuple[str, ...] = ()) -> list[str]:
    with pytest.raises(BadInput) as caught:
        settings_file.read(tree, path="spec.cloud", zones=zones)
    return [str(fault).removeprefix("spec.cloud") for fault in caught.value.faults]


def test_nothing_said_leaves_the_defaults() -> None:
    assert settings_file.read({}) == CloudSettings()


def test_everything_that_can_be_said_is_taken() -> None:
    settings = settings_file.read(
        {
            "boot": {"running": "6s", "registers": {0: "10s", "50": "20s", 99.5: "1m"}},
            "spot": {"step": "1h", "swing": 2.5, "life": {0: "1h", 10: "720h"}, "rebalanceAhead": "never"},
            "capacity": [{"instances": {"least": 0, "most": 9}, "types": ["m5.*"], "from": "1h", "until": "2h"}],
            "outages": [{"zone": "us-east-1a", "from": "10m"}],
            "quotas": {"on-demand": {"standard": 500, "g": 0}},
            "limits": {"CreateFleet": {"size": 5, "refill": 1}, "CreateTags": "none"},
            "latencies": {"CreateFleet": "3s"},
            "faults": [{"call": "CreateFleet", "error": "InsufficientCapacity", "zones": ["a"], "skip": 1, "count": 2}],
            "failures": [{"kind": "Hangs", "percent": "0.5", "after": "5m", "lasts": "1m"}],
            "seenAfter": "0s",
            "volumes": {"attaching": "9s"},
        }
    )

    assert settings.boot == Boot(
        Delays.of(6 * SECOND), Delays(((0, 10 * SECOND), (500_000, 20 * SECOND), (995_000, MINUTE)))
    )
    life = Delays(((0, HOUR), (100_000, 720 * HOUR)))
    assert settings.spot == Spot(HOUR, 25_000, life=life, rebalance_ahead=None)
    assert settings.capacity == (CapacityRule(0, 9, Where(("m5.*",)), Window(HOUR, 2 * HOUR)),)
    assert settings.outages == (Outage("us-east-1a", Window(10 * MINUTE)),)
    assert settings.quotas == {("on-demand", "standard"): 500, ("on-demand", "g"): 0}
    assert settings.limits == {**LIMITS, "CreateFleet": Bucket(5, 1), "CreateTags": Bucket(0, 0)}
    assert settings.latencies == {**LATENCIES, "CreateFleet": Delays.of(3 * SECOND)}
    assert settings.faults == (FaultScript("CreateFleet", "InsufficientCapacity", Where((), ("a",)), skip=1, count=2),)
    assert settings.failures == (FailureRule("Hangs", 5000, Where(), Delays.of(5 * MINUTE), Delays.of(MINUTE)),)
    assert (settings.seen_after, settings.attaching) == (Delays.of(0), Delays.of(9 * SECOND))


@pytest.mark.parametrize(
    ("tree", "fault"),
    [
        ([], ": Invalid value: [] (a map of settings)"),
        ({"bot": {}}, ".bot: is no known setting (did you mean boot? allowed: volumes, boot, spot, subnets,"),
        ({"boot": {"runing": "1s"}}, ".boot.runing: is no known setting (did you mean running?"),
        ({"boot": {"running": 5}}, ".boot.running: Invalid value: 5 (a duration, e.g. 90s or 5m, or a map of per cent"),
        ({"boot": {"running": "5 s"}}, """.boot.running: Invalid value: '5 s' ("5 s" is not a duration"""),
        ({"boot": {"running": {50: "5s", 40: "6s"}}}, ".boot.running: Invalid value: {50: '5s', 40: '6s'} (a duration"),
        ({"boot": {"running": {0: "5s", 101: "6s"}}}, ".boot.running: Invalid value"),
        ({"spot": {"swing": "1e99999999"}}, ".spot.swing: Invalid value: '1e99999999' (per cent from 0 to 100"),
        ({"spot": {"swing": 0.00001}}, ".spot.swing: Invalid value: 1e-05 (per cent from 0 to 100"),
        ({"spot": {"step": "0s"}}, ".spot.step: Invalid value: '0s' (a duration, e.g. 90s or 5m, above 0)"),
        ({"spot": {"life": "ever"}}, """.spot.life: Invalid value: 'ever' ("ever" is not a duration"""),
        ({"capacity": {}}, ".capacity: Invalid value: {} (a list of maps)"),
        ({"capacity": [{}]}, ".capacity[0].instances: Required value (a whole number, 0 or more, or a range"),
        ({"capacity": [{"instances": {"least": 5, "most": 2}}]}, ".capacity[0].instances: Invalid value: {'least': 5"),
        ({"capacity": [{"instances": -1}]}, ".capacity[0].instances: Invalid value: -1"),
        (
            {"capacity": [{"instances": 0, "capacityTypes": ["spott"]}]},
            ".capacity[0].capacityTypes: Invalid value: ['spott'] (did you mean spot? one of on-demand, spot)",
        ),
        (
            {"capacity": [{"instances": 0, "from": "2m", "until": "2m"}]},
            ".capacity[0].until: is not after from",
        ),
        ({"outages": [{"zone": "z9"}]}, ".outages[0].zone: Invalid value: 'z9' (one of z1, z2)"),
        ({"quotas": {"spot": {"standart": 5}}}, ".quotas.spot.standart: is no known setting (did you mean standard?"),
        ({"limits": {"RunInstance": "none"}}, ".limits.RunInstance: is no known setting (did you mean RunInstances?"),
        ({"limits": {"CreateTags": {"size": 5}}}, ".limits.CreateTags: Invalid value: {'size': 5} (a bucket, e.g."),
        (
            {"faults": [{"error": "Throttled"}]},
            ".faults[0].call: Required value (one of CreateFleet, DescribeInstances",
        ),
        (
            {"faults": [{"call": "CreateFleet", "error": "Throtled"}]},
            ".faults[0].error: Invalid value: 'Throtled' (did you mean Throttled? one of InsufficientCapacity,",
        ),
        ({"faults": [{"call": "CreateTags"}]}, ".faults[0]: does nothing (give error, delay or lost)"),
        (
            {"faults": [{"call": "CreateTags", "error": "QuotaExceeded"}]},
            ".faults[0].error: QuotaExceeded is an answer to CreateFleet alone",
        ),
        (
            {"faults": [{"call": "CreateFleet", "error": "Throttled", "types": ["m5.large"]}]},
            ".faults[0]: types, zones and capacityTypes are of InsufficientCapacity and QuotaExceeded alone",
        ),
        (
            {"faults": [{"call": "CreateTags", "error": "Throttled", "lost": True}]},
            ".faults[0].lost: a call that fails with an error has no answer to lose (leave one of them out)",
        ),
        ({"failures": [{"kind": "Melts"}]}, ".failures[0].kind: Invalid value: 'Melts' (one of FailsToStart,"),
        ({"failures": [{"kind": "Dies", "percent": 101}]}, ".failures[0].percent: Invalid value: 101 (per cent from"),
        (
            {"subnets": [{"id": "s", "zone": "z1"}, {"id": "s", "zone": "z2"}]},
            ".subnets[1].id: Duplicate value: 's'",
        ),
        (
            {"subnets": [{"id": "s", "zone": "z1", "tags": {"a": 1}}]},
            ".subnets[0].tags: Invalid value: {'a': 1} (a map",
        ),
        (
            {"releases": [{"family": "al2024", "version": "v1"}]},
            ".releases[0].family: Invalid value: 'al2024' (did you",
        ),
        ({"roles": "NodeRole"}, ".roles: Invalid value: 'NodeRole' (a list, each a text)"),
        ({"queue": {"exists": "yes"}}, ".queue.exists: Invalid value: 'yes' (true or false)"),
        ({"volumes": {"attach": "1s"}}, ".volumes.attach: is no known setting (did you mean attaching?"),
    ],
)
def test_each_mistake_is_named_with_what_is_allowed(tree: object, fault: str) -> None:
    (found,) = faults(tree, ("z1", "z2"))
    assert found.startswith(fault)


def test_all_mistakes_are_named_at_once() -> None:
    tree: dict[str, Any] = {
        "boot": {"running": -1, "ready": "x"},
        "faults": [{"call": "Nope", "colour": 1}, {"call": "CreateTags", "percent": "all", "delay": "1s"}],
        "surplus": 1,
    }
    paths = [fault.split(":")[0] for fault in faults(tree)]
    assert paths == [
        ".boot.running",
        ".boot.ready",
        ".faults[0].call",
        ".faults[0]",
        ".faults[0].colour",
        ".faults[1].percent",
        ".surplus",
    ]


def test_a_table_of_delays_is_read_between_its_points() -> None:
    delays = Delays(((0, 100), (500_000, 200), (900_000, 1000)))
    assert [delays.at(share) for share in (0, 250_000, 499_999, 500_000, 899_999)] == [100, 150, 199, 200, 999]
    assert delays.at(900_000) is delays.at(WHOLE - 1) is None
    assert (Delays.of(7).at(0), Delays.of(7).at(WHOLE - 1)) == (7, 7)
    assert Delays(((100_000, 5), (WHOLE, 9))).at(50_000) == 5
