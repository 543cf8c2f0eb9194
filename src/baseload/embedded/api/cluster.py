"""The cluster behind the API: a store, the kinds in it, the admission chain, and what keeps those three together.

A definition that was written changes what is served; a namespace that was made gets its default service account, as
the controller for those would give it.
"""

import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from baseload.embedded.api import aggregation, crds
from baseload.embedded.api.admission import Chain
from baseload.embedded.api.alike import Alike
from baseload.embedded.api.authorize import bootstrap, gathering
from baseload.embedded.api.authorize.authorizer import Authorizer
from baseload.embedded.api.definitions import Definitions
from baseload.embedded.api.identity import Identity
from baseload.embedded.api.kinds import Kinds, built_in
from baseload.embedded.api.ledger import Ledger
from baseload.embedded.api.tokens import Tokens
from baseload.embedded.store.parse import parse_object
from baseload.embedded.store.ports import Clock
from baseload.embedded.store.record import Json, Record
from baseload.embedded.store.resource import Resource
from baseload.embedded.store.store import Store
from baseload.values import instant

NAMESPACES: Final = ("default", "kube-node-lease", "kube-public", "kube-system")
ACTIVE: Final[dict[str, Json]] = {"spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}}
"""What makes a namespace one that is in use"""

_SERVICE: Final[dict[str, Json]] = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {
        "name": "kubernetes",
        "namespace": "default",
        "labels": {"component": "apiserver", "provider": "kubernetes"},
    },
    "spec": {
        "clusterIP": "10.96.0.1",
        "clusterIPs": ["10.96.0.1"],
        "internalTrafficPolicy": "Cluster",
        "ipFamilies": ["IPv4"],
        "ipFamilyPolicy": "SingleStack",
        "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": 6443}],
        "sessionAffinity": "None",
        "type": "ClusterIP",
    },
    "status": {"loadBalancer": {}},
}
"""The API as the cluster's own workloads know it"""


Refresh = Callable[[str, str, bool], None]
"""(namespace, name, whether a watch begins); "" is all of them"""


@dataclass(frozen=True, slots=True)
class Cluster:
    """What the API answers from."""

    store: Store
    clock: Clock
    admission: Chain
    kinds: Kinds = field(default_factory=lambda: Kinds(built_in()))
    alike: Alike = field(default_factory=Alike)
    key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)  # what tokens are signed with
    static_tokens: Mapping[str, Identity] = field(default_factory=dict, repr=False)
    before_reading: dict[Resource, Refresh] = field(default_factory=dict)  # what brings a kind's objects up to date
    authorizer: Authorizer = field(init=False)
    tokens: Tokens = field(init=False)
    definitions: Definitions = field(init=False)
    events: Ledger = field(init=False)

    def __post_init__(self) -> None:
        for resource in dict.fromkeys(kind.resource for kind in self.kinds if kind.is_stored):
            self.store.serve(resource)
        object.__setattr__(self, "authorizer", Authorizer(self.store))
        object.__setattr__(self, "tokens", Tokens(self.store, self.clock, self.key, self.static_tokens))
        object.__setattr__(self, "definitions", Definitions(self.store, self.kinds))
        self.definitions.settle(self.now())
        event, namespace = self._resource("", "Event"), self._resource("", "Namespace")
        object.__setattr__(self, "events", Ledger(self.store, self.clock, event, namespace))
        self.before_reading[event] = self.events.refresh

    def now(self) -> str:
        """The time as objects carry it."""
        return _moment(self.clock.now() // instant.SECOND)

    def refresh(self, resource: Resource, namespace: str, name: str, *, is_watch: bool = False) -> None:
        """Has objects brought up to date that are written only when somebody asks for them."""
        refresh = self.before_reading.get(resource)
        if refresh is not None:
            refresh(namespace, name, is_watch)

    def count(self, resource: Resource) -> int:
        """How many objects of a kind a reader would find."""
        table = self.store.table(resource)
        return len(table.records) + (self.events.unwritten if table is self.events.table else 0)

    def written(self, record: Record) -> Record:
        """Follows up a write; the record as it is after that."""
        resource = record.resource
        if (resource.group, resource.kind) == crds.KIND:
            self.definitions.settle(self.now())
            record = self.store.find(resource, "", record.name) or record
        elif resource.has_spec_finalizers and record.deletion is None:
            self._give_account(record.name)
        elif (resource.group, resource.kind) == gathering.KIND:
            gathering.aggregate(self.store)
            record = self.store.get(resource, "", record.name)
        self._tidy()
        return record

    def removed(self, record: Record) -> None:
        """Follows up a delete."""
        resource = record.resource
        if (resource.group, resource.kind) == crds.KIND:
            self.definitions.settle(self.now())
        elif (resource.group, resource.kind) == gathering.KIND:
            gathering.aggregate(self.store)
        self._tidy()

    def _resource(self, group: str, kind: str) -> Resource:
        found = self.store.resource_of(group, kind)
        assert found is not None
        return found

    def announce(self) -> None:
        """Has an API service for each version that is served now."""
        aggregation.sync(self.store, self.kinds.versions(), self.now())

    def _tidy(self) -> None:
        self.store.tidy()
        if self.definitions.is_waiting:
            self.definitions.finish(self.now())

    def _give_account(self, namespace: str) -> None:
        resource = self._resource("", "ServiceAccount")
        if self.store.find(resource, namespace, "default") is None:
            self.store.create(parse_object(resource, {"metadata": {"name": "default", "namespace": namespace}}))


@lru_cache(maxsize=8)
def _moment(second: int) -> str:
    return instant.format(second * instant.SECOND)


def furnish(cluster: Cluster, objects: Iterable[dict[str, Json]] = ()) -> None:
    """Gives a cluster what every new one has: roles, namespaces with their accounts, its own service, and more."""
    cluster.announce()
    first: list[dict[str, Json]] = [
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}},
            **ACTIVE,
        }
        for name in NAMESPACES
    ]
    for tree in (*first, _SERVICE, *objects):
        kind = cluster.kinds.of_version_named(str(tree["apiVersion"]), str(tree["kind"]))
        assert kind is not None, f"{tree['apiVersion']} {tree['kind']} is not served"
        draft = parse_object(kind.resource, kind.stored(tree))
        if cluster.store.find(kind.resource, draft.namespace, draft.name) is None:
            cluster.written(cluster.store.create(draft))
    bootstrap.furnish(cluster.store)
