"""What of a live cluster counts for provisioning: what its components have said, not what a manifest leaves open.

A pod counts once the scheduler has given it up, a pool once it is found to be ready (provisioning spec 1.1, 3.1).
"""

from collections.abc import Callable

from baseload.decide.lifecycle import conditions
from baseload.decide.lifecycle.names import READY
from baseload.decide.provision.pods import not_provisionable
from baseload.kube.types.core import Pod
from baseload.kube.types.karpenter import NodeClassReference, NodePool
from baseload.model.view import View, is_terminal


def reported(
    view: View, provided: Callable[[NodeClassReference], bool], given_up: Callable[[Pod], bool] | None = None
) -> View:
    """The view without pods that the scheduler has not seen, pools that nobody has looked at, and others' claims.

    `given_up` is what `is_given_up` says, for those who have asked it already.
    """
    pools = tuple(pool for pool in view.node_pools if is_reported(pool))
    return reported_to_disruption(view, provided, given_up).but(node_pools=pools)


def reported_to_disruption(
    view: View, provided: Callable[[NodeClassReference], bool], given_up: Callable[[Pod], bool] | None = None
) -> View:
    """The same with all pools, as nodes of one that is not ready may be given up; it launches none all the same."""
    claims = view.node_claims
    ours = tuple(claim for claim in claims if provided(claim.spec.node_class_ref))
    return view.narrowed(given_up or is_given_up).but(node_claims=claims if len(ours) == len(claims) else ours)


def is_reported(pool: NodePool) -> bool:
    """Whether a pool is found to be ready."""
    return conditions.is_true(pool.status.conditions, READY)


def is_given_up(pod: Pod) -> bool:
    """Whether a pod waits for a node that is not there."""
    if pod.spec.node_name or is_terminal(pod) or pod.metadata.deletion_timestamp:
        return False
    held = conditions.find(pod.status.conditions, "PodScheduled")
    return held is not None and held.reason == "Unschedulable" and not_provisionable(pod) is None


def has_work(view: View) -> bool:
    """Whether a pass could place anything: a pod that was given up, or those of a node that goes away."""
    if view.waiting:
        return True
    return any(state.marked_for_deletion and state.node is not None for state in view.state_nodes)
