"""The machines behind a simulated cloud's instances, for whoever runs something on them.

A real cloud's machines start their kubelets themselves; in a simulation somebody has to. He asks for the machines that
run, follows what becomes of them, and starts and stops a kubelet accordingly. He learns nothing that a kubelet on the
machine would not know.
"""

from collections import deque
from dataclasses import dataclass
from typing import Literal, Protocol

from baseload.cloud.port import Instance
from baseload.values.clock import Bell

What = Literal["booted", "hung", "recovered", "gone"]
"""Booted: the instance runs. Hung: nothing on it goes on and its network is silent, until it has recovered. Gone: for
good, whether it was stopped or terminated."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What runs behind an instance; durations are nanoseconds, None where it never comes to that."""

    instance: Instance  # as it was when the machine booted
    user_data: str  # what it was launched with, from which its kubelet is set up
    booted: int  # the moment
    registers_after: int | None  # from boot until its kubelet makes the Node
    ready_after: int | None  # from then until the node could be Ready, as far as it is the machine's affair


@dataclass(frozen=True, slots=True)
class Change:
    """What became of a machine, at a moment."""

    at: int
    what: What
    machine: Machine


class Follower:
    """The changes that it was told of, in their order; one task at a time waits for them."""

    def __init__(self, bell: Bell) -> None:
        self._bell = bell
        self._changes: deque[Change] = deque()

    def put(self, change: Change) -> None:
        self._changes.append(change)
        self._bell.ring()

    def take(self) -> tuple[Change, ...]:
        """What has not been taken yet; none is possible after a ring."""
        taken = tuple(self._changes)
        self._changes.clear()
        return taken

    async def wait(self, seconds: float) -> bool:
        """Waits for a change, or so long; whether there was a ring."""
        return await self._bell.wait(seconds)


class Machines(Protocol):
    """The machines of a simulated cloud."""

    def machines(self) -> tuple[Machine, ...]:
        """Those that run or hang now, by the order in which they booted."""
        ...

    def follow(self) -> Follower:
        """What becomes of machines; first of all, that those which run have booted, and that some of them hang."""
        ...
