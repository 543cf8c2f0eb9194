"""The machines that kubelets run on, as far as a kubelet asks; whoever has machines tells of them through this port."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from baseload.values.taint import Taint

What = Literal["booted", "hung", "recovered", "gone"]
"""Hung: nothing on it goes on and its network is silent, until it has recovered. Gone: for good."""


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine that has booted; amounts are nano-units, moments nanoseconds since the epoch."""

    name: str  # of its Node
    capacity: Mapping[str, int]
    allocatable: Mapping[str, int]
    provider_id: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    address: str = ""  # "" has the kubelets give it one
    architecture: str = "amd64"
    reserved_memory: int | None = None  # bytes kept from pods as a whole; None: what is not allocatable, less 100Mi
    cores: float | None = None  # what its processors really give, where that is less than their number
    registers_at: int | None = 0  # when its kubelet makes the Node; None: never
    ready_at: int | None = 0  # from when the node could be Ready; None: never
    is_adopted: bool = False  # its Node is there already


@dataclass(frozen=True, slots=True)
class Change:
    """What became of a machine."""

    what: What
    machine: Machine


class Machines(Protocol):
    """Where machines come from."""

    def machines(self) -> tuple[Machine, ...]:
        """Those that run now, in the order in which they booted."""
        ...

    def follow(self, ring: Callable[[], None]) -> Callable[[], tuple[Change, ...]]:
        """What takes the changes since the last time; `ring` is called when there are some."""
        ...

    def knows(self, provider_id: str) -> bool:
        """Whether a machine of this provider ID is, or was, one of these."""
        ...


class ScriptedMachines:
    """Machines that come and go as somebody says, one after the other."""

    def __init__(self, machines: tuple[Machine, ...] = ()) -> None:
        self._machines = {machine.name: machine for machine in machines}
        self._followers: list[tuple[list[Change], Callable[[], None]]] = []

    def machines(self) -> tuple[Machine, ...]:
        return tuple(self._machines.values())

    def follow(self, ring: Callable[[], None]) -> Callable[[], tuple[Change, ...]]:
        changes: list[Change] = []
        self._followers.append((changes, ring))

        def take() -> tuple[Change, ...]:
            taken = tuple(changes)
            changes.clear()
            return taken

        return take

    def knows(self, provider_id: str) -> bool:
        return any(machine.provider_id == provider_id for machine in self._machines.values())

    def boot(self, machine: Machine) -> None:
        self._machines[machine.name] = machine
        self._tell("booted", machine)

    def hang(self, name: str) -> None:
        self._tell("hung", self._machines[name])

    def recover(self, name: str) -> None:
        self._tell("recovered", self._machines[name])

    def end(self, name: str) -> None:
        self._tell("gone", self._machines.pop(name))

    def _tell(self, what: What, machine: Machine) -> None:
        for changes, ring in self._followers:
            changes.append(Change(what, machine))
            ring()
