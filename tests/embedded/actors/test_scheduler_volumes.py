"""Pods whose volumes wait for their first consumer: what is asked for, and when they are bound."""

from typing import Any

from tests.embedded.actors.acting import Stage, pod
from tests.embedded.actors.test_scheduler import condition, held, join, node_of, scheduled

CLASS = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "late"},
    "provisioner": "ebs.csi.aws.com",
    "volumeBindingMode": "WaitForFirstConsumer",
}
SIZE = {"resources": {"requests": {"storage": "1Gi"}}, "accessModes": ["ReadWriteOnce"]}
SELECTED = "volume.kubernetes.io/selected-node"


def with_claim() -> Stage:
    stage, _ = scheduled()
    join(stage, "n1", "a")
    stage.create(CLASS)
    spec = {"storageClassName": "late", **SIZE}
    stage.create({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}, "spec": spec})
    stage.create(using("web"))
    return stage


def using(name: str) -> dict[str, Any]:
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    return pod(name, volumes=volumes)


def bind_claim(stage: Stage, volume: str) -> None:
    """What the controller of volumes does."""
    change = {
        "metadata": {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
        "spec": {"volumeName": volume},
    }
    bound = stage.user.merge(held(stage, "PersistentVolumeClaim", "data"), change)
    stage.user.merge(bound, {"status": {"phase": "Bound"}}, "status")


def test_a_volume_is_asked_for_on_the_chosen_node_and_the_pod_bound_when_it_is_there() -> None:
    stage = with_claim()
    stage.run(5)
    annotations = stage.tree("", "PersistentVolumeClaim", "data")["metadata"]["annotations"]
    assert annotations[SELECTED] == "n1"
    assert stage.tree("", "Pod", "web")["status"]["nominatedNodeName"] == "n1"
    assert node_of(stage, "web") == ""
    bind_claim(stage, "pv1")
    stage.run(2)
    assert node_of(stage, "web") == "n1"


def test_a_free_volume_is_promised_to_the_claim() -> None:
    stage, _ = scheduled()
    join(stage, "n1", "a")
    stage.create({**CLASS, "provisioner": "kubernetes.io/no-provisioner"})
    spec = {"storageClassName": "late", "capacity": {"storage": "2Gi"}, "accessModes": ["ReadWriteOnce"]}
    source = {"csi": {"driver": "ebs.csi.aws.com", "volumeHandle": "vol-1"}}
    tree = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv1"}, "spec": {**spec, **source}}
    made = stage.create(tree)
    stage.user.merge(made, {"status": {"phase": "Available"}}, "status")
    claim = {"storageClassName": "late", **SIZE}
    stage.create({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}, "spec": claim})
    stage.create(using("web"))
    stage.run(5)
    volume = stage.tree("", "PersistentVolume", "pv1")
    assert (volume["spec"]["claimRef"]["name"], node_of(stage, "web")) == ("data", "")
    bind_claim(stage, "pv1")
    stage.run(2)
    assert node_of(stage, "web") == "n1"


def test_a_provisioner_that_gives_up_sends_the_pod_back_to_the_queue() -> None:
    stage = with_claim()
    stage.run(5)
    claim = held(stage, "PersistentVolumeClaim", "data")
    stage.user.merge(claim, {"metadata": {"annotations": {SELECTED: None}}})
    stage.run(1)
    told = condition(stage, "web")
    assert (told["reason"], told["message"]) == (
        "SchedulerError",
        'running PreBind plugin "VolumeBinding": provisioning failed for PVC "data"',
    )
    stage.run(5)
    assert stage.tree("", "PersistentVolumeClaim", "data")["metadata"]["annotations"][SELECTED] == "n1"


def test_after_ten_minutes_without_a_volume_the_pod_is_tried_anew() -> None:
    stage = with_claim()
    stage.run(599)
    assert condition(stage, "web") == {}
    stage.run(3)
    assert condition(stage, "web")["message"] == (
        'running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded'
    )


def test_what_an_unbound_immediate_claim_says() -> None:
    stage, _ = scheduled()
    join(stage, "n1")
    stage.create({**CLASS, "volumeBindingMode": "Immediate"})
    spec = {"storageClassName": "late", **SIZE}
    stage.create({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}, "spec": spec})
    stage.create(using("web"))
    stage.run(5)
    assert condition(stage, "web")["message"] == (
        "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: "
        "0/1 nodes are available: 1 Preemption is not helpful for scheduling."
    )
    bind_claim(stage, "pv1")
    stage.run(2)
    assert "non-existent" in condition(stage, "web")["message"]
