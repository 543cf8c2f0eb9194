"""Launches the machine of a claim, and ends machines.

The claim's uid is the launch's token: asked for twice, it is one machine, also when the answer was lost or whoever
asked was ended in between. Where the request has changed since, the machine of the first one is found by its tags.
"""

from typing import Final, cast

from baseload.act.offerings import Offerings
from baseload.cloud.errors import InsufficientCapacity, InvalidLaunch, NotFound, TokenReused
from baseload.cloud.port import LIVING, Cloud, Fleet, Instance, Overrides, Strategy
from baseload.decide.lifecycle import class_hash
from baseload.decide.lifecycle.garbage import Held
from baseload.decide.lifecycle.launch import CLUSTER_TAG, UID_TAG, Choice, Refused
from baseload.decide.lifecycle.progress import Machine
from baseload.kube.types.ec2 import EC2NodeClass
from baseload.kube.types.karpenter import NodeClaim
from baseload.plan.lifecycle import Launch
from baseload.values.label import NODEPOOL, ZONE_ID

STRATEGIES: Final[dict[str, Strategy]] = {"spot": "price-capacity-optimized", "on-demand": "lowest-price"}
_OVER: Final = ("shutting-down", "terminated")


class Instances:
    """The machines of one cluster."""

    def __init__(self, cloud: Cloud, offerings: Offerings, cluster: str) -> None:
        self._cloud, self._offerings, self._cluster = cloud, offerings, cluster
        self._found: tuple[Instance, ...] = ()  # what was last listed
        self._held: tuple[Held, ...] = ()

    async def launch(self, claim: NodeClaim, node_class: EC2NodeClass | None) -> Machine | Refused:
        """The claim's machine. Raises what the cloud raises, save that there is no capacity."""
        choice = await self._offerings.choice(node_class)
        asked = choice.launch(claim, node_class, self._cluster)
        if isinstance(asked, Refused):
            return asked
        try:
            instance = await self._launched(claim, asked)
        except InsufficientCapacity as error:
            self._offerings.refused(error.refusals)
            return Refused("insufficient_capacity", str(error))
        if instance.state not in LIVING:
            return Refused("insufficient_capacity", f"the instance {instance.id} ended before it was noted")
        return _machine(choice, instance, node_class)

    async def end(self, provider_id: str) -> bool:
        """Has a machine end; whether it is over."""
        id = provider_id.rpartition("/")[2]
        try:
            state = (await self._cloud.instance(id)).state
            if state in _OVER:
                return state == "terminated"
        except NotFound:
            pass  # or it cannot be seen yet, which its end will tell
        try:
            await self._cloud.terminate(id)
        except NotFound:
            return True
        return False

    async def is_gone(self, provider_id: str) -> bool:
        """Whether the cloud says that there is no such machine any more; one that shuts down is still there."""
        try:
            return (await self._cloud.instance(provider_id.rpartition("/")[2])).state == "terminated"
        except NotFound:
            return True

    async def held(self) -> tuple[Held, ...]:
        """The machines that carry this cluster's tags."""
        found = await self._cloud.instances({CLUSTER_TAG: self._cluster, NODEPOOL: "*"})
        if found is not self._found:
            self._found = found
            self._held = tuple(
                Held(it.id, it.provider_id, it.launched, it.tags.get(UID_TAG, ""), it.state in _OVER) for it in found
            )
        return self._held

    async def _launched(self, claim: NodeClaim, asked: Launch) -> Instance:
        try:
            launched = await self._cloud.launch(_fleet(claim.metadata.uid, asked))
        except TokenReused:
            tags = {CLUSTER_TAG: self._cluster, UID_TAG: claim.metadata.uid}
            found = await self._cloud.instances(tags)
            if not found:
                raise InvalidLaunch("the machine of an earlier launch cannot be seen yet") from None
            return found[0]
        self._offerings.refused(launched.refusals)
        return launched.instance


def _fleet(token: str, asked: Launch) -> Fleet:
    return Fleet(
        token=token,
        capacity_type=asked.capacity_type,
        strategy=STRATEGIES[asked.capacity_type],
        overrides=tuple(Overrides(pool.subnet, pool.image, pool.types) for pool in asked.pools),
        tags=asked.tags,
        security_groups=asked.security_groups,
        instance_profile=asked.instance_profile,
        user_data=asked.user_data,
    )


def _machine(choice: Choice, instance: Instance, node_class: EC2NodeClass | None) -> Machine:
    labels = choice.labels(instance.instance_type, instance.zone, cast(str, instance.capacity_type))
    if instance.zone_id:
        labels[ZONE_ID] = instance.zone_id
    capacity, allocatable = choice.resources(instance.instance_type)
    marks = {} if node_class is None else class_hash.marks(node_class)
    return Machine(instance.provider_id, instance.image, labels, capacity, allocatable, marks)
