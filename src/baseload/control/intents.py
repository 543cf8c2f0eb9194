"""What the controllers are about to do with nodes, which the cluster does not say: kept in memory, lost at a restart.

Nodes are marked that commands of disruption give up, so that the provisioner plans for their pods; and those are
nominated that pods are expected on, so that they are let alone for a while.
"""

from collections.abc import Iterable
from typing import Final

from baseload.model.view import View
from baseload.values.clock import Clock
from baseload.values.instant import SECOND

LEAST: Final = 10.0
"""Seconds that a nomination lasts at least; else twice as long as a batch of pods at most"""


class Intents:
    """Of one process."""

    def __init__(self, clock: Clock, *, batch_longest: float) -> None:
        self._clock = clock
        self._lasts = round(max(2 * batch_longest, LEAST) * SECOND)
        self._nominated: dict[str, int] = {}  # provider ID -> until when
        self.marked: frozenset[str] = frozenset()
        """The NodeClaims that commands give up, by name"""

    def mark(self, claims: Iterable[str]) -> None:
        self.marked |= frozenset(claims)

    def unmark(self, claims: Iterable[str]) -> None:
        self.marked -= frozenset(claims)

    def nominate(self, nodes: Iterable[str], view: View) -> None:
        """Pods are expected on these nodes of a view, by the names that they have there."""
        names = frozenset(nodes)
        if not names:
            return
        until = self._clock.now() + self._lasts
        for state in view.state_nodes:
            if state.name in names and state.provider_id:
                self._nominated[state.provider_id] = until

    def nominated(self, view: View) -> frozenset[str]:
        """The nodes of a view that pods are expected on."""
        now = self._clock.now()
        self._nominated = {id: until for id, until in self._nominated.items() if until > now}
        if not self._nominated:
            return frozenset()
        return frozenset(state.name for state in view.state_nodes if state.provider_id in self._nominated)
