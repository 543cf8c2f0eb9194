"""What EventBridge says of instances, in the shapes that node controllers read from their queue."""

from collections.abc import Callable
from typing import Final

import msgspec

from baseload.values import instant

ACCOUNT: Final = "000000000000"

Message = Callable[[str, str, str, int], str]
"""(id, region, instance, moment) -> body"""


def spot_interruption(id: str, region: str, instance: str, now: int) -> str:
    """Two minutes' notice."""
    detail = {"instance-id": instance, "instance-action": "terminate"}
    return _event(id, region, instance, now, "EC2 Spot Instance Interruption Warning", detail)


def rebalance(id: str, region: str, instance: str, now: int) -> str:
    """An interruption has become likelier."""
    return _event(id, region, instance, now, "EC2 Instance Rebalance Recommendation", {"instance-id": instance})


def state_change(id: str, region: str, instance: str, now: int, state: str) -> str:
    """An instance is in another state."""
    detail = {"instance-id": instance, "state": state}
    return _event(id, region, instance, now, "EC2 Instance State-change Notification", detail)


def retirement(id: str, region: str, instance: str, now: int, ends: int) -> str:
    """AWS plans to stop an instance: a scheduled change."""
    detail = {
        "eventArn": f"arn:aws:health:{region}::event/EC2/AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED/{id}",
        "service": "EC2",
        "eventTypeCode": "AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED",
        "eventTypeCategory": "scheduledChange",
        "startTime": instant.format(now),
        "endTime": instant.format(ends),
        "affectedEntities": [{"entityValue": instance}],
    }
    return _event(id, region, instance, now, "AWS Health Event", detail, source="aws.health")


def _event(
    id: str, region: str, instance: str, now: int, detail_type: str, detail: object, *, source: str = "aws.ec2"
) -> str:
    event = {
        "version": "0",
        "id": id,
        "detail-type": detail_type,
        "source": source,
        "account": ACCOUNT,
        "time": instant.format(now - now % instant.SECOND),
        "region": region,
        "resources": [f"arn:aws:ec2:{region}:{ACCOUNT}:instance/{instance}"],
        "detail": detail,
    }
    return msgspec.json.encode(event).decode()
