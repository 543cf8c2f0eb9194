"""What the series count, each against a run of which the answer is known."""

from pathlib import Path
from typing import Any

import pytest

from baseload.replay import scenario
from baseload.replay.run import Run
from baseload.replay.series import KINDS
from tests.replay.stories import NODE_CLASS, SMALL, deployment, lived, node, pool, tree, verdicts
from tests.world.lives import within

ON_DEMAND = within("karpenter.sh/capacity-type", "on-demand")
ONE_TYPE = within("node.kubernetes.io/instance-type", "m5.large")


def expect(series: str, at: str, value: float, **rest: Any) -> dict[str, Any]:
    return {"series": series, "at": at, "is": value, **rest}


def test_cost_is_the_price_of_what_runs_for_as_long_as_it_runs(tmp_path: Path) -> None:
    report, journal = lived(
        tmp_path,
        duration="2h",
        manifests=[NODE_CLASS, pool(ON_DEMAND, ONE_TYPE), deployment("web", 1)],
        events=[{"at": "1h", "do": "nodeFailure", "nodePool": "default", "failure": "Dies"}],
        expect=[
            expect("cost.hour", "30m", 0.096, capacityType="on-demand"),
            expect("cost.hour", "30m", 0, capacityType="spot"),
            {"series": "cost.total", "at": "30m", "atLeast": 0.0475, "atMost": 0.048},
            {"series": "cost.total", "always": True, "atMost": 0.192},
        ],
    )
    assert verdicts(report) == ["holds"] * 4
    runs = [entry.moment for entry in journal if entry.event == "instance.booted"]
    [ended] = [entry.moment for entry in journal if entry.event == "instance.ending"]
    seconds = (ended - runs[0] + report.end - runs[1]) / 1e9
    assert report.figures["cost.total"] == pytest.approx(0.096 * seconds / 3600)


def test_a_spot_instance_costs_what_spot_does_at_the_moment(tmp_path: Path) -> None:
    spot = within("karpenter.sh/capacity-type", "spot")
    prices: dict[int, set[int]] = {}
    for swing in (0, 9):
        report, _ = lived(
            tmp_path,
            duration="3h",
            manifests=[NODE_CLASS, pool(spot, ONE_TYPE), deployment("web", 1)],
            cloud={"spot": {"swing": swing}},
            expect=[{"series": "cost.hour", "at": at, "above": 0} for at in ("29m", "31m", "61m", "121m", "3h")],
        )
        assert verdicts(report) == ["holds"] * 5
        prices[swing] = {one.judgement.value for one in report.judged}
    assert len(prices[0]) == 1
    assert len(prices[9]) > 2


def test_restarts_and_kills_for_want_of_memory_are_counted(tmp_path: Path) -> None:
    leaky = deployment("leaky", 1)
    leaky["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"] = {"memory": "200Mi"}
    report, journal = lived(
        tmp_path,
        manifests=[node("floor"), leaky, deployment("crashing", 1), deployment("web", 1)],
        workloads=[
            {"name": "leaky-*", "memory": "0s:100Mi,60s:210Mi"},
            {"name": "crashing-*", "exitsAfter": "5s", "exitCode": 1, "exits": 3},
        ],
        expect=[
            {"series": "oomKills", "workload": "leaky", "at": "10m", "atLeast": 2},
            expect("oomKills", "10m", 0, workload="crashing"),
            expect("restarts", "10m", 3, workload="crashing"),
            expect("restarts", "10m", 0, workload="web"),
        ],
    )
    assert verdicts(report) == ["holds"] * 4
    reasons = {entry.reason for entry in journal if entry.event == "pod.restarted" and "leaky" in entry.object}
    assert reasons == {"OOMKilled"}


