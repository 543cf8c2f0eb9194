"""Controllers that live in a pod of the cluster: they run while that pod is Ready, and begin anew when it is again.

Whoever looks at the pod stands outside. When it stops being Ready the controllers end where they wait, as a process
does that is killed; what they had only in memory is lost.
"""

from collections.abc import Callable, Coroutine
from typing import Any, Final

from baseload.control.informer import Informer, Transition
from baseload.control.observed import POD
from baseload.decide.lifecycle import conditions
from baseload.kube.client.client import Client
from baseload.kube.client.requests import Selected
from baseload.kube.types.core import Pod

_LONG: Final = 3600.0


class _HostLost(Exception):
    """No pod that could host the controllers is Ready any more."""


class Hosted:
    """Runs what `make` makes while a pod of a namespace with these labels is Ready."""

    def __init__(
        self, client: Client, namespace: str, labels: str, make: Callable[[], Coroutine[Any, Any, None]]
    ) -> None:
        self._clock, self._make = client.clock, make
        self._informer = Informer(client, (POD,), Selected(namespace, labels))
        self._informer.listen(self._note)
        self._bell = self._clock.bell()
        self.starts = 0
        self.is_up = False

    async def run(self) -> None:
        """Works for ever."""
        await self._clock.together(self._informer.run(), self._host())

    async def _host(self) -> None:
        while True:
            while not self._is_ready():
                await self._bell.wait(_LONG)
            self.starts += 1
            self.is_up = True
            try:
                await self._clock.together(self._make(), self._watch())
            except _HostLost:
                self.is_up = False

    async def _watch(self) -> None:
        while self._is_ready():
            await self._bell.wait(_LONG)
        raise _HostLost

    def _is_ready(self) -> bool:
        pods = (held.read(Pod) for held in self._informer.kept[POD].objects.values())
        return any(conditions.is_true(pod.status.conditions, "Ready") for pod in pods)

    def _note(self, change: Transition) -> None:
        self._bell.ring()
