"""Every controller of the control plane may end and begin anew, and live in pods of the cluster."""

from pathlib import Path
from typing import Any

import pytest

from baseload.journal import lives, tell
from baseload.world.living import PROCESSES
from tests.replay.stories import NODE_CLASS, SMALL, deployment, lived, node, pool, verdicts
from tests.replay.test_happenings import expect
from tests.world.lives import Tree

FLOOR = node("floor")
POOL = [NODE_CLASS, pool(SMALL)]


def bound(name: str) -> Tree:
    """A pod that is there from the start, and Ready on the floor."""
    ready = {"type": "Ready", "status": "True"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {"nodeName": "floor", "containers": [{"name": "main", "image": "control:1"}]},
        "status": {
            "phase": "Running",
            "conditions": [ready],
            "containerStatuses": [
                {"name": "main", "ready": True, "restartCount": 0, "image": "control:1", "imageID": ""}
            ],
        },
    }


def hosted(name: str, app: str) -> dict[str, Any]:
    return {"name": name, "hostedBy": {"selector": f"app={app}"}}


@pytest.mark.parametrize("name", PROCESSES)
def test_one_that_is_killed_begins_anew_and_does_what_was_to_be_done_meanwhile(tmp_path: Path, name: str) -> None:
    report, journal = lived(
        tmp_path,
        duration="20m",
        manifests=[*POOL, deployment("web", 1)],
        checkEvery="1m",
        events=[
            {"at": "5m", "do": "killController", "controller": name, "downFor": "90s"},
            {"at": "6m", "do": "scale", "workload": "web", "replicas": 6},
            {"at": "12m", "do": "nodeFailure", "workload": "web", "failure": "Dies"},
        ],
        expect=[
            expect("controllers.starts", controller=name, at="20m", **{"is": 2}),
            expect("controllers.downTime", at="20m", **{"is": 90}),
            expect("controllers.up", controller=name, always={"from": "5m", "until": "6m29s"}, **{"is": 0}),
            expect("pods.ready", workload="web", within="2m", after="6m30s", **{"is": 6}),
            expect("pods.ready", workload="web", at="20m", **{"is": 6}),
            expect("nodes.notReady", at="20m", **{"is": 0}),
        ],
    )
    assert verdicts(report) == ["holds"] * 6, (verdicts(report), report.figures)
    assert report.miscounts == ()
    told = [entry.event for entry in journal if entry.object == f"Controller {name}"]
    assert told == ["controller.started", "controller.killed", "controller.stopped", "controller.started"]


def test_one_that_is_away_for_no_time_has_begun_anew_all_the_same(tmp_path: Path) -> None:
    report, _ = lived(
        tmp_path,
        manifests=[FLOOR],
        events=[{"at": "1m", "do": "killController", "controller": "scheduler", "downFor": "0s", "every": "1m"}],
        expect=[
            expect("controllers.starts", controller="scheduler", at="10m", **{"is": 11}),
            expect("controllers.downTime", at="10m", **{"is": 0}),
            expect("controllers.up", controller="scheduler", always=True, **{"is": 1}),
        ],
    )
    assert verdicts(report) == ["holds"] * 3


def test_nothing_is_bound_while_the_scheduler_is_down(tmp_path: Path) -> None:
    report, _ = lived(
        tmp_path,
        manifests=[FLOOR, deployment("web", 0)],
        events=[
            {"at": "1m", "do": "killController", "controller": "scheduler", "downFor": "3m"},
            {"at": "2m", "do": "scale", "workload": "web", "replicas": 2},
        ],
        expect=[
            expect("pods.unbound", always={"from": "121s", "until": "239s"}, **{"is": 2}),
            expect("pods.ready", within="5s", after="4m", **{"is": 2}),
        ],
    )
    assert verdicts(report) == ["holds"] * 2


