"""HorizontalPodAutoscalers: the arithmetic, and a workload under a scripted load."""

from collections.abc import Mapping
from typing import Any

import pytest

from baseload.embedded.actors.workloads import autoscale
from baseload.embedded.actors.workloads.autoscale import (
    DOWN,
    UP,
    Bounded,
    Limits,
    MetricError,
    Policy,
    Rules,
    Sample,
    Target,
)
from baseload.embedded.actors.workloads.autoscalers import spread
from baseload.embedded.api.usage import Amounts
from baseload.values.instant import SECOND
from tests.embedded.actors.workloads.playing import Play, workload

HALF = Target(utilization=50)


def used(*percents: int) -> list[Sample]:
    return [Sample("ready", 100, percent) for percent in percents]


def wanted(samples: list[Sample], target: Target, current: int) -> int:
    return autoscale.measured(samples, target, current, Limits()).replicas


def test_the_worked_examples() -> None:
    assert wanted(used(*[200] * 4), Target(utilization=100), 4) == 8
    assert wanted(used(55, 55, 55), HALF, 3) == 3
    assert wanted(used(*[90] * 5), HALF, 5) == 9


def test_an_average_amount_needs_no_requests() -> None:
    assert wanted([Sample("ready", 0, 300), Sample("ready", 0, 500)], Target(average=200), 2) == 4


def test_what_is_not_known_keeps_the_change_small() -> None:
    missing, unready = Sample("missing", 100), Sample("unready", 100)

    assert wanted([*used(90, 90), missing], HALF, 3) == 4  # taken as 0 on the way up
    assert wanted([*used(10, 10), missing], HALF, 3) == 3  # taken as all of its request on the way down
    assert wanted([*used(90, 90), unready, unready], HALF, 4) == 4
    assert wanted([*used(10, 10), unready], HALF, 3) == 1
    assert wanted([*used(90), Sample("ignored", 100)], HALF, 1) == 2


def test_without_a_pod_that_counts_nothing_can_be_said() -> None:
    with pytest.raises(MetricError, match="did not receive metrics for targeted pods"):
        wanted([Sample("unready", 100)], HALF, 1)


def test_of_the_window_the_highest_recommendation_holds_on_the_way_down() -> None:
    now = 1000 * SECOND
    history = [(now - 299 * SECOND, 8), (now - 301 * SECOND, 12)]

    assert autoscale.stabilized(2, 10, history, now, UP, DOWN) == 8
    assert autoscale.stabilized(9, 5, history, now, UP, DOWN) == 9
    assert autoscale.stabilized(9, 5, [(now - 1, 6)], now, Rules((), window=60), DOWN) == 6


def test_policies_bound_how_fast_it_changes() -> None:
    now = 1000 * SECOND

    assert autoscale.most(5, [], [], now, UP) == 10
    assert autoscale.most(2, [], [], now, UP) == 6
    assert autoscale.most(10, [(now - SECOND, 5)], [], now, UP) == 10
    assert autoscale.least(10, [], [], now, Rules((Policy("Pods", 1, 60), Policy("Percent", 50, 60)), "Min")) == 9
    assert autoscale.least(10, [], [], now, Rules((), "Disabled")) == 10


def test_what_bounds_a_size_is_told() -> None:
    def told(size: int, current: int, most: int) -> tuple[int, str]:
        found = autoscale.bounded(size, current, change=(0, most), bounds=(2, 10))
        assert isinstance(found, Bounded)
        return found.replicas, found.reason

    assert told(9, 5, 8) == (8, "ScaleUpLimit")
    assert told(20, 8, 16) == (10, "TooManyReplicas")
    assert told(1, 5, 10) == (2, "TooFewReplicas")
    assert told(6, 5, 10) == (6, "DesiredWithinRange")


class Loaded(Play):
    """A Deployment under a load that a test scripts, in thousandths of a core for all pods together."""

    load = 0

    def begin(self, **spec: Any) -> None:
        place = self.controllers.place

        def load(name: str, now: int) -> Amounts:
            assert name == "default/web"
            return {"cpu": self.load * 10**6}

        place.usage = spread(load, place)
        tree = workload("Deployment", "web", 2)
        tree["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
        self.create(tree)
        self.create(
            {
                "apiVersion": "autoscaling/v2",
                "kind": "HorizontalPodAutoscaler",
                "metadata": {"name": "web"},
                "spec": {
                    "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
                    "minReplicas": 2,
                    "maxReplicas": 10,
                    "metrics": [
                        {
                            "type": "Resource",
                            "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}},
                        }
                    ],
                    **spec,
                },
            }
        )

    @property
    def size(self) -> int:
        return int(self.tree("apps", "Deployment", "web")["spec"]["replicas"])

    @property
    def told(self) -> Mapping[str, tuple[str, str]]:
        status = self.tree("autoscaling", "HorizontalPodAutoscaler", "web")["status"]
        return {held["type"]: (held["status"], held["reason"]) for held in status["conditions"]}


def test_a_load_makes_a_workload_grow_and_after_five_calm_minutes_shrink() -> None:
    play = Loaded()
    play.begin()
    play.load = 1000
    play.run(60)
    assert play.size == 2
    assert play.told == {
        "AbleToScale": ("True", "ReadyForNewScale"),
        "ScalingActive": ("True", "ValidMetricFound"),
        "ScalingLimited": ("False", "DesiredWithinRange"),
    }
    play.load = 3000
    play.run(16)
    assert play.size == 4
    play.run(60)
    assert play.size == 6
    play.run(300)
    play.load = 1000
    play.run(200)
    assert (play.size, play.told["AbleToScale"]) == (6, ("True", "ScaleDownStabilized"))
    play.run(120)
    assert play.size == 2

    above = "cpu resource utilization (percentage of request) above target"
    assert ("Normal", "SuccessfulRescale", f"New size: 4; reason: {above}") in play.events("web")
    assert ("Normal", "SuccessfulRescale", "New size: 2; reason: All metrics below target") in play.events("web")
    status = play.tree("autoscaling", "HorizontalPodAutoscaler", "web")["status"]
    assert status["currentMetrics"] == [
        {"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 50, "averageValue": "500m"}}}
    ]
    assert (status["currentReplicas"], status["desiredReplicas"]) == (2, 2)


def test_a_workload_of_no_replicas_is_left_alone() -> None:
    play = Loaded()
    play.begin()
    play.load = 5000
    play.scale("Deployment", "web", 0)
    play.run(120)

    assert play.size == 0
    assert play.told["ScalingActive"] == ("False", "ScalingDisabled")


def test_a_size_out_of_bounds_is_brought_back() -> None:
    play = Loaded()
    play.begin()
    play.scale("Deployment", "web", 20)
    play.run(1)

    assert play.size == 10


def test_a_container_without_a_request_keeps_a_percentage_from_being_worked_out() -> None:
    play = Loaded()
    play.begin()
    change = {"spec": {"template": {"spec": {"containers": [{"name": "main", "image": "nginx:1"}]}}}}
    play.patch("apps", "Deployment", "web", change)
    play.run(60)

    assert play.told["ScalingActive"] == ("False", "FailedGetResourceMetric")
    reasons = [reason for _, reason, _ in play.events("web")]
    assert {"FailedGetResourceMetric", "FailedComputeMetricsReplicas"} <= set(reasons)
