"""How the API server is for each of those who use it: slow, down, or well.

Karpenter's requests are held up one by one (`between`). The other components stand before a gate: while the server is
down they neither hear nor do anything, while it is slow they hear later. Those of which one leads give up when they
could not renew their lease for so long as leader election allows, and begin anew when the server answers. Kubelets
have what runs on their nodes go on; they hear of nothing, and nothing that they write arrives.
"""

from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from baseload.timeline.gated import Gate, GatedClock
from baseload.values.clock import Clock
from baseload.values.instant import SECOND
from baseload.world.living import CNI, KUBELET, PROCESSES, Living

USERS: Final = "users"
"""Whoever does what a scenario has users do"""
NAMES: Final = (*PROCESSES, KUBELET, CNI)
"""Those whom an API server that is slow or down can strike alone"""
EVERYBODY: Final = (*NAMES, USERS)
RENEWS_FOR: Final = 10 * SECOND
"""So long a leader tries to renew its lease before it gives up: --leader-elect-renew-deadline"""
RETRIES_AFTER: Final = 2 * SECOND
"""So often one that does not lead tries to: --leader-elect-retry-period"""
_LEADERS_WAIT: Final = 5 * SECOND  # for an answer: half of what they have for a renewal
_KUBELETS_WAIT: Final = 10 * SECOND  # for the answer to a renewal of their leases
_CAUSE: Final = "no lease"


@dataclass(slots=True)
class Sky:
    """How the API server is for one of them; durations in nanoseconds."""

    delays: list[int] = field(default_factory=list)
    outages: int = 0

    @property
    def delay(self) -> int:
        return sum(self.delays)


class Weather:
    """How the API server of one living cluster is."""

    def __init__(self, living: Living) -> None:
        self._living, self._clock = living, living.clock
        self._skies = {name: Sky() for name in EVERYBODY}
        self._gates: dict[str, Gate] = {}
        self._spells: dict[str, int] = {}  # name -> how often the server went away or came back for it
        self.start: Callable[[Coroutine[Any, Any, None]], object] = _nowhere
        """Has a coroutine run beside"""

    def sky(self, name: str) -> Sky:
        return self._skies[name]

    def clock_of(self, name: str) -> Clock:
        """The clock of one that stands before a gate."""
        gate = self._gates.setdefault(name, Gate(self._clock))
        return GatedClock(self._clock, gate)

    def slow(self, names: Iterable[str], delay: int) -> Callable[[], None]:
        """Has answers come later; what ends it."""
        struck = tuple(names)
        for name in struck:
            self._skies[name].delays.append(delay)
            self._turn(name)

        def end() -> None:
            for name in struck:
                self._skies[name].delays.remove(delay)
                self._turn(name)

        return end

    def down(self, names: Iterable[str]) -> Callable[[], None]:
        """Has no answer come; what ends it."""
        struck = tuple(names)
        for name in struck:
            self._skies[name].outages += 1
            self._turn(name)

        def end() -> None:
            for name in struck:
                self._skies[name].outages -= 1
                self._turn(name)

        return end

    def _turn(self, name: str) -> None:
        """The sky of one of them has changed."""
        sky = self._skies[name]
        if name == KUBELET:
            self._turn_kubelets(sky)
        elif name in self._gates:
            gate = self._gates[name]
            gate.delay = sky.delay
            is_shut = bool(sky.outages) or (name in PROCESSES and sky.delay >= _LEADERS_WAIT)
            if is_shut is not gate.is_shut:
                self._turn_gate(name, gate, is_shut=is_shut)

    def _turn_kubelets(self, sky: Sky) -> None:
        kubelets = self._living.kubelets
        kubelets.lag = sky.delay
        is_cut_off = bool(sky.outages) or sky.delay >= _KUBELETS_WAIT
        if is_cut_off and not kubelets.is_cut_off:
            kubelets.cut_off()
        elif kubelets.is_cut_off and not is_cut_off:
            kubelets.reconnect()

    def _turn_gate(self, name: str, gate: Gate, *, is_shut: bool) -> None:
        if is_shut:
            gate.shut()
        else:
            gate.open()
        if name in self._living.processes:
            self._spells[name] = self._spells.get(name, 0) + 1
            self.start(self._lead(name, self._spells[name], is_shut=is_shut))

    async def _lead(self, name: str, spell: int, *, is_shut: bool) -> None:
        """Has a process end that cannot renew its lease, or begin again."""
        process = self._living.processes[name]
        await self._clock.sleep((RENEWS_FOR if is_shut else RETRIES_AFTER) / SECOND)
        if self._spells[name] != spell:
            return
        if is_shut:
            process.hold(_CAUSE)
        else:
            process.release(_CAUSE)


def _nowhere(coroutine: Coroutine[Any, Any, None]) -> object:
    raise AssertionError("whoever drives the clock says where coroutines run")
