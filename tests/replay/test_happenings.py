"""What a scenario has happen happens, when it says so, and is seen in the series."""

from pathlib import Path
from typing import Any

import pytest

from baseload.values.duration import MINUTE
from tests.replay.stories import NODE_CLASS, SMALL, SPOT, deployment, lived, node, pool, verdicts
from tests.world.lives import within

ELASTIC = [NODE_CLASS, pool(SMALL)]
ON_SPOT = [NODE_CLASS, pool(SMALL, SPOT)]
DONE = {"atLeast": 1}


def expect(series: str, **rest: Any) -> dict[str, Any]:
    return {"series": series, **rest}


def test_a_deployment_is_applied_scaled_and_deleted(tmp_path: Path) -> None:
    report, _ = lived(
        tmp_path,
        manifests=[node("floor")],
        events=[
            {"at": "1m", "do": "apply", "manifests": [deployment("web", 2)]},
            {"at": "3m", "do": "scale", "workload": "web", "replicas": 5},
            {"at": "6m", "do": "delete", "kind": "Deployment", "name": "web"},
        ],
        expect=[
            expect("pods.total", at="59s", **{"is": 0}),
            expect("pods.ready", workload="web", within="10s", after="1m", **{"is": 2}),
            expect("pods.ready", workload="web", at="5m", **{"is": 5}),
            expect("pods.total", within="1m", after="6m", **{"is": 0, "for": "3m"}),
        ],
    )
    assert verdicts(report) == ["holds"] * 4


def test_an_object_is_patched(tmp_path: Path) -> None:
    report, _ = lived(
        tmp_path,
        manifests=[node("floor"), deployment("web", 1)],
        events=[
            {"at": "1m", "do": "patch", "kind": "Deployment", "name": "web", "patch": {"spec": {"replicas": 3}}},
        ],
        expect=[expect("pods.ready", at="50s", **{"is": 1}), expect("pods.ready", at="2m", **{"is": 3})],
    )
    assert verdicts(report) == ["holds", "holds"]


def test_events_come_again_as_often_as_they_are_to(tmp_path: Path) -> None:
    report, journal = lived(
        tmp_path,
        manifests=[node("floor"), deployment("web", 0)],
        start="2026-03-01T07:58:00Z",
        events=[
            {"at": "1m", "every": "2m", "repeat": 3, "do": "scale", "workload": "web", "replicas": 1},
            {"cron": "*/4 * * * *", "do": "scale", "workload": "web", "replicas": 2},
        ],
    )
    assert not report.has_failed
    told = [(entry.t, entry.message) for entry in journal if entry.event == "event.scale"]
    assert told == [
        ("2026-03-01T07:59:00Z", "workload web, replicas 1"),
        ("2026-03-01T08:00:00Z", "workload web, replicas 2"),
        ("2026-03-01T08:01:00Z", "workload web, replicas 1"),
        ("2026-03-01T08:03:00Z", "workload web, replicas 1"),
        ("2026-03-01T08:04:00Z", "workload web, replicas 2"),
        ("2026-03-01T08:08:00Z", "workload web, replicas 2"),
    ]


def test_a_cordoned_node_takes_no_pods_until_it_is_uncordoned(tmp_path: Path) -> None:
    report, _ = lived(
        tmp_path,
        manifests=[node("floor"), deployment("web", 0)],
        events=[
            {"at": "1m", "do": "cordon", "node": "floor"},
            {"at": "2m", "do": "scale", "workload": "web", "replicas": 1},
            {"at": "4m", "do": "uncordon", "node": "floor"},
        ],
        expect=[
            expect("nodes.cordoned", always={"from": "1m", "until": "239s"}, **{"is": 1}),
            expect("pods.unbound", always={"from": "121s", "until": "4m"}, **{"is": 1}),
            expect("pods.pendingLongerThan", longerThan="1m", at="179s", **{"is": 0}),
            expect("pods.pendingLongerThan", longerThan="1m", at="181s", **{"is": 1}),
            expect("pods.ready", at="10m", **{"is": 1}),
            expect("pods.pendingLongerThan", longerThan="1m", at="10m", **{"is": 0}),
        ],
    )
    assert verdicts(report) == ["holds"] * 6
    assert report.figures["longestPendingSeconds"] > 120  # type: ignore[operator]


