"""Every way in which a call to a cloud can fail, and what its caller owes.

CloudError                        the call was not done, or nobody knows
    InsufficientCapacity          no pool could give a machine: shut those of `refusals` for a while, plan again
        QuotaExceeded             the account may have no more: the same, and tell the user, who has to ask for more
    Throttled                     too many calls of this kind: again after `retry_after` seconds
    NotFound                      there is no such thing, or it cannot be seen yet: look again before it counts as gone
    Unauthorized                  the caller may not: a right of its role is missing; later, and tell the user
    InvalidLaunch                 the request can never be done as it stands: mend what it is made from
        TokenReused               its token stands for another request: find what that one launched by its tags
    Conflict                      what it is asked of is in another state, or another place: read it again
    CloudUnreachable              no answer; it may have been done: repeat it with its token, or look by tags
"""

from dataclasses import dataclass
from typing import Final

from baseload.values.errors import BaseloadError, Unreachable

INSUFFICIENT_CAPACITY: Final = "InsufficientInstanceCapacity"
VCPU_LIMIT: Final = "VcpuLimitExceeded"
SPOT_LIMIT: Final = "MaxSpotInstanceCountExceeded"
NO_ADDRESSES: Final = "InsufficientFreeAddressesInSubnet"
UNSUPPORTED: Final = "Unsupported"
INVALID_PARAMETER: Final = "InvalidParameterValue"
INVALID_SUBNET: Final = "InvalidSubnetID.NotFound"
INVALID_IMAGE: Final = "InvalidAMIID.NotFound"

QUOTAS: Final = frozenset({VCPU_LIMIT, SPOT_LIMIT, "MaxFleetCountExceeded"})
UNFULFILLABLE: Final = QUOTAS | {
    INSUFFICIENT_CAPACITY,
    NO_ADDRESSES,
    UNSUPPORTED,
    "UnfulfillableCapacity",
    "ReservationCapacityExceeded",
}
"""The codes after which another pool, or the same one later, may have a machine."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a pool gave no machine, by the cloud's own code and words."""

    code: str
    message: str
    instance_type: str
    zone: str
    capacity_type: str
    subnet: str

    @property
    def offering(self) -> tuple[str, str, str]:
        """The pool as instance type, zone, capacity type."""
        return self.instance_type, self.zone, self.capacity_type


class CloudError(BaseloadError):
    """The call was not done, or nobody knows; `code` is the cloud's own."""

    code = ""

    def __init__(self, message: str, *, code: str = "") -> None:
        super().__init__(message)
        self.code = code or self.code


class InsufficientCapacity(CloudError):
    """No pool of a launch could give a machine; `refusals` say of each that was tried why not."""

    def __init__(self, refusals: tuple[Refusal, ...], *, message: str = "") -> None:
        codes = dict.fromkeys(refusal.code for refusal in refusals)
        super().__init__(message or f"no pool has a machine: {', '.join(codes)}", code=next(iter(codes), ""))
        self.refusals = refusals


class QuotaExceeded(InsufficientCapacity):
    """Every pool of a launch would take the account beyond what it may have."""


class Throttled(CloudError):
    """Too many calls of this kind."""

    code = "RequestLimitExceeded"

    def __init__(self, message: str = "Request limit exceeded.", *, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after  # seconds until a call would be let through, if nobody else calls


class NotFound(CloudError):
    """There is no such thing, or it cannot be seen yet."""


class Unauthorized(CloudError):
    """The caller may not."""

    code = "UnauthorizedOperation"


class InvalidLaunch(CloudError):
    """The request can never be done as it stands."""

    code = INVALID_PARAMETER


class TokenReused(InvalidLaunch):
    """The token of a launch stands for another one."""

    code = "IdempotentParameterMismatch"


class Conflict(CloudError):
    """What it is asked of is in another state, or another place."""

    code = "IncorrectState"


class CloudUnreachable(CloudError, Unreachable):
    """No answer, or it was lost on the way: it may have been done."""

    code = "RequestTimeout"
