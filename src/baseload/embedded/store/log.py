"""The history of one kind: its last events in the order of their versions, of which readers are cursors.

Events are appended in the same step as the write; those of a transaction that is not committed yet are not shown.
The log holds between `bound` and twice as many events: dropping half at once costs less than one at each write.
"""

from bisect import bisect_right
from operator import attrgetter
from typing import Final, Literal

import msgspec

from baseload.embedded.store import record as records
from baseload.embedded.store.record import Record

EventType = Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]
_ENCODED_AT_MOST: Final = 256

_version: Final = attrgetter("version")


class Event(msgspec.Struct, frozen=True, gc=False, eq=False):
    """One change of one object. A removed object is shown in its last state, under the version of the removal."""

    type: EventType
    version: int
    record: Record
    old: Record | None


class Log:
    """The events of one kind above `floor`; positions count all events that ever were."""

    __slots__ = ("_bound", "_encoded", "base", "events", "floor", "shown")

    def __init__(self, floor: int, bound: int) -> None:
        self.events: list[Event] = []
        self.base = 0  # position of events[0]
        self.shown = 0  # position after the last event that readers may see
        self.floor = floor  # what happened after this version is all here
        self._bound = bound
        self._encoded: dict[int, bytes] = {}

    @property
    def last(self) -> int:
        """The version of the last event; before there is any, that at which the log began."""
        return self.events[-1].version if self.events else self.floor

    def append(self, event: Event) -> None:
        self.events.append(event)

    def tell(self, event: Event) -> None:
        """Appends an event that readers may see at once."""
        events = self.events
        events.append(event)
        self.shown += 1
        if len(events) > 2 * self._bound:
            self.show()

    def show(self) -> None:
        """Lets readers see all events; drops the oldest where there are too many."""
        events = self.events
        if len(events) > 2 * self._bound:
            drop = len(events) - self._bound
            self.floor = events[drop - 1].version
            del events[:drop]
            self.base += drop
        self.shown = self.base + len(events)

    def forget_encoded(self) -> None:
        """For a kind that is written in another version from now on."""
        self._encoded.clear()

    def position_after(self, version: int) -> int:
        """The position of the first event above a version."""
        return self.base + bisect_right(self.events, version, key=_version)

    def after(self, version: int) -> list[Event]:
        """All events above a version, shown or not."""
        return self.events[self.position_after(version) - self.base :]

    def encoded(self, event: Event) -> bytes:
        """The JSON of the object in an event, made once for all who read it at about the same time."""
        # A watcher that an object leaves sees its old state under the same version as others see the new one.
        key = -event.version if event.type == "DELETED" else event.version
        known = self._encoded.get(key)
        if known is None:
            if len(self._encoded) >= _ENCODED_AT_MOST:
                self._encoded.clear()
            known = self._encoded[key] = records.encode(event.record)
        return known


def frame(event: Event, encoded: bytes) -> bytes:
    """A line of a watch's answer."""
    return b'{"type":"%b","object":%b}\n' % (event.type.encode(), encoded)
