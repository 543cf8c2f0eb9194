"""One look at a claim that is not being deleted: registration, initialisation, liveness, in this order (spec 3).

Launching comes first and asks a cloud, so it stands apart: `needs_launch` says whether it is due, `launched` and
`launch_failed` what comes of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from baseload.decide.lifecycle import conditions
from baseload.decide.lifecycle.changed import claim_saying, claim_with, with_status
from baseload.decide.lifecycle.conditions import Said
from baseload.decide.lifecycle.initialization import initialize
from baseload.decide.lifecycle.liveness import liveness
from baseload.decide.lifecycle.names import FINALIZER, LAUNCHED
from baseload.decide.lifecycle.registration import register
from baseload.kube.types.core import Node
from baseload.kube.types.karpenter import NodeClaim
from baseload.plan.lifecycle import Progress

LONGEST: Final = 300  # characters of a launch's failure that a claim tells


@dataclass(frozen=True, slots=True)
class Machine:
    """What a launch gave."""

    provider_id: str
    image: str
    labels: Mapping[str, str]
    capacity: Mapping[str, str]
    allocatable: Mapping[str, str]
    annotations: Mapping[str, str] = field(default_factory=dict)


def needs_finalizer(claim: NodeClaim) -> bool:
    """Nothing is launched for a claim that could vanish without its instance."""
    return FINALIZER not in claim.metadata.finalizers


def needs_launch(claim: NodeClaim) -> bool:
    return conditions.status_of(claim.status.conditions, LAUNCHED) not in ("True", "False")


def launched(claim: NodeClaim, machine: Machine, now: int) -> NodeClaim:
    """A claim with its instance: the provider's labels yield to the claim's own, its annotations prevail."""
    told = claim_with(
        claim,
        labels={**machine.labels, **claim.metadata.labels},
        annotations={**claim.metadata.annotations, **machine.annotations},
    )
    told = with_status(
        told,
        provider_id=machine.provider_id,
        image_id=machine.image,
        capacity=dict(machine.capacity),
        allocatable=dict(machine.allocatable),
    )
    return claim_saying(told, Said(LAUNCHED), now=now)


def launch_failed(claim: NodeClaim, reason: str, message: str, now: int) -> NodeClaim:
    """A claim whose launch failed and is tried again."""
    said = Said(LAUNCHED, "Unknown", reason or "LaunchFailed", cut(message))
    return claim_saying(claim, said, now=now)


def failure(code: str, text: str) -> tuple[str, str]:
    """The reason and the message of a launch that failed, by the cloud's code."""
    known = _FAILURES.get(code)
    return (known[0], f"Error creating fleet request: {known[1]}") if known is not None else ("LaunchFailed", text)


_FAILURES: Final = {
    "UnauthorizedOperation": (
        "Unauthorized",
        "User is not authorized to perform this operation because no identity-based policy allows it",
    ),
    "RequestLimitExceeded": ("RequestLimitExceeded", "Request limit exceeded"),
    "InternalError": ("InternalError", "An internal error has occurred"),
    "InvalidAMIID.Malformed": ("InvalidAMIID", "AMI used for instance launch is invalid"),
    "InvalidAMIID.NotFound": (
        "AMINotFound",
        "AMI used for instance launch either does not exist or you don't have permissions to use it",
    ),
}
"""the cloud's code -> reason and meaning, as Karpenter tells them"""


def cut(message: str) -> str:
    return message if len(message) < LONGEST else f"{message[:LONGEST]}..."


def look(claim: NodeClaim, nodes: Sequence[Node], now: int) -> Progress:
    """What a claim is to be now; `nodes` are those with its provider ID."""
    begun = with_status(claim, conditions=conditions.of_claim(claim, now=now))
    registered = register(begun, nodes, now)
    seen = nodes if registered.node is None else [registered.node]
    initialized = initialize(registered.claim, seen, now)
    alive = liveness(initialized.claim, now)
    return Progress(
        claim=initialized.claim,
        node=initialized.node or registered.node,
        deletion=alive.deletion,
        again=alive.again,
        told=(*registered.told, *initialized.told),
    )
