"""Events, as client-go records them: equal ones are counted in one object, too many of one source are kept back.

The limits are client-go's own (tools/record): 25 events of one source about one object at once, then one in 5 minutes;
after 10 that differ in their message alone within 10 minutes, the next ones are told together. The API server forgets
an event after an hour, which `Forgetting` does.
"""

from collections import deque
from dataclasses import dataclass
from typing import Final, Literal, TypeVar

import msgspec

from baseload.embedded.actors.client import ActorClient
from baseload.embedded.store import record as records
from baseload.embedded.store.errors import StatusError
from baseload.embedded.store.record import Record
from baseload.values import instant
from baseload.values.clock import Clock

K = TypeVar("K")
V = TypeVar("V")
_Key = tuple[str, ...]
Type = Literal["Normal", "Warning"]

BURST: Final = 25  # events about one object at once
REFILL: Final = 300 * instant.SECOND  # until one more is let through
SIMILAR: Final = 10  # events that differ in their message alone, before they are told together
SIMILAR_WITHIN: Final = 600 * instant.SECOND
KEPT: Final = 3600 * instant.SECOND  # how long an event is there: the API server's --event-ttl
_REMEMBERED: Final = 4096  # events and sources, as client-go's caches
_TOGETHER: Final = "(combined from similar events): "
_DEFAULT: Final = "default"  # where events about what has no namespace are kept


@dataclass(slots=True)
class _Told:
    """An event object that further equal ones are counted in."""

    key: tuple[str, str]  # namespace, name
    first: str
    count: int


@dataclass(slots=True)
class _Budget:
    """What one source may still say about one object."""

    tokens: int
    since: int  # when the last token came back


@dataclass(slots=True)
class _Similar:
    since: int
    messages: dict[str, None]


class Recorder:
    """The events of one component; `host` is the node that it runs on."""

    def __init__(self, client: ActorClient, component: str, host: str = "") -> None:
        self._client, self._component, self._host = client, component, host
        self._event = client.resource("", "Event")
        self._told: dict[_Key, _Told] = {}
        self._budgets: dict[str, _Budget] = {}
        self._similar: dict[_Key, _Similar] = {}

    def record(self, regarding: Record, type: Type, reason: str, message: str) -> None:
        """Tells one thing about an object; nothing where its namespace is gone or ends, as for client-go."""
        now = self._client.cluster.clock.now()
        key, message = self._combined((regarding.uid, type, reason), message, now)
        if not self._is_let_through(regarding.uid or regarding.name, now):
            return
        told = self._told.get(key)
        if told is not None and self._client.store.find(self._event, *told.key) is not None:
            told.count += 1
        else:
            namespace = regarding.namespace or _DEFAULT
            told = _Told((namespace, self._name(namespace, regarding.name, now)), self._client.now(), 1)
            _put(self._told, key, told)
        self._write(regarding, told, type, reason, message)

    def _write(self, regarding: Record, told: _Told, type: Type, reason: str, message: str) -> None:
        resource, store = regarding.resource, self._client.store
        about = {
            "kind": resource.kind,
            "namespace": regarding.namespace,
            "name": regarding.name,
            "uid": regarding.uid,
            "apiVersion": resource.api_version,
            "resourceVersion": str(regarding.version),
        }
        source = {"component": self._component, **({"host": self._host} if self._host else {})}
        tree = {
            "involvedObject": {key: value for key, value in about.items() if value},
            "reason": reason,
            "message": message,
            "source": source,
            "firstTimestamp": told.first,
            "lastTimestamp": self._client.now(),
            "count": told.count,
            "type": type,
            "eventTime": None,
            "reportingComponent": self._component,
            "reportingInstance": self._host,
        }
        body = records.body(msgspec.json.encode(tree)[1:-1])
        try:
            if told.count == 1:
                store.create(Record(self._event, *told.key, body=body))
            else:
                store.change(self._event, *told.key, lambda held: held.with_body(body), "all", exact=True)
        except StatusError:
            return

    def _name(self, namespace: str, about: str, now: int) -> str:
        """A name by the time, and by the next free nanosecond where several events fall into one."""
        while self._client.store.find(self._event, namespace, f"{about}.{now:x}") is not None:
            now += 1
        return f"{about}.{now:x}"

    def _is_let_through(self, about: str, now: int) -> bool:
        budget = self._budgets.get(about)
        if budget is None:
            budget = _Budget(BURST, now)
            _put(self._budgets, about, budget)
        back = (now - budget.since) // REFILL
        budget.tokens, budget.since = min(BURST, budget.tokens + back), budget.since + back * REFILL
        if budget.tokens <= 0:
            return False
        budget.tokens -= 1
        return True

    def _combined(self, what: _Key, message: str, now: int) -> tuple[_Key, str]:
        """What the event is counted by, and its message."""
        similar = self._similar.get(what)
        if similar is None or now - similar.since > SIMILAR_WITHIN:
            similar = _Similar(now, {})
            _put(self._similar, what, similar)
        similar.since = now
        similar.messages[message] = None
        if len(similar.messages) < SIMILAR:
            return (*what, message), message
        del similar.messages[message]
        return what, _TOGETHER + message


class Forgetting:
    """Removes events an hour after they were last told, as the API server's leases do."""

    def __init__(self, client: ActorClient, clock: Clock) -> None:
        self._client, self._clock = client, clock
        self._bell = clock.bell()
        self._told = client.subscribe("", "Event", ("added", "spec"), self._bell.ring)
        self._due: deque[tuple[int, Record]] = deque()

    async def run(self) -> None:
        """Forgets until the end."""
        self._due.extend((self._clock.now() + KEPT, held) for held in self._client.records("", "Event").values())
        while True:
            await self._bell.wait(self._wait())
            self._due.extend((self._clock.now() + KEPT, event.record) for event in self._told.take())
            self._forget(self._clock.now())

    def _wait(self) -> float:
        return (self._due[0][0] - self._clock.now()) / instant.SECOND if self._due else KEPT / instant.SECOND

    def _forget(self, now: int) -> None:
        while self._due and self._due[0][0] <= now:
            _, told = self._due.popleft()
            held = self._client.store.find(told.resource, told.namespace, told.name)
            if held is not None and held.version == told.version:
                self._client.delete(held)


def _put(known: dict[K, V], key: K, value: V) -> None:
    if len(known) >= _REMEMBERED:
        del known[next(iter(known))]
    known[key] = value
