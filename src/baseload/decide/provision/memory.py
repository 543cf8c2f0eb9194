"""What earlier passes on one cluster have read of its nodes and pods, for as long as those are the very same objects.

A pass on a cluster of thousands of nodes sees a few changed ones. Without a memory each pass reads everything; the
plans are the same.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from baseload.decide.fit.groups import CountedNode
from baseload.decide.fit.nodes import Host
from baseload.decide.fit.running import Running
from baseload.decide.fit.shape import FitPod
from baseload.decide.fit.template import Daemon
from baseload.decide.provision.occupants import Occupants
from baseload.decide.provision.readings import Known
from baseload.kube.types.core import Pod
from baseload.model.requests import Amounts
from baseload.model.statenode import StateNode
from baseload.plan.reason import Why

K = TypeVar("K")
T = TypeVar("T")
Seen = tuple[object, ...]
"""What a value was made from; most often the very same objects, which makes them quick to compare"""


class Remembered(Generic[T]):
    """Values by a name, each with the objects that it was made from; what a pass did not ask for is forgotten."""

    def __init__(self) -> None:
        self._now: dict[str, tuple[Seen, T]] = {}
        self._before: dict[str, tuple[Seen, T]] = {}

    def turn(self) -> None:
        self._before, self._now = self._now, {}

    def value(self, name: str, seen: Seen, make: Callable[[T | None], T]) -> T:
        """What was made from the like, or is made now; from what was made of others before, where that helps."""
        held = self._before.get(name)
        if held is None or held[0] != seen:
            held = seen, make(held[1] if held is not None else None)
        self._now[name] = held
        return held[1]


class ByObject(Generic[K, T]):
    """Values by the identity of the one object that they were made from."""

    def __init__(self) -> None:
        self._now: dict[int, tuple[K, T]] = {}
        self._before: dict[int, tuple[K, T]] = {}

    def turn(self) -> None:
        self._before, self._now = self._now, {}

    def value(self, of: K, make: Callable[[K], T]) -> T:
        held = self._before.get(id(of))  # an object that is held keeps its id
        if held is None:
            held = of, make(of)
        self._now[id(of)] = held
        return held[1]


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """A node as a pass sees it at its start, what DaemonSets expect of it, and what that was worked out of."""

    host: Host
    expected: Amounts
    state: StateNode
    daemons: Sequence[Daemon]


class Memory:
    """Of one cluster; `turn` forgets what the last pass did not ask for."""

    def __init__(self) -> None:
        self._rests_on: tuple[object, ...] = ()
        self._daemons: tuple[Daemon, ...] = ()
        self._forget()

    def _forget(self) -> None:
        self.hosts: Remembered[Ground] = Remembered()
        self.counted: Remembered[CountedNode] = Remembered()
        self.occupants: Remembered[Occupants] = Remembered()
        self.faults: ByObject[Pod, tuple[Why | None, bool]] = ByObject()
        self.to_place: ByObject[Pod, FitPod | None] = ByObject()
        self.known = Known()
        self.running = Running()

    def turn(self, *rests_on: object) -> None:
        """A new pass begins; where it rests on other things than the last one, nothing of that is remembered."""
        if rests_on != self._rests_on:
            self._rests_on = rests_on
            self._forget()
        for held in (self.hosts, self.counted, self.occupants, self.faults, self.to_place):
            held.turn()
        self.known.turn()

    def daemons(self, found: tuple[Daemon, ...]) -> tuple[Daemon, ...]:
        """The same daemons, as the very objects of the last pass where nothing about them changed."""
        if [_said(daemon) for daemon in found] != [_said(daemon) for daemon in self._daemons]:
            self._daemons = found
        return self._daemons


def _said(daemon: Daemon) -> tuple[object, ...]:
    return daemon.name, daemon.constraints, daemon.requests
