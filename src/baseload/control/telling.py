"""What passes of the provisioner tell about pods and pools, also while nothing changes and no pass is made."""

from typing import Final

from baseload.act.events import WAITING, About, Events
from baseload.control.observed import Observed
from baseload.decide.lifecycle import telling
from baseload.model.view import View
from baseload.plan.lifecycle import Told
from baseload.plan.provision import ProvisionPlan
from baseload.values.duration import MINUTE

AGAIN: Final = 15 * MINUTE
"""So long after it was told what has not changed is told again, before the API server forgets it.

Karpenter does so every 5 minutes; with thousands of pods that can go nowhere it drops most of that.
"""


class Telling:
    """The events of one provisioner."""

    def __init__(self, observed: Observed, events: Events) -> None:
        self._observed, self._events = observed, events
        self._failures: list[tuple[str, Told]] = []
        self._pools: list[tuple[str, Told]] = []
        self._first = 0  # of the failures, the one that is told first: not all of them may be written at once
        self._again = 0  # when they are told again

    def tell(self, plan: ProvisionPlan, view: View) -> None:
        """What a pass found: who has no place, and who should go on nodes that are there or coming."""
        self._failures = list(telling.failures(plan))
        self._pools = [(name, telling.without_types(min_values=short)) for name, short in plan.empty_pools]
        self._tell_failures()
        self._again = self._observed.now() + AGAIN
        on: dict[str, Told] = {}
        placed = [(it.pod, it.node) for it in plan.placements if it.node is not None]
        if placed:
            states = {state.name: state for state in view.state_nodes}
            for pod, node in placed:
                if node not in on and node in states:
                    on[node] = telling.on_existing(states[node])
                if node in on:
                    self._about(pod, on[node])

    def nominate(self, pods: tuple[str, ...], told: Told) -> None:
        """Where pods should go."""
        for name in pods:
            self._about(name, told)

    def again(self, now: int) -> None:
        """Nothing has changed since: what was told is told again, now and then."""
        if now >= self._again and (self._failures or self._pools):
            self._again = now + AGAIN
            self._tell_failures()

    def _tell_failures(self) -> None:
        for name, told in self._pools:
            pool: About | None = self._observed.pool(name)
            if pool is not None:
                self._events.tell(pool, told)
        first = self._first % len(self._failures) if self._failures else 0
        for name, told in (*self._failures[first:], *self._failures[:first]):
            self._about(name, told)
        self._first = first + WAITING

    def _about(self, name: str, told: Told) -> None:
        pod = self._observed.pod(*name.split("/", 1))
        if pod is not None:
            self._events.tell(pod, told)
