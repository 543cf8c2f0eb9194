"""An instance type as DescribeInstanceTypes returns it, read as the catalogue keeps it."""

import re
from collections.abc import Mapping
from typing import Any, Final

from baseload.catalog.ec2_file import Device, TypeSpec

_ARCHITECTURES: Final = {"x86_64": "amd64", "arm64": "arm64", "x86_64_mac": "amd64", "arm64_mac": "arm64"}
_EXACT_BANDWIDTH: Final = re.compile(r"(?:([0-9]+)x )?([0-9.]+) Gigabit")

Record = Mapping[str, Any]  # an object of the API


def spec(record: Record, branch_enis: int) -> TypeSpec | None:
    """The type; None for one of an architecture that Kubernetes does not run on. Branch interfaces are in no API."""
    processor, network = record["ProcessorInfo"], record["NetworkInfo"]
    known = [_ARCHITECTURES[name] for name in processor["SupportedArchitectures"] if name in _ARCHITECTURES]
    if not known:
        return None
    clock, maker = processor.get("SustainedClockSpeedInGhz"), processor.get("Manufacturer")
    card = network["NetworkCards"][network.get("DefaultNetworkCardIndex", 0)]
    disks: Record = record.get("InstanceStorageInfo", {})
    disk_gb = disks.get("TotalSizeInGB", 0)
    classes = record["SupportedUsageClasses"]
    return TypeSpec(
        name=record["InstanceType"],
        arch=known[0],
        vcpus=record["VCpuInfo"]["DefaultVCpus"],
        memory_mib=record["MemoryInfo"]["SizeInMiB"],
        cpu_manufacturer=maker.lower().replace(" ", "-") if maker else None,
        clock_mhz=round(clock * 1000) if clock else None,
        enis=card["MaximumNetworkInterfaces"],
        ipv4_per_eni=network["Ipv4AddressesPerInterface"],
        branch_enis=branch_enis,
        hypervisor=record.get("Hypervisor") or None,
        bare_metal=record["BareMetal"],
        device=_device(record),
        nvme_gb=disk_gb if disks.get("NvmeSupport", "unsupported") != "unsupported" else 0,
        disk_gb=disk_gb,
        network_mbps=_network_mbps(network),
        ebs_mbps=_ebs_mbps(record.get("EbsInfo", {})),
        efas=network.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0),
        encryption_in_transit=network.get("EncryptionInTransitSupported", False),
        nitro_enclaves=record.get("NitroEnclavesSupport") == "supported",
        prefix_delegation=record["BareMetal"] or record.get("Hypervisor") == "nitro",
        spot="spot" in classes,
        on_demand="on-demand" in classes,
    )


def _device(record: Record) -> Device | None:
    """The one kind of device; EC2 has no type with two."""
    devices = [
        *(_gpu(found) for found in record.get("GpuInfo", {}).get("Gpus", ())),
        *(_neuron(found) for found in record.get("NeuronInfo", {}).get("NeuronDevices", ())),
        *(_inference(found) for found in record.get("InferenceAcceleratorInfo", {}).get("Accelerators", ())),
    ]
    return devices[0] if devices else None


def _gpu(found: Record) -> Device:
    return Device(found["Name"], found["Manufacturer"], found["Count"], found.get("MemoryInfo", {}).get("SizeInMiB"))


def _neuron(found: Record) -> Device:
    cores = found["Count"] * found.get("CoreInfo", {}).get("Count", 0)
    memory = found.get("MemoryInfo", {}).get("SizeInMiB")
    return Device(found["Name"], "AWS", found["Count"], memory, cores, "neuron")


def _inference(found: Record) -> Device:
    return Device(found["Name"], found["Manufacturer"], found["Count"], kind="inference")


def _network_mbps(network: Record) -> int | None:
    """The bandwidth that is there at any time: what is promised exactly, else the baseline of all cards."""
    exact = _EXACT_BANDWIDTH.fullmatch(network.get("NetworkPerformance", ""))
    if exact:
        return round(int(exact[1] or 1) * float(exact[2]) * 1000)
    baseline = sum(card.get("BaselineBandwidthInGbps", 0) for card in network["NetworkCards"])
    return int(baseline * 1000) or None


def _ebs_mbps(ebs: Record) -> int | None:
    if ebs.get("EbsOptimizedSupport") != "default":
        return None
    mbps: int | None = ebs.get("EbsOptimizedInfo", {}).get("MaximumBandwidthInMbps")
    return mbps
