"""How long a claim may take to launch and to register, before another one is tried (spec 3.4).

Both times run from the last change of the condition, not from the creation of the claim. Between registration and
initialisation there is no limit.
"""

from typing import Final

from baseload.decide.lifecycle import conditions
from baseload.decide.lifecycle.names import LAUNCHED, REGISTERED
from baseload.kube.types.karpenter import NodeClaim
from baseload.plan.lifecycle import Progress
from baseload.values.duration import MINUTE

LAUNCH: Final = 5 * MINUTE
REGISTRATION: Final = 15 * MINUTE
_LIMITS: Final = ((LAUNCHED, LAUNCH, "launch_timeout"), (REGISTERED, REGISTRATION, "registration_timeout"))


def liveness(claim: NodeClaim, now: int) -> Progress:
    """The claim's end where a limit has passed, else when the next one will."""
    left: list[int] = []
    for type, limit, reason in _LIMITS:
        if conditions.is_true(claim.status.conditions, type):
            continue
        since = conditions.since(claim.status.conditions, type)
        if since is None:
            continue
        if now - since >= limit:
            return Progress(claim, deletion=reason)
        left.append(since + limit - now)
    return Progress(claim, again=min(left, default=None))
