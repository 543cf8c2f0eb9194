"""Events as components of the newer API (events.k8s.io) record them, kube-scheduler among them: in series.

The first of its like makes an object, the second makes that a series, and from then on the component itself counts.
What it counted is written every half an hour, and once more when nothing was added for six minutes: then the series
is over, and the next of its like makes another object. Of one like are events of one reason about one object in one
state; what they say does not count. (Facts of client-go's tools/events; the form of the objects is a real scheduler's.)
"""

from typing import Final

import msgspec

from baseload.embedded.actors.client import ActorClient
from baseload.embedded.actors.recorder import Type
from baseload.embedded.api.ledger import DEFAULT, Row, Subject, state
from baseload.embedded.store.record import Record
from baseload.values import instant

FINISHED: Final = 360 * instant.SECOND  # without another one; looked for as often
REFRESHED: Final = 1800 * instant.SECOND
_MICROSECOND: Final = 1000
_Key = tuple[str, int, str, str, str]


class Told(msgspec.Struct, gc=False, eq=False):
    """A series, or what may become one."""

    row: "_Row"
    last: int
    """When the last one was told"""
    count: int = 1
    written: int = 0
    """The count that its event has"""
    is_over: bool = False


class Series:
    """The events of one component; `host` is the node that it runs on."""

    def __init__(self, client: ActorClient, component: str, host: str = "control-plane") -> None:
        self._events: Final = client.cluster.events
        self._component, self._instance = component, f"{component}-{host}"
        self._clock: Final = client.cluster.clock
        self._told: Final[dict[_Key, Told]] = {}
        self._began: Final = self._clock.now()
        self.next = self._began + FINISHED
        """When `tend` has something to do next, if anything was told"""

    def record(
        self, regarding: Record, type: Type, reason: str, action: str, note: str, *, related: Record | None = None
    ) -> Told:
        """Tells one thing about an object; nothing where its namespace is gone or ends, as for client-go."""
        key = regarding.uid, regarding.version, type, reason, related.uid if related else ""
        told = self._told.get(key)
        if told is not None:
            self.again(told)
            return told
        now = self._clock.now()
        told = self._told[key] = Told(self._row(regarding, related, type, reason, action, note), now, written=1)
        told.row.last = now
        self._events.begin(told.row, regarding.namespace or DEFAULT, now)
        return told

    def again(self, told: Told) -> None:
        """Tells the same of the object in the same state once more. Not for one that is over."""
        told.count += 1
        told.last = self._clock.now()
        if told.count == 2:  # with the second it is a series
            self._write(told)

    def due(self) -> int | None:
        """When `tend` has something to do next."""
        return self.next if self._told else None

    def tend(self) -> None:
        """Ends the series to which nothing was added for long, and writes what was counted."""
        passed = self._clock.now() - self._began
        before, tick = self.next - FINISHED, self._clock.now() - passed % FINISHED
        if tick <= before:
            return
        self.next = tick + FINISHED
        for key, told in [held for held in self._told.items() if held[1].last < tick - FINISHED]:
            self._write(told)
            told.is_over = True
            del self._told[key]
        if passed // REFRESHED > (before - self._began) // REFRESHED:
            for told in self._told.values():
                self._write(told)

    def _write(self, told: Told) -> None:
        """Brings the event up to date; it is made anew where it was forgotten meanwhile."""
        if told.written == told.count:
            return
        row = told.row
        told.written = row.count = told.count
        row.last = told.last
        if self._events.has(row):
            self._events.again(row)
        else:
            self._events.renew(row, self._clock.now())

    def _row(self, about: Record, related: Record | None, type: Type, reason: str, action: str, note: str) -> "_Row":
        return _Row(
            *state(about),
            type,
            reason,
            note,
            self._component,
            action=action,
            instance=self._instance,
            began=self._clock.now(),
            related=None if related is None else _about(related),
        )


class _Counted(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    count: int
    last_observed_time: str


class _Nothing(msgspec.Struct, frozen=True, gc=False):
    """An object without fields."""


_NOTHING: Final = _Nothing()


class _Sections(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """An event but for its metadata."""

    involved_object: Subject
    reason: str
    message: str
    type: str
    event_time: str
    action: str
    reporting_component: str
    reporting_instance: str
    source: _Nothing = _NOTHING
    first_timestamp: None = None
    last_timestamp: None = None
    series: _Counted | msgspec.UnsetType = msgspec.UNSET
    related: Subject | msgspec.UnsetType = msgspec.UNSET


class _Row(Row):
    """A series as its object tells it."""

    action: str = ""
    instance: str = ""
    began: int = 0
    last: int = 0
    count: int = 1
    related: Subject | None = None

    def sections(self) -> _Sections:
        """Its object but for the metadata."""
        counted = _Counted(self.count, _written(self.last)) if self.count > 1 else msgspec.UNSET
        return _Sections(
            self.subject,
            self.reason,
            self.message,
            self.type,
            _written(self.began),
            self.action,
            self.component,
            self.instance,
            series=counted,
            related=msgspec.UNSET if self.related is None else self.related,
        )


def _written(moment: int) -> str:
    """A time as these events carry it: always with six digits behind the second."""
    second, rest = divmod(moment, instant.SECOND)
    return f"{instant.format(second * instant.SECOND)[:-1]}.{rest // _MICROSECOND:06}Z"


def _about(held: Record) -> Subject:
    kind, api_version, namespace, name, uid, version = state(held)
    return Subject(kind, namespace, name, uid, api_version, str(version) if version else "")
