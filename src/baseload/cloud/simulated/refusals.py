"""Why a pool gives no machine, in EC2's words, and what a launch fails with when none does."""

from baseload.cloud import errors
from baseload.cloud.errors import CloudError, Refusal
from baseload.cloud.port import CapacityType

Said = tuple[str, str]
"""(code, message)"""


def unsupported(name: str, zone: str, elsewhere: list[str]) -> Said:
    """The zone does not sell the type; the others do."""
    choose = f" or choosing {', '.join(elsewhere)}" if elsewhere else ""
    return errors.UNSUPPORTED, (
        f"Your requested instance type ({name}) is not supported in your requested Availability Zone ({zone}). "
        f"Please retry your request by not specifying an Availability Zone{choose}."
    )


def unknown_type(name: str) -> Said:
    return errors.INVALID_PARAMETER, f"The instance type '{name}' does not exist"


def wrong_image(own: str, image: str, architecture: str) -> Said:
    return errors.INVALID_PARAMETER, (
        f"The architecture '{own}' of the specified instance type does not match the architecture "
        f"'{architecture}' of the specified AMI '{image}'."
    )


def no_machine(name: str, zone: str, kind: CapacityType) -> Said:
    if kind == "spot":
        return errors.INSUFFICIENT_CAPACITY, "There is no Spot capacity available that matches your request."
    return errors.INSUFFICIENT_CAPACITY, (
        f"We currently do not have sufficient {name} capacity in the Availability Zone you requested ({zone}). "
        "Our system will be working on provisioning additional capacity."
    )


def beyond_quota(kind: CapacityType, limit: int | None) -> Said:
    if kind == "spot":
        return errors.SPOT_LIMIT, "Max spot instance count exceeded"
    shown = "" if limit is None else f" of {limit}"
    return errors.VCPU_LIMIT, (
        f"You have requested more vCPU capacity than your current vCPU limit{shown} allows for the instance bucket "
        "that the specified instance type belongs to."
    )


def no_address(subnet: str) -> Said:
    return errors.NO_ADDRESSES, (
        f"There are not enough free addresses in subnet '{subnet}' to satisfy the requested number of instances."
    )


def no_subnet(subnet: str) -> Said:
    return errors.INVALID_SUBNET, f"The subnet ID '{subnet}' does not exist"


def failed(refusals: tuple[Refusal, ...]) -> CloudError:
    """The error of a launch that gave nothing, by the codes of its pools."""
    if not refusals:
        return errors.InvalidLaunch("The request names no pool.", code="MissingParameter")
    codes = {refusal.code for refusal in refusals}
    if codes <= errors.QUOTAS:
        return errors.QuotaExceeded(refusals)
    if codes <= errors.UNFULFILLABLE:
        return errors.InsufficientCapacity(refusals)
    wrong = next(refusal for refusal in refusals if refusal.code not in errors.UNFULFILLABLE)
    return errors.InvalidLaunch(wrong.message, code=wrong.code)