def test_evictions_ask_the_budget_and_what_it_refuses_is_a_line_of_the_journal(tmp_path: Path) -> None:
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web"},
        "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": "web"}}},
    }
    report, journal = lived(
        tmp_path,
        manifests=[node("floor"), deployment("web", 3), budget],
        events=[{"at": "2m", "do": "evict", "workload": "web"}],
        expect=[
            expect("evictions", cause="api", at="3m", **{"is": 1}),
            expect("evictions", cause="taint", at="3m", **{"is": 0}),
        ],
    )
    assert verdicts(report) == ["holds", "holds"]
    refused = [entry for entry in journal if entry.event == "event.refused"]
    assert [(entry.reason, "disruption budget" in entry.message) for entry in refused] == [
        ("TooManyRequests", True)
    ] * 2
    assert report.figures["evictions.byCause"] == {"api": 1}


def test_a_cron_job_can_be_run_by_hand(tmp_path: Path) -> None:
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "nginx:1"}]}}
    cron_job = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "nightly"},
        "spec": {"schedule": "0 3 * * *", "jobTemplate": {"spec": {"template": template}}},
    }
    report, _ = lived(
        tmp_path,
        manifests=[node("floor"), cron_job],
        workloads=[{"name": "nightly-*", "exitsAfter": "30s"}],
        events=[{"at": "2m", "do": "runCronJob", "workload": "nightly"}],
        expect=[
            expect("pods.running", workload="nightly", within="10s", after="2m", **{"is": 1}),
            expect("pods.running", workload="nightly", at="3m", **{"is": 0}),
            expect("pods.total", workload="nightly", at="3m", **{"is": 1}),
        ],
    )
    assert verdicts(report) == ["holds"] * 3


def test_an_interrupted_instance_ends_after_two_minutes_and_cuts_off_what_still_runs(tmp_path: Path) -> None:
    report, journal = lived(
        tmp_path,
        manifests=[*ON_SPOT, deployment("web", 3)],
        cloud={"queue": {"exists": False}},
        events=[{"at": "5m", "do": "interrupt", "nodePool": "default"}],
        expect=[
            expect("interruptions", at="5m", **DONE),
            expect("terminations", cause="interrupted", at="419s", **{"is": 0}),
            expect("podsCutOff", at="419s", **{"is": 0}),
            expect("podsCutOff", cause="interrupted", workload="web", at="7m", **{"is": 3}),
            expect("pods.ready", at="10m", **{"is": 3}),
        ],
    )
    assert verdicts(report) == ["holds"] * 5
    assert [entry.reason for entry in journal if entry.event == "pod.cutoff"] == ["interrupted"] * 3


@pytest.mark.parametrize("follows", [True, False])
def test_a_notice_that_karpenter_follows_has_pods_leave_in_time(tmp_path: Path, follows: bool) -> None:
    report, _ = lived(
        tmp_path,
        manifests=[*ON_SPOT, deployment("web", 3)],
        controllers=[{"name": "karpenter", "options": {"interruptionQueue": follows}}],
        events=[{"at": "5m", "do": "interrupt", "nodePool": "default"}],
        expect=[
            expect("evictions", cause="api", at="10m", **{"is": 3 if follows else 0}),
            expect("podsCutOff", at="10m", **{"is": 0 if follows else 3}),
            expect("terminations", cause="deleted" if follows else "interrupted", at="10m", **{"is": 1}),
            expect("pods.ready", at="10m", **{"is": 3}),
        ],
    )
    assert verdicts(report) == ["holds"] * 4


def test_an_event_means_a_share_of_the_nodes(tmp_path: Path) -> None:
    apart = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}}
    report, _ = lived(
        tmp_path,
        manifests=[*ON_SPOT, deployment("web", 5, affinity=affinity)],
        events=[
            {"at": "3m", "do": "interrupt", "capacityType": "spot", "percent": 50},
            {"at": "4m", "do": "nodeFailure", "failure": "Dies", "workload": "web", "count": 1},
        ],
        expect=[
            expect("launches", at="2m", **{"is": 5}),
            expect("interruptions", at="4m", **{"is": 3}),
            expect("terminations", cause="failed", at="5m", **{"is": 1}),
        ],
    )
    assert verdicts(report) == ["holds"] * 3


