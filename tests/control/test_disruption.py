"""Nodes are given up by choice: the loop and its commands, with API, cloud and controllers on a virtual clock."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from baseload.control.karpenter import Karpenter
from baseload.control.settings import Settings
from baseload.decide.disrupt.loops import GivenUp
from baseload.decide.provision.options import Options
from baseload.plan.disrupt import Command
from baseload.values.duration import MINUTE
from tests.control.stage import Stage, Tree, condition, node_class, pod, pool, running

Make = Callable[..., Stage]
DISRUPTED = "karpenter.sh/disrupted"
PROTECTED = {"karpenter.sh/do-not-disrupt": "true"}


def demands(key: str, *values: str) -> Tree:
    return {"key": key, "operator": "In", "values": list(values)}


ON_DEMAND = demands("karpenter.sh/capacity-type", "on-demand")
SIZES = demands("node.kubernetes.io/instance-type", "m5.large", "m5.xlarge", "m5.2xlarge")
ALL = {"budgets": [{"nodes": "100%"}], "consolidateAfter": "30s"}


@pytest.fixture
def make() -> Iterator[Make]:
    """Stages with a NodePool of m5 on demand that is consolidated after 30 s, ended after the test."""
    made: list[Stage] = []

    def stage(disruption: Tree | None = None, *, sizes: Tree = SIZES, **template: Any) -> Stage:
        one = Stage(**template.pop("options", {}))
        made.append(one)
        one.create(node_class())
        wanted = {**ALL, **(disruption or {})}
        one.create(pool(requirements=(ON_DEMAND, sizes), disruption=wanted, **template))
        return one

    yield stage
    for one in made:
        one.close()


def started(stage: Stage, replicas: int) -> list[tuple[float, Command]]:
    """Has so many pods run; the commands from then on, with the second of each."""
    stage.replicas = replicas
    karpenter = stage.start()
    commands = followed(stage, karpenter)
    stage.until(lambda: running(stage) == replicas, 90)
    return commands


def followed(stage: Stage, karpenter: Karpenter) -> list[tuple[float, Command]]:
    commands: list[tuple[float, Command]] = []
    karpenter.disruption.told = lambda command: commands.append((stage.seconds, command))
    return commands


def said(commands: list[tuple[float, Command]]) -> list[tuple[str, str, int, int]]:
    """Method, reason, how many nodes go and how many come."""
    return [(str(it.method), it.reason, len(it.candidates), len(it.replacements)) for _, it in commands]


def types(stage: Stage) -> list[str]:
    return sorted(it.instance_type for it in stage.living())


def delete_pods(stage: Stage, keep: int) -> None:
    stage.replicas = keep
    for one in stage.all("Pod")[keep:]:
        stage.delete("Pod", one["metadata"]["name"], "default")


def taints(stage: Stage) -> list[list[str]]:
    return [[taint["key"] for taint in it["spec"].get("taints", [])] for it in stage.all("Node")]


def events(stage: Stage, reason: str) -> list[tuple[str, str]]:
    found = (it for it in stage.all("Event") if it["reason"] == reason)
    return sorted({(it["involvedObject"]["kind"], it["message"]) for it in found})


def test_an_empty_node_goes_when_its_window_is_over_and_the_delay_after_that(make: Make) -> None:
    stage = make()
    commands = started(stage, 1)
    delete_pods(stage, 0)
    emptied = stage.until(lambda: not stage.all("Pod"), 30) + stage.seconds
    stage.until(lambda: not stage.living(), 120)

    assert said(commands) == [("Emptiness", "Empty", 1, 0)]
    assert 30 + 15 <= commands[0][0] - (emptied - 30) <= 30 + 10 + 15 + 30
    assert ("NodeClaim", "Disrupting NodeClaim: Empty") in events(stage, "DisruptionTerminating")


def test_a_node_that_is_too_large_is_replaced_and_stays_until_the_other_one_is_initialised(make: Make) -> None:
    stage = make()
    commands = started(stage, 5)
    assert types(stage) == ["m5.xlarge"]
    [old] = stage.all("NodeClaim")
    delete_pods(stage, 1)

    stage.until(lambda: len(stage.all("NodeClaim")) == 2, 120)
    [new] = [it for it in stage.all("NodeClaim") if it["metadata"]["name"] != old["metadata"]["name"]]
    assert taints(stage) == [[DISRUPTED]]
    assert condition(new, "Initialized")[0] == "Unknown"
    name = new["metadata"]["name"]

    def is_deleted(which: Tree) -> bool:
        held = [it for it in stage.all("NodeClaim") if it["metadata"]["name"] == which["metadata"]["name"]]
        return not held or "deletionTimestamp" in held[0]["metadata"]

    stage.until(lambda: is_deleted(old), 120)
    [initialized] = [it for it in stage.all("NodeClaim") if it["metadata"]["name"] == name]
    assert condition(initialized, "Initialized")[0] == "True"
    stage.until(lambda: types(stage) == ["m5.large"] and running(stage) == 1, 200)
    assert said(commands) == [("SingleNodeConsolidation", "Underutilized", 1, 1)]
    assert ("NodeClaim", "Waiting on readiness to continue disruption") in events(stage, "DisruptionWaitingReadiness")
    assert events(stage, "ConsolidationCandidate")[0][1].startswith("Consolidation candidate: Underutilized: replace: ")
    assert ("Pod", "Evicted pod: Underutilized") in events(stage, "Evicted")


def test_two_nodes_become_one_in_one_command(make: Make) -> None:
    stage = make(sizes=demands("node.kubernetes.io/instance-type", "m5.xlarge", "m5.large"))
    commands = started(stage, 10)
    assert types(stage) == ["m5.xlarge", "m5.xlarge"]
    stage.replicas = 2
    by_node: dict[str, list[str]] = {}
    for one in stage.all("Pod"):
        by_node.setdefault(one["spec"]["nodeName"], []).append(one["metadata"]["name"])
    for names in by_node.values():
        for name in names[1:]:
            stage.delete("Pod", name, "default")
    stage.until(lambda: len(stage.living()) == 1 and running(stage) == 2, 300)

    assert len(commands) >= 1
    assert commands[0][1].method in ("MultiNodeConsolidation", "SingleNodeConsolidation")
    stage.run(300)
    assert types(stage) == ["m5.large"]


def test_a_drifted_node_is_replaced_one_at_a_time_whatever_it_costs(make: Make) -> None:
    stage = make({"consolidateAfter": "Never"}, sizes=demands("node.kubernetes.io/instance-type", "m5.large"))
    commands = started(stage, 4)
    assert len(stage.living()) == 2
    stage.patch("NodePool", "default", {"spec": {"template": {"metadata": {"labels": {"team": "b"}}}}})
    stage.until(lambda: len(commands) == 1, 35)  # its pods were expected there for 20 s, and a pass is every 10 s
    stage.until(lambda: all(it["metadata"]["labels"].get("team") == "b" for it in stage.all("NodeClaim")), 400)
    stage.until(lambda: running(stage) == 4, 60)

    assert said(commands) == [("Drift", "Drifted", 1, 1)] * 2
    assert [condition(it, "Drifted") for it in stage.all("NodeClaim")] == [("", "")] * 2


def test_a_protected_pod_keeps_its_node_and_the_node_is_told(make: Make) -> None:
    stage = make()
    commands = started(stage, 5)
    delete_pods(stage, 1)
    [left] = [it for it in stage.all("Pod") if "deletionTimestamp" not in it["metadata"]]
    name = left["metadata"]["name"]
    stage.patch("Pod", name, {"metadata": {"annotations": PROTECTED}}, namespace="default")
    stage.run(300)

    assert commands == []
    words = f'Pod has "karpenter.sh/do-not-disrupt" annotation (Pod=default/{name})'
    assert {("Node", words), ("NodeClaim", words)} <= set(events(stage, "DisruptionBlocked"))


def test_a_marked_node_stays_though_it_is_empty(make: Make) -> None:
    stage = make()
    commands = started(stage, 1)
    stage.patch("Node", stage.all("Node")[0]["metadata"]["name"], {"metadata": {"annotations": PROTECTED}})
    delete_pods(stage, 0)
    stage.run(300)

    assert (commands, len(stage.living())) == ([], 1)


def test_a_budget_of_nothing_is_told_by_its_pool_and_one_that_lets_go_acts_within_a_pass(make: Make) -> None:
    stage = make({"budgets": [{"nodes": "0"}]})
    commands = started(stage, 1)
    delete_pods(stage, 0)
    stage.run(200)
    assert commands == []
    words = "No allowed disruptions for disruption reason Empty due to blocking budget"
    assert ("NodePool", words) in events(stage, "DisruptionBlocked")

    stage.patch("NodePool", "default", {"spec": {"disruption": {"budgets": [{"nodes": "1"}]}}})
    stage.until(lambda: not stage.living(), 120)


def test_a_pod_that_lands_in_the_delay_saves_its_node(make: Make) -> None:
    stage = make()
    commands = started(stage, 1)
    delete_pods(stage, 0)
    stage.until(lambda: not stage.all("Pod"), 30)
    stage.until(lambda: condition(stage.all("NodeClaim")[0], "Consolidatable")[0] == "True", 60)
    stage.run(11)  # the pass that finds it empty has begun, and waits
    stage.create(pod("late"))
    stage.run(100)

    assert commands == []
    assert running(stage) == 1


def test_a_replacement_that_is_lost_rolls_the_command_back(make: Make) -> None:
    stage = make()
    commands = started(stage, 5)
    [old] = stage.all("NodeClaim")
    delete_pods(stage, 1)
    stage.until(lambda: len(stage.all("NodeClaim")) == 2, 120)
    [new] = [it for it in stage.all("NodeClaim") if it["metadata"]["name"] != old["metadata"]["name"]]
    stage.delete("NodeClaim", new["metadata"]["name"])
    stage.until(lambda: taints(stage)[0] == [], 60)
    stage.run(5)
    held = next(it for it in stage.all("NodeClaim") if it["metadata"]["name"] == old["metadata"]["name"])
    assert "deletionTimestamp" not in held["metadata"]
    assert running(stage) == 1

    stage.until(lambda: types(stage) == ["m5.large"] and running(stage) == 1, 400)  # a later one comes about
    assert len(commands) > 1


@pytest.mark.parametrize("holds", [False, True])
def test_a_move_that_came_round_again_is_told_and_where_asked_for_not_made(make: Make, holds: bool) -> None:
    stage = make()
    stage.replicas = 5
    karpenter = stage.start(Settings(options=Options(hold_repeated_disruption=holds)))
    stage.until(lambda: running(stage) == 5, 90)
    [left] = stage.all("Pod")[:1]
    name = f"default/Pod/{left['metadata']['name']}"
    for minute in (2, 1):
        at = stage.clock.now() - minute * MINUTE
        move = GivenUp(at, "Underutilized", (("default", "m5.xlarge"),), {name: 1}, {name: 1})
        karpenter.disruption.circles.history.give_up(move)
    commands = followed(stage, karpenter)
    delete_pods(stage, 1)
    stage.run(300)

    told = events(stage, "DisruptionRepeated")
    assert told
    assert ("default/m5.xlarge again: 3 times" in told[0][1], told[0][1].endswith("; held")) == (True, holds)
    assert types(stage) == (["m5.xlarge"] if holds else ["m5.large"])
    assert len(commands) == (0 if holds else 1)


def test_marks_that_nobody_stands_for_are_taken_away_at_the_start(make: Make) -> None:
    stage = make()
    stage.replicas = 5
    karpenter = stage.start()
    stage.until(lambda: running(stage) == 5, 90)
    [node], [claim] = stage.all("Node"), stage.all("NodeClaim")
    del karpenter
    told = condition_tree("DisruptionReason", "Underutilized")
    stage.patch("Node", node["metadata"]["name"], {"spec": {"taints": [{"key": DISRUPTED, "effect": "NoSchedule"}]}})
    conditions = [*claim["status"]["conditions"], told]
    stage.patch("NodeClaim", claim["metadata"]["name"], {"status": {"conditions": conditions}}, "status")
    stage.start()  # another one
    stage.until(lambda: taints(stage) == [[]], 15)

    assert condition(stage.all("NodeClaim")[0], "DisruptionReason") == ("", "")


def test_a_replacement_that_never_comes_up_is_given_up_after_ten_minutes_and_the_node_serves_on(make: Make) -> None:
    stage = make(options={"failures": [{"kind": "NeverReady", "types": ["m5.large"]}]})
    commands = started(stage, 5)
    delete_pods(stage, 1)
    stage.until(lambda: len(commands) == 1, 120)
    began = stage.seconds
    stage.until(lambda: [] in taints(stage), 700)

    assert 600 <= stage.seconds - began <= 605
    assert running(stage) == 1


def condition_tree(type: str, reason: str) -> Tree:
    return {
        "type": type,
        "status": "True",
        "reason": reason,
        "message": reason,
        "lastTransitionTime": "2026-11-30T12:00:00Z",
    }