def test_a_pod_that_waits_for_who_places_it_is_explained_by_that(tmp_path: Path) -> None:
    _, journal = lived(
        tmp_path,
        manifests=[FLOOR, deployment("web", 0)],
        events=[
            {"at": "1m", "do": "killController", "controller": "scheduler", "downFor": "3m"},
            {"at": "1m", "do": "killController", "controller": "storage", "downFor": "3m"},
            {"at": "2m", "do": "scale", "workload": "web", "replicas": 1},
            {"at": "5m", "do": "scale", "workload": "web", "replicas": 2},
            {"at": "6m", "do": "killController", "controller": "scheduler"},
        ],
    )
    first, second = (entry.object.removeprefix("Pod ") for entry in journal if entry.event == "pod.created")

    def around(name: str) -> list[str]:
        [life] = lives.pod(journal, name)
        return [f"{entry.event} {entry.object}" for entry in life.around]

    assert around(second) == []
    assert around(first) == ["controller.stopped Controller scheduler", "controller.started Controller scheduler"]
    told = tell.pod_text(lives.pod(journal, first), journal[0].moment)
    assert "+1m0s  controller.stopped        scheduler\n" in told
    assert "+4m0s  controller.started        scheduler\n" in told


def test_a_hosted_scheduler_binds_while_its_pod_is_ready(tmp_path: Path) -> None:
    report, _ = lived(
        tmp_path,
        duration="30m",
        manifests=[FLOOR, bound("scheduler"), deployment("web", 2)],
        controllers=[hosted("scheduler", "scheduler")],
        events=[
            {"at": "5m", "do": "delete", "kind": "Pod", "name": "scheduler"},
            {"at": "6m", "do": "scale", "workload": "web", "replicas": 3},
        ],
        expect=[
            expect("pods.ready", workload="web", at="4m", **{"is": 2}),
            expect("controllers.up", controller="scheduler", always={"from": "6m"}, **{"is": 0}),
            expect("pods.unbound", workload="web", at="30m", **{"is": 1}),
        ],
    )
    assert verdicts(report) == ["holds"] * 3


def test_a_scheduler_that_lives_in_pods_that_nobody_binds_is_a_deadlock(tmp_path: Path) -> None:
    report, _ = lived(
        tmp_path,
        duration="1h",
        manifests=[FLOOR, deployment("scheduler", 1)],
        controllers=[hosted("scheduler", "scheduler")],
    )
    [note] = report.notes
    assert note.startswith("deadlock: scheduler does not run, since it lives in pods that wait for a node (default/sch")
    assert note.endswith(", and only scheduler binds pods: give it a pod that names its node")


def test_one_that_lives_in_pods_that_only_it_would_make_is_a_deadlock(tmp_path: Path) -> None:
    report, _ = lived(
        tmp_path,
        duration="1h",
        manifests=[FLOOR, deployment("manager", 1)],
        controllers=[hosted("controller-manager", "manager")],
    )
    [note] = report.notes
    assert note == (
        "deadlock: controller-manager does not run, since none of the pods that it lives in is there, and only "
        "controller-manager makes pods: have it live outside of the cluster"
    )


def test_controllers_that_wait_for_each_other_are_a_deadlock_told_once_as_a_chain(tmp_path: Path) -> None:
    manager = bound("manager")
    del manager["spec"]["nodeName"], manager["status"]
    report, _ = lived(
        tmp_path,
        duration="1h",
        manifests=[FLOOR, manager, deployment("scheduler", 1)],
        controllers=[hosted("controller-manager", "manager"), hosted("scheduler", "scheduler")],
    )
    [note] = report.notes
    assert note == (
        "deadlock: controller-manager does not run, since it lives in pods that wait for a node (default/manager for "
        "1h0m0s); scheduler does not run either, since none of the pods that it lives in is there, and only scheduler "
        "binds pods and only controller-manager makes pods: give it a pod that names its node"
    )


def test_one_that_waits_for_a_node_that_somebody_launches_is_no_deadlock(tmp_path: Path) -> None:
    report, _ = lived(
        tmp_path,
        duration="1h",
        manifests=[*POOL, deployment("storage", 1)],
        controllers=[hosted("storage", "storage")],
        expect=[expect("controllers.up", controller="storage", within="2m", **{"is": 1})],
    )
    assert verdicts(report) == ["holds"]
    assert report.notes == ()
