"""All objects of one kind: by key, in the order of keys, by node; and as they were at an earlier version.

The order of keys is sorted when a reader needs it, not at each write: keys that came since are few among many that are
in order, which sorting takes in its stride. The state at an earlier version is the present one with the log's events
above that version undone.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Final

from baseload.embedded.store import errors
from baseload.embedded.store.log import Log
from baseload.embedded.store.record import Record
from baseload.embedded.store.resource import Resource
from baseload.embedded.store.selection import Selection
from baseload.embedded.store.subscription import Subscription

_STALE: Final = 1024  # keys that are no more and need not be forgotten yet
END: Final = "\U0010ffff"  # above every key


class Table:
    """The objects of one kind; only the store writes it."""

    def __init__(self, resource: Resource, floor: int, history: int) -> None:
        self.resource = resource
        self.records: dict[str, Record] = {}
        self.log = Log(floor, history)
        self.subscriptions: dict[str, list[Subscription]] = {}  # class of change -> who asked for it
        self.asleep: dict[object, Callable[[], None]] = {}  # reader -> how to wake it
        self.definition = 0  # rises with each change of what the kind is, at which its watches end
        self.is_withdrawn = False  # nothing happens here any more
        self._on_node: dict[str, dict[str, None]] = {}  # node -> keys; "" for those that have none yet
        self._order: list[str] = []
        self._fresh: list[str] = []  # keys that are not in the order yet
        self._stale = 0  # keys in the order that are no more

    def wake_all(self) -> None:
        """Wakes whoever sleeps, though nothing happened to an object."""
        sleepers, self.asleep = self.asleep, {}
        for wake in sleepers.values():
            wake()

    def put(self, key: str, record: Record, old: Record | None) -> None:
        if old is None:
            self._fresh.append(key)
        self.records[key] = record
        if self.resource.has_node and (old is None or old.node != record.node):
            if old is not None:
                self._leave_node(key, old)
            self._on_node.setdefault(record.node, {})[key] = None

    def remove(self, key: str, old: Record) -> None:
        del self.records[key]
        self._stale += 1
        if self._stale > len(self.records) + _STALE:
            self._purge()
        if self.resource.has_node:
            self._leave_node(key, old)

    def on_node(self, node: str) -> list[Record]:
        """The objects whose spec.nodeName is that, in the order in which they came there; "" for the pending ones."""
        return [self.records[key] for key in self._on_node.get(node, ())]

    def scan(self, start: str, stop: str) -> Iterator[Record]:
        """The objects with start <= key < stop, in the order of keys."""
        order, records = self._sorted(), self.records
        for index in range(bisect_left(order, start), bisect_left(order, stop)):
            record = records.get(order[index])
            if record is not None:
                yield record

    def count(self, start: str, stop: str) -> int:
        """How many objects have start <= key < stop."""
        order = self._sorted(purged=True)
        return bisect_left(order, stop) - bisect_left(order, start)

    def count_at(self, version: int, start: str, stop: str) -> int:
        """As `count`, at a version that the log still reaches back to."""
        before = {key: old for key, old in self.undo(version).items() if start <= key < stop}
        were = sum(old is not None for old in before.values())
        return self.count(start, stop) + were - sum(key in self.records for key in before)

    def span(self, namespace: str) -> tuple[str, str]:
        """The keys of a namespace; all keys where it is ""."""
        return (f"{namespace}/", f"{namespace}0") if namespace else ("", END)  # 0 comes right after /

    def select(self, selection: Selection) -> Iterator[Record]:
        """What is selected now, in the order of keys, by the narrowest index that serves."""
        return (record for record in self._candidates(selection) if selection.matches(record))

    def undo(self, version: int) -> dict[str, Record | None]:
        """key -> the object at a version, None where it was not there, for all keys that changed since."""
        if version < self.log.floor:
            raise errors.too_old(version, self.log.floor)
        before: dict[str, Record | None] = {}
        for event in self.log.after(version):
            before.setdefault(event.record.key, event.old)
        return before

    def scan_at(self, version: int, start: str, stop: str) -> Iterator[Record]:
        """As `scan`, at a version that the log still reaches back to."""
        before = self.undo(version)
        removed = sorted(key for key, old in before.items() if start <= key < stop and old is not None)
        return self._merged(before, removed, start, stop)

    def _merged(self, before: dict[str, Record | None], changed: list[str], start: str, stop: str) -> Iterator[Record]:
        waiting = iter(changed)
        next_changed = next(waiting, END)
        for record in chain(self.scan(start, stop), (None,)):
            key = END if record is None else record.key
            while next_changed < key or (next_changed == key != END):
                old = before[next_changed]
                assert old is not None
                yield old
                next_changed = next(waiting, END)
            if record is not None and key not in before:
                yield record

    def _candidates(self, selection: Selection) -> Iterator[Record]:
        name = selection.equal_field("metadata.name")
        if name is not None and (selection.namespace or not self.resource.namespaced):
            record = self.records.get(self.resource.key(selection.namespace, name))
            return iter(() if record is None else (record,))
        node = selection.equal_field("spec.nodeName") if self.resource.has_node else None
        if node is not None:
            return (self.records[key] for key in sorted(self._on_node.get(node, ())))
        return self.scan(*self.span(selection.namespace))

    def _leave_node(self, key: str, old: Record) -> None:
        keys = self._on_node[old.node]
        del keys[key]
        if not keys:
            del self._on_node[old.node]

    def _purge(self) -> None:
        """Forgets the keys that are no more, where nobody reads in order who would."""
        self._order = [key for key in self._order if key in self.records]
        known = set(self._order)
        self._fresh = [key for key in dict.fromkeys(self._fresh) if key in self.records and key not in known]
        self._stale = 0

    def _sorted(self, *, purged: bool = False) -> list[str]:
        if self._fresh or (self._stale and purged) or 2 * self._stale > len(self._order):
            alive = [key for key in self._order if key in self.records] if self._stale else self._order
            fresh = [key for key in self._fresh if key in self.records]
            alive.extend(fresh)
            alive.sort()
            self._order = alive if not self._stale else list(dict.fromkeys(alive))
            self._fresh, self._stale = [], 0
        return self._order
