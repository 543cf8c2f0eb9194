"""A small region for tests: three zones, a few types at round prices, and short ways to run a cloud on it."""

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import msgspec

from baseload.catalog import kwok
from baseload.catalog.columns import InstanceTypes
from baseload.cloud.port import CapacityType, Fleet, Overrides, Strategy
from baseload.cloud.simulated import settings_file
from baseload.cloud.simulated.cloud import SimulatedCloud
from baseload.cloud.simulated.settings import CALLS
from baseload.timeline.virtual import VirtualClock
from baseload.values import instant
from baseload.values.instant import SECOND

T = TypeVar("T")
START = instant.parse("2026-11-30T12:00:00Z")
ZONES = ("z1", "z2", "z3")
TYPES = {  # name -> (vCPUs, dollars an hour on demand, per cent of that on spot, architecture)
    "m5.large": (2, 0.10, 40, "amd64"),
    "m5.xlarge": (4, 0.20, 40, "amd64"),
    "c5.large": (2, 0.09, 50, "amd64"),
    "r5.large": (2, 0.13, 30, "amd64"),
    "m6g.large": (2, 0.08, 60, "arm64"),
    "p3.2xlarge": (8, 3.00, 30, "amd64"),
}
CALM: dict[str, Any] = {
    "spot": {"swing": 0},
    "seenAfter": "0s",
    "latencies": dict.fromkeys(CALLS, "0s"),
    "limits": {"CreateFleet": "none", "RunInstances": "none"},
}
"""Prices that stand, and calls that are answered, and shown in others, at once."""


def types(names: tuple[str, ...] = tuple(TYPES), zones: tuple[str, ...] = ZONES) -> InstanceTypes:
    """A catalogue; the last zone does not sell the last type."""
    entries = []
    for name in names:
        vcpus, price, percent, architecture = TYPES[name]
        sold = zones[:-1] if name == "p3.2xlarge" else zones
        offerings = [
            {
                "Price": price if kind == "on-demand" else price * percent / 100,
                "Available": True,
                "Requirements": [
                    {"key": "karpenter.sh/capacity-type", "operator": "In", "values": [kind]},
                    {"key": "topology.kubernetes.io/zone", "operator": "In", "values": [zone]},
                ],
            }
            for zone in sold
            for kind in ("on-demand", "spot")
        ]
        entries.append(
            {
                "name": name,
                "architecture": architecture,
                "operatingSystems": ["linux"],
                "resources": {"cpu": str(vcpus), "memory": f"{vcpus * 4}Gi"},
                "offerings": offerings,
            }
        )
    return kwok.read(msgspec.json.encode(entries), "types.json")


TABLE = types()


def cloud(clock: VirtualClock, *, seed: int = 1, saved: bytes | None = None, **settings: Any) -> SimulatedCloud:
    """A cloud with settings as users write them, on top of the calm ones."""
    read = settings_file.read({**CALM, **settings}, zones=ZONES)
    return SimulatedCloud(lambda _: TABLE, clock, read, seed=seed, saved=saved)


def subnet(of: SimulatedCloud, zone: str) -> str:
    return next(it.id for it in of.region.network.described() if it.zone == zone)


def fleet(
    of: SimulatedCloud,
    *names: str,
    token: str = "",
    zones: tuple[str, ...] = ZONES,
    kind: CapacityType = "on-demand",
    strategy: Strategy | None = None,
    image: str = "ami-any",
) -> Fleet:
    """A launch of some types, by default all, in some zones."""
    wanted = names or tuple(TYPES)
    usual: Strategy = "price-capacity-optimized" if kind == "spot" else "lowest-price"
    overrides = tuple(Overrides(subnet(of, zone), image, wanted) for zone in zones)
    return Fleet(token, kind, strategy or usual, overrides, {"cluster": "test"})


class Run:
    """A cloud under a virtual clock."""

    def __init__(self, *, seed: int = 1, saved: bytes | None = None, now: int = START, **settings: Any) -> None:
        self.clock = VirtualClock(now)
        self.cloud = cloud(self.clock, seed=seed, saved=saved, **settings)
        self.clock.start(self.cloud.run())
        self.clock.run(now)

    def until(self, seconds: float) -> None:
        """Runs on to so many seconds after the start."""
        self.clock.run(START + round(seconds * SECOND))

    def ask(self, call: Coroutine[Any, Any, T]) -> T:
        """The answer to a call, once it has come."""
        answers: list[Callable[[], T]] = []

        async def asking() -> None:
            try:
                answer = await call
                answers.append(lambda: answer)
            except Exception as error:  # noqa: BLE001  # raised again where the test asked
                failed = error
                answers.append(lambda: _raise(failed))

        self.clock.start(asking())
        while not answers:
            due = self.clock.next
            assert due is not None, "nothing will ever answer"
            self.clock.run(due)
        return answers[0]()

    @property
    def seconds(self) -> float:
        return (self.clock.now() - START) / SECOND

    def fleet(self, *names: str, **options: Any) -> Fleet:
        return fleet(self.cloud, *names, **options)


def _raise(error: Exception) -> Any:
    raise error
