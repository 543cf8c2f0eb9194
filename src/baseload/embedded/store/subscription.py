"""How actors in this process hear of changes: by classes of change, in a queue of their own.

A write only puts the event into the queues of those who asked for its class, and rings where a queue was empty; the
subscriber takes what is there when its turn comes. The bell runs within the write and may only take a note.
"""

from collections.abc import Callable, Iterable

from baseload.embedded.store.log import Event


class Subscription:
    """The events of some classes of one kind since it began, in the order of their versions, each once."""

    __slots__ = ("_events", "_ring", "classes")

    def __init__(self, classes: Iterable[str], ring: Callable[[], None]) -> None:
        self.classes = tuple(classes)
        self._ring = ring
        self._events: list[Event] = []

    def take(self) -> list[Event]:
        """What came since the last time."""
        events, self._events = self._events, []
        return events

    def note(self, event: Event) -> None:
        """For the store: one more event."""
        events = self._events
        events.append(event)
        if len(events) == 1:
            self._ring()