def test_evictions_are_counted_by_their_cause(tmp_path: Path) -> None:
    priority = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
        "value": 1000,
    }
    report, _ = lived(
        tmp_path,
        duration="20m",
        manifests=[node("a", 2), node("b", 2), priority, deployment("low", 2, cpu="1500m")],
        events=[
            {
                "at": "1m",
                "do": "apply",
                "manifests": [deployment("urgent", 1, cpu="1500m", priorityClassName="high")],
            },
            {
                "at": "5m",
                "do": "patch",
                "kind": "Node",
                "name": "b",
                "patch": {"spec": {"taints": [{"key": "gone", "effect": "NoExecute"}]}},
            },
        ],
        expect=[
            expect("evictions", "4m", 1, cause="preemption", workload="low"),
            expect("evictions", "20m", 1, cause="taint"),
            expect("evictions", "20m", 0, cause="api"),
        ],
    )
    assert verdicts(report) == ["holds"] * 3
    assert sum(report.figures["evictions.byCause"].values()) == report.figures["evictions"]  # type: ignore[attr-defined]


def test_pods_whose_node_is_gone_are_garbage(tmp_path: Path) -> None:
    report, _ = lived(
        tmp_path,
        manifests=[node("a"), deployment("web", 2)],
        events=[{"at": "2m", "do": "delete", "kind": "Node", "name": "a"}],
        expect=[expect("evictions", "10m", 2, cause="podGarbage"), expect("nodes.total", "10m", 0)],
    )
    assert verdicts(report) == ["holds"] * 2


def test_a_machine_short_of_memory_evicts_or_falls_silent(tmp_path: Path) -> None:
    report, _ = lived(
        tmp_path,
        duration="1h",
        manifests=[node("small", 1), deployment("hungry", 8, cpu="50m")],
        workloads=[{"name": "hungry-*", "memory": "0s:100Mi,20m:600Mi"}],
        expect=[
            {"series": "evictions", "cause": "pressure", "at": "1h", "atLeast": 1},
            {"series": "pods.ready", "at": "5m", "is": 8},
        ],
    )
    unwell = report.figures["evictions"] or report.figures["oomKills"] or report.figures["nodes.flaps"]
    assert unwell
    assert report.judged[1].judgement.verdict == "holds"


def test_a_launch_that_nobody_uses_is_told_from_one_that_is_used(tmp_path: Path) -> None:
    daemon = deployment("agent", 1)
    daemon["kind"] = "DaemonSet"
    del daemon["spec"]["replicas"]
    report, _ = lived(
        tmp_path,
        manifests=[NODE_CLASS, pool(SMALL), daemon, deployment("web", 1)],
        events=[{"at": "3s", "do": "scale", "workload": "web", "replicas": 0}],
        expect=[
            expect("launches", "10m", 1),
            expect("launches.unused", "10m", 1),
            expect("pods.ready", "10m", 1, workload="agent"),
        ],
    )
    assert verdicts(report) == ["holds"] * 3


def test_cores_of_nodes_are_counted_by_their_pool(tmp_path: Path) -> None:
    report, _ = lived(
        tmp_path,
        manifests=[node("floor", 2), NODE_CLASS, pool(ONE_TYPE), deployment("web", 5, cpu="1")],
        expect=[
            expect("nodes.cpu", "10m", 8),
            expect("nodes.cpu", "10m", 6, nodePool="default"),
            expect("nodeClaims.initialized", "10m", 3, nodePool="default", instanceType="m5.large"),
        ],
    )
    assert verdicts(report) == ["holds"] * 3


def test_every_series_can_be_asked_for(tmp_path: Path) -> None:
    asked = [
        {"series": name, "at": "1m", "atLeast": 0, **({"longerThan": "1s"} if "longerThan" in kind.about else {})}
        for name, kind in KINDS.items()
    ]
    report, _ = lived(tmp_path, duration="1m", manifests=[node("floor"), deployment("web", 1)], expect=asked)
    assert set(verdicts(report)) == {"holds"}


def test_a_sum_that_is_wrong_is_found_by_the_recount(tmp_path: Path) -> None:
    read = scenario.of_tree(tree(manifests=[node("floor"), deployment("web", 2)], checkEvery="1m"), "x")
    run = Run(read)
    try:
        run.clock.start(_spoil(run), name="spoil")
        report = run.run()
    finally:
        run.close()
    assert report.has_failed
    assert report.recounts == 10
    assert "the scheduler reckons with 1500m of cpu on Node floor, and its pods request 1" in report.miscounts[0]


async def _spoil(run: Run) -> None:
    await run.clock.sleep(100)
    assert run.living.scheduler is not None
    floor = run.living.scheduler.model.cluster.node("floor")
    assert floor is not None
    floor.asked_cpu += 500
