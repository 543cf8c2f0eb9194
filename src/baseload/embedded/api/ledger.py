"""Events that components in this process tell: rows, of which objects are made when somebody reads or watches Events.

Of what happens in a pod's life more than half are its events, and hardly anybody reads them. So an event that is told
is a row, under the name and the uid that its object will have. Before a request for Events is answered, the rows that
it may be about are written; while somebody watches, and a minute after, each is written at its moment. What was told
within an hour is there; what was not goes, most often without having been an object. But for resourceVersions a reader
sees what he would if each were written at its moment, as all are with `writes_every_event`, and in a store that
outlives the process.
"""

from collections import deque
from collections.abc import Callable
from typing import Final

import msgspec

from baseload.embedded.store import names
from baseload.embedded.store.errors import StatusError
from baseload.embedded.store.ports import Clock
from baseload.embedded.store.record import Body, Record
from baseload.embedded.store.resource import Resource
from baseload.embedded.store.store import Store
from baseload.values import instant

KEPT: Final = 3600 * instant.SECOND  # how long an event is there: the API server's --event-ttl
_STAYS: Final = 60 * instant.SECOND  # how long a reader that does not wait for the next event counts as one still
_LONG_AGO: Final = -(1 << 62)


DEFAULT: Final = "default"
"""Where events about what has no namespace are kept"""


class Subject(msgspec.Struct, frozen=True, gc=False, rename="camel", omit_defaults=True):
    """What an event is about."""

    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    api_version: str = ""
    resource_version: str = ""


class Row(msgspec.Struct, gc=False, eq=False):
    """An event, before it is an object and as long as it is one. Its names are those of the event's API."""

    kind: str  # what it is about
    api_version: str
    namespace: str
    name: str
    uid: str
    version: int
    type: str
    reason: str
    message: str
    component: str  # whose event it is
    key: str = ""  # of its object
    number: int = 0  # its uid, not spelled yet
    created: int = 0
    turn: int = 0  # rises with each time that one is told
    record: Record | None = None  # as the ledger has written it
    is_written: bool = False

    @property
    def subject(self) -> Subject:
        """What it is about, as its object tells it."""
        version = str(self.version) if self.version else ""
        return Subject(self.kind, self.namespace, self.name, self.uid, self.api_version, version)

    def sections(self) -> msgspec.Struct:
        """Its object but for the metadata."""
        raise TypeError(f"{type(self).__name__} does not say what its object is like")


State = tuple[str, str, str, str, str, int]
"""Kind, apiVersion, namespace, name, uid and version: how a row begins"""


def state(held: Record) -> State:
    """What a row says of the object that it is about."""
    return held.resource.kind, held.resource.api_version, held.namespace, held.name, held.uid, held.version


