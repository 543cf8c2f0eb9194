"""A planned claim as the NodeClaim that is created for it (provisioning spec 19)."""

from collections.abc import Collection
from typing import Final

import msgspec

from baseload.decide.lifecycle.names import FINALIZER
from baseload.decide.provision.pools import node_class_label
from baseload.kube.types.karpenter import NodePool
from baseload.plan.provision import PlannedClaim
from baseload.values.label import NODEPOOL
from baseload.values.resource import written

Tree = dict[str, object]
_API: Final = "karpenter.sh/v1"


def claim_of(planned: PlannedClaim, pool: NodePool, well_known: Collection[str]) -> Tree:
    """The object to create; `well_known` keys are settled by the launch, and no labels of the claim yet."""
    template = pool.spec.template.spec
    owner: Tree = {
        "apiVersion": _API,
        "kind": "NodePool",
        "name": pool.metadata.name,
        "uid": pool.metadata.uid,
        "blockOwnerDeletion": True,
    }
    spec: Tree = {
        "nodeClassRef": msgspec.to_builtins(template.node_class_ref),
        "requirements": [entry for one in planned.requirements for entry in one.selectors()],
        "resources": {"requests": {name: written(name, nanos) for name, nanos in sorted(planned.requests.items())}},
        "expireAfter": template.expire_after or "720h",
    }
    for key, taints in (("taints", template.taints), ("startupTaints", template.startup_taints)):
        if taints:
            spec[key] = msgspec.to_builtins(taints)
    if template.termination_grace_period:
        spec["terminationGracePeriod"] = template.termination_grace_period
    metadata: Tree = {
        "generateName": f"{pool.metadata.name}-",
        "labels": _labels(planned, pool, well_known),
        "annotations": dict(sorted(planned.annotations.items())),
        "finalizers": [FINALIZER],  # so that it need not be added before the launch
        "ownerReferences": [owner],
    }
    return {"apiVersion": _API, "kind": "NodeClaim", "metadata": metadata, "spec": spec}


def _labels(planned: PlannedClaim, pool: NodePool, well_known: Collection[str]) -> dict[str, str]:
    demanded = {one.key for one in planned.requirements} - set(well_known)
    own = {*pool.spec.template.metadata.labels, NODEPOOL, node_class_label(pool)[0], *demanded}
    return {key: value for key, value in sorted(planned.labels.items()) if key in own}
