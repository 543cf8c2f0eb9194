"""Nodes that have been unwell for too long, and that are given up by force (spec 24.3, 27.6; gate NodeRepair).

Where many nodes of a pool are unwell at once something else is the matter, and none of them is given up.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from baseload.decide.lifecycle import conditions
from baseload.decide.lifecycle.changed import claim_with
from baseload.decide.lifecycle.names import TERMINATION
from baseload.decide.lifecycle.repair_policies import Policy
from baseload.decide.lifecycle.termination import deadline_of
from baseload.kube.types.core import Node
from baseload.kube.types.karpenter import NodeClaim
from baseload.plan.lifecycle import Told
from baseload.values import instant
from baseload.values.duration import MINUTE

MOST: Final = 20
"""per cent of the nodes of a pool, rounded up, that may be unwell while one of them is given up"""
BLOCKED_AGAIN: Final = 5 * MINUTE
"""So long after it was held back a repair is looked at again."""


def is_unwell(node: Node, policies: Sequence[Policy]) -> bool:
    """Whether a policy means the node, however short a time."""
    return repaired_at(node, policies) is not None


def repaired_at(node: Node, policies: Sequence[Policy]) -> int | None:
    """The earliest moment at which the node is tolerated no longer; None where no policy means it."""
    ends = []
    for policy in policies:
        held = conditions.find(node.status.conditions, policy.type)
        if held is not None and held.status == policy.status and held.last_transition_time:
            ends.append(instant.parse(held.last_transition_time) + policy.tolerated)
    return min(ends, default=None)


def is_held_back(among: Iterable[Node], policies: Sequence[Policy]) -> bool:
    """Whether too many of these nodes are unwell for one of them to be given up."""
    nodes = tuple(among)
    return sum(is_unwell(node, policies) for node in nodes) > -(-len(nodes) * MOST // 100)


def made_to_end(claim: NodeClaim, now: int) -> NodeClaim:
    """The claim as it is before it is deleted: nothing may hold its node any longer, whatever grace it was given."""
    deadline = deadline_of(claim)
    if deadline is not None and deadline <= now:
        return claim
    return claim_with(claim, annotations={**claim.metadata.annotations, TERMINATION: conditions.written(now)})


def blocked(pool: str) -> Told:
    """What a node is told that is not given up because of the others."""
    message = f"more than {MOST}% nodes are unhealthy in the {'nodepool' if pool else 'cluster'}"
    return Told("NodeRepairBlocked", message, "Warning", quiet=15 * MINUTE)
