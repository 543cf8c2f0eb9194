"""Cluster-wide default spread constraints, with the selector that kube-scheduler deduces for a pod (spec 13.17)."""

from collections.abc import Mapping
from functools import cached_property
from typing import Final

from baseload.decide.fit.constraints import Spread, selector_of, spread_of
from baseload.decide.fit.deduced import deduced
from baseload.kube.types.apps import ReplicaSet, StatefulSet
from baseload.kube.types.core import Pod, TopologySpreadConstraint
from baseload.kube.types.meta import LabelSelector
from baseload.model.view import View
from baseload.values.selector import Selector

Owner = tuple[str, str, str, str]
"""(API version, kind, namespace, name) of a pod's controller"""


class DefaultSpread:
    """The constraints that a pod without any of its own gets."""

    def __init__(self, view: View, written: tuple[TopologySpreadConstraint, ...]) -> None:
        self._view: Final = view
        self.written: Final = written

    def of(self, pod: Pod) -> tuple[Spread, ...]:
        if not self.written:
            return ()
        selector = self._selector(pod)
        if selector is None:
            return ()
        return tuple(spread_of(constraint, selector) for constraint in self.written)

    def _selector(self, pod: Pod) -> Selector | None:
        """The labels by which matching Services select, then the selector of the pod's controller; None: nothing."""
        namespace = pod.metadata.namespace
        services = (s.spec.selector for s in self._view.services if s.metadata.namespace == namespace)
        controller: dict[str, str] = {}
        owner = next((o for o in pod.metadata.owner_references if o.controller), None)
        expressions: Selector | None = None
        if owner is not None:
            key = (owner.api_version, owner.kind, pod.metadata.namespace, owner.name)
            controller = self._of_controllers.get(key, {})
            expressions = selector_of(self._of_sets.get(key))
        return deduced(pod.metadata.labels, services, controller, expressions)

    @cached_property
    def _of_controllers(self) -> Mapping[Owner, dict[str, str]]:
        return {
            ("v1", "ReplicationController", c.metadata.namespace, c.metadata.name): c.spec.selector
            for c in self._view.replication_controllers
        }

    @cached_property
    def _of_sets(self) -> Mapping[Owner, LabelSelector | None]:
        sets: tuple[ReplicaSet | StatefulSet, ...] = (*self._view.replica_sets, *self._view.stateful_sets)
        return {("apps/v1", type(s).__name__, s.metadata.namespace, s.metadata.name): s.spec.selector for s in sets}