def test_no_instance_is_launched_where_there_is_no_capacity(tmp_path: Path) -> None:
    report, _ = lived(
        tmp_path,
        manifests=[*ELASTIC, deployment("web", 0)],
        events=[
            {"at": "0s", "do": "outOfCapacity", "for": "5m"},
            {"at": "1m", "do": "scale", "workload": "web", "replicas": 1},
        ],
        expect=[
            expect("launches", always={"until": "5m"}, **{"is": 0}),
            expect("events", reason="InsufficientCapacityError", at="5m", **DONE),
            expect("pods.ready", at="10m", **{"is": 1}),
        ],
    )
    assert verdicts(report) == ["holds"] * 3


def test_the_nodes_of_a_zone_that_is_down_are_silent_until_it_is_up(tmp_path: Path) -> None:
    zone = within("topology.kubernetes.io/zone", "us-east-1a")
    report, _ = lived(
        tmp_path,
        manifests=[NODE_CLASS, pool(SMALL, zone), deployment("web", 1)],
        events=[
            {"at": "3m", "do": "zoneDown", "zone": "us-east-1a"},
            {"at": "5m", "do": "zoneUp", "zone": "us-east-1a"},
        ],
        expect=[
            expect("nodes.ready", at="3m", **{"is": 1}),
            expect("nodes.notReady", zone="us-east-1a", within="70s", after="3m", **{"is": 1}),
            expect("nodes.flaps", at="10m", **{"is": 1}),
            expect("nodes.ready", at="10m", **{"is": 1}),
        ],
    )
    assert verdicts(report) == ["holds"] * 4


def test_karpenter_does_nothing_while_the_api_server_does_not_answer_it(tmp_path: Path) -> None:
    report, _ = lived(
        tmp_path,
        duration="20m",
        manifests=[*ELASTIC, deployment("web", 0)],
        events=[
            {"at": "1m", "do": "apiDown", "controllers": ["karpenter"], "for": "10m"},
            {"at": "2m", "do": "scale", "workload": "web", "replicas": 1},
        ],
        expect=[
            expect("launches", always={"until": "11m"}, **{"is": 0}),
            expect("pods.ready", at="15m", **{"is": 1}),
            expect("launches", at="20m", **{"is": 1}),
        ],
    )
    assert verdicts(report) == ["holds"] * 3


def test_a_slow_api_server_makes_karpenter_late(tmp_path: Path) -> None:
    def launched(events: list[dict[str, Any]]) -> int:
        _, journal = lived(tmp_path, duration="3m", manifests=[*ELASTIC, deployment("web", 1)], events=events)
        [entry] = [entry for entry in journal if entry.event == "instance.launched"]
        return entry.moment

    assert launched([{"at": "0s", "do": "apiSlow", "delay": "3s"}]) - launched([]) > 6_000_000_000


def test_calls_of_the_cloud_fail_as_scripted(tmp_path: Path) -> None:
    report, _ = lived(
        tmp_path,
        manifests=[*ELASTIC, deployment("web", 1)],
        events=[{"at": "0s", "do": "cloudFault", "call": "CreateFleet", "error": "Throttled", "for": "2m"}],
        expect=[expect("launches", at="2m", **{"is": 0}), expect("launches", at="10m", **{"is": 1})],
    )
    assert verdicts(report) == ["holds"] * 2


