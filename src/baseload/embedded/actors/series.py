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
from baseload.embedded.store import record as records
from baseload.embedded.store.errors import StatusError
from baseload.embedded.store.record import Record
from baseload.values import instant

FINISHED: Final = 360 * instant.SECOND  # without another one; looked for as often
REFRESHED: Final = 1800 * instant.SECOND
_MICROSECOND: Final = 1000
_DEFAULT: Final = "default"  # where events about what has no namespace are kept
_Key = tuple[str, int, str, str, str]


class Told(msgspec.Struct, gc=False, eq=False):
    """A series, or what may become one."""

    regarding: Record
    related: Record | None
    type: Type
    reason: str
    action: str
    note: str
    name: str
    began: str
    last: int
    """When the last one was told"""
    count: int = 1
    written: int = 0
    """The count that its object has"""
    is_over: bool = False

    @property
    def namespace(self) -> str:
        return self.regarding.namespace or _DEFAULT


class Series:
    """The events of one component; `host` is the node that it runs on."""

    def __init__(self, client: ActorClient, component: str, host: str = "control-plane") -> None:
        self._client, self._component, self._instance = client, component, f"{component}-{host}"
        self._event: Final = client.resource("", "Event")
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
        name = f"{regarding.name}.{now:x}"
        told = self._told[key] = Told(regarding, related, type, reason, action, note, name, self._written(now), now)
        self._write(told)
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
        """Brings the object up to date; it is made anew where it was forgotten meanwhile."""
        if told.written == told.count:
            return
        store, is_first = self._client.store, not told.written
        told.written = told.count
        body = records.Body(msgspec.json.encode(self._sections(told))[1:-1])
        if is_first:
            self._create(told, body)
            return
        try:
            if store.find(self._event, told.namespace, told.name) is None:
                store.create(Record(self._event, told.namespace, told.name, body=body))
            else:
                held = self._event, told.namespace, told.name
                store.change(*held, lambda old: old.with_body(body), "all", exact=True)
        except StatusError:
            return

    def _create(self, told: Told, body: records.Body) -> None:
        """A new object, under a name by the time: by the next free nanosecond where several fall into one."""
        while True:
            try:
                self._client.store.create(Record(self._event, told.namespace, told.name, body=body))
                return
            except StatusError:
                if self._client.store.find(self._event, told.namespace, told.name) is None:
                    return  # its namespace takes none
                prefix, _, moment = told.name.rpartition(".")
                told.name = f"{prefix}.{int(moment, 16) + 1:x}"

    def _sections(self, told: Told) -> "_Sections":
        counted = _Counted(told.count, self._written(told.last)) if told.count > 1 else msgspec.UNSET
        return _Sections(
            _about(told.regarding),
            told.reason,
            told.note,
            told.type,
            told.began,
            told.action,
            self._component,
            self._instance,
            series=counted,
            related=msgspec.UNSET if told.related is None else _about(told.related),
        )

    def _written(self, moment: int) -> str:
        """A time as these events carry it: always with six digits behind the second."""
        second, rest = divmod(moment, instant.SECOND)
        now = self._clock.now() // instant.SECOND == second
        text = self._client.now() if now else instant.format(second * instant.SECOND)
        return f"{text[:-1]}.{rest // _MICROSECOND:06}Z"


class _Subject(msgspec.Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """What an event is about."""

    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    api_version: str = ""
    resource_version: str = ""


class _Counted(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    count: int
    last_observed_time: str


class _Nothing(msgspec.Struct, frozen=True, gc=False):
    """An object without fields."""


_NOTHING: Final = _Nothing()


class _Sections(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """An event but for its metadata."""

    involved_object: _Subject
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
    related: _Subject | msgspec.UnsetType = msgspec.UNSET


def _about(held: Record) -> _Subject:
    resource = held.resource
    return _Subject(
        resource.kind,
        held.namespace,
        held.name,
        held.uid,
        resource.api_version,
        str(held.version) if held.version else "",
    )
