"""The store against a plain model of it: a dict of what each object should be, and a copy of it for each version.

Writers create, update by a version that they remember, change, mark and release objects. Meanwhile informers follow
watches from any start with any selection, lists are paged through, and where the store is durable it is committed, or
stopped and opened again. Whatever the order:

* a write on an object's present version succeeds, one on another is a Conflict, and nothing else changes;
* an informer sees versions that strictly rise, none that is not committed, and ends equal to a list;
* the pages of one list show each object once, all at one version;
* any version that is still held can be listed as it was;
* what is opened again is what was committed.
"""

from collections.abc import Sequence

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec.structs import replace

from baseload.embedded.store.errors import AlreadyExists, Conflict, Gone, NotFound
from baseload.embedded.store.listing import Asked
from baseload.embedded.store.record import Record
from baseload.embedded.store.selection import EVERYTHING, Selection
from baseload.embedded.store.watch import Watch
from baseload.values import selector
from tests.embedded.store import kinds
from tests.embedded.store.kinds import CONFIG_MAP, Store
from tests.embedded.store.memory import MemoryJournal

State = dict[str, tuple[int, str, str]]
"""key -> (version, label app, value)"""

HISTORY = 12
NAMES = st.sampled_from(["a", "b", "c", "d-0", "d.1"])
NAMESPACES = st.sampled_from(["x", "x-y"])
APPS = st.sampled_from(["web", "db"])
SELECTIONS = st.sampled_from(
    [
        EVERYTHING,
        Selection("x"),
        Selection(labels=selector.parse("app=web")),
        Selection("x-y", selector.parse("app!=web")),
        Selection("x", fields=selector.parse_fields("metadata.name=a")),
        Selection(fields=selector.parse_fields("metadata.name!=b,metadata.namespace=x")),
    ]
)


def state(records: Sequence[Record]) -> State:
    return {r.key: (r.version, r.shared.labels.get("app", ""), r.body.field("data.value")) for r in records}


def selected(whole: State, selection: Selection) -> State:
    """What of a state is selected, by the words of the selection."""
    chosen = {}
    for key, (version, app, value) in whole.items():
        namespace, name = key.split("/")
        fields = {"metadata.name": name, "metadata.namespace": namespace}
        is_labelled = selection.labels.matches({"app": app})
        if selection.namespace in ("", namespace) and is_labelled and selection.fields.matches(fields):
            chosen[key] = (version, app, value)
    return chosen


class Informer:
    """Keeps a copy of what is selected, as a client does: by list and watch, or by a WatchList."""

    def __init__(self, store: Store, selection: Selection, *, watch_list: bool) -> None:
        self.selection = selection
        self.watch_list = watch_list
        self.copy: State = {}
        self.start(store)

    def start(self, store: Store) -> None:
        self.copy = {}
        if self.watch_list:
            self.watch: Watch = store.watch(CONFIG_MAP, self.selection, initial_events=True)
            self.last = 0
            return
        store.commit()
        page = store.list(CONFIG_MAP, self.selection)
        self.copy, self.last = state(page.records), page.version
        self.watch = store.watch(CONFIG_MAP, self.selection, version=page.version)

    def read(self, store: Store, limit: int) -> None:
        try:
            events = self.watch.read(limit)
        except Gone:
            self.start(store)
            return
        for event in events:
            assert event.version <= store.published
            if event.type == "BOOKMARK":
                self.last = event.version
            elif event.type == "DELETED":
                assert self.copy.pop(event.record.key)[0] <= event.version
            else:
                assert (event.type == "ADDED") == (event.record.key not in self.copy)
                self.copy |= state([event.record])
            if self.last and event.type != "BOOKMARK":
                assert event.version > self.last
                self.last = event.version


class Pages:
    """A list that is being paged through."""

    def __init__(self, store: Store, selection: Selection, limit: int) -> None:
        self.selection, self.limit = selection, limit
        first = store.list(CONFIG_MAP, selection, Asked(limit=limit))
        self.version, self.token, self.records = first.version, first.token, first.records


