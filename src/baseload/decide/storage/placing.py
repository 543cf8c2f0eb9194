"""Where a new volume is made: in the zone of the node that was chosen, or in one that the claim's name picks.

Claims that belong together, such as those of a StatefulSet, are spread over the zones by the number that ends their
name, as the external provisioner does it.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from baseload.kube.types.storage import StorageClass, TopologySelectorTerm
from baseload.values.label import ZONE

_ZONE_KEYS: Final = (ZONE, "topology.ebs.csi.aws.com/zone", "failure-domain.beta.kubernetes.io/zone")
_EVERYWHERE: Final = frozenset(
    {"efs.csi.aws.com", "fsx.csi.aws.com", "fsx.openzfs.csi.aws.com", "s3.csi.aws.com", "nfs.csi.k8s.io"}
)
_NUMBERED: Final = re.compile(r"^(.*)-([0-9]+)$")
_PRIME, _OFFSET, _MASK = 16777619, 2166136261, 0xFFFFFFFF  # of FNV-1, 32 bits


def is_zonal(driver: str) -> bool:
    """Whether what a driver makes is a disk of one zone, which is attached to one node at a time."""
    return driver not in _EVERYWHERE


def zones(storage: StorageClass, present: Iterable[str]) -> tuple[str, ...]:
    """The zones in which a class makes volumes, of those that nodes are in."""
    allowed = [it for term in storage.allowed_topologies if (it := _zones_of(term))]
    found = sorted(zone for zone in dict.fromkeys(present) if zone)
    return tuple(zone for zone in found if not allowed or any(zone in values for values in allowed))


def zone(claim: str, candidates: Sequence[str]) -> str:
    """The one that a claim's name picks, "" where there is none."""
    if not candidates:
        return ""
    named = _NUMBERED.match(claim)
    stem, number = (named[1], int(named[2])) if named else (claim, 0)
    return candidates[(_hash(stem) + number) % len(candidates)]


def _hash(text: str) -> int:
    """FNV-1 of 32 bits."""
    found = _OFFSET
    for byte in text.encode():
        found = (found * _PRIME & _MASK) ^ byte
    return found


def _zones_of(term: TopologySelectorTerm) -> tuple[str, ...]:
    return next((it.values for it in term.match_label_expressions if it.key in _ZONE_KEYS), ())