def test_a_hosted_karpenter_is_down_while_its_pod_is_not_ready(tmp_path: Path) -> None:
    hosted = {"name": "karpenter", "hostedBy": {"selector": "app=karpenter"}}
    report, _ = lived(
        tmp_path,
        duration="1h",
        manifests=[NODE_CLASS, pool(SMALL), deployment("karpenter", 1), deployment("web", 1)],
        controllers=[hosted],
        expect=[
            expect("pods.ready", always=True, **{"is": 0}),
            expect("controllers.downTime", controller="karpenter", at="1h", **{"is": 3600}),
            expect("controllers.starts", controller="karpenter", at="1h", **{"is": 0}),
        ],
    )
    assert verdicts(report) == ["holds"] * 3
    [note] = report.notes
    assert note.startswith("deadlock: karpenter does not run, since it lives in pods that wait for a node (default/kar")
    assert note.endswith(" for 1h0m0s), and only karpenter launches nodes: give it nodes of their own")
    report, _ = lived(
        tmp_path,
        duration="1h",
        manifests=[NODE_CLASS, pool(SMALL), deployment("karpenter", 1), deployment("web", 8), node("floor", 2)],
        controllers=[hosted],
        events=[{"at": "30m", "do": "evict", "workload": "karpenter"}],
        expect=[
            expect("pods.ready", at="30m", **{"is": 9}),
            expect("controllers.downTime", controller="karpenter", at="30m", above=1, below=20),
            expect("controllers.starts", controller="karpenter", at="1h", **{"is": 2}),
        ],
    )
    assert verdicts(report) == ["holds"] * 3
    assert report.notes == ()


def test_without_karpenter_nothing_is_launched(tmp_path: Path) -> None:
    report, _ = lived(
        tmp_path,
        manifests=[*ELASTIC, deployment("web", 1)],
        controllers=[{"name": "karpenter", "enabled": False}],
        expect=[
            expect("pods.pending", always={"from": "1s"}, **{"is": 1}),
            expect("launches", always=True, **{"is": 0}),
        ],
    )
    assert verdicts(report) == ["holds"] * 2


def test_a_load_curve_moves_an_autoscaler(tmp_path: Path) -> None:
    target = {"type": "Utilization", "averageUtilization": 50}
    autoscaler = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web"},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            "minReplicas": 1,
            "maxReplicas": 6,
            "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}],
        },
    }
    report, _ = lived(
        tmp_path,
        duration="20m",
        manifests=[node("floor", 8), deployment("web", 1), autoscaler],
        workloads=[{"name": "web-*", "cpu": "40%"}],
        events=[{"at": "2m", "do": "loadCurve", "workload": "web", "cpu": {"0s": "200m", "4m": "1200m"}}],
        expect=[
            expect("pods.ready", workload="web", at="2m", **{"is": 1}),
            expect("pods.ready", workload="web", at="10m", **{"is": 5}),
            expect("pods.ready", workload="web", always=True, atMost=5),
        ],
    )
    assert verdicts(report) == ["holds"] * 3


@pytest.mark.parametrize("writes", [0, 3, 7])
def test_a_controller_is_ended_in_place_of_its_nth_write_and_goes_on_when_it_starts_anew(
    tmp_path: Path, writes: int
) -> None:
    report, journal = lived(
        tmp_path,
        manifests=[*ELASTIC, deployment("web", 1)],
        events=[
            {"at": "1s", "do": "killController", "controller": "karpenter", "afterWrites": writes, "downFor": "7s"}
        ],
        expect=[
            expect("controllers.starts", controller="karpenter", at="10m", **{"is": 2}),
            expect("controllers.downTime", controller="karpenter", at="10m", **{"is": 7}),
            expect("pods.ready", at="10m", **{"is": 1}),
            expect("launches", at="10m", **{"is": 1}),
            expect("launches.unused", at="10m", **{"is": 0}),
        ],
    )
    assert verdicts(report) == ["holds"] * 5
    assert [entry.object for entry in journal if entry.event == "controller.killed"] == ["Controller karpenter"]


def test_what_cannot_be_done_is_told_and_the_run_goes_on(tmp_path: Path) -> None:
    report, journal = lived(
        tmp_path,
        duration="2m",
        manifests=[deployment("web", 0), pool()],
        events=[
            {"at": "1s", "do": "delete", "kind": "Deployment", "name": "nobody"},
            {"at": "2s", "do": "interrupt", "nodePool": "default"},
            {"at": "3s", "do": "cordon", "node": "ip-10-0-0-99.ec2.internal"},
            {"at": "4s", "do": "delete", "kind": "Deployment", "name": "web"},
            {"at": "5s", "do": "scale", "workload": "web", "replicas": 1},
        ],
    )
    assert [entry.reason for entry in journal if entry.event == "event.refused"] == ["NotFound"] * 4
    assert report.end - report.start == 2 * MINUTE


