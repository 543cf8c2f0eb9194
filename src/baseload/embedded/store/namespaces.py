"""The end of a namespace, and that nothing begins in one that is ending or was never there.

A namespace is created with the finalizer `kubernetes` in its spec. Deleting it marks it and sets its phase to
Terminating; `run` then deletes what is in it, pods before all else, tells in conditions what remains, and takes the
finalizer away when nothing does, upon which the namespace goes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from baseload.embedded.store import deletion, errors
from baseload.embedded.store import record as records
from baseload.embedded.store.deletion import Options
from baseload.embedded.store.errors import Cause
from baseload.embedded.store.log import Event
from baseload.embedded.store.record import Json, Record, section
from baseload.embedded.store.selection import Selection

if TYPE_CHECKING:
    from baseload.embedded.store.store import Store
    from baseload.embedded.store.table import Table

FINALIZER: Final = "kubernetes"
IMMORTAL: Final = ("default", "kube-system", "kube-public")


class Namespaces:
    """Which namespaces end, and whether there may be something to do about them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._table: Table | None = None  # None where namespaces are not served: then there are no rules
        self.ending: dict[str, bool] = {}
        """name -> whether something changed since it was looked at; nobody else writes it"""

    def served(self, table: Table) -> None:
        """For the store: another kind is served, perhaps that of namespaces."""
        if table.resource.has_spec_finalizers:
            self._table = table
            self.ending = {name: True for name, found in table.records.items() if found.deletion is not None}

    def note(self, event: Event) -> None:
        """For the store: one write."""
        record = event.record
        if record.namespace in self.ending:
            self.ending[record.namespace] = True
        elif record.resource.has_spec_finalizers and record.deletion is not None:
            if event.type == "DELETED":
                self.ending.pop(record.name, None)
            else:
                self.ending.setdefault(record.name, True)

    def takes(self, namespace: str) -> bool:
        """Whether something may be created there."""
        if self._table is None or not namespace:
            return True
        found = self._table.records.get(namespace)
        return found is not None and found.deletion is None

    def check_open(self, draft: Record) -> None:
        """Refuses what would be created in a namespace that is not there or is ending."""
        if self._table is None or not draft.namespace:
            return
        namespace = self._table.records.get(draft.namespace)
        if namespace is None:
            raise errors.not_found(self._table.resource, draft.namespace)
        if namespace.deletion is not None:
            name = namespace.name
            why = f"unable to create new content in namespace {name} because it is being terminated"
            cause = Cause("NamespaceTerminating", f"namespace {name} is being terminated", "metadata.namespace")
            raise errors.forbidden(draft.resource, draft.name or draft.shared.generate_name, why, (cause,))

    def ended(self, old: Record, new: Record) -> Record:
        """A namespace that a delete has marked, with its phase; refuses the ones that may not go."""
        if old.name in IMMORTAL:
            raise errors.forbidden(old.resource, old.name, "this namespace may not be deleted")
        if old.deletion is not None or deletion.is_over(new):
            return new
        return new.with_status(msgspec.json.encode({**_status(new), "phase": "Terminating"}))

    def run(self) -> int:
        """Takes the ending namespaces in which something changed a step further; how many writes that took."""
        before = self._store.version
        for name in [name for name, has_changed in self.ending.items() if has_changed]:
            self.ending[name] = False
            self._empty(name)
        return self._store.version - before

    def _empty(self, name: str) -> None:
        assert self._table is not None
        namespace = self._table.records[name]
        selection = Selection(name)
        for pods in (True, False):
            for table in self._contents(pods=pods):
                self._store.delete_collection(table.resource, selection, Options(propagation="Background"))
            if any(table.count(*table.span(name)) for table in self._contents(pods=pods)):
                break
        left = [record for table in self._contents() for record in table.scan(*table.span(name))]
        conditions = _conditions(left, namespace.deletion.timestamp if namespace.deletion else "")
        status = msgspec.json.encode({**_status(namespace), "conditions": conditions})
        self._change(namespace, namespace.with_status(status))
        if not left:
            self._finalize(namespace)

    def _contents(self, *, pods: bool | None = None) -> list[Table]:
        """The tables of what lives in namespaces; of pods alone, or of all but pods."""
        tables = [self._store.table(resource) for resource in self._store.resources if resource.namespaced]
        return [table for table in tables if pods in (None, table.resource.qualified == "pods")]

    def _finalize(self, namespace: Record) -> None:
        def released(record: Record) -> Record:
            tree = record.body.tree()
            kept: list[Json] = [name for name in deletion.spec_finalizers(record) if name != FINALIZER]
            spec = tree.get("spec")
            tree["spec"] = {**(spec if isinstance(spec, dict) else {}), "finalizers": kept}
            return record.with_body(records.body(msgspec.json.encode(tree)[1:-1]))

        self._store.change(namespace.resource, "", namespace.name, released)

    def _change(self, namespace: Record, new: Record) -> None:
        self._store.change(namespace.resource, "", namespace.name, lambda _: new, "status")


def _status(namespace: Record) -> dict[str, Json]:
    raw = section(namespace.status)
    status: dict[str, Json] = msgspec.json.decode(raw) if raw else {}
    return status


def _conditions(left: list[Record], since: str) -> list[Json]:
    """What a real server tells of an ending namespace; all told to have begun with the deletion."""
    held: dict[str, int] = {}
    kinds: dict[str, int] = {}
    for record in left:
        kinds[_resource(record)] = kinds.get(_resource(record), 0) + 1
        for finalizer in record.finalizers:
            held[finalizer] = held.get(finalizer, 0) + 1
    remaining = ", ".join(f"{kind} has {count} resource instances" for kind, count in sorted(kinds.items()))
    finalizers = ", ".join(f"{name} in {count} resource instances" for name, count in sorted(held.items()))
    rows = (
        ("DeletionDiscoveryFailure", False, "ResourcesDiscovered", "All resources successfully discovered"),
        (
            "DeletionGroupVersionParsingFailure",
            False,
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ),
        (
            "DeletionContentFailure",
            False,
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization",
        ),
        ("ContentRemaining", True, "SomeResourcesRemain", f"Some resources are remaining: {remaining}")
        if left
        else ("ContentRemaining", False, "ContentRemoved", "All content successfully removed"),
        (
            "FinalizersRemaining",
            True,
            "SomeFinalizersRemain",
            f"Some content in the namespace has finalizers remaining: {finalizers}",
        )
        if held
        else ("FinalizersRemaining", False, "ContentHasNoFinalizers", "All content-preserving finalizers finished"),
    )
    return [
        {
            "type": f"Namespace{type}",
            "status": "True" if is_so else "False",
            "lastTransitionTime": since,
            "reason": reason,
            "message": message,
        }
        for type, is_so, reason, message in rows
    ]


def _resource(record: Record) -> str:
    resource = record.resource
    return f"{resource.plural}.{resource.group}"  # the core group leaves its dot, as on a real server
