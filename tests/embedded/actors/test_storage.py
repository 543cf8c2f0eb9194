"""The storage actor by itself, with disks that a test plays."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from baseload.embedded.actors.storage.disks import DiskError
from baseload.embedded.actors.storage.storage import Storage
from baseload.embedded.store.deletion import Options
from tests.embedded.actors.acting import Stage, node, pod

_STAGES: list[Stage] = []


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    """Whatever runs ends with its test."""
    yield
    while _STAGES:
        _STAGES.pop().clock.close()


@dataclass(slots=True)
class Played:
    """Disks that do at once what is asked, or fail so many times first."""

    fails: int = 0
    asked: list[tuple[str, ...]] = field(default_factory=list)

    async def create(self, name: str, zone: str, size: int) -> str:
        self.ask("create", zone, str(size // (10**9 * 2**30)))
        return f"vol-{name}"

    async def delete(self, handle: str) -> None:
        self.ask("delete")

    async def attach(self, handle: str, machine: str) -> None:
        self.ask("attach", machine)

    async def detach(self, handle: str, machine: str) -> None:
        self.ask("detach", machine)

    def most(self, instance_type: str) -> int | None:
        return 26 if instance_type == "m5.large" else None

    def ask(self, *what: str) -> None:
        self.asked.append(what)
        if self.fails:
            self.fails -= 1
            raise DiskError("no answer")


def begun(disks: Played, **storage: Any) -> Stage:
    """A claim of 10 GiB on a node, and the pod that has it."""
    stage = Stage()
    _STAGES.append(stage)
    stage.clock.start(Storage(stage.cluster, stage.clock, disks).run())
    for name in ("n1", "n2"):
        tree = node(name)
        tree["metadata"]["labels"]["topology.kubernetes.io/zone"] = "a"
        tree["spec"] = {"providerID": f"aws:///a/i-{name}"}
        stage.create(tree)
        ready(stage, name, "True")
    stage.create(
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": "gp3"},
            "provisioner": "ebs.csi.aws.com",
            "volumeBindingMode": "Immediate",
            **storage,
        }
    )
    spec = {
        "storageClassName": "gp3",
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "9500Mi"}},
    }
    stage.create({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}, "spec": spec})
    return stage


def using(stage: Stage, name: str, on: str) -> None:
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    stage.create(pod(name, volumes=volumes, nodeName=on))


def ready(stage: Stage, name: str, status: str) -> None:
    held = stage.cluster.store.get(stage.user.resource("", "Node"), "", name)
    stage.user.merge(held, {"status": {"conditions": [{"type": "Ready", "status": status}]}}, "status")


def attached(stage: Stage) -> list[str]:
    table = stage.user.records("storage.k8s.io", "VolumeAttachment")
    return sorted(record.body.field("spec.nodeName") for record in table.values())


def gone(stage: Stage, name: str) -> None:
    stage.user.delete(stage.user.records("", "Pod")[f"default/{name}"], Options(grace_seconds=0))


def told(stage: Stage) -> list[str]:
    return [record.body.field("reason") for record in stage.user.records("", "Event").values()]


def test_a_disk_is_as_large_as_the_next_whole_gibibyte() -> None:
    disks = Played()
    stage = begun(disks)
    stage.run(1)
    [record] = stage.user.records("", "PersistentVolume").values()
    assert record.body.tree()["spec"]["capacity"] == {"storage": "10Gi"}  # type: ignore[index,call-overload]


def test_what_the_cloud_refuses_is_asked_again_ever_later() -> None:
    disks = Played(fails=3)
    stage = begun(disks)
    stage.run(6.5)
    assert len(disks.asked) == 3  # at 0, 1 and 3 s
    assert "ProvisioningFailed" in told(stage)
    stage.run(1)
    assert len(disks.asked) == 4
    assert stage.tree("", "PersistentVolumeClaim", "data")["status"]["phase"] == "Bound"


def test_a_volume_is_detached_when_the_last_pod_of_its_node_is_gone() -> None:
    disks = Played()
    stage = begun(disks)
    stage.run(1)
    using(stage, "one", "n1")
    using(stage, "two", "n1")
    stage.run(1)
    assert disks.asked[1:] == [("attach", "aws:///a/i-n1")]
    gone(stage, "one")
    stage.run(1)
    assert attached(stage) == ["n1"]
    gone(stage, "two")
    stage.run(1)
    assert (attached(stage), disks.asked[-1]) == ([], ("detach", "aws:///a/i-n1"))


def test_a_pod_that_has_ended_needs_its_volume_no_more() -> None:
    stage = begun(Played())
    stage.run(1)
    using(stage, "job", "n1")
    stage.run(1)
    stage.user.merge(stage.user.records("", "Pod")["default/job"], {"status": {"phase": "Succeeded"}}, "status")
    stage.run(1)
    assert attached(stage) == []


def test_another_node_waits_until_the_first_has_let_go() -> None:
    disks = Played()
    stage = begun(disks)
    stage.run(1)
    using(stage, "one", "n1")
    stage.run(1)
    using(stage, "two", "n2")
    stage.run(1)
    assert attached(stage) == ["n1"]
    assert "FailedAttachVolume" in told(stage)
    gone(stage, "one")
    stage.run(1)
    assert attached(stage) == ["n2"]
    assert [it[0] for it in disks.asked[1:]] == ["attach", "detach", "attach"]


def test_a_node_that_does_not_answer_keeps_its_volume_for_six_minutes() -> None:
    stage = begun(Played())
    stage.run(1)
    using(stage, "one", "n1")
    stage.run(1)
    ready(stage, "n1", "Unknown")
    gone(stage, "one")
    stage.run(355)
    assert attached(stage) == ["n1"]
    stage.run(11)
    assert attached(stage) == []


def test_a_node_out_of_service_lets_go_at_once() -> None:
    stage = begun(Played())
    stage.run(1)
    using(stage, "one", "n1")
    stage.run(1)
    ready(stage, "n1", "Unknown")
    held = stage.user.records("", "Node")["n1"]
    taint = {"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"}
    stage.user.merge(held, {"spec": {"taints": [taint]}})
    gone(stage, "one")
    stage.run(1)
    assert attached(stage) == []


def test_a_file_system_is_attached_to_no_node() -> None:
    disks = Played()
    stage = begun(disks, provisioner="efs.csi.aws.com")
    stage.run(1)
    using(stage, "one", "n1")
    stage.run(1)
    assert attached(stage) == []
    [record] = stage.user.records("", "PersistentVolume").values()
    assert "nodeAffinity" not in record.body.tree()["spec"]  # type: ignore[operator]


def test_a_claim_that_is_gone_before_its_disk_came_leaves_none() -> None:
    disks = Played(fails=1)
    stage = begun(disks)
    stage.run(0.5)
    stage.user.delete(stage.user.records("", "PersistentVolumeClaim")["default/data"])
    held = stage.user.records("", "PersistentVolumeClaim")["default/data"]
    stage.user.merge(held, {"metadata": {"finalizers": None}})
    stage.run(10)
    assert [it[0] for it in disks.asked] == ["create", "create", "delete"]
    assert not stage.user.records("", "PersistentVolume")


def test_a_claim_whose_volume_is_deleted_by_force_is_lost() -> None:
    stage = begun(Played())
    stage.run(1)
    [record] = stage.user.records("", "PersistentVolume").values()
    stage.user.delete(record)
    [record] = stage.user.records("", "PersistentVolume").values()
    stage.user.merge(record, {"metadata": {"finalizers": None}})
    stage.run(1)
    assert stage.tree("", "PersistentVolumeClaim", "data")["status"]["phase"] == "Lost"
    assert "ClaimLost" in told(stage)


def test_nodes_say_how_many_disks_they_take_where_that_is_known() -> None:
    stage = begun(Played())
    tree = node("n3")
    tree["metadata"]["labels"]["node.kubernetes.io/instance-type"] = "m5.large"
    stage.create(tree)
    stage.run(1)
    drivers = {name: stage.tree("storage.k8s.io", "CSINode", name)["spec"]["drivers"] for name in ("n1", "n3")}
    assert "allocatable" not in drivers["n1"][0]
    assert drivers["n3"][0]["allocatable"] == {"count": 26}
