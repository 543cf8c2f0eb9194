"""What the store must know of a kind to keep its objects by Kubernetes' rules; the caller hands it in, for CRDs too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from baseload.embedded.store.log import Event
    from baseload.embedded.store.record import Record

    Grace = Callable[[Record, int | None], int]
    """(object, gracePeriodSeconds as asked, None where not) -> seconds to wait; 0 removes at once"""
    Classify = Callable[[Event], str]
    """event -> the class of change that subscribers name"""


def at_once(record: Record, asked: int | None) -> int:
    """The grace of kinds that know none."""
    return 0


def classify(event: Event) -> str:
    """Classes that make sense for every kind: added, removed, marked (deletion), bound, spec, status, other."""
    old, new = event.old, event.record
    if old is None:
        return "added"
    if event.type == "DELETED":
        return "removed"
    if old.deletion is not new.deletion:
        return "marked"
    if old.node != new.node:
        return "bound"
    if old.body is not new.body:
        return "spec"
    return "status" if old.status is not new.status else "other"


@dataclass(frozen=True, slots=True, eq=False)  # one of each, told apart by identity
class Resource:
    """One kind as it is stored, in the one version that it is stored in."""

    group: str  # "" is the core group
    version: str
    kind: str
    plural: str
    namespaced: bool = True
    has_status: bool = True  # status is a subresource: an update keeps it, an update of the status keeps all else
    has_generation: bool = True  # metadata.generation counts changes outside of metadata and status
    counts_annotations: bool = False  # the generation counts changed annotations too, as on Deployments
    needs_version: bool = False  # an update must name the resourceVersion it is based on, as on custom resources
    has_node: bool = False  # spec.nodeName stands beside the spec, so that equal specs are shared, and is indexed
    has_spec_finalizers: bool = False  # namespaces: spec.finalizers hold the object as metadata.finalizers do
    orphans: bool = False  # a delete that says nothing of dependents leaves them, as of Jobs
    fields: tuple[str, ...] = ()  # what field selectors may name beyond metadata.name and metadata.namespace
    grace: Grace = at_once
    classify: Classify = classify
    api_version: str = field(init=False)
    qualified: str = field(init=False)  # pods, deployments.apps

    def __post_init__(self) -> None:
        object.__setattr__(self, "api_version", f"{self.group}/{self.version}" if self.group else self.version)
        object.__setattr__(self, "qualified", f"{self.plural}.{self.group}" if self.group else self.plural)

    def become(self, other: Resource) -> None:
        """Takes over what a changed definition of the same kind says; for the store, between two writes."""
        assert (self.group, self.kind, self.plural, self.namespaced) == (
            other.group,
            other.kind,
            other.plural,
            other.namespaced,
        )
        for name in ("version", "has_status", "has_generation", "needs_version", "fields", "api_version"):
            object.__setattr__(self, name, getattr(other, name))

    def key(self, namespace: str, name: str) -> str:
        """Where an object stands in the order of its kind; etcd orders keys in the same way."""
        return f"{namespace}/{name}" if self.namespaced else name
