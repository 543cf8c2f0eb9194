"""What a provisioning pass tells as events: where pods should go, and why others can go nowhere (provisioning spec 24).

Pods that are none of the provisioner's business are told nothing, nor those that wait for reserved capacity.
"""

from collections.abc import Iterator
from typing import Final

from baseload.model.statenode import StateNode
from baseload.plan.lifecycle import Told
from baseload.plan.provision import ProvisionPlan, Rejection, Unschedulable
from baseload.plan.reason import Reason
from baseload.values.duration import MINUTE

FAILED_QUIET: Final = 5 * MINUTE
POOL_QUIET: Final = 1 * MINUTE
_SILENT: Final = frozenset(
    {
        Reason.RESERVED,
        Reason.NO_POOL,
        Reason.NOT_SYNCED,
        Reason.GATED,
        Reason.NOT_UNSCHEDULABLE,
        Reason.NOMINATED,
        Reason.DAEMON,
        Reason.STATIC,
        Reason.OPTED_OUT,
    }
)
_EMPTY: Final = frozenset({Reason.EMPTY_POOL})
_NO_TYPES: Final = "nodepool requirements filtered out all available instance types"
_CLAIMS: Final = "pod has Dynamic Resource Allocation requirements that are not yet supported by Karpenter"


def failures(plan: ProvisionPlan) -> Iterator[tuple[str, Told]]:
    """(namespace/name of a pod, why it has no place)"""
    for one in plan.unschedulable:
        if one.reason not in _SILENT:
            told = f"Failed to schedule pod, {_why(one)}"
            yield one.pod, Told("FailedScheduling", told, "Warning", quiet=FAILED_QUIET)


def _why(one: Unschedulable) -> str:
    """One error for each NodePool that might have launched something."""
    if one.reason is Reason.RESOURCE_CLAIM:
        return _CLAIMS
    of_pools = [it for it in one.rejections if it.target.startswith("nodePool/")]
    if not of_pools:
        return _NO_TYPES if one.reason is Reason.EMPTY_POOL else one.message
    return "; ".join(_error(it) for it in of_pools if it.reason not in _EMPTY) or _NO_TYPES


def _error(rejection: Rejection) -> str:
    pool = rejection.target.partition("/")[2]
    match rejection.reason:
        case Reason.LIMITS:
            return f"all available instance types exceed limits for nodepool (NodePool={pool})"
        case Reason.NODE_LIMIT:
            return f"node limits have been exhausted for nodepool (NodePool={pool})"
    return rejection.message


def on_existing(state: StateNode) -> Told:
    """Where a pod should go: a node that is there, or one that is coming."""
    names = [f"nodeclaim/{state.claim.metadata.name}"] if state.claim is not None else []
    if state.node is not None:
        names.append(f"node/{state.node.metadata.name}")
    return _nominated(", ".join(names))


def on_new(claim: str) -> Told:
    """Where a pod should go: a claim that was made for it."""
    return _nominated(f"nodeclaim/{claim}")


def _nominated(where: str) -> Told:
    return Told("Nominated", f"Pod should schedule on: {where}", is_paced=True)


def without_types(*, min_values: bool) -> Told:
    """That the requirements of a NodePool leave nothing to launch."""
    why = " due to minValues incompatibility" if min_values else ""
    message = f"NodePool requirements filtered out all compatible available instance types{why}"
    return Told("NoCompatibleInstanceTypes", message, "Warning", quiet=POOL_QUIET)
