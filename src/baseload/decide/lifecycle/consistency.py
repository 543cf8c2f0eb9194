"""Whether an initialised node is as large as its claim was promised (disruption and lifecycle spec 4.5)."""

from typing import Final

from baseload.decide.lifecycle import conditions
from baseload.decide.lifecycle.changed import claim_saying
from baseload.decide.lifecycle.conditions import Said
from baseload.decide.lifecycle.names import CONSISTENT, INITIALIZED
from baseload.kube.types.core import Node
from baseload.kube.types.karpenter import NodeClaim
from baseload.model.requests import amounts
from baseload.plan.lifecycle import Progress, Told
from baseload.values.duration import MINUTE
from baseload.values.resource import written

EVERY: Final = 10 * MINUTE
ENOUGH: Final = 90
"""per cent of the promised capacity that a node must have"""


def consistency(claim: NodeClaim, node: Node, now: int) -> Progress:
    """The claim with what was found; it decides nothing else."""
    if claim.metadata.deletion_timestamp or not conditions.is_true(claim.status.conditions, INITIALIZED):
        return Progress(claim)
    faults = list(_faults(claim, node))
    if not faults:
        return Progress(claim_saying(claim, Said(CONSISTENT), now=now))
    said = Said(CONSISTENT, "False", "ConsistencyCheckFailed", "Consistency Check Failed")
    told = tuple(Told("FailedConsistencyCheck", fault, "Warning", each_by_words=True) for fault in faults)
    return Progress(claim_saying(claim, said, now=now), told=told)


def _faults(claim: NodeClaim, node: Node) -> list[str]:
    wanted, promised = amounts(claim.spec.resources.requests), amounts(claim.status.capacity)
    found = amounts(node.status.capacity)
    return [
        f"expected {written(name, promised[name])} of resource {name}, "
        f"but found {written(name, found.get(name, 0))} ({_percent(found.get(name, 0), promised[name])}% of expected)"
        for name in sorted(wanted)
        if wanted[name] and promised.get(name) and found.get(name, 0) * 100 < ENOUGH * promised[name]
    ]


def _percent(found: int, promised: int) -> str:
    tenths = found * 1000 // promised
    return f"{tenths // 10}.{tenths % 10}"
