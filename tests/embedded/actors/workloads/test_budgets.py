"""PodDisruptionBudgets: what they expect, what they want healthy, what they let go."""

from typing import Any

import pytest

from baseload.embedded.actors.workloads.budget import Allowance, allowance
from baseload.embedded.api.refusals import TooManyRequests
from baseload.kube.types.policy import PodDisruptionBudgetSpec
from tests.embedded.actors.workloads.playing import Play, workload


def budget(name: str = "web", **spec: Any) -> dict[str, Any]:
    held = {"selector": {"matchLabels": {"app": name}}, **spec}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name}, "spec": held}


def status(play: Play, name: str = "web") -> dict[str, Any]:
    told: dict[str, Any] = play.tree("policy", "PodDisruptionBudget", name)["status"]
    return told


def allowed(play: Play) -> int:
    return int(status(play)["disruptionsAllowed"])


@pytest.mark.parametrize(
    ("spec", "pods", "scales", "healthy", "expected", "disruptions"),
    [
        (PodDisruptionBudgetSpec(max_unavailable="30%"), 10, 10, 10, Allowance(10, 7, 10), 3),
        (PodDisruptionBudgetSpec(min_available="50%"), 3, 3, 3, Allowance(3, 2, 3), 1),
        (PodDisruptionBudgetSpec(max_unavailable="50%"), 1, 1, 1, Allowance(1, 0, 1), 1),
        (PodDisruptionBudgetSpec(min_available=1), 1, 1, 1, Allowance(1, 1, 1), 0),
        (PodDisruptionBudgetSpec(min_available=2), 2, 3, 2, Allowance(2, 2, 2), 0),
        (PodDisruptionBudgetSpec(max_unavailable=0), 3, 3, 3, Allowance(3, 3, 3), 0),
        (PodDisruptionBudgetSpec(max_unavailable=1), 0, 0, 0, Allowance(0, 0, 0), 0),
    ],
)
def test_what_a_budget_allows(
    spec: PodDisruptionBudgetSpec, pods: int, scales: int, healthy: int, expected: Allowance, disruptions: int
) -> None:
    told = allowance(spec, pods=pods, scales=scales, healthy=healthy)

    assert (told, told.allowed) == (expected, disruptions)


def test_the_status_follows_the_pods() -> None:
    play = Play()
    play.create(workload("Deployment", "web", 3))
    play.create(budget(maxUnavailable=1))
    play.run(0.5)
    assert (allowed(play), status(play)["currentHealthy"]) == (0, 0)
    play.run(5)

    (condition,) = status(play).pop("conditions")
    told = status(play)
    assert {name: told[name] for name in told if name != "conditions"} == {
        "disruptionsAllowed": 1,
        "currentHealthy": 3,
        "desiredHealthy": 2,
        "expectedPods": 3,
        "observedGeneration": 1,
    }
    assert {key: condition[key] for key in ("type", "status", "reason", "message", "observedGeneration")} == {
        "type": "DisruptionAllowed",
        "status": "True",
        "reason": "SufficientPods",
        "message": "",
        "observedGeneration": 1,
    }


def test_an_eviction_is_counted_until_its_pod_is_marked_and_the_next_waits_for_the_replacement() -> None:
    play = Play()
    play.create(workload("Deployment", "web", 3))
    play.create(budget(minAvailable=2))
    play.run(5)
    first, second, _ = play.pods()
    play.user.evict(first)
    with pytest.raises(TooManyRequests, match="would violate the pod's disruption budget"):
        play.user.evict(second)
    play.run(0)
    assert (allowed(play), status(play).get("disruptedPods")) == (0, None)
    play.run(5)

    assert allowed(play) == 1


def test_a_pod_that_is_not_ready_may_go_while_enough_others_are_and_costs_nothing() -> None:
    play = Play()
    play.kubelet.is_broken = lambda pod: pod.uid == sorted(held.uid for held in play.pods())[0]
    play.create(workload("Deployment", "web", 3))
    play.create(budget(minAvailable=2))  # IfHealthyBudget is the default
    play.run(5)
    sick, well, _ = sorted(play.pods(), key=lambda pod: pod.uid)
    assert (allowed(play), status(play)["currentHealthy"]) == (0, 2)

    with pytest.raises(TooManyRequests, match="would violate the pod's disruption budget"):
        play.user.evict(well)
    play.user.evict(sick)

    assert sick.uid not in {pod.uid for pod in play.pods()}
    assert status(play).get("disruptedPods") is None


def test_the_scale_of_the_controllers_counts_not_the_pods_that_are_there() -> None:
    play = Play()
    play.create(workload("StatefulSet", "web", 4))
    play.create(budget(maxUnavailable="50%"))
    play.run(1.5)

    assert (len(play.pods()), status(play)["expectedPods"], status(play)["desiredHealthy"]) == (2, 4, 2)


def test_a_controller_without_a_scale_lets_nothing_go() -> None:
    play = Play()
    owner = play.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web"}})
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "labels": {"app": "web"}}}
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "web", "uid": owner.uid, "controller": True}
    play.create(
        {
            **pod,
            "metadata": {**pod["metadata"], "ownerReferences": [reference]},  # type: ignore[dict-item]
            "spec": {"containers": [{"name": "main", "image": "nginx:1"}]},
        }
    )
    play.create(budget(maxUnavailable=1))
    play.run(5)

    (condition,) = status(play)["conditions"]
    assert (allowed(play), condition["status"], condition["reason"]) == (0, "False", "SyncFailed")
    assert condition["message"] == "configmaps does not implement the scale subresource"
    message = f"Failed to calculate the number of expected pods: {condition['message']}"
    assert ("Warning", "CalculateExpectedPodCountFailed", message) in play.events("web")


def test_a_budget_that_means_nothing_says_so() -> None:
    play = Play()
    play.create(budget("none", minAvailable=1))
    play.run(1)

    assert ("Normal", "NoPods", "No matching pods found") in play.events("none")
