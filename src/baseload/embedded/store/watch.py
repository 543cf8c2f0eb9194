"""Watches: cursors on the log of a kind, from any version that it still holds.

A watch may begin with the objects as they are (each ADDED, by its own version), and, for a WatchList, a bookmark that
says where these end. After that it reads events above that version. A reader asks for what there is; when there is
nothing it goes to sleep, and the next event wakes all sleepers of the kind at once. A reader that falls behind the tail
of the log is told Gone.
"""

from collections.abc import Callable
from typing import Final, Protocol

from baseload.embedded.store import errors, log
from baseload.embedded.store import record as records
from baseload.embedded.store.log import Event
from baseload.embedded.store.record import Record
from baseload.embedded.store.selection import Selection
from baseload.embedded.store.table import Table

INITIAL_EVENTS_END: Final = "k8s.io/initial-events-end"


class Position(Protocol):
    """How far the store has told what happened."""

    @property
    def published(self) -> int: ...


class Watch:
    """One reader's cursor. `version` is the version up to which it has been told everything that it selects."""

    def __init__(
        self,
        table: Table,
        selection: Selection,
        store: Position,
        version: int,
        initial: list[Record] | None,
        mark: bool,
    ) -> None:
        if version < table.log.floor:
            raise errors.too_old(version, table.log.floor)
        self._table, self._store = table, store
        self._selection = None if selection.is_everything else selection
        self._definition = table.definition
        self._position = table.log.position_after(version)
        self._initial = initial or []
        self._sent = 0  # of the initial objects
        self._mark = mark  # a bookmark after them is owed
        self.version = version

    def read(self, limit: int = 1000) -> list[Event]:
        """The next events, looking at no more than `limit`; may be empty although there are more (`is_behind`)."""
        if self._initial or self._mark:
            return self._read_initial(limit)
        history = self._table.log
        if self._position < history.base:
            raise errors.too_old(self.version, history.floor)
        start = self._position - history.base
        events = history.events[start : min(start + limit, history.shown - history.base)]
        self._position += len(events)
        self.version = events[-1].version if self.is_behind else max(self.version, self._store.published)
        if self._selection is None:
            return events
        seen = self._selection.seen
        return [event for event in map(seen, events) if event is not None]

    @property
    def is_behind(self) -> bool:
        """Whether there is something to read."""
        return bool(self._initial) or self._mark or self._position < self._table.log.shown

    @property
    def is_over(self) -> bool:
        """Whether the kind is another one now, or was withdrawn and all was told: the reader has to ask anew."""
        return self._definition != self._table.definition or (self._table.is_withdrawn and not self.is_behind)

    def sleep(self, wake: Callable[[], None]) -> bool:
        """Has `wake` called once, at the next event of the kind; False, without that, where there is more, or the end.

        `wake` runs within the write and may only take a note.
        """
        if self.is_behind or self.is_over:
            return False
        self._table.asleep[self] = wake
        return True

    def close(self) -> None:
        """Forgets a call of `wake` that was asked for."""
        self._table.asleep.pop(self, None)

    def bookmark(self, *, initial_events_end: bool = False) -> Event:
        """A bookmark of where the reader stands: everything up to its version has been told."""
        common = records.shared(None, {INITIAL_EVENTS_END: "true"}) if initial_events_end else records.NOTHING_SHARED
        return Event("BOOKMARK", self.version, Record(self._table.resource, "", "", common, version=self.version), None)

    def frame(self, event: Event) -> bytes:
        """The event as a line of a watch's answer; the object is encoded once for all readers."""
        fresh = event.type == "BOOKMARK"
        return log.frame(event, records.encode(event.record) if fresh else self._table.log.encoded(event))

    def _read_initial(self, limit: int) -> list[Event]:
        chunk = self._initial[self._sent : self._sent + limit]
        self._sent += len(chunk)
        events = [Event("ADDED", record.version, record, None) for record in chunk]
        if self._sent == len(self._initial):
            self._initial, self._sent = [], 0
            if self._mark:
                self._mark = False
                events.append(self.bookmark(initial_events_end=True))
        return events
