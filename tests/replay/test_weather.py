"""An API server that is slow or down strikes everybody, or those that the scenario names."""

from pathlib import Path
from typing import Any

import pytest

from tests.replay.stories import NODE_CLASS, SMALL, deployment, lived, node, pool, verdicts
from tests.replay.test_happenings import expect

FLOOR = [node("floor"), deployment("web", 2)]


def down(*names: str, at: str = "1m", lasts: str = "10m") -> dict[str, Any]:
    return {"at": at, "do": "apiDown", "for": lasts, **({"controllers": list(names)} if names else {})}


def test_while_the_api_is_down_for_all_a_user_is_refused(tmp_path: Path) -> None:
    report, journal = lived(
        tmp_path,
        duration="20m",
        manifests=FLOOR,
        events=[down(), {"at": "2m", "do": "scale", "workload": "web", "replicas": 5}],
        expect=[expect("pods.total", always={"from": "1s"}, **{"is": 2})],
    )
    assert verdicts(report) == ["holds"]
    [refused] = [entry for entry in journal if entry.event == "event.refused"]
    assert (refused.reason, refused.message) == ("Unreachable", "the API server does not answer")


def test_the_workload_controllers_make_no_pods_while_the_api_is_down_for_them(tmp_path: Path) -> None:
    report, _ = lived(
        tmp_path,
        duration="20m",
        manifests=FLOOR,
        events=[down("controller-manager"), {"at": "2m", "do": "scale", "workload": "web", "replicas": 5}],
        expect=[
            expect("pods.total", always={"from": "1s", "until": "11m"}, **{"is": 2}),
            expect("pods.ready", within="10s", after="11m", **{"is": 5}),
            expect("controllers.up", controller="controller-manager", at="70s", **{"is": 0}),
            expect("controllers.up", controller="scheduler", always={"from": "1s"}, **{"is": 1}),
        ],
    )
    assert verdicts(report) == ["holds"] * 4


def test_the_scheduler_binds_nothing_while_the_api_is_down_for_it(tmp_path: Path) -> None:
    report, _ = lived(
        tmp_path,
        duration="20m",
        manifests=FLOOR,
        events=[down("scheduler"), {"at": "2m", "do": "scale", "workload": "web", "replicas": 5}],
        expect=[
            expect("pods.unbound", always={"from": "121s", "until": "11m"}, **{"is": 3}),
            expect("pods.ready", within="10s", after="11m", **{"is": 5}),
        ],
    )
    assert verdicts(report) == ["holds"] * 2


def test_a_leader_goes_on_after_an_outage_that_is_shorter_than_it_tries_to_renew_its_lease(tmp_path: Path) -> None:
    def starts(lasts: str) -> int:
        report, _ = lived(
            tmp_path,
            manifests=FLOOR,
            events=[down(lasts=lasts), {"at": "62s", "do": "scale", "workload": "web", "replicas": 3}],
            expect=[
                expect("pods.ready", at="5m", atLeast=2),
                expect("controllers.starts", controller="scheduler", at="10m", atLeast=1),
            ],
        )
        return report.judged[1].judgement.value

    assert starts("9s") == 1
    assert starts("11s") == 2


def test_kubelets_without_the_api_have_their_pods_run_on_and_their_nodes_go_silent(tmp_path: Path) -> None:
    """All nodes are silent, so nobody is evicted; a container that ends meanwhile is restarted, and told of later."""
    report, _ = lived(
        tmp_path,
        duration="30m",
        manifests=FLOOR,
        workloads=[{"name": "web-*", "exitsAfter": "4m"}],
        events=[down("kubelet", at="2m", lasts="13m")],
        expect=[
            expect("nodes.ready", always={"from": "3m", "until": "14m59s"}, **{"is": 0}),
            expect("restarts", at="14m59s", **{"is": 0}),
            expect("restarts", at="15m1s", atLeast=4),
            expect("evictions", at="30m", **{"is": 0}),
            expect("nodes.ready", within="1s", after="15m", **{"is": 1, "for": "10m"}),
            expect("pods.total", always={"from": "1s"}, **{"is": 2}),
        ],
    )
    assert verdicts(report) == ["holds"] * 6