def test_a_controller_is_ended_as_often_as_it_is_said_and_stays_away_as_long(tmp_path: Path) -> None:
    killed = {"do": "killController", "controller": "karpenter"}
    report, _ = lived(
        tmp_path,
        manifests=[*ELASTIC, deployment("web", 1)],
        events=[
            {"at": "2m", **killed, "downFor": "30s"},
            {"at": "140s", **killed, "downFor": "60s"},
            {"at": "5m", **killed, "every": "1m", "repeat": 3},
        ],
        expect=[
            expect("controllers.downTime", controller="karpenter", at="4m", **{"is": 80}),
            expect("controllers.downTime", controller="karpenter", at="10m", **{"is": 95}),
            expect("controllers.starts", controller="karpenter", at="10m", **{"is": 5}),
            expect("controllers.up", controller="karpenter", at="123s", **{"is": 0}),
        ],
    )
    assert verdicts(report) == ["holds"] * 4


def test_controllers_are_set_as_the_scenario_says(tmp_path: Path) -> None:
    soon = {
        "key": "node.kubernetes.io/unreachable",
        "effect": "NoExecute",
        "operator": "Exists",
        "tolerationSeconds": 5,
    }

    def evicted(**options: Any) -> float:
        report, journal = lived(
            tmp_path,
            duration="15m",
            manifests=[*ELASTIC, node("floor", 1), deployment("web", 1, cpu="1500m", tolerations=[soon])],
            controllers=[{"name": name.replace("_", "-"), "options": given} for name, given in options.items()],
            cloud={"faults": [{"call": "DescribeInstanceStatus", "error": "Unauthorized"}]},  # else Karpenter is faster
            events=[{"at": "3m", "do": "nodeFailure", "nodePool": "default", "failure": "Hangs"}],
        )
        assert not report.has_failed
        return next(entry.moment for entry in journal if entry.event == "pod.evicted") / 1e9

    usual = evicted()
    assert usual - evicted(node_lifecycle={"evictsOneLookLater": False}) == pytest.approx(5, abs=0.5)


def test_karpenter_waits_for_more_pods_as_long_as_it_is_set_to(tmp_path: Path) -> None:
    def planned(**options: Any) -> float:
        _, journal = lived(
            tmp_path,
            duration="1m",
            manifests=[*ELASTIC, deployment("web", 1)],
            controllers=[{"name": "karpenter", "options": options}],
        )
        return next(entry.moment for entry in journal if entry.event == "provisioning.planned") / 1e9

    assert planned(batchIdleDuration="9s", batchMaxDuration="20s") - planned() == pytest.approx(8, abs=0.5)


def test_manifests_need_not_stand_in_an_order(tmp_path: Path) -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "first", "namespace": "shop"},
        "spec": {"priorityClassName": "high", "containers": [{"name": "main", "image": "nginx:1"}]},
    }
    priority = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 9}
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    report, _ = lived(
        tmp_path,
        manifests=[pod, priority, node("floor"), namespace],
        expect=[expect("pods.ready", namespace="shop", workload="first", at="1m", **{"is": 1})],
    )
    assert verdicts(report) == ["holds"]


def test_a_run_that_never_settles_ends_when_it_is_to(tmp_path: Path) -> None:
    report, journal = lived(
        tmp_path,
        duration="1h",
        manifests=[node("floor"), pool(), deployment("crashing", 2), deployment("nowhere", 5, nodeSelector={"a": "b"})],
        workloads=[{"name": "crashing-*", "exitsAfter": "1s", "exitCode": 1}],
        expect=[
            expect("pods.ready", eventually={"until": "50m"}, atLeast=7),
            expect("pods.ready", at="50m", atMost=6),
        ],
    )
    assert verdicts(report) == ["fails", "holds"]
    assert report.end - report.start == 60 * MINUTE
    assert report.judged[0].judgement.moment == 50 * MINUTE
    shown = report.judged[0].around
    assert 0 < len(shown) <= 9
    assert {entry.seq for entry in shown} <= {entry.seq for entry in journal}
    assert any(entry.moment - report.start <= 50 * MINUTE for entry in shown)
    assert not report.judged[1].around
