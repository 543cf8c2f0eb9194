"""Events, as client-go records them: equal ones are counted in one object, too many of one source are kept back.

An event is a row of the cluster's ledger (`api.ledger`), which makes an object of it when somebody reads.
The limits are client-go's own (tools/record): 25 events of one source about one object at once, then one in 5 minutes;
after 10 that differ in their message alone within 10 minutes, the next ones are told together. The API server forgets
an event an hour after it was last told, or up to a minute later, as its leases have it: `Forgetting` does that.

What a source remembers is kept no longer than it can matter, the longest unused first to go.
"""

from collections import OrderedDict, deque
from typing import Final, Literal

import msgspec

from baseload.embedded.actors.client import ActorClient
from baseload.embedded.api.ledger import DEFAULT, KEPT, Row, Subject, state
from baseload.embedded.store.record import Record
from baseload.values import instant
from baseload.values.clock import Clock

Type = Literal["Normal", "Warning"]

BURST: Final = 25  # events about one object at once
REFILL: Final = 300 * instant.SECOND  # until one more is let through
SIMILAR: Final = 10  # events that differ in their message alone, before they are told together
SIMILAR_WITHIN: Final = 600 * instant.SECOND
FORGOTTEN_EVERY: Final = 60.0  # seconds; as long events share a lease with those before them
_REMEMBERED: Final = 4096  # objects of one source, as in client-go's caches
_TOGETHER: Final = "(combined from similar events): "


class Source(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Who tells, and where that runs."""

    component: str = ""
    host: str = ""


class _Sections(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """An event but for its metadata."""

    involved_object: Subject
    reason: str
    message: str
    source: Source
    first_timestamp: str
    last_timestamp: str
    count: int
    type: str
    event_time: None
    reporting_component: str
    reporting_instance: str


class Counted(Row):
    """An event in which further equal ones are counted."""

    source: Source = Source()
    first: int = 0
    last: int = 0
    count: int = 1

    def sections(self) -> _Sections:
        """Its object but for the metadata."""
        return _Sections(
            self.subject,
            self.reason,
            self.message,
            self.source,
            _second(self.first),
            _second(self.last),
            self.count,
            self.type,
            None,
            self.source.component,
            self.source.host,
        )


def _second(moment: int) -> str:
    return instant.format(moment // instant.SECOND * instant.SECOND)


class _Told(msgspec.Struct, gc=False):
    """What was told, in whose event further equal ones are counted."""

    type: str
    reason: str
    message: str  # _TOGETHER for those that are told together
    at: int  # when it was last told
    row: Counted | None = None
    is_counted: bool = True  # among the messages that are alike but for themselves


class _Memory(msgspec.Struct, gc=False):
    """What a source remembers of one object."""

    tokens: int  # how many events it may still tell of it
    since: int  # when the last token came back
    until: int = 0  # from when on nothing of this matters any more
    told: tuple[_Told, ...] = ()  # few, so that looking through them is quick and room is saved

    def meant(self, type: str, reason: str, message: str, now: int) -> _Told:
        """What an event is counted in."""
        for one in self.told:
            if one.reason == reason and one.type == type:
                return self._among_alike(type, reason, message, now)
        return self._another(type, reason, message, now)

    def refill(self, now: int) -> None:
        """Tokens come back with time."""
        back = (now - self.since) // REFILL
        self.tokens, self.since = min(BURST, self.tokens + back), self.since + back * REFILL

    def _among_alike(self, type: str, reason: str, message: str, now: int) -> _Told:
        """What an event is counted in, where others of its type and reason were told."""
        alike = [one for one in self.told if one.reason == reason and one.type == type]
        if now - max([one.at for one in alike]) > SIMILAR_WITHIN:
            for one in alike:
                one.is_counted = False
        known = next((one for one in alike if one.message == message), None)
        if known is None or not known.is_counted:
            counted = sum([one.is_counted and one.message != _TOGETHER for one in alike])
            if counted >= SIMILAR - 1:
                known = next((one for one in alike if one.message == _TOGETHER), None)
                message = _TOGETHER
        if known is None:
            return self._another(type, reason, message, now)
        known.at, known.is_counted = now, True
        return known

    def _another(self, type: str, reason: str, message: str, now: int) -> _Told:
        known = _Told(type, reason, message, now)
        # Events that are gone by now are not folded into any more.
        self.told = (*[one for one in self.told if now - one.at <= KEPT], known) if self.told else (known,)
        return known


class Recorder:
    """The events of one component; `host` is the node that it runs on."""

    def __init__(self, client: ActorClient, component: str, host: str = "") -> None:
        self._events, self._clock = client.cluster.events, client.cluster.clock
        self._source = Source(component, host)
        self._memories: OrderedDict[str, _Memory] = OrderedDict()  # by uid, the longest unused first

    def record(self, regarding: Record, type: Type, reason: str, message: str) -> None:
        """Tells one thing about an object; nothing where its namespace is gone or ends, as for client-go."""
        now = self._clock.now()
        about = regarding.uid or regarding.name
        memory = self._memories.get(about)
        if memory is None:
            memory = self._first(about, now)
        else:
            self._memories.move_to_end(about)
            if now - memory.since >= REFILL:
                memory.refill(now)
        refilled = (BURST - memory.tokens) * REFILL
        memory.until = now + (refilled if refilled > KEPT else KEPT)
        told = memory.meant(type, reason, message, now)
        if memory.tokens <= 0:
            return
        memory.tokens -= 1
        if told.message == _TOGETHER:
            message = _TOGETHER + message
        row = told.row
        if row is not None and self._events.has(row):
            row.uid, row.version, row.message = regarding.uid, regarding.version, message
            row.last, row.count = now, row.count + 1
            self._events.again(row)
            return
        told.row = self._counted(regarding, type, reason, message, now)
        self._events.begin(told.row, regarding.namespace or DEFAULT, now)

    def _counted(self, about: Record, type: Type, reason: str, message: str, now: int) -> Counted:
        return Counted(
            *state(about),
            type,
            reason,
            message,
            self._source.component,
            source=self._source,
            first=now,
            last=now,
        )

    def _first(self, about: str, now: int) -> _Memory:
        """Begins to remember an object, and forgets what matters no longer."""
        known = self._memories
        while known:
            oldest = next(iter(known))
            if len(known) < _REMEMBERED and known[oldest].until > now:
                break
            del known[oldest]
        memory = known[about] = _Memory(BURST, now)
        return memory

    def forget(self, about: Record) -> None:
        """Nothing more will be told of an object."""
        self._memories.pop(about.uid, None)


class Forgetting:
    """Removes events an hour after they were last told, as the API server's leases do.

    Those that this process tells are the ledger's; the others are objects from the beginning.
    """

    def __init__(self, client: ActorClient, clock: Clock) -> None:
        self._client, self._clock, self._events = client, clock, client.cluster.events
        self._told = client.subscribe("", "Event", ("added", "spec"), _nothing)
        self._due: deque[tuple[int, list[Record]]] = deque()

    async def run(self) -> None:
        """Forgets until the end."""
        held = list(self._client.store.table(self._client.resource("", "Event")).records.values())
        self._due.append((self._clock.now() + KEPT, held))
        while True:
            await self._clock.sleep(FORGOTTEN_EVERY)
            now = self._clock.now()
            told = self._told.take()
            if told:
                self._due.append((now + KEPT, [event.record for event in told]))
            self._events.forget(now)
            while self._due and self._due[0][0] <= now:
                over = self._due.popleft()[1]
                self._client.store.expire([record for record in over if not self._events.wrote(record)])


def _nothing() -> None:
    """It looks each minute, not when something happens."""