class StoreMachine(RuleBasedStateMachine):
    """See the module's docstring."""

    @initialize(durable=st.booleans())
    def begin(self, durable: bool) -> None:
        self.journal = MemoryJournal() if durable else None
        self.store = kinds.empty(history=HISTORY, journal=self.journal)
        for namespace in ("x", "x-y"):
            self.store.create(kinds.namespace(namespace))
        self.store.commit()
        self.model: State = {}
        self.held: dict[str, bool] = {}  # key -> whether it is marked for deletion, of those with a finalizer
        self.past: dict[int, State] = {self.store.version: {}}
        self.remembered: list[Record] = []
        self.informers: list[Informer] = []
        self.pages: list[Pages] = []
        self.serial = 0

    def draft(self, namespace: str, name: str, app: str) -> Record:
        self.serial += 1
        return kinds.config_map(name, namespace, str(self.serial), labels={"app": app})

    def wrote(self, record: Record, *, removed: bool = False) -> None:
        assert record.version == self.store.version > max(self.past)
        if removed:
            del self.model[record.key]
            self.held.pop(record.key, None)
        else:
            self.model |= state([record])
            self.remembered.append(record)
        self.past[record.version] = dict(self.model)

    @rule(namespace=NAMESPACES, name=NAMES, app=APPS, held=st.booleans())
    def create(self, namespace: str, name: str, app: str, held: bool) -> None:
        draft = self.draft(namespace, name, app)
        draft = replace(draft, finalizers=("a.io/x",)) if held else draft
        if draft.key in self.model:
            with pytest.raises(AlreadyExists):
                self.store.create(draft)
            return
        self.wrote(self.store.create(draft))
        if held:
            self.held[draft.key] = False

    @precondition(lambda self: self.remembered)
    @rule(data=st.data(), app=APPS)
    def update_by_what_was_read(self, data: st.DataObject, app: str) -> None:
        read = data.draw(st.sampled_from(self.remembered))
        new = replace(self.draft(read.namespace, read.name, app), uid=read.uid, version=read.version)
        new = replace(new, finalizers=read.finalizers)
        if read.key not in self.model:
            with pytest.raises(NotFound):
                self.store.update(new)
        elif self.model[read.key][0] != read.version:
            with pytest.raises(Conflict):
                self.store.update(new)
        else:
            self.wrote(self.store.update(new))

    @rule(namespace=NAMESPACES, name=NAMES, app=APPS)
    def change(self, namespace: str, name: str, app: str) -> None:
        new = self.draft(namespace, name, app)
        if new.key in self.model:
            changed = self.store.change(
                CONFIG_MAP, namespace, name, lambda old: replace(old, body=new.body, shared=new.shared)
            )
            self.wrote(changed)

    @rule(namespace=NAMESPACES, name=NAMES)
    def delete(self, namespace: str, name: str) -> None:
        key = f"{namespace}/{name}"
        if key not in self.model:
            with pytest.raises(NotFound):
                self.store.delete(CONFIG_MAP, namespace, name)
            return
        record, is_gone = self.store.delete(CONFIG_MAP, namespace, name)
        assert is_gone == (key not in self.held)
        if is_gone:
            self.wrote(record, removed=True)
        elif not self.held[key]:
            self.held[key] = True
            self.wrote(record)

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.held)))
        is_marked = self.held.pop(key)
        namespace, name = key.split("/")
        released = self.store.change(CONFIG_MAP, namespace, name, lambda old: replace(old, finalizers=()))
        self.wrote(released, removed=is_marked)

    @rule(selection=SELECTIONS, watch_list=st.booleans())
    def follow(self, selection: Selection, watch_list: bool) -> None:
        self.informers.append(Informer(self.store, selection, watch_list=watch_list))

    @rule(selection=SELECTIONS, data=st.data())
    def follow_from_an_earlier_version(self, selection: Selection, data: st.DataObject) -> None:
        version = data.draw(st.sampled_from(sorted(self.past)[-8:]))
        informer = Informer(self.store, selection, watch_list=False)
        informer.copy, informer.last = selected(self.past[version], selection), version
        try:
            informer.watch = self.store.watch(CONFIG_MAP, selection, version=version)
        except Gone:
            assert version < self.store.table(CONFIG_MAP).log.floor
            return
        self.informers.append(informer)

    @precondition(lambda self: self.informers)
    @rule(data=st.data(), limit=st.integers(1, 5))
    def inform(self, data: st.DataObject, limit: int) -> None:
        data.draw(st.sampled_from(self.informers)).read(self.store, limit)

    @rule(selection=SELECTIONS, limit=st.integers(1, 3))
    def begin_pages(self, selection: Selection, limit: int) -> None:
        self.pages.append(Pages(self.store, selection, limit))

    @precondition(lambda self: self.pages)
    @rule(data=st.data())
    def next_page(self, data: st.DataObject) -> None:
        pages = data.draw(st.sampled_from(self.pages))
        whole = selected(self.past[pages.version], pages.selection)
        if not pages.token:
            assert state(pages.records) == whole
            assert [record.key for record in pages.records] == sorted(whole)
            self.pages.remove(pages)
            return
        try:
            page = self.store.list(CONFIG_MAP, pages.selection, Asked(pages.limit, pages.token))
        except Gone:
            assert pages.version < self.store.table(CONFIG_MAP).log.floor
            self.pages.remove(pages)
            return
        assert page.version == pages.version
        pages.records, pages.token = [*pages.records, *page.records], page.token
        assert page.remaining in (None, len(whole) - len(pages.records))

    @rule(selection=SELECTIONS, data=st.data())
    def list_an_earlier_version(self, selection: Selection, data: st.DataObject) -> None:
        version = data.draw(st.sampled_from(sorted(self.past)))
        try:
            page = self.store.list(CONFIG_MAP, selection, Asked(version=version, match="Exact"))
        except Gone:
            assert version < self.store.table(CONFIG_MAP).log.floor
        else:
            assert state(page.records) == selected(self.past[version], selection)

    @rule()
    def commit(self) -> None:
        self.store.commit()
        assert self.store.published == self.store.version

    @precondition(lambda self: self.journal is not None)
    @rule()
    def stop_and_open_again(self) -> None:
        committed = self.store.published
        before = self.store.version
        self.store = kinds.empty(history=HISTORY, journal=self.journal)
        assert self.store.version > before
        self.model = dict(self.past[committed])
        assert state(self.store.list(CONFIG_MAP).records) == self.model
        for version in (committed, before):
            with pytest.raises(Gone):
                self.store.watch(CONFIG_MAP, version=version)
        records = self.store.table(CONFIG_MAP).records
        self.held = {key: r.deletion is not None for key, r in records.items() if r.finalizers}
        self.past = {self.store.version: dict(self.model)}
        self.remembered = [r for r in self.remembered if r.version <= committed]
        self.pages = []
        for informer in self.informers:
            informer.start(self.store)

    @invariant()
    def the_store_holds_what_the_model_holds(self) -> None:
        assert state(list(self.store.table(CONFIG_MAP).records.values())) == self.model

    def teardown(self) -> None:
        if not hasattr(self, "store"):
            return
        self.store.commit()
        for informer in self.informers:
            informer.read(self.store, 1)
            while informer.watch.is_behind:
                informer.read(self.store, 5)
            assert informer.copy == selected(self.model, informer.selection)


class LongStoreMachine(StoreMachine):
    """The same, at length."""


TestStoreMachine = StoreMachine.TestCase
TestStoreMachine.settings = settings(stateful_step_count=40)

TestLongStoreMachine = pytest.mark.long(pytest.mark.timeout(600)(LongStoreMachine.TestCase))
TestLongStoreMachine.settings = settings(max_examples=1_000, stateful_step_count=80)
