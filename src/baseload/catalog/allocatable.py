"""What an EC2 instance type holds, and what of it is left for pods.

Capacity is what the node will report, as far as it can be known before it exists: memory loses a share to the
hypervisor, the number of pods follows from the addresses that the network interfaces can carry. From it come off what
the kubelet keeps for itself and Kubernetes (by the number of pods and cores), what the user reserves for the system,
and the eviction thresholds, which no pod can use. All arithmetic is on exact integers.
"""

from fractions import Fraction
from functools import cache
from typing import Final

from baseload.catalog.ec2_file import TypeSpec
from baseload.catalog.nodeclass import NodeClassSettings
from baseload.values import quantity
from baseload.values.quantity import MILLI, UNIT

MI: Final = 2**20 * UNIT
GI: Final = 2**30 * UNIT
_GB: Final = 10**9 * UNIT

_ARM_RESERVED_MIB: Final = 64  # contiguous memory that Graviton machines keep back
_KUBE_RESERVED_STORAGE: Final = GI
_EVICTION_MEMORY: Final = 100 * MI
_EVICTION_STORAGE: Final = Fraction(1, 10)
_PREFIX: Final = 16  # addresses of a delegated /28 prefix
_CPU_SHARES: Final = ((1, Fraction(6, 100)), (1, Fraction(1, 100)), (2, Fraction(5, 1000)), (None, Fraction(25, 10000)))


def memory(spec: TypeSpec, overhead_percent: Fraction) -> int:
    """Memory that the node will report; `overhead_percent` is the hypervisor's share, as a fraction of one."""
    mib = spec.memory_mib - (_ARM_RESERVED_MIB if spec.arch == "arm64" else 0)
    return (mib - _share(mib, overhead_percent)) * MI


def storage(spec: TypeSpec, settings: NodeClassSettings) -> int:
    """Ephemeral storage: the local disks where the NodeClass joins them to it, else the volume."""
    if settings.local_disks and spec.disk_gb:
        return spec.disk_gb * _GB
    return settings.volume


def eni_limited_pods(spec: TypeSpec, settings: NodeClassSettings, reserved_enis: int = 0) -> int:
    """Pods that the default network card has addresses for (each interface keeps one), and two that use the host's."""
    if spec.enis is None or spec.ipv4_per_eni is None:
        return 0
    enis = max(0, spec.enis - reserved_enis - settings.efa_only_default_card)
    return enis * (spec.ipv4_per_eni - 1) + 2 if enis else 0


def prefix_pods(spec: TypeSpec) -> int | None:
    """Pods with prefix delegation, as the CNI's own calculator caps them; None where the type cannot.

    Never assumed: a NodeClass that uses it says so by its maxPods.
    """
    if not spec.prefix_delegation or spec.enis is None or spec.ipv4_per_eni is None:
        return None
    cap = 110 if spec.vcpus <= 30 else 250
    return min(spec.enis * (spec.ipv4_per_eni - 1) * _PREFIX + 2, cap)


def pods(spec: TypeSpec, settings: NodeClassSettings, reserved_enis: int = 0) -> int:
    """How many pods the kubelet will take."""
    if settings.max_pods is not None:
        count = settings.max_pods
    elif settings.family.eni_limited_pods:
        count = eni_limited_pods(spec, settings, reserved_enis)
    else:
        count = 110
    if settings.pods_per_core and settings.family.pods_per_core:
        return min(count, settings.pods_per_core * spec.vcpus)
    return count


def capacity(
    spec: TypeSpec, settings: NodeClassSettings, overhead_percent: Fraction, reserved_enis: int = 0
) -> dict[str, int]:
    """Every resource that the type has some of."""
    amounts = {
        "cpu": spec.vcpus * UNIT,
        "memory": memory(spec, overhead_percent),
        "ephemeral-storage": storage(spec, settings),
        "pods": pods(spec, settings, reserved_enis) * UNIT,
    }
    return amounts | {resource: count * UNIT for resource, count in _devices(spec, settings).items() if count}


def _devices(spec: TypeSpec, settings: NodeClassSettings) -> dict[str, int]:
    counts = {
        "vpc.amazonaws.com/pod-eni": spec.branch_enis,
        "vpc.amazonaws.com/efa": spec.efas if settings.efa_only is None else settings.efa_only,
    }
    if settings.family.windows_build and spec.arch == "amd64":
        counts["vpc.amazonaws.com/PrivateIPv4Address"] = (spec.ipv4_per_eni or 1) - 1
    device = spec.device
    if device is None:
        return counts
    if device.kind == "neuron":
        return counts | {"aws.amazon.com/neuron": device.count, "aws.amazon.com/neuroncore": device.cores}
    by_maker = {"NVIDIA": "nvidia.com/gpu", "AMD": "amd.com/gpu", "Habana": "habana.ai/gaudi"}
    if device.kind == "gpu" and device.manufacturer in by_maker:
        counts[by_maker[device.manufacturer]] = device.count
    return counts


def overhead(
    spec: TypeSpec, settings: NodeClassSettings, amounts: dict[str, int], reserved_enis: int = 0
) -> dict[str, int]:
    """What comes off the capacity `amounts`: kube-reserved, system-reserved and the eviction thresholds."""
    kept = dict.fromkeys(("cpu", "memory", "ephemeral-storage"), 0)
    parts = (
        _kube_reserved(spec, settings, reserved_enis) | dict(settings.kube_reserved),
        dict(settings.system_reserved),
        _eviction(settings, amounts),
    )
    for part in parts:
        for resource, amount in part.items():
            kept[resource] = kept.get(resource, 0) + amount
    return kept


def _kube_reserved(spec: TypeSpec, settings: NodeClassSettings, reserved_enis: int) -> dict[str, int]:
    if settings.family.eni_limited_overhead:
        count = eni_limited_pods(spec, settings)
    else:
        count = pods(spec, settings, reserved_enis)
    return {
        "cpu": kube_reserved_cpu(spec.vcpus),
        "memory": (11 * count + 255) * MI,
        "ephemeral-storage": _KUBE_RESERVED_STORAGE,
    }


@cache
def kube_reserved_cpu(vcpus: int) -> int:
    """A share of each core that shrinks with their number; each step is cut to whole milli-cores."""
    milli = 0
    left = vcpus
    for cores, share in _CPU_SHARES:
        taken = left if cores is None else min(cores, left)
        milli += int(taken * 1000 * share)
        left -= taken
    return milli * MILLI


def _eviction(settings: NodeClassSettings, amounts: dict[str, int]) -> dict[str, int]:
    thresholds = {
        "memory": _EVICTION_MEMORY,
        "ephemeral-storage": _share(amounts["ephemeral-storage"] // UNIT, _EVICTION_STORAGE) * UNIT,
    }
    resources = {"memory.available": "memory", "nodefs.available": "ephemeral-storage"}
    for signal, text in settings.eviction_hard:
        if signal in resources:
            thresholds[resources[signal]] = _threshold(text, amounts[resources[signal]])
    return thresholds


def _threshold(text: str, whole: int) -> int:
    """A quantity, or a percentage of the whole; 100 % switches a threshold off."""
    if not text.endswith("%"):
        return quantity.parse(text)
    percent = Fraction(text[:-1])
    return 0 if percent == 100 else _share(whole // UNIT, percent / 100) * UNIT


def _share(whole: int, share: Fraction) -> int:
    """A share, rounded up."""
    return -(-whole * share.numerator // share.denominator)
