"""The hash of a NodePool's template, by which a claim says what it was made from (provisioning spec 3.6).

It covers labels, annotations, taints, startup taints, expiry, grace period and NodeClass, but no requirements. Lists
count as sets, and what is empty counts as absent. The digits are our own; only their stability matters.
"""

import hashlib
from typing import Final

import msgspec

from baseload.kube.types.karpenter import NodePool
from baseload.kube.types.meta import Taint

HASH: Final = "karpenter.sh/nodepool-hash"
VERSION: Final = "karpenter.sh/nodepool-hash-version"
CURRENT: Final = "v3"


def marks(pool: NodePool) -> dict[str, str]:
    """The annotations that every claim of a pool carries."""
    return {HASH: pool_hash(pool), VERSION: CURRENT}


def pool_hash(pool: NodePool) -> str:
    metadata, spec = pool.spec.template.metadata, pool.spec.template.spec
    said = {
        "annotations": sorted(metadata.annotations.items()),
        "expireAfter": spec.expire_after,
        "labels": sorted(metadata.labels.items()),
        "nodeClassRef": msgspec.to_builtins(spec.node_class_ref),
        "startupTaints": _set(spec.startup_taints),
        "taints": _set(spec.taints),
        "terminationGracePeriod": spec.termination_grace_period,
    }
    text = msgspec.json.encode({key: value for key, value in said.items() if value}, order="sorted")
    return str(int.from_bytes(hashlib.sha256(text).digest()[:8], "big"))


def _set(taints: tuple[Taint, ...]) -> list[tuple[str, str, str]]:
    return sorted({(taint.key, taint.value, taint.effect) for taint in taints})
