"""Events, as client-go records them: equal ones are counted in one object, too many of one source are kept back.

The limits are client-go's own (tools/record): 25 events of one source about one object at once, then one in 5 minutes;
after 10 that differ in their message alone within 10 minutes, the next ones are told together. The API server forgets
an event an hour after it was last told, or up to a minute later, as its leases have it: `Forgetting` does that.

What a source remembers is kept no longer than it can matter, the longest unused first to go.
"""

from collections import OrderedDict, deque
from typing import Final, Literal

import msgspec

from baseload.embedded.actors.client import ActorClient
from baseload.embedded.store.errors import AlreadyExists, StatusError
from baseload.embedded.store.log import Event
from baseload.embedded.store.record import Body, Record
from baseload.values import instant
from baseload.values.clock import Clock

Type = Literal["Normal", "Warning"]

BURST: Final = 25  # events about one object at once
REFILL: Final = 300 * instant.SECOND  # until one more is let through
SIMILAR: Final = 10  # events that differ in their message alone, before they are told together
SIMILAR_WITHIN: Final = 600 * instant.SECOND
KEPT: Final = 3600 * instant.SECOND  # how long an event is there: the API server's --event-ttl
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

    type: str
    reason: str
    message: str  # _TOGETHER for those that are told together
    at: int  # when it was last told
    name: str = ""
    first: str = ""
    count: int = 0
    is_counted: bool = True  # among the messages that are alike but for themselves


class _Memory(msgspec.Struct, gc=False):
    """What a source remembers of one object."""

    tokens: int  # how many events it may still tell of it
    since: int  # when the last token came back
    until: int = 0  # from when on nothing of this matters any more
    told: tuple[_Told, ...] = ()  # few, so that looking through them is quick and room is saved

    def meant(self, type: str, reason: str, message: str, now: int) -> _Told:
        """What an event is counted in."""
        alike = [one for one in self.told if one.reason == reason and one.type == type]
        if alike and now - max([one.at for one in alike]) > SIMILAR_WITHIN:
            for one in alike:
                one.is_counted = False
        known = next((one for one in alike if one.message == message), None)
        if known is None or not known.is_counted:
            counted = sum([one.is_counted and one.message != _TOGETHER for one in alike])
            if counted >= SIMILAR - 1:
                known = next((one for one in alike if one.message == _TOGETHER), None)
                message = _TOGETHER
        if known is None:
            known = _Told(type, reason, message, now)
            # Events that are gone by now are not folded into any more.
            self.told = (*(one for one in self.told if now - one.at <= KEPT), known)
        known.at, known.is_counted = now, True
        return known


class Recorder:
    """The events of one component; `host` is the node that it runs on."""

    def __init__(self, client: ActorClient, component: str, host: str = "") -> None:
        self._client, self._component, self._host = client, component, host
        self._source = _Source(component, host)
        self._event = client.resource("", "Event")
        self._memories: OrderedDict[str, _Memory] = OrderedDict()  # by uid, the longest unused first
        self._about: tuple[Record, _Subject] | None = None  # what was told of last
        self._last = "", "", 0, 0  # of the last event: namespace, name of its object, moment, what that became

    def record(self, regarding: Record, type: Type, reason: str, message: str) -> None:
        """Tells one thing about an object; nothing where its namespace is gone or ends, as for client-go."""
        now = self._client.cluster.clock.now()
        memory = self._remembered(regarding.uid or regarding.name, now)
        told = memory.meant(type, reason, message, now)
        if memory.tokens <= 0:
            return
        memory.tokens -= 1
        namespace = regarding.namespace or _DEFAULT
        if told.name and self._client.store.find(self._event, namespace, told.name) is not None:
            told.count += 1
        else:
            told.name, told.first, told.count = "", self._client.now(), 1
        self._write(regarding, told, namespace, message if told.message != _TOGETHER else _TOGETHER + message, now)

    def _remembered(self, about: str, now: int) -> _Memory:
        """What is remembered of an object, which is the last that was used from now on."""
        known = self._memories
        memory = known.get(about)
        if memory is None:
            while known:
                oldest = next(iter(known))
                if len(known) < _REMEMBERED and known[oldest].until > now:
                    break
                del known[oldest]
            memory = known[about] = _Memory(BURST, now)
        else:
            known.move_to_end(about)
            if now - memory.since >= REFILL:
                back = (now - memory.since) // REFILL
                memory.tokens, memory.since = min(BURST, memory.tokens + back), memory.since + back * REFILL
        memory.until = now + max(KEPT, (BURST - memory.tokens) * REFILL)
        return memory

    def forget(self, about: Record) -> None:
        """Nothing more will be told of an object."""
        self._memories.pop(about.uid, None)

    def _write(self, regarding: Record, told: _Told, namespace: str, message: str, now: int) -> None:
        sections = _Sections(
            self._subject(regarding),
            told.reason,
            message,
            self._source,
            told.first,
            self._client.now(),
            told.count,
            told.type,
            None,
            self._component,
            self._host,
        )
        body = Body(sections)
        try:
            if not told.name:
                told.name = self._create(namespace, regarding.name, body, now)
            else:
                self._client.store.change(
                    self._event, namespace, told.name, lambda held: held.with_body(body), "all", exact=True
                )
        except StatusError:
            return

    def _subject(self, regarding: Record) -> _Subject:
        """What an event is about; one for all events that are told of an object in one state."""
        if self._about is None or self._about[0] is not regarding:
            resource = regarding.resource
            subject = _Subject(
                resource.kind,
                regarding.namespace,
                regarding.name,
                regarding.uid,
                resource.api_version,
                str(regarding.version),
            )
            self._about = regarding, subject
        return self._about[1]

    def _create(self, namespace: str, about: str, body: Body, now: int) -> str:
        """Creates an event, named by the time, or by the next free nanosecond where several fall into one."""
        free = self._last[3] + 1 if self._last[:3] == (namespace, about, now) else now
        while True:
            self._last = namespace, about, now, free
            try:
                return self._client.store.create(Record(self._event, namespace, f"{about}.{free:x}", body=body)).name
            except AlreadyExists:
                free += 1


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
