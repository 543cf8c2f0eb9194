"""Events, as client-go records them: equal ones are counted in one object, too many of one source are kept back.

The limits are client-go's own (tools/record): 25 events of one source about one object at once, then one in 5 minutes;
after 10 that differ in their message alone within 10 minutes, the next ones are told together. The API server forgets
an event an hour after it was last told, or up to a minute later, as its leases have it: `Forgetting` does that.

What a source remembers is kept no longer than it can matter, the longest unused first to go.
"""

from collections import deque
from typing import Final, Literal

import msgspec

from baseload.embedded.actors.client import ActorClient
from baseload.embedded.store import record as records
from baseload.embedded.store.errors import StatusError
from baseload.embedded.store.log import Event
from baseload.embedded.store.record import Record
from baseload.values import instant
from baseload.values.clock import Clock

Type = Literal["Normal", "Warning"]

BURST: Final = 25  # events about one object at once
REFILL: Final = 300 * instant.SECOND  # until one more is let through
SIMILAR: Final = 10  # events that differ in their message alone, before they are told together
SIMILAR_WITHIN: Final = 600 * instant.SECOND
KEPT: Final = 3600 * instant.SECOND  # how long an event is there: the API server's --event-ttl
_MATTERS: Final = BURST * REFILL  # as long as the longest of all these: until every token has come back
FORGOTTEN_EVERY: Final = 60.0  # seconds; as long events share a lease with those before them
_REMEMBERED: Final = 4096  # objects of one source, as in client-go's caches
_TOGETHER: Final = "(combined from similar events): "
_DEFAULT: Final = "default"  # where events about what has no namespace are kept


class _Subject(msgspec.Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """What an event is about."""

    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    api_version: str = ""
    resource_version: str = ""


class _Source(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    component: str = ""
    host: str = ""


class _Sections(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """An event but for its metadata."""

    involved_object: _Subject
    reason: str
    message: str
    source: _Source
    first_timestamp: str
    last_timestamp: str
    count: int
    type: str
    event_time: None
    reporting_component: str
    reporting_instance: str


class _Told(msgspec.Struct, gc=False):
    """An event object that further equal ones are counted in."""

    namespace: str
    name: str
    first: str
    count: int


class _Similar(msgspec.Struct, gc=False):
    """Events that differ in their message alone."""

    since: int
    messages: tuple[str, ...]


class _Memory(msgspec.Struct, gc=False):
    """What a source remembers of one object."""

    tokens: int  # how many events it may still tell of it
    since: int  # when the last token came back
    until: int = 0  # from when on nothing of this matters any more
    similar: dict[tuple[str, str], _Similar] = {}
    told: dict[tuple[str, ...], _Told] = {}


class Recorder:
    """The events of one component; `host` is the node that it runs on."""

    def __init__(self, client: ActorClient, component: str, host: str = "") -> None:
        self._client, self._component, self._host = client, component, host
        self._source = _Source(component, host)
        self._event = client.resource("", "Event")
        self._memories: dict[str, _Memory] = {}  # by uid, the longest unused first
        self._named: tuple[str, str, int, int] = "", "", 0, 0  # namespace, about, moment, and what it became

    def record(self, regarding: Record, type: Type, reason: str, message: str) -> None:
        """Tells one thing about an object; nothing where its namespace is gone or ends, as for client-go."""
        now = self._client.cluster.clock.now()
        memory = self._remembered(regarding.uid or regarding.name, now)
        key, message = _combined(memory, (type, reason), message, now)
        if memory.tokens <= 0:
            return
        memory.tokens -= 1
        told = memory.told.get(key)
        if told is not None and self._client.store.find(self._event, told.namespace, told.name) is not None:
            told.count += 1
        else:
            namespace = regarding.namespace or _DEFAULT
            told = _Told(namespace, self._name(namespace, regarding.name, now), self._client.now(), 1)
            memory.told[key] = told
        self._write(regarding, told, type, reason, message)

    def _remembered(self, about: str, now: int) -> _Memory:
        """What is remembered of an object, which is the last that was used from now on."""
        known = self._memories
        memory = known.pop(about, None)
        if memory is None:
            memory = _Memory(BURST, now)
            while known:
                oldest = next(iter(known))
                if len(known) < _REMEMBERED and known[oldest].until > now:
                    break
                del known[oldest]
        elif now - memory.since >= REFILL:
            back = (now - memory.since) // REFILL
            memory.tokens, memory.since = min(BURST, memory.tokens + back), memory.since + back * REFILL
        memory.until = now + _MATTERS
        known[about] = memory
        return memory

    def _write(self, regarding: Record, told: _Told, type: Type, reason: str, message: str) -> None:
        resource, store = regarding.resource, self._client.store
        sections = _Sections(
            _Subject(
                resource.kind,
                regarding.namespace,
                regarding.name,
                regarding.uid,
                resource.api_version,
                str(regarding.version),
            ),
            reason,
            message,
            self._source,
            told.first,
            self._client.now(),
            told.count,
            type,
            None,
            self._component,
            self._host,
        )
        # No other object says the same, so its sections are not kept to be shared.
        body = records.Body(msgspec.json.encode(sections)[1:-1])
        try:
            if told.count == 1:
                store.create(Record(self._event, told.namespace, told.name, body=body))
            else:
                change = store.change
                change(self._event, told.namespace, told.name, lambda held: held.with_body(body), "all", exact=True)
        except StatusError:
            return

    def _name(self, namespace: str, about: str, now: int) -> str:
        """A name by the time, and by the next free nanosecond where several events fall into one."""
        free = now
        if self._named[:3] == (namespace, about, now):
            free = self._named[3] + 1
        while self._client.store.find(self._event, namespace, f"{about}.{free:x}") is not None:
            free += 1
        self._named = namespace, about, now, free
        return f"{about}.{free:x}"


def _combined(memory: _Memory, what: tuple[str, str], message: str, now: int) -> tuple[tuple[str, ...], str]:
    """What the event is counted by, and its message."""
    similar = memory.similar.get(what)
    if similar is None or now - similar.since > SIMILAR_WITHIN:
        memory.similar[what] = _Similar(now, (message,))
        return (*what, message), message
    similar.since = now
    if message not in similar.messages:
        if len(similar.messages) >= SIMILAR - 1:
            return what, _TOGETHER + message
        similar.messages = (*similar.messages, message)
    return (*what, message), message


class Forgetting:
    """Removes events an hour after they were last told, as the API server's leases do."""

    def __init__(self, client: ActorClient, clock: Clock) -> None:
        self._client, self._clock = client, clock
        self._told = client.subscribe("", "Event", ("added", "spec"), _nothing)
        self._due: deque[tuple[int, list[Event]]] = deque()

    async def run(self) -> None:
        """Forgets until the end."""
        held = [Event("ADDED", one.version, one, None) for one in self._client.records("", "Event").values()]
        self._due.append((self._clock.now() + KEPT, held))
        while True:
            await self._clock.sleep(FORGOTTEN_EVERY)
            now = self._clock.now()
            told = self._told.take()
            if told:
                self._due.append((now + KEPT, told))
            while self._due and self._due[0][0] <= now:
                self._client.store.expire([event.record for event in self._due.popleft()[1]])


def _nothing() -> None:
    """It looks each minute, not when something happens."""
