"""Label keys and values: which are well-known, which names stand for another, which are legal, which are reserved.

A well-known key is one whose value a launched node will have although no pool says so; pods may select by it freely.
Some keys are old or a driver's own names for a well-known one and are read as that one.
"""

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Final

NODEPOOL: Final = "karpenter.sh/nodepool"
CAPACITY_TYPE: Final = "karpenter.sh/capacity-type"
ZONE: Final = "topology.kubernetes.io/zone"
REGION: Final = "topology.kubernetes.io/region"
INSTANCE_TYPE: Final = "node.kubernetes.io/instance-type"
ARCH: Final = "kubernetes.io/arch"
OS: Final = "kubernetes.io/os"
HOSTNAME: Final = "kubernetes.io/hostname"
WINDOWS_BUILD: Final = "node.kubernetes.io/windows-build"
TENANCY: Final = "karpenter.k8s.aws/instance-tenancy"
ZONE_ID: Final = "topology.k8s.aws/zone-id"
RESERVATION_ID: Final = "karpenter.k8s.aws/capacity-reservation-id"
RESERVATION_KEYS: Final = (
    RESERVATION_ID,
    "karpenter.k8s.aws/capacity-reservation-interruptible",
    "karpenter.k8s.aws/capacity-reservation-type",
)
"""what tells reserved capacity apart, and what other offerings do not carry"""

CORE_WELL_KNOWN: Final = frozenset({NODEPOOL, CAPACITY_TYPE, ZONE, REGION, INSTANCE_TYPE, ARCH, OS, WINDOWS_BUILD})

AWS_WELL_KNOWN: Final = frozenset(
    {
        TENANCY,
        ZONE_ID,
        *RESERVATION_KEYS,
        "karpenter.k8s.aws/instance-accelerator-count",
        "karpenter.k8s.aws/instance-accelerator-manufacturer",
        "karpenter.k8s.aws/instance-accelerator-name",
        "karpenter.k8s.aws/instance-capability-flex",
        "karpenter.k8s.aws/instance-category",
        "karpenter.k8s.aws/instance-cpu",
        "karpenter.k8s.aws/instance-cpu-manufacturer",
        "karpenter.k8s.aws/instance-cpu-sustained-clock-speed-mhz",
        "karpenter.k8s.aws/instance-ebs-bandwidth",
        "karpenter.k8s.aws/instance-encryption-in-transit-supported",
        "karpenter.k8s.aws/instance-family",
        "karpenter.k8s.aws/instance-generation",
        "karpenter.k8s.aws/instance-gpu-count",
        "karpenter.k8s.aws/instance-gpu-manufacturer",
        "karpenter.k8s.aws/instance-gpu-memory",
        "karpenter.k8s.aws/instance-gpu-name",
        "karpenter.k8s.aws/instance-hypervisor",
        "karpenter.k8s.aws/instance-local-nvme",
        "karpenter.k8s.aws/instance-memory",
        "karpenter.k8s.aws/instance-network-bandwidth",
        "karpenter.k8s.aws/instance-size",
        "karpenter.k8s.aws/nitro-sandbox",
        "karpenter.k8s.aws/placement-group-id",
        "karpenter.k8s.aws/placement-group-partition",
    }
)

KNOWN_VALUES: Final = {
    CAPACITY_TYPE: ("on-demand", "reserved", "spot"),
    TENANCY: ("dedicated", "default"),
}

_ALIASES: Final = {
    "failure-domain.beta.kubernetes.io/zone": ZONE,
    "failure-domain.beta.kubernetes.io/region": REGION,
    "beta.kubernetes.io/arch": ARCH,
    "beta.kubernetes.io/os": OS,
    "beta.kubernetes.io/instance-type": INSTANCE_TYPE,
    "topology.ebs.csi.aws.com/zone": ZONE,
}

MIN_INT64: Final = -(2**63)
MAX_INT64: Final = 2**63 - 1

_INTEGER: Final = re.compile(r"[+-]?0*[0-9]{1,19}")
_NAME: Final = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_SUBDOMAIN: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


def normalise(key: str) -> str:
    """The key that Karpenter works with: deprecated and drivers' own names of a well-known key give way to it."""
    return _ALIASES.get(key, key)


@lru_cache(maxsize=65536)
def integer(value: str) -> int | None:
    """The integer that a label value stands for, None when it is none that fits into 64 bits."""
    if len(value) > 4000 or _INTEGER.fullmatch(value) is None:
        return None
    number = int(value)
    return number if MIN_INT64 <= number <= MAX_INT64 else None


def is_subdomain(text: str) -> bool:
    """Whether a text is a DNS subdomain, as the names of most objects are."""
    return len(text) <= 253 and _SUBDOMAIN.fullmatch(text) is not None


def is_qualified_name(text: str) -> bool:
    """Whether a text is a legal label key: at most 63 characters of name, maybe a DNS subdomain and a slash before."""
    prefix, slash, name = text.rpartition("/")
    if slash and not is_subdomain(prefix):
        return False
    return len(name) <= 63 and _NAME.fullmatch(name) is not None


def is_label_value(text: str) -> bool:
    """Whether a text is a legal label value; the empty one is."""
    return text == "" or (len(text) <= 63 and _NAME.fullmatch(text) is not None)


def restricted(key: str, *, well_known: Collection[str], reserved_domains: Collection[str] = ()) -> str | None:
    """Why users may neither set nor select by this label, None when they may."""
    if key in well_known:
        return None
    if key == HOSTNAME:
        return f'label "{key}" is restricted: every node has its own'
    domain, slash, _ = key.partition("/")
    for reserved in ("karpenter.sh", *sorted(reserved_domains)):
        if slash and (domain == reserved or domain.endswith("." + reserved)):
            return f'label "{key}" is restricted: not a well-known label of the reserved domain "{reserved}"'
    return None
