"""Karpenter's events in the embedded cluster: rows of its ledger, like those of the cluster's own components.

Each goes Karpenter's way to the cluster all the same, so that an API server which is slow or down keeps it back.
"""

from typing import Final

from baseload.act.events import Draft
from baseload.embedded.actors.recorder import Counted, Source
from baseload.embedded.api.ledger import Ledger
from baseload.kube.client.client import DEADLINE
from baseload.kube.client.port import Passable, Way
from baseload.values.clock import Clock

REMEMBERED: Final = 4096  # events that equal ones are counted in, as client-go's cache


class EventRows:
    """A writer of events of one life of a component."""

    def __init__(self, ledger: Ledger, clock: Clock, way: Way, component: str) -> None:
        self._ledger, self._clock, self._way = ledger, clock, way
        self._source = Source(component)
        self._kept: dict[tuple[str, str, str], Counted] = {}  # by uid of the object, reason and message

    async def write(self, draft: Draft) -> None:
        """Raises ApiError where the way is barred."""
        if isinstance(self._way, Passable):
            await self._way.passed(DEADLINE)
        told, about = draft.told, draft.about.metadata
        key = about.uid, told.reason, told.message
        row = self._kept.get(key)
        if row is not None and self._ledger.has(row):
            row.last, row.count = draft.at, row.count + 1
            self._ledger.again(row)
            return
        self._kept.pop(key, None)
        if len(self._kept) >= REMEMBERED:
            del self._kept[next(iter(self._kept))]
        row = self._kept[key] = self._row(draft)
        self._ledger.begin(row, about.namespace or "default", self._clock.now())

    def _row(self, draft: Draft) -> Counted:
        about, told = draft.about.metadata, draft.told
        api_version, kind = draft.named
        return Counted(
            kind,
            api_version,
            about.namespace,
            about.name,
            about.uid,
            0,
            told.type,
            told.reason,
            told.message,
            self._source.component,
            source=self._source,
            first=draft.at,
            last=draft.at,
        )
