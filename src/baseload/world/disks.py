"""The simulated cloud's volumes as the disks of the storage actor, and how many of them a machine takes.

Machines that are not the cloud's, such as those of Nodes that a user made, take disks without anybody being asked.
"""

import re
from typing import Final

from baseload.cloud.errors import CloudError, NotFound
from baseload.cloud.port import Volume
from baseload.cloud.simulated.cloud import SimulatedCloud
from baseload.embedded.actors.storage.disks import DiskError
from baseload.values import quantity
from baseload.values.clock import Clock

POLL: Final = 1.0  # seconds between two looks at a volume that is being attached or detached
MOST_LOOKS: Final = 60
_UNASKED: Final = 2.0  # seconds for what a machine takes without the cloud
_GIBIBYTE: Final = quantity.UNIT * 2**30
SHARED_SLOTS: Final = 28
"""What a Nitro machine up to the sixth generation has for network interfaces, disks and volumes together."""
XEN_SLOTS: Final = 39
"""What the driver counts on for machines before Nitro."""
_FAMILY: Final = re.compile(r"^([a-z]+)([0-9]+)([a-z]*)\.")
_XEN: Final = frozenset(
    ("m1", "m2", "m3", "m4", "c1", "c3", "c4", "r3", "r4", "t1", "t2", "i2", "i3", "d2", "h1", "x1", "p2", "p3", "g3")
)


class CloudDisks:
    """The disks of one region."""

    def __init__(self, cloud: SimulatedCloud, clock: Clock) -> None:
        self._cloud, self._clock = cloud, clock

    async def create(self, name: str, zone: str, size: int) -> str:
        try:
            tags = {"CSIVolumeName": name}
            return (await self._cloud.create_volume(zone, max(1, -(-size // _GIBIBYTE)), token=name, tags=tags)).id
        except CloudError as error:
            raise DiskError(f"could not create volume in EC2: {error}") from error

    async def delete(self, handle: str) -> None:
        try:
            await self._cloud.delete_volume(handle)
        except NotFound:
            return
        except CloudError as error:
            raise DiskError(f"could not delete volume in EC2: {error}") from error

    async def attach(self, handle: str, machine: str) -> None:
        if not self._knows(machine):
            await self._clock.sleep(_UNASKED)
            return
        id = _id(machine)
        try:
            await self._cloud.attach_volume(handle, id)
            for _ in range(MOST_LOOKS):
                held = await self._volume(handle)
                if held is not None and held.state == "in-use" and held.instance == id:
                    return
                await self._clock.sleep(POLL)
        except CloudError as error:
            raise DiskError(f'could not attach volume "{handle}" to node "{id}": {error}') from error
        raise DiskError(f'could not attach volume "{handle}" to node "{id}": it is still not attached')

    async def detach(self, handle: str, machine: str) -> None:
        id = _id(machine)
        try:
            held = await self._volume(handle)
            if held is None or held.state == "available" or (machine and held.instance != id):
                return
            await self._cloud.detach_volume(handle)
            for _ in range(MOST_LOOKS):
                held = await self._volume(handle)
                if held is None or held.state == "available":
                    return
                await self._clock.sleep(POLL)
        except CloudError as error:
            raise DiskError(f'could not detach volume "{handle}" from node "{id}": {error}') from error
        raise DiskError(f'could not detach volume "{handle}" from node "{id}": it is still attached')

    def most(self, instance_type: str) -> int | None:
        """By the driver's rules, where they need no more than the name: the root volume and an interface are taken."""
        named = _FAMILY.match(instance_type)
        if named is None:
            return None
        letters, generation, suffix = named[1], int(named[2]), named[3]
        if f"{letters}{generation}" in _XEN:
            return XEN_SLOTS - 1
        if generation > 6 or "d" in suffix or letters not in ("m", "c", "r", "t"):
            return None  # its limit, or its number of local disks, is not known here
        return SHARED_SLOTS - 2

    async def _volume(self, handle: str) -> Volume | None:
        return next(iter(await self._cloud.volumes([handle])), None)

    def _knows(self, machine: str) -> bool:
        return self._cloud.region.inventory.find(_id(machine)) is not None


def _id(machine: str) -> str:
    """The instance of a provider ID."""
    return machine.rpartition("/")[2]
