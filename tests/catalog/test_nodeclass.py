"""What of an EC2NodeClass decides about instance types."""

from typing import Any

import msgspec
import pytest

from baseload.catalog.nodeclass import DEFAULT, settings_of
from baseload.kube.types.ec2 import EC2NodeClass
from baseload.values.quantity import MILLI, UNIT

GI = 2**30 * UNIT
AL2023 = [{"alias": "al2023@latest"}]


def node_class(status: dict[str, Any] | None = None, **spec: Any) -> EC2NodeClass:
    written = {"metadata": {"name": "default"}, "spec": {"amiSelectorTerms": AL2023} | spec, "status": status or {}}
    return msgspec.convert(written, EC2NodeClass)


def mapping(device: str, size: str | None = None, root: bool = False) -> dict[str, Any]:
    return {"deviceName": device, "rootVolume": root, "ebs": {} if size is None else {"volumeSize": size}}


def test_a_node_class_that_is_not_there_is_one_that_says_nothing() -> None:
    assert settings_of(None) is DEFAULT
    assert settings_of(node_class()) == DEFAULT


@pytest.mark.parametrize(
    ("spec", "family"),
    [
        ({"amiFamily": "Bottlerocket"}, "Bottlerocket"),
        ({"amiSelectorTerms": [{"alias": "bottlerocket@v1.20"}]}, "Bottlerocket"),
        ({"amiSelectorTerms": [{"alias": "windows2022@latest"}]}, "Windows2022"),
        ({"amiFamily": "AL2", "amiSelectorTerms": [{"id": "ami-1"}]}, "AL2"),
        ({"amiSelectorTerms": [{"id": "ami-1"}]}, "Custom"),
    ],
)
def test_the_family_is_the_one_named_else_that_of_the_alias_else_custom(spec: dict[str, Any], family: str) -> None:
    assert settings_of(node_class(**spec)).family.name == family


@pytest.mark.parametrize(
    ("spec", "gib"),
    [
        ({}, 20),
        ({"blockDeviceMappings": [mapping("/dev/xvda", "50Gi")]}, 50),
        ({"blockDeviceMappings": [mapping("/dev/xvda", "50Gi"), mapping("/dev/sdb", "70Gi", root=True)]}, 70),
        ({"blockDeviceMappings": [mapping("/dev/sdb", "70Gi")]}, 20),
        ({"blockDeviceMappings": [mapping("/dev/xvda")]}, 20),
        ({"amiFamily": "Bottlerocket", "blockDeviceMappings": [mapping("/dev/xvda", "50Gi")]}, 20),
        ({"amiFamily": "Bottlerocket", "blockDeviceMappings": [mapping("/dev/xvdb", "50Gi")]}, 50),
        ({"amiFamily": "Custom", "blockDeviceMappings": [mapping("/dev/a", "50Gi"), mapping("/dev/b", "60Gi")]}, 60),
        ({"amiFamily": "Custom", "blockDeviceMappings": [mapping("/dev/a", "50Gi"), mapping("/dev/b")]}, 20),
        ({"amiFamily": "Windows2022"}, 50),
    ],
)
def test_the_volume_that_pods_store_on(spec: dict[str, Any], gib: int) -> None:
    assert settings_of(node_class(**spec)).volume == gib * GI


def test_kubelet_settings() -> None:
    kubelet = {
        "maxPods": 110,
        "podsPerCore": 10,
        "kubeReserved": {"memory": "1Gi", "cpu": "100m"},
        "systemReserved": {"cpu": "50m"},
        "evictionHard": {"memory.available": "5%"},
        "evictionSoft": {"memory.available": "50%"},
    }
    settings = settings_of(node_class(kubelet=kubelet))
    assert (settings.max_pods, settings.pods_per_core) == (110, 10)
    assert settings.kube_reserved == (("cpu", 100 * MILLI), ("memory", GI))
    assert settings.system_reserved == (("cpu", 50 * MILLI),)
    assert settings.eviction_hard == (("memory.available", "5%"),)


def test_an_expression_counts_as_unset() -> None:
    kubelet = {"maxPods": "min(110, max_pods)", "kubeReserved": {"memory": "max_pods * 11", "cpu": "100m"}}
    settings = settings_of(node_class(kubelet=kubelet))
    assert settings.max_pods is None
    assert settings.kube_reserved == (("cpu", 100 * MILLI),)


def test_zones_are_those_of_the_subnets_found() -> None:
    subnets = [{"id": f"subnet-{i}", "zone": f"us-east-1{z}", "zoneID": f"use1-az{i}"} for i, z in enumerate("ba")]
    settings = settings_of(node_class(status={"subnets": [*subnets, subnets[0]]}))
    assert settings.zones == (("us-east-1a", "use1-az1"), ("us-east-1b", "use1-az0"))


def test_efa_only_interfaces_are_counted_by_card() -> None:
    interfaces = [
        {"networkCardIndex": 0, "deviceIndex": 0, "interfaceType": "interface"},
        {"networkCardIndex": 0, "deviceIndex": 1, "interfaceType": "efa-only"},
        {"networkCardIndex": 1, "deviceIndex": 0, "interfaceType": "efa-only"},
    ]
    settings = settings_of(node_class(networkInterfaces=interfaces))
    assert (settings.efa_only, settings.efa_only_default_card) == (2, 1)
    assert settings_of(node_class(networkInterfaces=interfaces[:1])).efa_only == 0
    assert settings_of(node_class()).efa_only is None


def test_local_disks_are_joined_by_raid0_alone() -> None:
    assert settings_of(node_class(instanceStorePolicy="RAID0")).local_disks
    assert not settings_of(node_class()).local_disks


def test_settings_can_be_remembered_by() -> None:
    assert {settings_of(node_class()): 1}[DEFAULT] == 1
