"""What the rest of baseload asks of a cloud, whichever it is: EC2's calls as far as nodes need them.

A launch names pools, each one instance type in one subnet, and asks for one machine from the best of them. Whatever is
asked may be answered by an error of `cloud.errors`, whose docstrings say what the caller owes. A coroutine of this
protocol awaits the clock alone. Where a caller ends while it waits for an answer, the call may have been done.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

from baseload.catalog.columns import InstanceTypes
from baseload.catalog.nodeclass import NodeClassSettings
from baseload.cloud.errors import Refusal
from baseload.kube.types.ec2 import AMISelectorTerm, SecurityGroupSelectorTerm, SubnetSelectorTerm

CapacityType = Literal["on-demand", "spot"]
Strategy = Literal["lowest-price", "prioritized", "price-capacity-optimized", "capacity-optimized-prioritized"]
State = Literal["pending", "running", "stopping", "stopped", "shutting-down", "terminated"]

LIVING: Final[frozenset[State]] = frozenset({"pending", "running", "stopping", "stopped"})
"""The states of an instance that is not being given up."""
PRESENT: Final[frozenset[State]] = LIVING | {"shutting-down"}
"""The states of an instance whose machine may still run pods, which is what a controller lists."""


@dataclass(frozen=True, slots=True)
class Overrides:
    """Instance types in one subnet with one image: each a pool that a launch may take a machine from."""

    subnet: str
    image: str
    types: tuple[str, ...]
    priorities: tuple[int, ...] = ()  # aligned to types, the lowest first; read by the prioritized strategies alone


@dataclass(frozen=True, slots=True)
class Fleet:
    """A request for one machine, as CreateFleet of type instant takes it.

    `token` makes the request one that can be repeated: as long as the cloud remembers it, the same request gets the
    same machine. Launches that fail are not remembered. `tags` go on the instance and its volumes.
    """

    token: str
    capacity_type: CapacityType
    strategy: Strategy
    overrides: tuple[Overrides, ...]
    tags: Mapping[str, str] = field(default_factory=dict)
    security_groups: tuple[str, ...] = ()
    instance_profile: str = ""
    user_data: str = ""


@dataclass(frozen=True, slots=True)
class Instance:
    """A machine as the cloud describes it; moments are nanoseconds since the epoch."""

    id: str
    instance_type: str
    architecture: str
    zone: str
    zone_id: str  # "" where the catalogue does not know it
    capacity_type: CapacityType
    state: State
    image: str
    subnet: str
    private_address: str
    private_dns: str
    launched: int
    security_groups: tuple[str, ...] = ()
    instance_profile: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""  # why it is in its state, by the cloud's own code; "" where nothing is to be said

    @property
    def provider_id(self) -> str:
        """The name by which a Node points to it."""
        return f"aws:///{self.zone}/{self.id}"


@dataclass(frozen=True, slots=True)
class Launched:
    """What a launch gave, and the pools that were asked before and refused."""

    instance: Instance
    refusals: tuple[Refusal, ...] = ()


@dataclass(frozen=True, slots=True)
class InstanceStatus:
    """Whether a running instance answers the cloud's checks, and what the cloud plans for it."""

    instance: str
    instance_check_failed: int | None = None  # since when; None while it passes
    system_check_failed: int | None = None
    events: tuple[str, ...] = ()  # codes of what is scheduled, e.g. instance-retirement


@dataclass(frozen=True, slots=True)
class Subnet:
    """A subnet, with the addresses that are left in it."""

    id: str
    zone: str
    zone_id: str
    free_addresses: int
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SecurityGroup:
    id: str
    name: str
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Image:
    """A machine image; `variant` says for which devices it has drivers."""

    id: str
    name: str
    architecture: str  # as Kubernetes names it
    created: int
    variant: Literal["standard", "nvidia", "neuron"] = "standard"
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Message:
    """A message of the interruption queue; it comes again unless it is deleted by its receipt."""

    receipt: str
    body: str  # JSON, in the shape of EventBridge


@dataclass(frozen=True, slots=True)
class Volume:
    """A block device of one zone."""

    id: str
    zone: str
    gibibytes: int
    state: Literal["available", "attaching", "in-use", "detaching"]
    instance: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)


class Instances(Protocol):
    """Machines, from launch to end."""

    async def launch(self, fleet: Fleet) -> Launched:
        """A machine from the best pool that has one; InsufficientCapacity or QuotaExceeded where none has."""
        ...

    async def instance(self, id: str) -> Instance:
        """NotFound also for one that was launched a moment ago: what is read lags behind what is done."""
        ...

    async def instances(self, tags: Mapping[str, str], *, states: frozenset[State] = PRESENT) -> tuple[Instance, ...]:
        """Those that carry all the tags, by launch; the value `*` stands for any. New ones may be missing yet."""
        ...

    async def terminate(self, id: str) -> None:
        """Begins its end; done again it does nothing. NotFound when it is over and forgotten."""
        ...

    async def tag(self, id: str, tags: Mapping[str, str]) -> None: ...

    async def statuses(self) -> tuple[InstanceStatus, ...]:
        """Of the running instances that fail a check or have an event scheduled."""
        ...


class Account(Protocol):
    """What launches are made from, as the terms of an EC2NodeClass select it; nothing found is an empty answer."""

    async def subnets(self, terms: Sequence[SubnetSelectorTerm]) -> tuple[Subnet, ...]: ...

    async def security_groups(self, terms: Sequence[SecurityGroupSelectorTerm]) -> tuple[SecurityGroup, ...]: ...

    async def images(self, terms: Sequence[AMISelectorTerm]) -> tuple[Image, ...]:
        """The newest first, then by id; InvalidLaunch for an alias that the cloud does not have."""
        ...

    async def instance_profile(self, role: str) -> str:
        """The profile for a role, made where there is none; NotFound for a role that does not exist."""
        ...

    async def instance_types(self, settings: NodeClassSettings) -> InstanceTypes:
        """The types and offerings with today's prices. That a pool is empty is learnt by launching alone."""
        ...


class Interruptions(Protocol):
    """The queue of what is going to happen to instances."""

    async def receive(self, *, most: int = 10, seconds: float = 20) -> tuple[Message, ...]:
        """What is in the queue, waiting so long for a first one; NotFound where there is no queue."""
        ...

    async def delete_message(self, receipt: str) -> None: ...


class Volumes(Protocol):
    """Block devices; an instance's end detaches what is attached to it."""

    async def create_volume(self, zone: str, gibibytes: int, *, token: str, tags: Mapping[str, str]) -> Volume:
        """The same token gives the same volume."""
        ...

    async def delete_volume(self, id: str) -> None:
        """Conflict while it is attached."""
        ...

    async def attach_volume(self, id: str, instance: str) -> None:
        """Begins it. Conflict where the volume is not available, or in another zone, or the instance does not run."""
        ...

    async def detach_volume(self, id: str) -> None:
        """Begins it; done again it does nothing."""
        ...

    async def volumes(self, ids: Sequence[str]) -> tuple[Volume, ...]:
        """Those of the ids that exist."""
        ...


class Cloud(Instances, Account, Interruptions, Volumes, Protocol):
    """One region of one account."""