def test_a_pod_that_is_deleted_while_its_kubelet_hears_nothing_goes_when_it_does(tmp_path: Path) -> None:
    report, _ = lived(
        tmp_path,
        duration="30m",
        manifests=FLOOR,
        events=[down("kubelet", lasts="2m"), {"at": "90s", "do": "scale", "workload": "web", "replicas": 0}],
        expect=[
            expect("pods.total", always={"from": "90s", "until": "3m"}, **{"is": 2}),
            expect("pods.total", within="40s", after="3m", **{"is": 0}),
        ],
    )
    assert verdicts(report) == ["holds"] * 2


def test_node_lifecycle_that_was_cut_off_gives_every_node_its_time_anew(tmp_path: Path) -> None:
    """The node died while nobody looked: it is found 50 s after the controller began anew, not at once."""
    report, _ = lived(
        tmp_path,
        duration="20m",
        manifests=[node("floor"), node("other"), deployment("web", 2)],
        events=[down(at="2m"), {"at": "4m", "do": "nodeFailure", "node": "floor", "failure": "Hangs"}],
        expect=[
            expect("nodes.ready", always={"from": "10s", "until": "12m49s"}, **{"is": 2}),
            expect("nodes.ready", at="13m", **{"is": 2}),
        ],
    )
    assert verdicts(report) == ["holds"] * 2


@pytest.mark.parametrize("name", ["scheduler", "controller-manager", "kubelet"])
def test_a_slow_api_server_makes_each_of_them_later_by_its_delay(tmp_path: Path, name: str) -> None:
    def ready(events: list[dict[str, Any]]) -> int:
        scaled = {"at": "2m", "do": "scale", "workload": "web", "replicas": 3}
        _, journal = lived(tmp_path, duration="4m", manifests=FLOOR, events=[*events, scaled])
        return [entry.moment for entry in journal if entry.event == "pod.ready"][-1]

    slow = {"at": "1m", "do": "apiSlow", "delay": "3s", "controllers": [name]}
    assert 3_000_000_000 <= ready([slow]) - ready([]) < 7_000_000_000


def test_an_api_server_that_is_too_slow_for_a_lease_is_one_that_is_down(tmp_path: Path) -> None:
    report, _ = lived(
        tmp_path,
        manifests=FLOOR,
        events=[
            {"at": "1m", "do": "apiSlow", "delay": "6s", "for": "2m"},
            {"at": "4m", "do": "apiSlow", "delay": "12s", "for": "2m"},
        ],
        expect=[
            expect("controllers.up", controller="scheduler", at="80s", **{"is": 0}),
            expect("nodes.ready", always={"from": "10s", "until": "5m"}, **{"is": 1}),
            expect("controllers.starts", controller="scheduler", at="10m", **{"is": 3}),
            expect("pods.ready", at="10m", **{"is": 2}),
        ],
    )
    assert verdicts(report) == ["holds"] * 4


def test_outages_that_overlap_end_with_the_last_of_them(tmp_path: Path) -> None:
    report, _ = lived(
        tmp_path,
        duration="20m",
        manifests=[NODE_CLASS, pool(SMALL), *FLOOR],
        events=[
            down(lasts="5m"),
            down("scheduler", at="2m", lasts="10m"),
            {"at": "7m", "do": "scale", "workload": "web", "replicas": 5},
        ],
        expect=[
            expect("pods.total", at="8m", **{"is": 5}),
            expect("pods.unbound", always={"from": "7m1s", "until": "12m"}, **{"is": 3}),
            expect("pods.ready", within="5s", after="12m", **{"is": 5}),
        ],
    )
    assert verdicts(report) == ["holds"] * 3
