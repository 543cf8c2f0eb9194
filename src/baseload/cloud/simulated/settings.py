"""How the simulated cloud behaves, as one value. The defaults are a cloud in which all goes well.

Durations are nanoseconds, shares millionths, moments are counted from the start of the run. `docs/cloud.md` tells the
settings as users write them, `settings_file` reads them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Final, Literal, get_args

from baseload.cloud.simulated.draws import WHOLE, Delays
from baseload.values.duration import HOUR, MILLISECOND, MINUTE, SECOND

CALLS: Final = (
    "CreateFleet",
    "DescribeInstances",
    "TerminateInstances",
    "CreateTags",
    "DescribeInstanceStatus",
    "DescribeSubnets",
    "DescribeSecurityGroups",
    "DescribeImages",
    "GetInstanceProfile",
    "DescribeInstanceTypes",
    "ReceiveMessage",
    "DeleteMessage",
    "CreateVolume",
    "DeleteVolume",
    "AttachVolume",
    "DetachVolume",
    "DescribeVolumes",
)
"""The calls by AWS' names, by which faults, limits and latencies are given."""

ErrorKind = Literal[
    "InsufficientCapacity",
    "QuotaExceeded",
    "Throttled",
    "NotFound",
    "Unauthorized",
    "InvalidLaunch",
    "Conflict",
    "CloudUnreachable",
]
ERRORS: Final[tuple[ErrorKind, ...]] = get_args(ErrorKind)

FailureKind = Literal["FailsToStart", "NeverRegisters", "NeverReady", "Dies", "Stops", "Hangs", "HostFails", "Retires"]
FAILURES: Final[tuple[FailureKind, ...]] = get_args(FailureKind)
"""What can be wrong with a machine: ended before it runs; boots without ever making a Node; its Node never gets Ready;
ended while it runs; stopped; frozen, its instance check failing; the same by its host, the system check failing;
announced as to be retired, and stopped two weeks later."""

NOTICE: Final = 120 * SECOND
"""From a spot interruption notice to the end (EC2's two minutes)."""
MEMORY: Final = 1 * HOUR
"""How long a terminated instance is still described."""
TOKENS: Final = 24 * HOUR
"""How long the token of a launch is remembered."""
RETIREMENT: Final = 14 * 24 * HOUR
"""From the announcement that an instance retires until it is stopped, where nothing else is said."""

_AT_ONCE: Final = Delays.of(0)
_RUNNING: Final = Delays.table(((0, 4), (50, 6), (90, 9), (100, 14)), SECOND)
_REGISTERS: Final = Delays.table(((0, 10), (50, 14), (90, 18), (100, 21)), SECOND)
_READY: Final = Delays.table(((0, 3), (50, 4), (100, 7)), SECOND)
_SEEN: Final = Delays.table(((0, 100), (50, 300), (90, 1000), (99, 4000), (100, 8000)), MILLISECOND)
_ENDING: Final = Delays.table(((0, 10), (50, 25), (100, 45)), SECOND)
_ATTACHING: Final = Delays.table(((0, 1), (50, 2), (100, 5)), SECOND)
_DETACHING: Final = Delays.table(((0, 1), (50, 3), (100, 8)), SECOND)


@dataclass(frozen=True, slots=True)
class Where:
    """Pools: those whose type, zone and capacity type match; what is left empty matches all. Types may have `*`."""

    types: tuple[str, ...] = ()
    zones: tuple[str, ...] = ()
    capacity_types: tuple[str, ...] = ()

    def holds(self, instance_type: str, zone: str, capacity_type: str) -> bool:
        return (
            (not self.capacity_types or capacity_type in self.capacity_types)
            and (not self.zones or zone in self.zones)
            and (not self.types or any(fnmatchcase(instance_type, pattern) for pattern in self.types))
        )


@dataclass(frozen=True, slots=True)
class Window:
    """From a moment on, to another one or for good."""

    begins: int = 0
    ends: int | None = None

    def holds(self, moment: int) -> bool:
        return self.begins <= moment and (self.ends is None or moment < self.ends)


@dataclass(frozen=True, slots=True)
class CapacityRule:
    """How many instances of this account a pool holds at most, drawn from a range for each; the last rule counts."""

    least: int
    most: int
    where: Where = Where()
    window: Window = Window()


@dataclass(frozen=True, slots=True)
class Outage:
    """A zone that is down: it gives no machine, and those that it has hang."""

    zone: str
    window: Window = Window()


@dataclass(frozen=True, slots=True)
class FaultScript:
    """What goes wrong with calls of one name.

    Without an error a call is only late. InsufficientCapacity and QuotaExceeded refuse the pools of `where` and let the
    others be; every other error fails the whole call before anything is done. A `lost` answer is one of a call that was
    done.
    """

    call: str
    error: ErrorKind | None = None
    where: Where = Where()
    window: Window = Window()
    skip: int = 0  # so many calls go well first
    count: int | None = None  # so many are struck; None for all
    share: int = WHOLE  # of those that could be
    delay: int = 0
    lost: bool = False


