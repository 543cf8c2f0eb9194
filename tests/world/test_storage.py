"""Volumes in a whole cluster: made for claims, attached where their pods are, moved with them, and reclaimed."""

from collections.abc import Iterator
from typing import Any

import pytest

from baseload.cloud.simulated import settings_file
from baseload.cloud.simulated.faults import Faults
from tests.world.lives import Life, Tree, node_class, pool, within

ZONE = "topology.kubernetes.io/zone"


@pytest.fixture
def life() -> Iterator[Life]:
    life = Life()
    yield life
    life.close()


def storage_class(name: str = "gp3", **fields: Any) -> Tree:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": "ebs.csi.aws.com",
        "volumeBindingMode": "WaitForFirstConsumer",
        **fields,
    }


def claim(name: str, storage: str = "gp3") -> Tree:
    spec = {
        "storageClassName": storage,
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "10Gi"}},
    }
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name}, "spec": spec}


def stateful(replicas: int = 1, **spec: Any) -> Tree:
    asked = {"requests": {"cpu": "1", "memory": "1Gi"}}
    mounts = [{"name": "data", "mountPath": "/data"}]
    pods = {"containers": [{"name": "main", "image": "db:1", "resources": asked, "volumeMounts": mounts}], **spec}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "db"},
        "spec": {
            "replicas": replicas,
            "serviceName": "db",
            "selector": {"matchLabels": {"app": "db"}},
            "template": {"metadata": {"labels": {"app": "db"}}, "spec": pods},
            "volumeClaimTemplates": [claim("data")],
        },
    }


def begun(life: Life, tree: Tree) -> None:
    life.create(node_class())
    life.create(pool(within("karpenter.k8s.aws/instance-family", "m5")))
    life.create(storage_class())
    life.create(tree)


def until(life: Life, holds: Any, seconds: float) -> None:
    for _ in range(round(seconds)):
        if holds():
            return
        life.run(1)
    raise AssertionError(f"not within {seconds} s")


def zone_of(life: Life, node: str) -> str:
    return str(next(it for it in life.all("", "Node") if it["metadata"]["name"] == node)["metadata"]["labels"][ZONE])


def volumes(life: Life) -> list[Tree]:
    return life.all("", "PersistentVolume")


def attachments(life: Life) -> list[tuple[str, bool]]:
    found = life.all("storage.k8s.io", "VolumeAttachment")
    return [(it["spec"]["nodeName"], it.get("status", {}).get("attached", False)) for it in found]


def disks(life: Life) -> dict[str, str]:
    """handle -> state"""
    return {it.id: it.state for it in life.living.cloud.region.devices.kept().volumes}


def test_a_stateful_pod_gets_a_disk_in_the_zone_of_its_node_and_has_it_attached(life: Life) -> None:
    begun(life, stateful())
    until(life, lambda: life.ready() == 1, 90)
    until(life, lambda: attachments(life) and attachments(life)[0][1], 20)

    [pod], [volume], [held] = life.all("", "Pod"), volumes(life), life.all("", "PersistentVolumeClaim")
    node = pod["spec"]["nodeName"]
    [term] = volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
    assert term["matchExpressions"] == [{"key": ZONE, "operator": "In", "values": [zone_of(life, node)]}]
    assert (held["spec"]["volumeName"], held["status"]["phase"]) == (volume["metadata"]["name"], "Bound")
    assert held["status"]["capacity"] == {"storage": "10Gi"}
    assert (volume["status"]["phase"], volume["spec"]["persistentVolumeReclaimPolicy"]) == ("Bound", "Delete")
    assert attachments(life) == [(node, True)]
    assert disks(life) == {volume["spec"]["csi"]["volumeHandle"]: "in-use"}
    [csi] = life.all("storage.k8s.io", "CSINode")
    assert csi["spec"]["drivers"][0]["allocatable"] == {"count": 26}
    reasons = {it["reason"] for it in life.all("", "Event") if it["involvedObject"]["kind"] != "Node"}
    assert {
        "WaitForFirstConsumer",
        "ExternalProvisioning",
        "ProvisioningSucceeded",
        "SuccessfulAttachVolume",
    } <= reasons


def test_a_stateful_pod_whose_node_is_drained_comes_up_in_its_zone_with_its_disk(life: Life) -> None:
    begun(life, stateful())
    until(life, lambda: life.ready() == 1, 90)
    life.run(20)
    [pod], [volume] = life.all("", "Pod"), volumes(life)
    old = pod["spec"]["nodeName"]
    zone = zone_of(life, old)
    [doomed] = life.all("karpenter.sh", "NodeClaim")

    life.user.delete(life.user.records("karpenter.sh", "NodeClaim")[doomed["metadata"]["name"]])
    until(life, lambda: life.ready() == 1 and life.all("", "Pod")[0]["spec"]["nodeName"] != old, 180)
    until(life, lambda: old not in [it["metadata"]["name"] for it in life.all("", "Node")], 120)
    life.run(20)

    [pod] = life.all("", "Pod")
    assert zone_of(life, pod["spec"]["nodeName"]) == zone
    assert [it["metadata"]["name"] for it in volumes(life)] == [volume["metadata"]["name"]]
    assert attachments(life) == [(pod["spec"]["nodeName"], True)]


