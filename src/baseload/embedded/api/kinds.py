"""What is served: each kind as discovery names it, as the store keeps it, as its schema describes it.

Kubernetes' own kinds come from `kube.served`, custom ones from their definitions (`crds`); all are found by the same
two ways, the path of a request and the kind of an object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from baseload.embedded.store import selection
from baseload.embedded.store.record import Record
from baseload.embedded.store.resource import Resource, at_once
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

VERBS: Final = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


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
    """One kind in one version."""

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
    reply: Reply | None = None  # of the kinds that are answered, not stored (`computed`)

    @property
    def is_stored(self) -> bool:
        return self.reply is None

    @property
    def is_custom(self) -> bool:
        return self.columns is not None

    @property
    def actions(self) -> tuple[str, ...]:
        """The subresources that are done, not written."""
        return ("binding", "eviction") if (self.resource.group, self.resource.kind) == ("", "Pod") else ()

    @property
    def subresources(self) -> tuple[str, ...]:
        return ("status",) * self.resource.has_status + ("scale",) * (self.scale is not None)


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
        return self._by_path[resource.group, resource.version, resource.plural]

    def named(self, group: str, kind: str) -> ServedKind | None:
        """The kind of that name, in the version that is served."""
        return next((it for it in self if it.resource.group == group and it.resource.kind == kind), None)

    def add(self, kind: ServedKind) -> None:
        resource = kind.resource
        self._by_path[resource.group, resource.version, resource.plural] = kind
        self.generation += 1

    def remove(self, kind: ServedKind) -> None:
        resource = kind.resource
        del self._by_path[resource.group, resource.version, resource.plural]
        self.generation += 1

    def versions(self) -> dict[str, list[str]]:
        """group -> its versions, the core group first, in the order in which they came."""
        groups: dict[str, list[str]] = {}
        for kind in self:
            versions = groups.setdefault(kind.resource.group, [])
            if kind.resource.version not in versions:
                versions.append(kind.resource.version)
        return groups

    def of_version(self, group: str, version: str) -> list[ServedKind]:
        """The kinds of one version of a group, by name."""
        found = [it for it in self if (it.resource.group, it.resource.version) == (group, version)]
        return sorted(found, key=lambda it: it.resource.plural)


def built_in() -> list[ServedKind]:
    """Kubernetes' own kinds."""
    return [_built_in(served) for served in BUILT_IN]


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
    )


def _pod_grace(record: Record, asked: int | None) -> int:
    """A pod that runs nowhere has nobody to wait for, nor has one whose containers have all ended."""
    if not record.node or selection.field(record, "status.phase") in ("Succeeded", "Failed"):
        return 0
    if asked is not None:
        return asked
    text = record.body.field("spec.terminationGracePeriodSeconds")
    return int(text) if text.isdecimal() else 30
