"""What is served: each kind as discovery names it, as the store keeps it, as its schema describes it.

Kubernetes' own kinds come from `kube.served`, custom ones from their definitions (`crds`); all are found by the same
two ways, the path of a request and the kind of an object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import msgspec

from baseload.embedded.api import aggregation, conversions, parts, versions
from baseload.embedded.api.versions import Conversion, Tree
from baseload.embedded.store import selection
from baseload.embedded.store.record import Record, encode
from baseload.embedded.store.resource import Resource, at_once
from baseload.embedded.store.selection import Selection
from baseload.kube.cel.rules import Rules
from baseload.kube.merge import types
from baseload.kube.merge.types import ObjectType
from baseload.kube.schema import definitions
from baseload.kube.schema.definitions import Schema
from baseload.kube.served import BUILT_IN, Served

if TYPE_CHECKING:
    from baseload.embedded.api.call import Call, Tree
    from baseload.embedded.api.cluster import Cluster
    from baseload.embedded.api.target import Target

    Reply = Callable[[Cluster, Target, Call], Tree]
    """What a kind answers that is worked out when somebody asks, by no more than these three"""

_ACTIONS: Final = {
    ("", "Namespace"): (parts.FINALIZE,),
    ("", "Node"): ("proxy",),
    ("", "Pod"): ("attach", "binding", "eviction", "exec", "log", "portforward", "proxy"),
    ("", "Service"): ("proxy",),
    ("", "ServiceAccount"): ("token",),
}
_ORPHANS: Final = (("batch", "Job"), ("", "ReplicationController"))
# Kinds of Kubernetes' own whose updates must say on which state they are based
_VERSIONED: Final = (
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("apiregistration.k8s.io", "APIService"),
    ("coordination.k8s.io", "Lease"),
    ("node.k8s.io", "RuntimeClass"),
    ("policy", "PodDisruptionBudget"),
    ("storage.k8s.io", "CSIDriver"),
    ("storage.k8s.io", "CSINode"),
    ("storage.k8s.io", "CSIStorageCapacity"),
    ("storage.k8s.io", "VolumeAttachment"),
)
VERBS: Final = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")
CUSTOM_VERBS: Final = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")
_ONE_BY_ONE: Final = tuple(verb for verb in VERBS if verb != "deletecollection")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a custom resource's table."""

    name: str
    type: str
    path: str
    description: str = ""
    format: str = ""
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Scale:
    """Where the numbers of a scale subresource stand."""

    replicas: str = "spec.replicas"
    current: str = "status.replicas"
    selector: str = ""  # "" where it is that of the spec


@dataclass(frozen=True, slots=True, eq=False)
class ServedKind:
    """One kind in one version; `resource` is how the store keeps it, in whatever version."""

    resource: Resource
    singular: str
    short_names: tuple[str, ...]
    categories: tuple[str, ...]
    type: ObjectType
    schema: Schema
    scale: Scale | None = None
    columns: tuple[Column, ...] | None = None  # None: a kind of Kubernetes' own, whose columns are code
    list_kind: str = ""
    verbs: tuple[str, ...] = VERBS
    rules: Rules | None = None  # of a custom kind
    reply: Reply | None = None  # of the kinds that are answered, not stored (`computed`)
    conversion: Conversion | None = None  # None: the version that is stored, as it is stored
    selectable: tuple[str, ...] | None = None  # None: the fields of the view

    @property
    def is_stored(self) -> bool:
        return self.reply is None

    @property
    def view(self) -> Resource:
        """The kind as requests and answers name it in this version."""
        return self.resource if self.conversion is None else self.conversion.view

    @property
    def has_status(self) -> bool:
        return self.view.has_status

    @property
    def is_custom(self) -> bool:
        return self.columns is not None

    @property
    def actions(self) -> tuple[str, ...]:
        """The subresources that are done, not written."""
        return _ACTIONS.get((self.resource.group, self.resource.kind), ())

    @property
    def subresources(self) -> tuple[str, ...]:
        written = parts.NAMES.get((self.resource.group, self.resource.kind), ())
        return (*("status",) * self.has_status, *written, *("scale",) * (self.scale is not None))

    def tree(self, record: Record) -> Tree:
        """A stored object as this version shows it."""
        tree = versions.tree_of(record)
        return tree if self.conversion is None else self.conversion.shown(tree)

    def json(self, record: Record) -> bytes:
        """The same as JSON."""
        return encode(record) if self.conversion is None else msgspec.json.encode(self.tree(record))

    def item(self, record: Record) -> bytes:
        """The object's JSON in a list, where only custom resources say what kind they are of."""
        if self.is_custom:
            return self.json(record)
        if self.conversion is not None:
            tree = self.tree(record)
            return msgspec.json.encode({name: tree[name] for name in tree if name not in ("kind", "apiVersion")})
        head = f'{{"kind":"{record.resource.kind}","apiVersion":"{record.resource.api_version}",'
        return b"{" + encode(record)[len(head) :]

    @property
    def is_plain(self) -> bool:
        """Whether objects are shown in the very bytes that are kept."""
        return self.conversion is None

    def selection(self, asked: Selection) -> Selection:
        """What a list or a watch in this version is about, in the store's words."""
        selectable = self.view.fields if self.selectable is None else self.selectable
        fields = self.conversion.fields if self.conversion else {}
        return versions.selection(self.view, asked, selectable, fields, is_custom=self.is_custom)

    def stored(self, tree: Tree) -> Tree:
        """An object of this version as it is to be stored."""
        return tree if self.conversion is None else self.conversion.stored(tree)