def test_karpenter_waits_for_the_disks_of_a_drained_node(life: Life) -> None:
    begun(life, stateful())
    until(life, lambda: life.ready() == 1, 90)
    life.run(20)
    fault = {"call": "DetachVolume", "error": "CloudUnreachable"}
    strike(life, fault)
    [doomed] = life.all("karpenter.sh", "NodeClaim")
    life.user.delete(life.user.records("karpenter.sh", "NodeClaim")[doomed["metadata"]["name"]])
    life.run(300)

    [held] = [it for it in life.all("karpenter.sh", "NodeClaim") if "deletionTimestamp" in it["metadata"]]
    said = {it["type"]: (it["status"], it["reason"]) for it in held["status"]["conditions"]}
    assert said["Drained"][0] == "True"
    assert said["VolumesDetached"] == ("Unknown", "AwaitingVolumeDetachment")
    assert "InstanceTerminating" not in said
    waits = [it["message"] for it in life.all("", "Event") if it["reason"] == "AwaitingVolumeDetachment"]
    assert waits[0].startswith("Awaiting deletion of bound volumeattachments (csi-")
    # The successor of the pod has its node, and its disk not yet.
    multi = [it for it in life.all("", "Event") if it["reason"] == "FailedAttachVolume"]
    assert "Multi-Attach error" in multi[0]["message"]


def test_a_claim_that_binds_immediately_has_its_disk_before_any_pod(life: Life) -> None:
    life.create(floor("a", "us-east-1a"))
    life.create(floor("b", "us-east-1b"))
    life.create(storage_class("now", volumeBindingMode="Immediate"))
    life.run(30)
    for number in range(2):
        life.create(claim(f"data-db-{number}", "now"))
    life.run(30)
    zones = [
        it["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"][0]["matchExpressions"][0]["values"][0]
        for it in volumes(life)
    ]
    assert sorted(zones) == ["us-east-1a", "us-east-1b"]  # the number that ends the name spreads them
    assert {it["status"]["phase"] for it in life.all("", "PersistentVolumeClaim")} == {"Bound"}


def test_a_claim_that_waits_for_its_first_consumer_says_so(life: Life) -> None:
    life.create(storage_class())
    life.create(claim("data"))
    life.run(60)
    [it] = life.all("", "PersistentVolumeClaim")
    assert (it["status"]["phase"], volumes(life)) == ("Pending", [])
    [told] = [it for it in life.all("", "Event") if it["involvedObject"]["kind"] == "PersistentVolumeClaim"]
    assert told["message"] == "waiting for first consumer to be created before binding"


@pytest.mark.parametrize(("policy", "left"), [("Delete", 0), ("Retain", 1)])
def test_a_volume_is_deleted_with_its_claim_or_kept_as_its_class_says(life: Life, policy: str, left: int) -> None:
    life.create(floor("a", "us-east-1a"))
    life.create(storage_class("now", volumeBindingMode="Immediate", reclaimPolicy=policy))
    life.run(30)
    life.create(claim("data", "now"))
    life.run(30)
    assert len(disks(life)) == 1
    life.user.delete(life.user.records("", "PersistentVolumeClaim")["default/data"])
    life.run(60)
    assert life.all("", "PersistentVolumeClaim") == []
    assert [it["status"]["phase"] for it in volumes(life)] == ["Released"] * left
    assert len(disks(life)) == left


def test_a_volume_that_is_there_is_bound_to_a_claim_that_it_suits(life: Life) -> None:
    life.create(storage_class("by-hand", provisioner="kubernetes.io/no-provisioner", volumeBindingMode="Immediate"))
    for name, size in (("large", "100Gi"), ("small", "10Gi"), ("tiny", "1Gi")):
        spec = {
            "storageClassName": "by-hand",
            "capacity": {"storage": size},
            "accessModes": ["ReadWriteOnce"],
            "csi": {"driver": "ebs.csi.aws.com", "volumeHandle": f"vol-{name}"},
        }
        life.create({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec})
    life.run(5)
    assert {it["status"]["phase"] for it in volumes(life)} == {"Available"}
    life.create(claim("data", "by-hand"))
    life.run(5)
    [held] = life.all("", "PersistentVolumeClaim")
    assert (held["spec"]["volumeName"], held["status"]["phase"]) == ("small", "Bound")
    assert {it["metadata"]["name"]: it["status"]["phase"] for it in volumes(life)} == {
        "large": "Available",
        "small": "Bound",
        "tiny": "Available",
    }
    life.user.delete(life.user.records("", "PersistentVolume")["small"])
    life.run(5)
    assert [it["metadata"]["name"] for it in volumes(life)] == ["large", "small", "tiny"]  # it is in use


def test_two_runs_with_volumes_are_the_same_to_the_byte() -> None:
    def story() -> str:
        life = Life()
        begun(life, stateful(3))
        life.run(120)
        kinds = (("", "PersistentVolume"), ("", "PersistentVolumeClaim"), ("storage.k8s.io", "VolumeAttachment"))
        told = repr([life.all(*kind) for kind in (*kinds, ("", "Event"))])
        life.close()
        return told

    assert story() == story()


def floor(name: str, zone: str) -> Tree:
    size = {"cpu": "4", "memory": "16Gi", "pods": "110"}
    labels = {"kubernetes.io/hostname": name, ZONE: zone}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"providerID": f"aws:///{zone}/i-{name}"},
        "status": {"capacity": size, "allocatable": size},
    }


def strike(life: Life, fault: Tree) -> None:
    """From now on calls of one kind fail."""
    cloud = life.living.cloud
    read = settings_file.read({"faults": [fault]}, zones=("us-east-1a",))
    cloud.faults = Faults(read.faults, cloud.region.streams)
