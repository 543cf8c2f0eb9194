"""Claims without an instance, and instances without a claim (disruption and lifecycle spec 24.2, 27.1)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from baseload.decide.lifecycle import conditions
from baseload.decide.lifecycle.initialization import is_ready
from baseload.decide.lifecycle.names import REGISTERED
from baseload.kube.types.core import Node
from baseload.kube.types.karpenter import NodeClaim
from baseload.values.instant import SECOND

YOUNG: Final = 30 * SECOND
"""An instance that is not older may belong to a claim that does not say so yet."""


@dataclass(frozen=True, slots=True)
class Held:
    """An instance of the cluster's, as the cloud lists it."""

    id: str
    provider_id: str
    launched: int
    claim_uid: str  # of the claim that it was launched for, "" where its tags do not say
    is_ending: bool


def claims_without_instance(
    claims: Iterable[NodeClaim], nodes: Mapping[str, Sequence[Node]], instances: Iterable[Held]
) -> tuple[NodeClaim, ...]:
    """The registered claims whose instance is gone, unless their Node still reports Ready.

    `nodes` are by provider ID. Claims that are not registered are left to liveness.
    """
    living = {one.provider_id for one in instances if not one.is_ending}
    return tuple(
        claim
        for claim in claims
        if conditions.is_true(claim.status.conditions, REGISTERED)
        and not claim.metadata.deletion_timestamp
        and claim.status.provider_id not in living
        and not any(is_ready(node) for node in nodes.get(claim.status.provider_id, ()))
    )


def any_young(instances: Iterable[Held], now: int) -> bool:
    """Whether there is one that is too young to be found without a claim."""
    return any(now - one.launched <= YOUNG for one in instances)


def instances_without_claim(instances: Iterable[Held], claims: Iterable[NodeClaim], now: int) -> tuple[Held, ...]:
    """The instances that no claim names, once they are old enough.

    An instance that was launched for a claim which is there, and names none yet, is that claim's: its controller may
    have been ended between the launch and the note of it, and takes the launch up again.
    """
    listed = tuple(claims)
    named = {claim.status.provider_id for claim in listed if claim.status.provider_id}
    launching = {claim.metadata.uid for claim in listed if not claim.status.provider_id}
    return tuple(
        one
        for one in instances
        if not one.is_ending
        and now - one.launched > YOUNG
        and one.provider_id not in named
        and one.claim_uid not in launching
    )
