"""How actors in this process hear of changes: by classes of change, in a queue of their own.

A write only puts the event into the queues of those who asked for its class, and rings where a queue was empty; the
subscriber takes what is there when its turn comes. The bell runs within the write and may only take a note. So may
`wants`, by which a subscriber passes over what is nothing to it: it is asked while nothing waits to be taken, so that
what is passed over comes before everything that is not.
"""

from collections.abc import Callable, Iterable

from baseload.embedded.store.log import Event

Wants = Callable[[Event], bool]
"""Whether an event is anything to a subscriber"""


class Subscription:
    """The events of some classes of one kind since it began, in the order of their versions, each once."""

    __slots__ = ("classes", "events", "ring", "wants")

    def __init__(self, classes: Iterable[str], ring: Callable[[], None], wants: Wants | None = None) -> None:
        self.classes = tuple(classes)
        self.ring, self.wants = ring, wants
        self.events: list[Event] = []

    def take(self) -> list[Event]:
        """What came since the last time."""
        events, self.events = self.events, []
        return events


def note(event: Event, subscribed: Iterable[Subscription]) -> None:
    """For the store: one more event for those who asked for its class."""
    for one in subscribed:
        events = one.events
        if events:
            events.append(event)
        elif one.wants is None or one.wants(event):
            events.append(event)
            one.ring()
