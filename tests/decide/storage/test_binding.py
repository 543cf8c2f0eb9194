"""What claims and volumes need next, and where new volumes are made."""

from typing import Any

import msgspec

from baseload.decide.storage import attaching, binding, placing
from baseload.decide.storage.binding import Bind, Lost, Provision, Volumes, Wait
from baseload.kube.types.core import PersistentVolume, PersistentVolumeClaim
from baseload.kube.types.storage import StorageClass

MINUTE = 60 * 10**9
DELAYED = {"volumeBindingMode": "WaitForFirstConsumer"}


def claim(phase: str = "Pending", annotations: Any = None, **spec: Any) -> PersistentVolumeClaim:
    tree = {
        "metadata": {"name": "data", "namespace": "default", "uid": "uid-1", "annotations": annotations or {}},
        "spec": {
            "storageClassName": "gp3",
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "10Gi"}},
            **spec,
        },
        "status": {"phase": phase},
    }
    return msgspec.convert(tree, PersistentVolumeClaim)


def storage(**fields: Any) -> StorageClass:
    return msgspec.convert({"metadata": {"name": "gp3"}, "provisioner": "ebs.csi.aws.com", **fields}, StorageClass)


def volume(name: str = "pv", size: str = "10Gi", phase: str = "Available", **spec: Any) -> PersistentVolume:
    usual = {"storageClassName": "gp3", "capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"]}
    tree = {"metadata": {"name": name}, "spec": {**usual, **spec}, "status": {"phase": phase}}
    return msgspec.convert(tree, PersistentVolume)


def owner(uid: str = "uid-1", name: str = "data") -> dict[str, str]:
    return {"namespace": "default", "name": name, "uid": uid}


def step(it: PersistentVolumeClaim, *there: PersistentVolume, of: StorageClass | None = None) -> binding.Step:
    volumes = Volumes()
    for one in there:
        volumes.put(one)
    return binding.next_of_claim(it, volumes, of)


def test_the_smallest_free_volume_that_suits_is_taken() -> None:
    there = (
        volume("large", "100Gi"),
        volume("small", "10Gi"),
        volume("tiny", "9Gi"),
        volume("other", "10Gi", storageClassName="gp2"),
        volume("block", "10Gi", volumeMode="Block"),
        volume("used", "10Gi", claimRef=owner("uid-2", "else")),
        volume("old", "10Gi", phase="Released"),
        volume("shared", "10Gi", accessModes=["ReadOnlyMany"]),
    )
    assert step(claim(), *there, of=storage()) == Bind("small")


def test_a_volume_that_names_the_claim_comes_first_even_without_a_uid() -> None:
    promised = volume("promised", "100Gi", claimRef=owner(""))
    assert step(claim(), volume("small"), promised, of=storage()) == Bind("promised")
    other = volume("promised", "100Gi", claimRef=owner("uid-2"))
    assert step(claim(), other, of=storage()) == Provision("ebs.csi.aws.com", "")


def test_a_claim_without_a_volume_is_provisioned_where_the_scheduler_wants_it() -> None:
    assert step(claim(), of=storage()) == Provision("ebs.csi.aws.com", "")
    assert step(claim(), of=storage(provisioner="kubernetes.io/aws-ebs")) == Provision("ebs.csi.aws.com", "")
    waits = step(claim(), volume(), of=storage(**DELAYED))
    assert waits == Wait("WaitForFirstConsumer", "waiting for first consumer to be created before binding")
    chosen = claim(annotations={"volume.kubernetes.io/selected-node": "n1"})
    assert step(chosen, volume(), of=storage(**DELAYED)) == Provision("ebs.csi.aws.com", "n1")


def test_what_no_class_can_provide_is_told() -> None:
    assert step(claim(storageClassName="")) == Wait(
        "FailedBinding", "no persistent volumes available for this claim and no storage class is set"
    )
    missing = step(claim())
    assert missing == Wait("ProvisioningFailed", 'storageclass.storage.k8s.io "gp3" not found', "Warning")
    assert step(claim(), of=storage(provisioner="kubernetes.io/no-provisioner")) is None


def test_a_bound_claim_whose_volume_is_gone_or_anothers_is_lost() -> None:
    bound = claim("Bound", {"pv.kubernetes.io/bind-completed": "yes"}, volumeName="pv")
    assert step(bound, volume(claimRef=owner())) is None
    assert step(bound) == Lost()
    assert step(bound, volume(claimRef=owner("uid-2"))) == Lost()
    half = claim("Pending", {"pv.kubernetes.io/bind-completed": "yes"}, volumeName="pv")
    assert step(half, volume(claimRef=owner())) == Bind("pv")


def test_a_claim_that_names_its_volume_gets_it_if_it_is_free() -> None:
    named = claim(volumeName="pv")
    assert step(named, volume()) == Bind("pv")
    assert step(named, volume(claimRef=owner("uid-2"))) is None
    assert step(named, of=storage()) is None


def test_a_volume_is_released_when_its_claim_is_gone_or_another() -> None:
    held = volume(claimRef=owner())
    assert binding.next_phase(volume(), None) == "Available"
    assert binding.next_phase(held, claim(volumeName="pv")) == "Bound"
    assert binding.next_phase(held, claim()) == "Available"  # the binding is half done
    assert binding.next_phase(held, None) == "Released"
    assert binding.next_phase(volume(claimRef=owner("uid-9")), claim(volumeName="pv")) == "Released"


def test_only_what_is_released_and_of_that_policy_is_reclaimed() -> None:
    assert binding.is_reclaimed(volume(phase="Released", persistentVolumeReclaimPolicy="Delete"))
    assert not binding.is_reclaimed(volume(phase="Bound", persistentVolumeReclaimPolicy="Delete"))
    assert not binding.is_reclaimed(volume(phase="Released", persistentVolumeReclaimPolicy="Retain"))


def test_claims_of_a_stateful_set_are_spread_over_the_zones_that_its_class_allows() -> None:
    allowed = [{"matchLabelExpressions": [{"key": "topology.kubernetes.io/zone", "values": ["a", "c"]}]}]
    assert placing.zones(storage(), ("b", "a", "", "b")) == ("a", "b")
    assert placing.zones(storage(allowedTopologies=allowed), ("b", "a", "c")) == ("a", "c")
    found = [placing.zone(f"data-db-{number}", ("a", "b", "c")) for number in range(4)]
    assert sorted(found[:3]) == ["a", "b", "c"]
    assert found[3] == found[0]
    assert placing.zone("data", ()) == ""
    assert placing.is_zonal("ebs.csi.aws.com")
    assert not placing.is_zonal("efs.csi.aws.com")


def test_a_lost_node_keeps_its_volumes_for_six_minutes() -> None:
    assert attaching.released_at(0, is_ready=True, is_out_of_service=False) == 0
    assert attaching.released_at(0, is_ready=False, is_out_of_service=False) == 6 * MINUTE
    assert attaching.released_at(0, is_ready=False, is_out_of_service=True) == 0
    assert attaching.is_shared(("ReadWriteMany",))
    assert not attaching.is_shared(("ReadWriteOnce", "ReadWriteOncePod"))
