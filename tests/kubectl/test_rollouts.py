"""The commands that follow workloads, against a cluster with controllers on the machine's own clock."""

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from baseload.embedded import server
from baseload.embedded.actors.workloads.controllers import Controllers
from baseload.timeline.wall import WallClock
from baseload.world import embedded
from tests.embedded.actors.workloads.playing import Kubelet, workload
from tests.embedded.actors.workloads.test_jobs import job
from tests.embedded.clock import Standing
from tests.kubectl.conftest import Kubectl
from tests.servers.embedded import Embedded

SOON = "--timeout=20s"


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Kubectl]:
    """kubectl at a server whose workloads come to life."""
    clock, answers = WallClock(), threading.Event()
    world = embedded.build(None, None, clock=clock)
    listener = server.listening(0)
    stops: list[server.Stop] = []
    tasks: list[asyncio.Task[None]] = []

    def started(stop: server.Stop) -> None:
        controllers = Controllers(world.cluster, clock)
        kubelet = Kubelet(world.cluster, clock, ready_after=0.05, stop_after=0.05)
        tasks.extend(asyncio.get_running_loop().create_task(one.run()) for one in (controllers, kubelet))
        stops.append(stop)
        answers.set()

    thread = threading.Thread(target=server.serve, args=(world.cluster, listener, started))
    thread.start()
    assert answers.wait(20)
    try:
        own = Embedded(f"http://{server.LOOPBACK}:{listener.getsockname()[1]}", Standing())
        own.write_kubeconfig(tmp_path / "config")
        yield Kubectl(tmp_path, own)
        assert not [task for task in tasks if task.done()], "a controller came to its end"
    finally:
        for stop in stops:
            stop()
        thread.join(20)
        world.close()


def create(kubectl: Kubectl, tree: object) -> None:
    kubectl("create", "-f", "-", stdin=json.dumps(tree))


def image(kubectl: Kubectl, of: str) -> str:
    return kubectl("get", of, "-o", "jsonpath={.spec.template.spec.containers[0].image}")


def test_a_rollout_is_followed_listed_and_undone(live: Kubectl) -> None:
    create(live, workload("Deployment", "web", 3))
    told = live("rollout", "status", "deployment/web", SOON)
    assert told.endswith('deployment "web" successfully rolled out\n')
    live("set", "image", "deployment/web", "main=nginx:2")
    live("rollout", "status", "deployment/web", SOON)
    history = live("rollout", "history", "deployment/web")
    assert [line.split()[0] for line in history.splitlines()[2:] if line] == ["1", "2"]
    assert "nginx:1" in live("rollout", "history", "deployment/web", "--revision=1")

    assert live("rollout", "undo", "deployment/web") == "deployment.apps/web rolled back\n"
    live("rollout", "status", "deployment/web", SOON)
    assert image(live, "deployment/web") == "nginx:1"
    history = live("rollout", "history", "deployment/web")
    assert [line.split()[0] for line in history.splitlines()[2:] if line] == ["2", "3"]
    assert live("get", "deployment", "web", "--no-headers").split()[:4] == ["web", "3/3", "3", "3"]


def test_a_restart_renews_the_pods_and_a_pause_holds_it(live: Kubectl) -> None:
    create(live, workload("Deployment", "web", 1))
    live("rollout", "status", "deployment/web", SOON)
    before = live("get", "pods", "-o", "name")
    live("rollout", "pause", "deployment/web")
    live("rollout", "resume", "deployment/web")
    live("rollout", "restart", "deployment/web")
    live("rollout", "status", "deployment/web", SOON)
    live("wait", "--for=delete", before.strip(), SOON)

    assert live("get", "pods", "-o", "name") != before


def test_a_workload_is_scaled_and_its_pods_come_and_go(live: Kubectl) -> None:
    create(live, workload("Deployment", "web", 1))
    live("rollout", "status", "deployment/web", SOON)
    live("scale", "deployment", "web", "--replicas=4")
    live("wait", "--for=jsonpath={.status.readyReplicas}=4", "deployment/web", SOON)
    live("scale", "deployment", "web", "--replicas=2")
    live("wait", "--for=jsonpath={.status.replicas}=2", "deployment/web", SOON)

    assert len(live("get", "pods", "-l", "app=web", "--field-selector=status.phase=Running", "-o", "name").split()) >= 2


def test_a_delete_takes_all_below_with_it_or_leaves_it(live: Kubectl) -> None:
    create(live, workload("Deployment", "web", 2))
    live("rollout", "status", "deployment/web", SOON)
    live("delete", "deployment", "web", "--cascade=orphan")
    assert len(live("get", "replicasets,pods", "-o", "name").split()) == 3
    create(live, workload("Deployment", "web", 2))
    live("rollout", "status", "deployment/web", SOON)
    assert len(live("get", "replicasets,pods", "-o", "name").split()) == 3

    live("delete", "deployment", "web", "--cascade=foreground", SOON)
    assert live("get", "replicasets,pods", "-o", "name") == ""


def test_a_stateful_set_is_followed_and_undone(live: Kubectl) -> None:
    create(live, workload("StatefulSet", "db", 2))
    live("rollout", "status", "statefulset/db", SOON)
    live("set", "image", "statefulset/db", "main=nginx:2")
    told = live("rollout", "status", "statefulset/db", SOON)
    assert "statefulset rolling update complete 2 pods at revision" in told or "partitioned roll out complete" in told
    live("rollout", "undo", "statefulset/db")
    live("rollout", "status", "statefulset/db", SOON)

    assert image(live, "statefulset/db") == "nginx:1"
    history = live("rollout", "history", "statefulset/db")
    assert [line.split()[0] for line in history.splitlines()[2:] if line] == ["2", "3"]


def test_a_job_and_a_pod_that_is_deleted_are_waited_for(live: Kubectl) -> None:
    create(live, job())
    name = live("wait", "--for=create", "pod", "-l", "job-name=work", SOON, "-o", "name").strip()
    live("wait", "--for=condition=Ready", name, SOON)
    live("delete", name, SOON)
    live("wait", "--for=jsonpath={.status.failed}=1", "job/work", SOON)
    live("delete", "job", "work", SOON)

    live("wait", "--for=delete", "pod", "-l", "job-name=work", SOON)
