"""When a claim is too old (disruption and lifecycle spec 24.1).

It counts what the claim itself says, from its creation. A pool that says something else by now drifts; it expires
nothing.
"""

from typing import Final

from baseload.kube.types.karpenter import NodeClaim
from baseload.values import duration, instant

NEVER: Final = "Never"
USUAL: Final = "720h"
"""What a claim that says nothing lives, as the API fills it in."""


def expires_at(claim: NodeClaim) -> int | None:
    """The moment from which on the claim is expired; None where it never is."""
    lives = lifetime(claim)
    if lives is None or not claim.metadata.creation_timestamp:
        return None
    return instant.parse(claim.metadata.creation_timestamp) + lives


def lifetime(claim: NodeClaim) -> int | None:
    """How long the claim may live, in nanoseconds; None where that has no end."""
    text = claim.spec.expire_after or USUAL
    return None if text == NEVER else duration.parse(text)


def is_expired(claim: NodeClaim, now: int) -> bool:
    """Whether it is to be deleted for its age; one that is being deleted is not."""
    at = expires_at(claim)
    return at is not None and now >= at and not claim.metadata.deletion_timestamp
