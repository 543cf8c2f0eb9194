"""NodeClaims to be created: planned ones, and those of a static pool (provisioning spec 19, disruption spec 16, 25)."""

from collections.abc import Collection, Iterable, Mapping
from typing import Final

import msgspec

from baseload.decide.lifecycle.names import FINALIZER
from baseload.decide.provision import pool_hash, pools
from baseload.decide.provision.launch import custom_labels
from baseload.kube.types.karpenter import NodePool
from baseload.plan.provision import PlannedClaim
from baseload.values.label import NODEPOOL
from baseload.values.requirement import Requirement
from baseload.values.resource import written

Tree = dict[str, object]
_API: Final = "karpenter.sh/v1"


def claim_of(planned: PlannedClaim, pool: NodePool, well_known: Collection[str]) -> Tree:
    """The object to create; `well_known` keys are settled by the launch, and no labels of the claim yet."""
    demanded = {one.key for one in planned.requirements} - set(well_known)
    own = {*pool.spec.template.metadata.labels, NODEPOOL, pools.node_class_label(pool)[0], *demanded}
    labels = {key: value for key, value in planned.labels.items() if key in own}
    return _claim(pool, labels, planned.annotations, planned.requirements, planned.requests)


def claim_from_template(pool: NodePool, well_known: Collection[str]) -> Tree:
    """A claim of a static pool: with all that the template demands, the types left to the launch."""
    metadata = pool.spec.template.metadata
    demanded = {key: it for key, it in pools.template_requirements(pool).items() if key not in pools.SIMULATED}
    class_key, class_name = pools.node_class_label(pool)
    labels = {
        **dict(custom_labels(pools.own_requirements(pool), well_known)),
        **metadata.labels,
        NODEPOOL: pool.metadata.name,
        class_key: class_name,
    }
    return _claim(pool, labels, {**metadata.annotations, **pool_hash.marks(pool)}, demanded.values(), {})


def _claim(
    pool: NodePool,
    labels: Mapping[str, str],
    annotations: Mapping[str, str],
    requirements: Iterable[Requirement],
    requests: Mapping[str, int],
) -> Tree:
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
        "requirements": [entry for one in requirements for entry in one.selectors()],
        "resources": {"requests": {name: written(name, nanos) for name, nanos in sorted(requests.items())}},
        "expireAfter": template.expire_after or "720h",
    }
    for key, taints in (("taints", template.taints), ("startupTaints", template.startup_taints)):
        if taints:
            spec[key] = msgspec.to_builtins(taints)
    if template.termination_grace_period:
        spec["terminationGracePeriod"] = template.termination_grace_period
    metadata: Tree = {
        "generateName": f"{pool.metadata.name}-",
        "labels": dict(sorted(labels.items())),
        "annotations": dict(sorted(annotations.items())),
        "finalizers": [FINALIZER],  # so that it need not be added before the launch
        "ownerReferences": [owner],
    }
    return {"apiVersion": _API, "kind": "NodeClaim", "metadata": metadata, "spec": spec}
