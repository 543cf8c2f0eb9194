"""Controllers as a process that can end and begin anew: by hand, or with the pod of the cluster that it lives in.

When it ends the controllers end where they wait, as a process does that is killed; what they had only in memory is
lost. Whoever looks at the pod stands outside.
"""

from collections.abc import Callable, Coroutine
from typing import Any, Final

from baseload.control.informer import Informer, Transition
from baseload.control.observed import POD
from baseload.decide.lifecycle import conditions
from baseload.kube.client.client import Client
from baseload.kube.client.requests import Selected
from baseload.kube.types.core import Pod
from baseload.values.clock import Clock

_LONG: Final = 3600.0


class _Ended(Exception):
    """The process is to end."""


class Process:
    """Runs what `make` makes while nothing holds it; once more from the start after each end."""

    def __init__(self, clock: Clock, make: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._clock, self._make = clock, make
        self._bell = clock.bell()
        self._held: dict[str, None] = {}  # the causes why it may not run
        self._is_to_end = False
        self.starts = 0
        self.is_up = False
        self.since = clock.now()
        """When it came up, or went down"""
        self.told: Callable[[], None] = _nobody
        """Called when it has come up or gone down; it may only take a note"""

    def hold(self, cause: str) -> None:
        """It ends, and does not run until this cause is gone."""
        self._held[cause] = None
        self._bell.ring()

    def release(self, cause: str) -> None:
        self._held.pop(cause, None)
        self._bell.ring()

    def kill(self) -> None:
        """It ends; it begins anew at once unless something holds it."""
        self._is_to_end = True
        self._bell.ring()

    async def run(self) -> None:
        """Works for ever."""
        while True:
            while self._held:
                await self._bell.wait(_LONG)
            self._is_to_end = False
            self.starts += 1
            self._turn(is_up=True)
            try:
                await self._clock.together(self._make(), self._watch())
            except _Ended:
                self._turn(is_up=False)

    def _turn(self, *, is_up: bool) -> None:
        self.is_up, self.since = is_up, self._clock.now()
        self.told()

    async def _watch(self) -> None:
        while not self._held and not self._is_to_end:
            await self._bell.wait(_LONG)
        raise _Ended


def _nobody() -> None:
    """Nobody wants to know."""


class Host:
    """Has a process run while a pod of a namespace with these labels is Ready."""

    def __init__(self, client: Client, namespace: str, labels: str, process: Process) -> None:
        self._process = process
        self._informer = Informer(client, (POD,), Selected(namespace, labels))
        self._informer.listen(self._note)
        process.hold("host")

    async def run(self) -> None:
        """Looks for ever."""
        await self._informer.run()

    def _note(self, change: Transition) -> None:
        pods = (held.read(Pod) for held in self._informer.kept[POD].objects.values())
        if any(conditions.is_true(pod.status.conditions, "Ready") for pod in pods):
            self._process.release("host")
        else:
            self._process.hold("host")
