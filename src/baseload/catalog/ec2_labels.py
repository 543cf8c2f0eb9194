"""The labels that Karpenter knows of an EC2 instance type, as columns. What a type has not got, DoesNotExist."""

import re
from collections.abc import Callable, Sequence
from typing import Final

from baseload.catalog.assemble import ABSENT, label_column
from baseload.catalog.columns import LabelColumn
from baseload.catalog.ec2_file import Device, TypeSpec
from baseload.catalog.nodeclass import NodeClassSettings
from baseload.values.label import (
    ARCH,
    AWS_WELL_KNOWN,
    CAPACITY_TYPE,
    INSTANCE_TYPE,
    OS,
    REGION,
    TENANCY,
    WINDOWS_BUILD,
    ZONE,
    ZONE_ID,
)

NITRO_ENCLAVES: Final = "karpenter.k8s.aws/nitro-sandbox"
_PREFIX: Final = "karpenter.k8s.aws/instance-"
_SCHEME: Final = re.compile(r"([a-z]+)(?:-[0-9]+tb)?([0-9]+)[^.]*\.")


def category_and_generation(name: str) -> tuple[str | None, str | None]:
    """The letters and digits that a name begins with: m and 5 of m5.large; neither where the name has another form."""
    match = _SCHEME.match(name)
    return (match[1], match[2]) if match else (None, None)


def labels(
    specs: Sequence[TypeSpec], settings: NodeClassSettings, region: str, zones: Sequence[Sequence[tuple[str, str]]]
) -> dict[str, LabelColumn]:
    """Every label column; `zones` gives for each type the (zone, zone id) pairs where the NodeClass can have it."""
    said: dict[str, list[frozenset[str]]] = {
        OS: [_operating_system(spec, settings) for spec in specs],
        ZONE: [frozenset(name for name, _ in found) for found in zones],
        ZONE_ID: [frozenset(id for _, id in found if id) for found in zones],
        CAPACITY_TYPE: [_capacity_types(spec) for spec in specs],
        REGION: [frozenset((region,))] * len(specs),
        TENANCY: [frozenset(("dedicated", "default"))] * len(specs),
        WINDOWS_BUILD: [_single(settings.family.windows_build or None)] * len(specs),
    }
    said |= {key: [_single(value(spec)) for spec in specs] for key, value in _SINGLE.items()}
    said |= {key: [ABSENT] * len(specs) for key in sorted(AWS_WELL_KNOWN - said.keys())}
    return {key: label_column(key, values) for key, values in said.items()}


def _single(value: str | int | None) -> frozenset[str]:
    return ABSENT if value is None else frozenset((str(value),))


def _operating_system(spec: TypeSpec, settings: NodeClassSettings) -> frozenset[str]:
    """Windows runs on amd64 alone."""
    if not settings.family.windows_build:
        return frozenset(("linux",))
    return frozenset(("windows",)) if spec.arch == "amd64" else ABSENT


def _capacity_types(spec: TypeSpec) -> frozenset[str]:
    classes = {"on-demand": spec.on_demand, "spot": spec.spot}
    return frozenset(name for name, supported in classes.items() if supported)


def _size(spec: TypeSpec) -> str:
    return spec.name.partition(".")[2]


def _family(spec: TypeSpec) -> str:
    return spec.name.partition(".")[0]


def _gpu(field: Callable[[Device], str | int | None]) -> Callable[[TypeSpec], str | int | None]:
    return lambda spec: field(spec.device) if spec.device is not None and spec.device.kind == "gpu" else None


def _accelerator(field: Callable[[Device], str | int]) -> Callable[[TypeSpec], str | int | None]:
    kinds = ("inference", "neuron")
    return lambda spec: field(spec.device) if spec.device is not None and spec.device.kind in kinds else None


def _hyphenated(text: str) -> str:
    return text.lower().replace(" ", "-")


def _flag(value: bool) -> str:
    return "true" if value else "false"


_SINGLE: Final[dict[str, Callable[[TypeSpec], str | int | None]]] = {
    INSTANCE_TYPE: lambda spec: spec.name,
    ARCH: lambda spec: spec.arch,
    f"{_PREFIX}category": lambda spec: category_and_generation(spec.name)[0],
    f"{_PREFIX}generation": lambda spec: category_and_generation(spec.name)[1],
    f"{_PREFIX}family": _family,
    f"{_PREFIX}size": _size,
    f"{_PREFIX}capability-flex": lambda spec: _flag("-flex" in _family(spec)),
    f"{_PREFIX}cpu": lambda spec: spec.vcpus,
    f"{_PREFIX}cpu-manufacturer": lambda spec: spec.cpu_manufacturer,
    f"{_PREFIX}cpu-sustained-clock-speed-mhz": lambda spec: spec.clock_mhz,
    f"{_PREFIX}memory": lambda spec: spec.memory_mib,
    f"{_PREFIX}hypervisor": lambda spec: spec.hypervisor,
    f"{_PREFIX}encryption-in-transit-supported": lambda spec: _flag(spec.encryption_in_transit),
    NITRO_ENCLAVES: lambda spec: _flag(spec.nitro_enclaves),
    f"{_PREFIX}ebs-bandwidth": lambda spec: spec.ebs_mbps,
    f"{_PREFIX}network-bandwidth": lambda spec: spec.network_mbps,
    f"{_PREFIX}local-nvme": lambda spec: spec.nvme_gb or None,
    f"{_PREFIX}gpu-name": _gpu(lambda device: _hyphenated(device.name)),
    f"{_PREFIX}gpu-manufacturer": _gpu(lambda device: _hyphenated(device.manufacturer)),
    f"{_PREFIX}gpu-count": _gpu(lambda device: device.count),
    f"{_PREFIX}gpu-memory": _gpu(lambda device: device.memory_mib),
    f"{_PREFIX}accelerator-name": _accelerator(lambda device: _hyphenated(device.name)),
    f"{_PREFIX}accelerator-manufacturer": _accelerator(lambda device: _hyphenated(device.manufacturer)),
    f"{_PREFIX}accelerator-count": _accelerator(lambda device: device.count),
}
