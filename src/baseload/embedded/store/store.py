"""The store: tables of objects, written one step at a time, each step one version and one event.

Whatever writes (create, update, change, delete) goes through `_emit`: the table changes, the event joins its log, and
the garbage collector and the namespaces take note. In memory that is also the moment when watchers and subscribers see
it. With a journal, writes are gathered until `commit` makes all of them durable in one transaction; watchers see them
only then, and whoever asked for a write, or read what it left, may be answered only then (`turns` sees to it).

`tidy` does what a controller-manager's garbage collector and namespace controller would, until nothing is left to do.
The store runs in one thread and never waits.
"""

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from baseload.embedded.store import deletion, errors, listing, names, rules, subscription
from baseload.embedded.store import parse as parsing
from baseload.embedded.store.deletion import Options
from baseload.embedded.store.errors import Broken
from baseload.embedded.store.garbage import Garbage
from baseload.embedded.store.listing import Asked, Page
from baseload.embedded.store.log import Event, EventType
from baseload.embedded.store.namespaces import Namespaces
from baseload.embedded.store.ports import Chance, Clock, Journal
from baseload.embedded.store.record import Record, Section, encode
from baseload.embedded.store.resource import Resource
from baseload.embedded.store.rules import Part
from baseload.embedded.store.selection import EVERYTHING, Selection
from baseload.embedded.store.subscription import Subscription, Wants
from baseload.embedded.store.table import Table
from baseload.embedded.store.watch import Watch
from baseload.values import instant

HISTORY: Final = 10_000
JUMP: Final = 10_000  # versions passed over at a restart, so that no version of before is ever given again
_Told = list[tuple[Table, Event]]
_Deleted = list[Record]
_AT_ONCE: Final = 1_000  # writes in one transaction at most


class Removal(NamedTuple):
    """What a delete left: the object in its last or its new state, and whether it is gone."""

    record: Record
    is_gone: bool


