"""The cluster behind the API: a store, the kinds in it, the admission chain, and what keeps those three together.

A definition that was written changes what is served; a namespace that was made gets its default service account, as
the controller for those would give it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from baseload.embedded.api import crds
from baseload.embedded.api.admission import Admission
from baseload.embedded.api.kinds import Kinds, ServedKind, built_in
from baseload.embedded.store.parse import parse_object
from baseload.embedded.store.ports import Clock
from baseload.embedded.store.record import Json, Record
from baseload.embedded.store.resource import Resource
from baseload.embedded.store.store import Store
from baseload.values import instant

NAMESPACES: Final = ("default", "kube-node-lease", "kube-public", "kube-system")
ACTIVE: Final[dict[str, Json]] = {"spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}}
"""What makes a namespace one that is in use"""


@dataclass(frozen=True, slots=True)
class Cluster:
    """What the API answers from."""

    store: Store
    clock: Clock
    admission: Sequence[Admission]
    kinds: Kinds = field(default_factory=lambda: Kinds(built_in()))

    def __post_init__(self) -> None:
        for kind in list(self.kinds):
            if kind.is_stored:
                self.store.serve(kind.resource)
        for record in list(self.store.table(self._resource(*crds.KIND)).records.values()):
            self._serve(crds.kind(record))

    def now(self) -> str:
        """The time as objects carry it."""
        now = self.clock.now()
        return instant.format(now - now % instant.SECOND)

    def written(self, record: Record) -> Record:
        """Follows up a write; the record as it is after that."""
        resource = record.resource
        if (resource.group, resource.kind) == crds.KIND:
            record = self._defined(record)
        elif resource.has_spec_finalizers and record.deletion is None:
            self._give_account(record.name)
        self.store.tidy()
        return record

    def removed(self, record: Record) -> None:
        """Follows up a delete."""
        resource = record.resource
        if (resource.group, resource.kind) == crds.KIND:
            self._retire()
        self.store.tidy()

    def _resource(self, group: str, kind: str) -> Resource:
        found = self.store.resource_of(group, kind)
        assert found is not None
        return found

    def _defined(self, record: Record) -> Record:
        kind = crds.kind(record)
        known = self._known(kind.resource)
        if known is None:
            self._serve(kind)
        else:
            self.kinds.add(_in_place(kind, known.resource))
        if crds.is_accepted(record):
            return record
        accepted = crds.accepted(record, self.now())
        return self.store.change(record.resource, "", record.name, lambda _: accepted, "status")

    def _known(self, resource: Resource) -> ServedKind | None:
        return self.kinds.find(resource.group, resource.version, resource.plural)

    def _serve(self, kind: ServedKind) -> None:
        self.store.serve(kind.resource)
        self.kinds.add(kind)

    def _retire(self) -> None:
        defined = self.store.table(self._resource(*crds.KIND)).records
        for kind in [kind for kind in self.kinds if kind.is_custom and kind.resource.qualified not in defined]:
            self.kinds.remove(kind)
            self.store.withdraw(kind.resource)

    def _give_account(self, namespace: str) -> None:
        resource = self._resource("", "ServiceAccount")
        if self.store.find(resource, namespace, "default") is None:
            self.store.create(parse_object(resource, {"metadata": {"name": "default", "namespace": namespace}}))


def furnish(cluster: Cluster, objects: Iterable[dict[str, Json]] = ()) -> None:
    """Gives a cluster what every new one has: its namespaces with their accounts, and further objects."""
    first: list[dict[str, Json]] = [
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}},
            **ACTIVE,
        }
        for name in NAMESPACES
    ]
    for tree in (*first, *objects):
        group, _, version = str(tree["apiVersion"]).rpartition("/")
        kind = cluster.kinds.named(group, str(tree["kind"]))
        assert kind is not None, f"{version} {tree['kind']} is not served"
        draft = parse_object(kind.resource, tree)
        if cluster.store.find(kind.resource, draft.namespace, draft.name) is None:
            cluster.written(cluster.store.create(draft))


def _in_place(kind: ServedKind, resource: Resource) -> ServedKind:
    """A changed definition over the objects that are there: the store's own view of the kind stays."""
    return ServedKind(
        resource,
        kind.singular,
        kind.short_names,
        kind.categories,
        kind.type,
        kind.schema,
        kind.scale,
        kind.columns,
        kind.list_kind,
    )
