"""What earlier passes on one cluster have read of its nodes and pods, for as long as those are the very same objects.

A pass on a cluster of thousands of nodes sees a few changed ones. Without a memory each pass reads everything; the
plans are the same.
"""

from collections.abc import Callable
from typing import Final, Generic, TypeVar

from baseload.decide.fit.base import Bound
from baseload.decide.fit.groups import CountedNode
from baseload.decide.fit.nodes import Host
from baseload.decide.fit.template import Daemon
from baseload.kube.types.core import Pod

T = TypeVar("T")
Seen = tuple[object, ...]
"""What a value was made from; most often the very same objects, which makes them quick to compare"""


class Remembered(Generic[T]):
    """Values by a name, each with the objects that it was made from."""

    def __init__(self) -> None:
        self._now: dict[str, tuple[Seen, T]] = {}
        self._before: dict[str, tuple[Seen, T]] = {}

    def turn(self) -> None:
        self._before, self._now = self._now, {}

    def value(self, name: str, seen: Seen, make: Callable[[], T]) -> T:
        """What was made from the like, or is made now."""
        held = self._before.get(name)
        if held is None or held[0] != seen:
            held = seen, make()
        self._now[name] = held
        return held[1]


class Memory:
    """Of one cluster; `turn` forgets what the last pass did not ask for."""

    def __init__(self) -> None:
        self.hosts: Final[Remembered[Host]] = Remembered()
        self.counted: Final[Remembered[CountedNode]] = Remembered()
        self._daemons: tuple[Daemon, ...] = ()
        self._bound: dict[int, tuple[Pod, Bound]] = {}
        self._before: dict[int, tuple[Pod, Bound]] = {}

    def turn(self) -> None:
        """A new pass begins."""
        self.hosts.turn()
        self.counted.turn()
        self._before, self._bound = self._bound, {}

    def daemons(self, found: tuple[Daemon, ...]) -> tuple[Daemon, ...]:
        """The same daemons, as the very objects of the last pass where nothing about them changed."""
        if [_said(daemon) for daemon in found] != [_said(daemon) for daemon in self._daemons]:
            self._daemons = found
        return self._daemons

    def bound(self, pod: Pod, make: Callable[[], Bound]) -> Bound:
        """What a running pod is to fitting; of pods whose demands bind nobody, which no other object decides."""
        held = self._before.get(id(pod)) or (pod, make())  # a pod that is held keeps its id
        self._bound[id(pod)] = held
        return held[1]


def _said(daemon: Daemon) -> tuple[object, ...]:
    return daemon.name, daemon.constraints, daemon.requests
