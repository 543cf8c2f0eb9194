"""Which nodes a static pool gives up that has more of them than replicas (disruption and lifecycle spec 25.2).

Whatever is cheapest to lose goes first: what is not launched yet, then nodes that nobody would miss. No budget is
asked, and protected pods only come last.
"""

from collections.abc import Mapping, Sequence

from baseload.decide.disrupt import costs
from baseload.decide.provision.pods import is_held
from baseload.decide.provision.static_pools import delta_of, is_disrupted
from baseload.kube.types.core import Pod
from baseload.kube.types.karpenter import NodeClaim, NodePool
from baseload.model.statenode import is_deleting
from baseload.model.view import is_daemon


def surplus(
    pool: NodePool, claims: Sequence[NodeClaim], pods: Mapping[str, Sequence[Pod]], now: int
) -> tuple[NodeClaim, ...]:
    """The claims to delete, in their order. `claims` are the pool's; `pods`: provider ID -> those on its node."""
    count = max(0, -delta_of(pool, claims))
    running = [claim for claim in claims if not is_deleting(claim) and not is_disrupted(claim)]
    ranks = {
        claim.metadata.name: _rank(claim, pods.get(claim.status.provider_id, ()), now) for claim in running if count
    }
    return tuple(sorted(running, key=lambda claim: ranks[claim.metadata.name])[:count]) if count else ()


def _rank(claim: NodeClaim, pods: Sequence[Pod], now: int) -> tuple[int, bool, float, str]:
    name = claim.metadata.name
    if not claim.status.provider_id:
        return 0, False, 0.0, name
    is_protected = any(is_held(pod, now) for pod in pods)
    if not is_protected and all(is_daemon(pod) for pod in pods):
        return 1, False, 0.0, name
    return 2, is_protected, costs.of_disruption(pods, claim, now), name
