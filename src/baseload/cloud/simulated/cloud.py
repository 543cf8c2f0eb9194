"""The simulated region behind a network: calls that take their time, may be throttled, fail or lose their answer.

    half the latency ─▶ faults that refuse ─▶ throttling ─▶ the act ─▶ the other half ─▶ the answer, or its loss

So a caller who ends while he waits ends before the act or after it. `run` carries out what happens by itself; whoever
drives the clock starts it beside the callers.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

from baseload.catalog.columns import InstanceTypes
from baseload.catalog.nodeclass import NodeClassSettings
from baseload.cloud.machines import Follower, Machine
from baseload.cloud.port import (
    PRESENT,
    Fleet,
    Image,
    Instance,
    InstanceStatus,
    Launched,
    Message,
    SecurityGroup,
    State,
    Subnet,
    Volume,
)
from baseload.cloud.simulated import memory
from baseload.cloud.simulated.faults import Faults, Strike, unanswered
from baseload.cloud.simulated.region import Types
from baseload.cloud.simulated.settings import USUAL_LATENCY, CloudSettings
from baseload.cloud.simulated.throttling import Throttle
from baseload.kube.types.ec2 import AMISelectorTerm, SecurityGroupSelectorTerm, SubnetSelectorTerm
from baseload.values import instant
from baseload.values.clock import Bell, Clock

T = TypeVar("T")
_WELL: Final = Strike()
CHANGES: Final = frozenset(
    (
        "CreateFleet",
        "TerminateInstances",
        "CreateTags",
        "DeleteMessage",
        "CreateVolume",
        "DeleteVolume",
        "AttachVolume",
        "DetachVolume",
    )
)
"""The calls that change something"""
_ALSO: Final = {"CreateFleet": ("CreateFleet", "RunInstances")}  # buckets that a call takes from, besides its own


class SimulatedCloud:
    """A `Cloud`, and the `Machines` behind it. `calls` counts what was asked, by AWS' names."""

    def __init__(
        self,
        types: Types,
        clock: Clock,
        settings: CloudSettings | None = None,
        *,
        seed: int = 0,
        saved: bytes | None = None,
        saved_in: str = "",
    ) -> None:
        """A cloud that begins now, or goes on from what `save` gave; it then keeps its own seed."""
        settings = settings or CloudSettings()
        if saved is None:
            self.region = memory.new(types, clock, settings, seed=seed)
        else:
            self.region = memory.restore(saved, types, clock, settings, file=saved_in)
        self.faults = Faults(settings.faults, self.region.streams)
        self.calls: Counter[str] = Counter()
        self.on_change: Callable[[], None] | None = None  # called between a call's change and its answer
        self._throttle = Throttle(settings.limits)
        self._clock, self._latencies = clock, settings.latencies

    async def run(self) -> None:
        """What happens by itself, for ever: boots, interruptions, ends."""
        await self.region.agenda.run()

    @property
    def revision(self) -> int:
        """A number that grows with everything that is done or happens: what was saved at the same one is the same."""
        return self.region.agenda.done + self.calls.total()

    def save(self) -> bytes:
        """The region's state, to go on from after a restart."""
        return memory.save(self.region)

    def machines(self) -> tuple[Machine, ...]:
        self.region.agenda.settle()
        return self.region.inventory.machines()

    def follow(self, bell: Bell | None = None) -> Follower:
        """`bell` is rung for what comes; by default one of the clock's, which the follower waits for."""
        self.region.agenda.settle()
        return self.region.inventory.follow(bell)

    async def launch(self, fleet: Fleet) -> Launched:
        return await self._struck("CreateFleet", lambda strike: self.region.launch(fleet, strike))

    async def instance(self, id: str) -> Instance:
        return await self._asked("DescribeInstances", lambda: self.region.describe(id))

    async def instances(self, tags: Mapping[str, str], *, states: frozenset[State] = PRESENT) -> tuple[Instance, ...]:
        return await self._asked("DescribeInstances", lambda: self.region.described(tags, states))

    async def terminate(self, id: str) -> None:
        await self._asked("TerminateInstances", lambda: self.region.terminate(id))

    async def tag(self, id: str, tags: Mapping[str, str]) -> None:
        await self._asked("CreateTags", lambda: self.region.tag(id, tags))

    async def statuses(self) -> tuple[InstanceStatus, ...]:
        return await self._asked("DescribeInstanceStatus", lambda: tuple(self.region.statuses()))

    async def subnets(self, terms: Sequence[SubnetSelectorTerm]) -> tuple[Subnet, ...]:
        region = self.region
        return await self._asked("DescribeSubnets", lambda: region.selecting.subnets(terms, region.network.described()))

    async def security_groups(self, terms: Sequence[SecurityGroupSelectorTerm]) -> tuple[SecurityGroup, ...]:
        return await self._asked("DescribeSecurityGroups", lambda: self.region.selecting.security_groups(terms))

    async def images(self, terms: Sequence[AMISelectorTerm]) -> tuple[Image, ...]:
        return await self._asked("DescribeImages", lambda: self.region.selecting.images(terms, self.region.moment))

    async def instance_profile(self, role: str) -> str:
        return await self._asked("GetInstanceProfile", lambda: self.region.selecting.instance_profile(role))

    async def instance_types(self, settings: NodeClassSettings) -> InstanceTypes:
        return await self._asked("DescribeInstanceTypes", lambda: self.region.instance_types(settings))

    async def receive(self, *, most: int = 10, seconds: float = 20) -> tuple[Message, ...]:
        queue = self.region.queue
        until = self._clock.now() + round(seconds * instant.SECOND)
        taken = await self._asked("ReceiveMessage", lambda: queue.receive(most, self._clock.now()))
        while not taken and self._clock.now() < until:
            await queue.wait(until)
            self.region.agenda.settle()
            taken = queue.receive(most, self._clock.now())
        return taken

    async def delete_message(self, receipt: str) -> None:
        await self._asked("DeleteMessage", lambda: self.region.queue.delete(receipt))

    async def create_volume(self, zone: str, gibibytes: int, *, token: str, tags: Mapping[str, str]) -> Volume:
        return await self._asked("CreateVolume", lambda: self.region.devices.create(zone, gibibytes, token, tags))

    async def delete_volume(self, id: str) -> None:
        await self._asked("DeleteVolume", lambda: self.region.devices.delete(id))

    async def attach_volume(self, id: str, instance: str) -> None:
        await self._asked("AttachVolume", lambda: self.region.attach(id, instance))

    async def detach_volume(self, id: str) -> None:
        await self._asked("DetachVolume", lambda: self.region.devices.detach(id))

    async def volumes(self, ids: Sequence[str]) -> tuple[Volume, ...]:
        return await self._asked("DescribeVolumes", lambda: self.region.devices.found(ids))

    async def _asked(self, call: str, act: Callable[[], T]) -> T:
        return await self._struck(call, lambda _: act())

    async def _struck(self, call: str, act: Callable[[Strike], T]) -> T:
        """A call over the network, with what befalls it."""
        latency = self._latencies.get(call, USUAL_LATENCY).at(self.region.streams.share("latency")) or 0
        await self._pass(latency // 2)
        self.region.agenda.settle()
        self.calls[call] += 1
        strike = self.faults.strike(call, self.region.moment) or _WELL
        if strike.error is not None:
            await self._pass(latency - latency // 2 + strike.delay)
            raise strike.error
        self._throttle.take(_ALSO.get(call, (call,)), self._clock.now())
        answer = act(strike)
        if self.on_change is not None and call in CHANGES:
            self.on_change()
        await self._pass(latency - latency // 2 + strike.delay)
        if strike.is_lost:
            raise unanswered(call)
        return answer

    async def _pass(self, nanoseconds: int) -> None:
        if nanoseconds:
            await self._clock.sleep(nanoseconds / instant.SECOND)
