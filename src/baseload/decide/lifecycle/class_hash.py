"""The hash of an EC2NodeClass, by which a claim says what its machine was launched from (spec 27.3).

What the class looks up by selectors is not in it, as what is found there drifts by itself; nor is the family of images
as it is written, but as the alias of an image names it. Lists count as sets, and what is empty counts as absent. The
digits are our own; only their stability matters.
"""

import hashlib
from collections.abc import Iterable
from typing import Final

import msgspec
from msgspec.structs import replace as with_fields

from baseload.catalog.nodeclass import settings_of
from baseload.decide.lifecycle.changed import rewritten
from baseload.kube.types.ec2 import EC2NodeClass
from baseload.kube.types.karpenter import NodeClaim

HASH: Final = "karpenter.k8s.aws/ec2nodeclass-hash"
VERSION: Final = "karpenter.k8s.aws/ec2nodeclass-hash-version"
CURRENT: Final = "v6"
_LOOKED_UP: Final = (
    "amiFamily",
    "amiSelectorTerms",
    "capacityReservationSelectorTerms",
    "securityGroupSelectorTerms",
    "subnetSelectorTerms",
)


def marks(node_class: EC2NodeClass) -> dict[str, str]:
    """The annotations that every claim launched from a class carries."""
    return {HASH: hash_of(node_class), VERSION: CURRENT}


def hash_of(node_class: EC2NodeClass) -> str:
    said: dict[str, object] = msgspec.to_builtins(node_class.spec)
    kept = {key: _plain(value) for key, value in said.items() if key not in _LOOKED_UP}
    kept["family"] = settings_of(node_class).family.name
    text = msgspec.json.encode({key: value for key, value in kept.items() if value}, order="sorted")
    return str(int.from_bytes(hashlib.sha256(text).digest()[:8], "big"))


def hashed(node_class: EC2NodeClass) -> EC2NodeClass:
    """The class with its hash."""
    metadata = node_class.metadata
    annotations = {**metadata.annotations, **marks(node_class)}
    return with_fields(node_class, metadata=with_fields(metadata, annotations=annotations))


def rehashed(node_class: EC2NodeClass, claims: Iterable[NodeClaim]) -> tuple[NodeClaim, ...]:
    """The claims of a class that another version of the hash was written on, as this version writes them."""
    return rewritten(claims, marks(node_class), node_class.metadata, HASH, VERSION)


def _plain(value: object) -> object:
    """A value without what is empty in it, its lists in an order of their own."""
    if isinstance(value, dict):
        return {key: plain for key, held in value.items() if (plain := _plain(held))}
    if isinstance(value, list | tuple):
        return sorted((_plain(held) for held in value), key=lambda held: msgspec.json.encode(held, order="sorted"))
    return value
