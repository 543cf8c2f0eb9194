"""What an EC2NodeClass decides about capacity and offerings, reduced to a value that can be remembered by.

Two NodeClasses with equal settings share one table of instance types. Expressions in place of numbers count as unset,
as they do while Karpenter's gate for them is off.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from baseload.kube.types.ec2 import EC2NodeClass, EC2NodeClassSpec
from baseload.values import quantity
from baseload.values.quantity import UNIT

_GI: Final = 2**30 * UNIT
_DEFAULT_VOLUME: Final = 20 * _GI


@dataclass(frozen=True, slots=True)
class AMIFamily:
    """How nodes of one family of machine images count."""

    name: str
    device: str = "/dev/xvda"  # what the pods' storage lies on
    volume: int = _DEFAULT_VOLUME
    eni_limited_pods: bool = True  # else 110
    pods_per_core: bool = True  # whether kubelet.podsPerCore is honoured
    eni_limited_overhead: bool = True  # kube-reserved memory by the ENI-limited pods whatever maxPods says
    windows_build: str = ""


def _windows(year: str, build: str) -> AMIFamily:
    return AMIFamily(
        f"Windows{year}", "/dev/sda1", 50 * _GI, eni_limited_pods=False, eni_limited_overhead=False, windows_build=build
    )


FAMILIES: Final = {
    family.name: family
    for family in (
        AMIFamily("AL2"),
        AMIFamily("AL2023"),
        AMIFamily("Bottlerocket", "/dev/xvdb", pods_per_core=False, eni_limited_overhead=False),
        AMIFamily("Custom"),
        _windows("2019", "10.0.17763"),
        _windows("2022", "10.0.20348"),
        _windows("2025", "10.0.26100"),
    )
}


@dataclass(frozen=True, slots=True)
class NodeClassSettings:
    """What decides; amounts are nano-units. The defaults are those of a NodeClass that says nothing, on AL2023."""

    family: AMIFamily = FAMILIES["AL2023"]
    max_pods: int | None = None
    pods_per_core: int | None = None
    kube_reserved: tuple[tuple[str, int], ...] = ()
    system_reserved: tuple[tuple[str, int], ...] = ()
    eviction_hard: tuple[tuple[str, str], ...] = ()  # signal -> quantity or percentage, as written
    volume: int = _DEFAULT_VOLUME  # of the pods' storage, where local disks are not it
    local_disks: bool = False  # instanceStorePolicy RAID0
    efa_only: int | None = None  # interfaces that carry no pods; None where the NodeClass names no interfaces
    efa_only_default_card: int = 0  # those of them on network card 0
    zones: tuple[tuple[str, str], ...] | None = None  # (zone, zone id or "") of the subnets; None: every zone


DEFAULT: Final = NodeClassSettings()


def settings_of(node_class: EC2NodeClass | None) -> NodeClassSettings:
    """The settings of a NodeClass; None stands for one that says nothing."""
    if node_class is None:
        return DEFAULT
    spec, kubelet = node_class.spec, node_class.spec.kubelet
    family = _family(spec)
    efa_only = [card.network_card_index for card in spec.network_interfaces if card.interface_type == "efa-only"]
    subnets = node_class.status.subnets
    return NodeClassSettings(
        family=family,
        max_pods=kubelet.max_pods if isinstance(kubelet.max_pods, int) else None,
        pods_per_core=kubelet.pods_per_core,
        kube_reserved=_amounts(kubelet.kube_reserved),
        system_reserved=_amounts(kubelet.system_reserved),
        eviction_hard=tuple(sorted(kubelet.eviction_hard.items())),
        volume=_volume(spec, family),
        local_disks=spec.instance_store_policy == "RAID0",
        efa_only=len(efa_only) if spec.network_interfaces else None,
        efa_only_default_card=efa_only.count(0),
        zones=tuple(sorted({(subnet.zone, subnet.zone_id) for subnet in subnets})) if subnets else None,
    )


def _family(spec: EC2NodeClassSpec) -> AMIFamily:
    """The family that is named, else that of the alias by which images are selected, else Custom."""
    by_alias = {name.lower(): family for name, family in FAMILIES.items()}
    aliases = [term.alias.partition("@")[0].lower() for term in spec.ami_selector_terms if term.alias]
    if spec.ami_family:
        return FAMILIES.get(spec.ami_family, FAMILIES["Custom"])
    return next((by_alias[alias] for alias in aliases if alias in by_alias), FAMILIES["Custom"])


def _amounts(written: Mapping[str, str]) -> tuple[tuple[str, int], ...]:
    """Quantities by resource; what is none is an expression, and dropped."""
    amounts = []
    for resource, text in sorted(written.items()):
        try:
            amounts.append((resource, quantity.parse(text)))
        except quantity.QuantityError:
            continue
    return tuple(amounts)


def _volume(spec: EC2NodeClassSpec, family: AMIFamily) -> int:
    """The size of the volume that the pods' storage lies on."""
    mappings = spec.block_device_mappings
    sizes = [
        None if mapping.ebs is None or mapping.ebs.volume_size is None else quantity.parse(mapping.ebs.volume_size)
        for mapping in mappings
    ]
    for mapping, size in zip(mappings, sizes, strict=True):
        if mapping.root_volume:
            if size is not None:
                return size
            break
    if family.name == "Custom" and mappings:
        return sizes[-1] if sizes[-1] is not None else _DEFAULT_VOLUME
    for mapping, size in zip(mappings, sizes, strict=True):
        if mapping.device_name == family.device:
            if size is not None:
                return size
            break
    return family.volume