class Kinds:
    """Everything that is served now."""

    def __init__(self, served: Iterable[ServedKind] = ()) -> None:
        self._by_path: dict[tuple[str, str, str], ServedKind] = {}
        self.generation = 0  # rises with each change, for what is made from it once
        for kind in served:
            self.add(kind)

    def __iter__(self) -> Iterator[ServedKind]:
        return iter(self._by_path.values())

    def find(self, group: str, version: str, plural: str) -> ServedKind | None:
        return self._by_path.get((group, version, plural))

    def of_resource(self, resource: Resource) -> ServedKind:
        """The kind in the version that it is stored in, or in another where that one is not served."""
        stored = self._by_path.get((resource.group, resource.version, resource.plural))
        return stored or next(it for it in self if it.resource is resource)

    def of_version_named(self, api_version: str, kind: str) -> ServedKind | None:
        """The kind of that apiVersion and name."""
        return next((it for it in self if (it.view.api_version, it.view.kind) == (api_version, kind)), None)

    def named(self, group: str, kind: str) -> ServedKind | None:
        """The kind of that name, in the version that is stored where that is served."""
        found = [it for it in self if (it.view.group, it.view.kind) == (group, kind)]
        return next((it for it in found if it.view.version == it.resource.version), found[0] if found else None)

    def add(self, kind: ServedKind) -> None:
        view = kind.view
        self._by_path[view.group, view.version, view.plural] = kind
        self.generation += 1

    def remove(self, kind: ServedKind) -> None:
        view = kind.view
        del self._by_path[view.group, view.version, view.plural]
        self.generation += 1

    def versions(self) -> dict[str, list[str]]:
        """group -> its versions; groups and versions in the order in which they are preferred."""
        groups: dict[str, set[str]] = {}
        for kind in self:
            groups.setdefault(kind.view.group, set()).add(kind.view.version)
        ordered = sorted(groups, key=aggregation.place)
        return {group: sorted(groups[group], key=versions.rank, reverse=True) for group in ordered}

    def of_version(self, group: str, version: str) -> list[ServedKind]:
        """The kinds of one version of a group, by name."""
        found = [it for it in self if (it.view.group, it.view.version) == (group, version)]
        return sorted(found, key=lambda it: it.view.plural)


def built_in() -> list[ServedKind]:
    """Kubernetes' own kinds."""
    made = {(served.kind.api_version, served.kind.name): _built_in(served) for served in BUILT_IN}
    for served in BUILT_IN:
        if served.stored_in:
            name = served.kind.name
            kind = made[served.kind.api_version, name]
            stored = made[served.stored_in, name].resource
            converted = replace(kind, resource=stored, conversion=conversions.of_kind(kind.resource))
            made[served.kind.api_version, name] = converted
    return list(made.values())


def _built_in(served: Served) -> ServedKind:
    kind = served.kind
    group, version = kind.group, kind.api_version.rpartition("/")[2]
    resource = Resource(
        group,
        version,
        kind.name,
        kind.plural,
        namespaced=kind.namespaced,
        has_status=served.has_status,
        has_generation=served.has_generation,
        counts_annotations=(group, kind.name) == ("apps", "Deployment"),
        has_node=(group, kind.name) == ("", "Pod"),
        has_spec_finalizers=(group, kind.name) == ("", "Namespace"),
        needs_version=(group, kind.name) in _VERSIONED,
        orphans=(group, kind.name) in _ORPHANS,
        fields=served.fields,
        grace=_pod_grace if (group, kind.name) == ("", "Pod") else at_once,
    )
    object_type = types.of_kind(kind.api_version, kind.name)
    schema = definitions.of_kind(kind.api_version, kind.name)
    assert object_type is not None
    assert schema is not None
    return ServedKind(
        resource,
        served.singular,
        served.short_names,
        served.categories,
        object_type,
        schema,
        scale=Scale() if served.has_scale else None,
        list_kind=f"{kind.name}List",
        verbs=_ONE_BY_ONE if (group, kind.name) == ("", "Namespace") else VERBS,
    )


def _pod_grace(record: Record, asked: int | None) -> int:
    """A pod that runs nowhere has nobody to wait for, nor has one whose containers have all ended."""
    if not record.node:
        return 0
    phase = getattr(record.status, "phase", None)  # of a status that an actor wrote
    if (selection.field(record, "status.phase") if phase is None else phase) in ("Succeeded", "Failed"):
        return 0
    if asked is not None:
        return asked
    text = record.body.field("spec.terminationGracePeriodSeconds")
    return int(text) if text.isdecimal() else 30