class Ledger:
    """The events of one cluster's own components."""

    def __init__(self, store: Store, clock: Clock, event: Resource, namespaces: Resource) -> None:
        self._store, self._clock, self._event = store, clock, event
        self.table = store.table(event)
        self.writes_every_event = store.is_durable
        self.followers: Final[list[Callable[[Row, bool], None]]] = []
        """Told of each event, with whether it is a new one; they may only take a note"""
        self._rows: dict[str, Row] = {}  # by key, in the order in which they were last told
        self._turn = self._waiting = 0  # events told so far; rows that are not written
        self._due: deque[tuple[int, int]] = deque()  # (when to forget, up to which turn)
        self._watched = _LONG_AGO  # when somebody was last seen to watch
        self._last = "", 0, 0  # of the last new row: its object, its moment, what that became
        self._have_ended = False  # namespaces, since that was last looked at
        self._ended = store.subscribe(namespaces, ("marked", "removed"), self._note)

    def begin(self, row: Row, namespace: str, now: int) -> None:
        """A new event, named by the time, or by the next free nanosecond where several fall into one.

        Nothing where the namespace is gone or ends.
        """
        if self._have_ended:
            self._settle()
        about = f"{namespace}/{row.name}"
        last, then, given = self._last
        free = given + 1 if then == now and last == about else now
        records = self.table.records
        while (key := f"{about}.{free:x}") in self._rows or key in records:
            free += 1
        row.key = key
        if self._store.namespaces.takes(namespace):
            self._last = about, now, free
            self._admit(row, now)

    def renew(self, row: Row, now: int) -> None:
        """An event that is not there any more, under its old name."""
        if self._store.namespaces.takes(row.key.partition("/")[0]):
            self._admit(row, now)

    def again(self, row: Row) -> None:
        """More of an event that is there."""
        del self._rows[row.key]
        self._rows[row.key] = row
        self._tell(row, is_new=False)

    def has(self, row: Row) -> bool:
        """Whether an event is still there."""
        self._settle()
        return self._rows.get(row.key) is row and (row.record is None or row.key in self.table.records)

    def wrote(self, record: Record) -> bool:
        """Whether it is the object of an event that is still there, as the ledger left it."""
        row = self._rows.get(record.key)
        return row is not None and row.record is record

    @property
    def unwritten(self) -> int:
        """How many events are no objects yet."""
        self._settle()
        return sum(row.record is None for row in self._rows.values())

    def forget(self, now: int) -> None:
        """Removes what was last told an hour ago, as far as it had been told by the look of then."""
        self._settle()
        self._due.append((now + KEPT, self._turn))
        until = 0
        while self._due[0][0] <= now:
            until = self._due.popleft()[1]
        over: list[Row] = []
        for row in self._rows.values():
            if row.turn > until:
                break
            over.append(row)
        self._drop(over)
        self._store.expire([row.record for row in over if row.record is not None])

    def refresh(self, namespace: str, name: str, is_watch: bool) -> None:
        """For the API: somebody is about to read."""
        self._settle()
        if is_watch:
            self._watched, namespace, name = self._clock.now(), "", ""
        if not self._waiting:
            return
        if name:
            row = self._rows.get(f"{namespace}/{name}")
            rows = [] if row is None else [row]
        else:
            start = f"{namespace}/" if namespace else ""
            rows = [row for row in self._rows.values() if row.key.startswith(start)]
        for row in rows:
            if not row.is_written:
                self._write(row)

    def _admit(self, row: Row, now: int) -> None:
        if (before := self._rows.get(row.key)) is not None:
            self._drop([before])  # its object was deleted
        row.number, row.created, row.record = self._store.new_number(), now, None
        row.is_written = True  # so far there is nothing to write
        self._rows[row.key] = row
        self._tell(row, is_new=True)

    def _tell(self, row: Row, *, is_new: bool) -> None:
        row.turn = self._turn = self._turn + 1
        if row.is_written:
            row.is_written = False
            self._waiting += 1
        for follow in self.followers:
            follow(row, is_new)
        now = self._clock.now()
        if self.table.asleep:
            self._watched = now  # somebody waits for the next event
        if self.writes_every_event or now - self._watched < _STAYS:
            if self._waiting == 1:
                self._write(row)
            else:
                self.refresh("", "", False)

    def _write(self, row: Row) -> None:
        """Makes the object what the row says."""
        row.is_written = True
        self._waiting -= 1
        body = Body(row.sections())
        namespace, _, name = row.key.partition("/")
        try:
            if row.record is None:
                draft = Record(self._event, namespace, name, body=body)
                created = instant.format(row.created // instant.SECOND * instant.SECOND)
                row.record = self._store.create(draft, uid=names.spelled(row.number), created=created)
            else:
                row.record = self._store.change(
                    self._event, namespace, name, lambda held: held.with_body(body), "all", exact=True
                )
        except StatusError:
            return  # a client took its name, or deleted it

    def _drop(self, rows: list[Row]) -> None:
        for row in rows:
            del self._rows[row.key]
            self._waiting -= not row.is_written

    def _note(self) -> None:
        self._have_ended = True

    def _settle(self) -> None:
        """Drops what was told in namespaces that have ended since."""
        if not self._have_ended:
            return
        self._have_ended = False
        ended = {event.record.name for event in self._ended.take()}
        self._drop([row for row in self._rows.values() if row.key.partition("/")[0] in ended])