@dataclass(frozen=True, slots=True)
class FailureRule:
    """What becomes of a share of the machines; of several rules the first that strikes a machine counts."""

    kind: FailureKind
    share: int = WHOLE
    where: Where = Where()
    after: Delays = _AT_ONCE  # from boot
    lasts: Delays | None = None  # until it recovers, or a retiring one is stopped; None: for good, two weeks


@dataclass(frozen=True, slots=True)
class Boot:
    """From launch to a node that can be Ready: by default 17 to 42 seconds, as small images boot."""

    running: Delays = _RUNNING
    """From the launch until the instance runs."""
    registers: Delays = _REGISTERS
    """From there until its kubelet makes the Node."""
    ready: Delays = _READY
    """From there until the machine has all that a Ready node needs."""


@dataclass(frozen=True, slots=True)
class Spot:
    """The spot market."""

    step: int = 30 * MINUTE
    """How long prices stand."""
    swing: int = 9 * WHOLE // 100
    """How far a price moves at most in a step, as a share of the catalogue's; 0: never."""
    reversion: int = 5 * WHOLE // 100
    """How much of its distance from the catalogue's price it loses in a step."""
    life: Delays | None = None
    """From launch to the interruption notice; None: never."""
    rebalance_ahead: int | None = 0
    """How long before the notice a rebalance is recommended; None: not at all."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """A token bucket: calls at once, and new ones a second; one of size 0 is no limit."""

    size: int
    refill: int


_READ_CALLS: Final = (
    "DescribeInstances",
    "DescribeInstanceStatus",
    "DescribeSubnets",
    "DescribeSecurityGroups",
    "DescribeImages",
    "DescribeInstanceTypes",
    "DescribeVolumes",
)
_READS: Final = Bucket(100, 20)
_WRITES: Final = Bucket(50, 5)
LIMITS: Final[Mapping[str, Bucket]] = {
    "CreateFleet": _WRITES,
    "RunInstances": Bucket(1000, 2),  # counted in instances, on top of CreateFleet's own
    "TerminateInstances": Bucket(100, 5),
    "CreateTags": Bucket(100, 10),
    "CreateVolume": Bucket(100, 5),
    "DeleteVolume": Bucket(100, 5),
    "AttachVolume": Bucket(100, 5),
    "DetachVolume": Bucket(100, 5),
    **dict.fromkeys(_READ_CALLS, _READS),
}
"""EC2's limits for an account in a region; queues and IAM have none here."""

LATENCIES: Final[Mapping[str, Delays]] = {
    "CreateFleet": Delays.table(((0, 700), (50, 1000), (100, 1500)), MILLISECOND),
    "ReceiveMessage": Delays.of(20 * MILLISECOND),
    "DeleteMessage": Delays.of(20 * MILLISECOND),
}
USUAL_LATENCY: Final = Delays.table(((0, 60), (50, 100), (100, 250)), MILLISECOND)


@dataclass(frozen=True, slots=True)
class SubnetSettings:
    """A subnet of the account; `addresses` are those that instances can have."""

    id: str
    zone: str
    addresses: int = 8187  # a /19, less the five that AWS keeps
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GroupSettings:
    """A security group of the account."""

    id: str
    name: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ImageSettings:
    """A machine image that is not found by an alias."""

    id: str
    name: str = ""
    architecture: str = "amd64"
    created: int = 0
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Release:
    """A new version of an alias' images, which `latest` stands for from then on."""

    family: str
    version: str
    at: int


@dataclass(frozen=True, slots=True)
class AccountSettings:
    """What selectors find.

    Of what is declared, selectors find what they say. Of what is not, everything resolves: each selector to all
    subnets, one in every zone; to one security group; to an image of each architecture. Every role exists unless some
    are declared.
    """

    subnets: tuple[SubnetSettings, ...] = ()
    security_groups: tuple[GroupSettings, ...] = ()
    images: tuple[ImageSettings, ...] = ()
    releases: tuple[Release, ...] = ()
    roles: tuple[str, ...] = ()
    addresses_an_instance: int = 1


@dataclass(frozen=True, slots=True)
class QueueSettings:
    """The interruption queue."""

    exists: bool = True
    delay: Delays = _AT_ONCE  # from what happens until the message can be received
    visibility: int = 20 * SECOND  # how long a received message is hidden
    retention: int = 5 * MINUTE


@dataclass(frozen=True, slots=True)
class CloudSettings:
    """All of it."""

    boot: Boot = Boot()
    spot: Spot = Spot()
    account: AccountSettings = AccountSettings()
    queue: QueueSettings = QueueSettings()
    capacity: tuple[CapacityRule, ...] = ()
    outages: tuple[Outage, ...] = ()
    quotas: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """vCPUs by (capacity type, class of families); none where nothing is said."""
    limits: Mapping[str, Bucket] = field(default_factory=lambda: LIMITS)
    latencies: Mapping[str, Delays] = field(default_factory=lambda: LATENCIES)
    faults: tuple[FaultScript, ...] = ()
    failures: tuple[FailureRule, ...] = ()
    seen_after: Delays = _SEEN
    """From a launch until the instance is described."""
    terminating: Delays = _ENDING
    """From shutting-down to terminated."""
    stopping: Delays = _ENDING
    attaching: Delays = _ATTACHING
    detaching: Delays = _DETACHING