class Store:
    """All objects of the kinds it serves. `version` is that of the last write, `published` that of the last shown."""

    def __init__(self, clock: Clock, chance: Chance, *, journal: Journal | None = None, history: int = HISTORY) -> None:
        self._clock, self._chance, self._journal, self._history = clock, chance, journal, history
        self.version = 1 if journal is None else journal.version() + JUMP
        self.published = self.version
        self.on_turn: Callable[[], None] | None = None  # called at the first write after a commit, to note it
        self._is_turn = False  # there was a write since the last commit
        self._tables: dict[Resource, Table] = {}
        self._by_kind: dict[tuple[str, str], Resource] = {}  # (group, kind) -> resource
        self._pending: _Told = []
        self._rows: dict[tuple[str, str], Record | None] = {}
        self._broken: Broken | None = None
        self._is_telling = False
        self._second, self._moment = -1, ""
        self.garbage = Garbage(self)
        self.namespaces = Namespaces(self)
        if journal is not None:
            journal.write((), self.version)

    # -- kinds

    def serve(self, resource: Resource) -> None:
        """Begins to keep a kind; what the journal has of it is there at once."""
        if resource in self._tables:
            return
        self.commit()  # so that the journal has all of it
        table = Table(resource, self.version, self._history)
        if self._journal is not None:
            for key, data in self._journal.load(resource.qualified):
                record = parsing.parse(resource, data)
                table.put(key, record, None)
                self.garbage.loaded(table, key, record)
        self._tables[resource] = table
        self._by_kind[resource.group, resource.kind] = resource
        self.garbage.served()
        self.namespaces.served(table)

    def redefine(self, resource: Resource, new: Resource) -> None:
        """Goes on keeping a kind by other rules, in another version; objects and events stay, watches end."""
        table = self.table(resource)
        table.log.forget_encoded()
        resource.become(new)
        table.definition += 1
        table.wake_all()

    def withdraw(self, resource: Resource) -> None:
        """Removes a kind with all its objects, as the end of a CRD does; finalizers are not asked, watches end."""
        table = self.table(resource)
        for key, record in list(table.records.items()):
            self._remove(table, key, record, record)
        del self._tables[resource], self._by_kind[resource.group, resource.kind]
        self.commit()  # so that watches show the end of all objects before their own
        table.is_withdrawn = True
        table.wake_all()

    @property
    def resources(self) -> Iterable[Resource]:
        return self._tables.keys()

    def resource_of(self, group: str, kind: str) -> Resource | None:
        """The kind of that name, None where it is not served."""
        return self._by_kind.get((group, kind))

    def table(self, resource: Resource) -> Table:
        """The objects of a kind, to read."""
        if self._broken is not None:
            raise self._broken
        return self._tables[resource]

    @property
    def is_durable(self) -> bool:
        """Whether what is written outlives this process."""
        return self._journal is not None

    # -- reading

    def find(self, resource: Resource, namespace: str, name: str) -> Record | None:
        """The object, None where it is not there."""
        if self._broken is not None:
            raise self._broken
        # As Resource.key says; this is asked more often than anything else.
        return self._tables[resource].records.get(f"{namespace}/{name}" if resource.namespaced else name)

    def get(self, resource: Resource, namespace: str, name: str) -> Record:
        record = self.find(resource, namespace, name)
        if record is None:
            raise errors.not_found(resource, name)
        return record

    def list(self, resource: Resource, selection: Selection = EVERYTHING, asked: Asked = listing.ALL) -> Page:
        """A page of objects in the order of their keys, all at one version."""
        return listing.page(self.table(resource), self.version, selection, asked)

    def watch(
        self,
        resource: Resource,
        selection: Selection = EVERYTHING,
        *,
        version: int | None = None,
        initial_events: bool = False,
    ) -> Watch:
        """A cursor on what happens from a version on.

        Without a version, or from 0, the present objects come first. With `initial_events` (a WatchList) they do so
        whatever the version, which then only must not lie ahead, and a bookmark marks their end.
        """
        table = self.table(resource)
        selection.check(resource)
        if version is not None and version > self.version:
            raise errors.too_new(version, self.version)
        if version and not initial_events:
            return Watch(table, selection, self, version, None, mark=False)
        self.commit()  # what is shown first must be as durable as what is shown later
        return Watch(table, selection, self, self.version, list(table.select(selection)), mark=initial_events)

    def subscribe(
        self, resource: Resource, classes: Iterable[str], ring: Callable[[], None], wants: Wants | None = None
    ) -> Subscription:
        """A queue of the events of some classes of change (`Resource.classify`) from now on; `ring` may only note."""
        subscribed = Subscription(classes, ring, wants)
        table = self.table(resource)
        for name in subscribed.classes:
            table.subscriptions.setdefault(name, []).append(subscribed)
        return subscribed

    def unsubscribe(self, resource: Resource, subscribed: Subscription) -> None:
        table = self.table(resource)
        for name in subscribed.classes:
            table.subscriptions[name].remove(subscribed)

    # -- writing

    def new_uid(self) -> str:
        """A uid for an object that is known before it is stored."""
        return names.uid(self._chance)

    def new_number(self) -> int:
        """A uid that is not spelled yet (`names.spelled`): it takes as much of chance as `new_uid`."""
        return self._chance.getrandbits(128)

    def free_name(self, resource: Resource, namespace: str, prefix: str) -> str:
        """A name that begins with the prefix and that no object of the kind has yet."""
        table = self.table(resource)
        for _ in range(names.TRIES):
            name = names.generated(prefix, self._chance)
            if resource.key(namespace, name) not in table.records:
                return name
        raise errors.already_exists(resource, name)

    def create(self, draft: Record, *, uid: str = "", created: str = "", dry_run: bool = False) -> Record:
        """Stores a draft as a new object; its status is stored as it stands, for the caller to clear or to fill in.

        `uid` is one that `new_uid` gave, where something in the draft had to name it; `created` tells of an object
        that is there since before.
        """
        rules.check_create(draft)
        if self._broken is not None:
            raise self._broken
        resource, namespace = draft.resource, draft.namespace
        table = self._tables[resource]
        self.namespaces.check_open(draft)
        name = draft.name or self.free_name(resource, namespace, draft.shared.generate_name)
        key = f"{namespace}/{name}" if resource.namespaced else name
        if (old := table.records.get(key)) is not None:
            raise errors.already_exists(resource, name, is_ending=old.deletion is not None)
        record = Record(
            resource,
            namespace,
            name,
            draft.shared,
            draft.body,
            draft.status,
            draft.node,
            draft.finalizers,
            draft.managed,
            uid or names.uid(self._chance),
            self.version + 1,
            1 if resource.has_generation else 0,
            created or self._now(),
        )
        if dry_run:
            return record.at(0)  # it was never in a version
        self._emit(table, key, "ADDED", record, None)
        return record

    def update(self, draft: Record, part: Part = "main", *, dry_run: bool = False) -> Record:
        """Replaces a part of an object; a draft with uid or version is refused where the object has another one."""
        old = self.get(draft.resource, draft.namespace, draft.name)
        return self._replace(old, draft, part, dry_run)

    def change(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        function: Callable[[Record], Record],
        part: Part = "main",
        *,
        uid: str = "",
        version: int = 0,
        dry_run: bool = False,
        exact: bool = False,
    ) -> Record:
        """Replaces a part of an object by what the function makes of it, in one step; the basis of every patch.

        With `exact` the function gives sections that stay the same as they are, so that they need not be compared.
        """
        old = self.get(resource, namespace, name)
        if uid or version:
            rules.check_preconditions(old, uid, version)
        new = function(old)
        return old if new is old else self._replace(old, new, part, dry_run, exact=exact)

    def tell(self, seen: Record, status: Section, managed: Section, node: str = "") -> Record:
        """Gives the object that was seen another status, as whoever runs it tells: the shortest way of a change.

        With `node` it is on that node from now on, which the generation counts.
        """
        if self._broken is not None:
            raise self._broken
        resource, key = seen.resource, seen.key
        table = self._tables[resource]
        old = table.records.get(key)
        if old is None:
            raise errors.not_found(resource, seen.name)
        if old.uid != seen.uid:
            rules.check_preconditions(old, seen.uid, 0)
        record = Record(
            resource,
            old.namespace,
            old.name,
            old.shared,
            old.body,
            status,
            node or old.node,
            old.finalizers,
            managed,
            old.uid,
            self.version + 1,
            old.generation + (resource.has_generation and bool(node)),
            old.created,
            old.deletion,
        )
        self._emit(table, key, "MODIFIED", record, old)
        return record

    def delete(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        options: Options = deletion.DEFAULT,
        *,
        dry_run: bool = False,
    ) -> Removal:
        """Removes an object, or marks it where grace or finalizers hold it."""
        old = self.get(resource, namespace, name)
        table, key = self._tables[resource], old.key
        if options.uid or options.version:
            deletion.check(old, options)
        new = deletion.marked(old, options, self._clock.now())
        if resource.has_spec_finalizers:
            new = self.namespaces.ended(old, new)
        if deletion.is_over(new):
            last = old if old.deletion is None else new
            return Removal(last if dry_run else self._remove(table, key, old, last), is_gone=True)
        if new is old or dry_run:
            return Removal(new, is_gone=False)
        record = new.at(self.version + 1)
        self._emit(table, key, "MODIFIED", record, old)
        return Removal(record, is_gone=False)

    def delete_collection(
        self, resource: Resource, selection: Selection = EVERYTHING, options: Options = deletion.DEFAULT
    ) -> _Deleted:
        """Deletes all that is selected, one after the other; gives what it deleted."""
        selection.check(resource)
        chosen = list(self.table(resource).select(selection))
        return [self.delete(resource, record.namespace, record.name, options).record for record in chosen]

    def expire(self, records: Iterable[Record]) -> None:
        """Removes objects whose time is over, as etcd does by a lease: those that are still in that very state."""
        for record in records:
            table, key = self._tables[record.resource], record.key
            if table.records.get(key) is record:
                self._remove(table, key, record, record)

    def tidy(self) -> int:
        """Collects garbage and empties ending namespaces until nothing is left to do; how many writes that took."""
        if not self.garbage.doubtful and not self.namespaces.ending:
            return 0
        before = self.version
        while self.garbage.run() or self.namespaces.run():
            pass
        return self.version - before

    def commit(self) -> None:
        """Makes every write so far durable, then shows it; without a journal all of that was done at once."""
        if self._broken is not None:
            raise self._broken
        self._is_turn = False
        if self._journal is None or not self._pending:
            return
        rows = [(*at, None if record is None else encode(record)) for at, record in self._rows.items()]
        try:
            self._journal.write(rows, self.version)
        except Broken as error:
            self._broken = error
            raise
        pending, self._pending, self._rows = self._pending, [], {}
        self.published = self.version
        self._show(pending)

    # -- the step

    def _replace(self, old: Record, new: Record, part: Part, dry_run: bool, *, exact: bool = False) -> Record:
        rules.check_update(old, new)
        record = rules.merged(old, new, part, self.version + 1, exact=exact)
        if record is old or dry_run:
            return record
        table, key = self._tables[old.resource], old.key
        if record.deletion is not None and deletion.is_over(record):
            return self._remove(table, key, old, record)
        self._emit(table, key, "MODIFIED", record, old)
        return record

    def _remove(self, table: Table, key: str, old: Record, last: Record) -> Record:
        record = last.at(self.version + 1)
        self._emit(table, key, "DELETED", record, old)
        return record

    def _emit(self, table: Table, key: str, type: EventType, record: Record, old: Record | None) -> None:
        if self._is_telling:
            raise RuntimeError("a bell or a wake-up call wrote to the store: it may only take a note")
        event = Event(type, record.version, record, old)
        self.version = record.version
        if type == "DELETED":
            assert old is not None
            table.remove(key, old)
        else:
            table.put(key, record, old)
        if (
            record.deletion is not None
            or type == "DELETED"
            or (record.shared.owners if old is None else old.shared is not record.shared)
        ):
            self.garbage.note(event, key)
        if self.namespaces.ending or table.resource.has_spec_finalizers:
            self.namespaces.note(event)
        if self._journal is None:
            self.published = record.version
            table.log.tell(event)
            if table.subscriptions or table.asleep:
                self._tell(table, event)
        else:
            table.log.append(event)
            self._keep(table, key, event)
        if not self._is_turn:
            self._is_turn = True
            if self.on_turn is not None:
                self.on_turn()

    def _keep(self, table: Table, key: str, event: Event) -> None:
        self._rows[table.resource.qualified, key] = None if event.type == "DELETED" else event.record
        self._pending.append((table, event))
        if len(self._pending) >= min(_AT_ONCE, self._history):
            self.commit()

    def _show(self, told: _Told) -> None:
        self._is_telling = True
        try:
            changed = dict.fromkeys(table for table, _ in told)
            for table in changed:
                table.log.show()
            for table, event in told:
                if table.subscriptions:
                    subscription.note(event, table.subscriptions.get(table.resource.classify(event), ()))
            for table in changed:
                table.wake_all()
        finally:
            self._is_telling = False

    def _tell(self, table: Table, event: Event) -> None:
        """Shows one event, which its log shows already, in a store without a journal."""
        subscribed = table.subscriptions.get(table.resource.classify(event), ()) if table.subscriptions else ()
        if not subscribed and not table.asleep:
            return
        self._is_telling = True
        try:
            subscription.note(event, subscribed)
            if table.asleep:
                sleepers, table.asleep = table.asleep, {}
                for wake in sleepers.values():
                    wake()
        finally:
            self._is_telling = False

    def _now(self) -> str:
        second = self._clock.now() // instant.SECOND
        if second != self._second:
            self._second, self._moment = second, instant.format(second * instant.SECOND)
        return self._moment
