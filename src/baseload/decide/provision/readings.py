"""Pods as fitting sees them; what equal specs have in common is read once and shared by identity."""

from collections.abc import Mapping
from typing import Final

from baseload.decide.fit import constraints
from baseload.decide.fit.constraints import Constraints, Spread
from baseload.decide.fit.shape import NO_VOLUMES, NOTHING_ATTACHED, FitPod
from baseload.decide.provision.default_spread import DefaultSpread
from baseload.decide.provision.volumes import Volumes
from baseload.kube.types.core import Pod, PodSpec
from baseload.model import requests
from baseload.model.view import View, name_of

_NONE: Final = Constraints()
"""for a pod without demands; and for a running one that stays, of whose demands only anti-affinity binds others"""
_MOST_KNOWN: Final = 100_000  # specs
_Parts = tuple[int, ...]
"""The ids of the parts of a spec that make its request; pods of one template share them, wherever they are bound"""


class Known:
    """What was read of specs, by identity; for passes on one cluster in whose namespaces nothing changes."""

    def __init__(self) -> None:
        self.constraints: Final[dict[tuple[object, ...], Constraints]] = {}
        self.label_keys: Final[dict[int, tuple[str, ...]]] = {}
        self.requests: Final[dict[_Parts, Mapping[str, int]]] = {}
        self.equal: Final[dict[Constraints, Constraints]] = {}
        self.kept: Final[list[PodSpec]] = []  # ids stand for objects that must live as long

    def turn(self) -> None:
        """A new pass begins."""
        if len(self.kept) > _MOST_KNOWN:
            for held in (self.constraints, self.label_keys, self.requests, self.equal, self.kept):
                held.clear()


class Readings:
    """The pods of one view."""

    def __init__(self, view: View, volumes: Volumes, default_spread: DefaultSpread, known: Known | None = None) -> None:
        self._namespaces: Final = view.namespace_labels
        self._volumes: Final = volumes
        self._default_spread: Final = default_spread
        self._attach_limited: Final = bool(view.csi_nodes)
        self._known: Final = known or Known()

    def to_place(self, pod: Pod) -> FitPod:
        """A pod that is to be placed, with all its demands."""
        try:
            alternatives = self._volumes.alternatives(pod) if pod.spec.volumes else NO_VOLUMES
        except LookupError:
            alternatives = NO_VOLUMES  # only a pod of a deleting node comes here unvalidated: tried without (14.7)
        return FitPod(
            name=name_of(pod),
            namespace=pod.metadata.namespace,
            labels=pod.metadata.labels,
            constraints=self.constraints(pod),
            requests=self.requests(pod),
            volumes=alternatives,
            attachments=self.attachments(pod),
            created=pod.metadata.creation_timestamp,
            uid=pod.metadata.uid or name_of(pod),
        )

    def has_lost_volume(self, pod: Pod) -> bool:
        """Whether a volume of the pod cannot be looked up, so that nobody can tell where it might go."""
        try:
            self._volumes.alternatives(pod)
        except LookupError:
            return True
        return False

    def running(self, pod: Pod) -> FitPod:
        """A bound pod that stays where it is."""
        affinity = pod.spec.affinity
        repels = affinity is not None and affinity.pod_anti_affinity is not None
        return FitPod(
            name=name_of(pod),
            namespace=pod.metadata.namespace,
            labels=pod.metadata.labels,
            constraints=self.constraints(pod) if repels else _NONE,
            requests={},
        )

    def constraints(self, pod: Pod) -> Constraints:
        spec, labels, namespace = pod.spec, pod.metadata.labels, pod.metadata.namespace
        if _demands_nothing(spec) and not self._default_spread.written:
            return _NONE
        known = self._known
        keys = known.label_keys.get(id(spec))
        if keys is None:
            keys = known.label_keys[id(spec)] = constraints.label_keys(spec)
            known.kept.append(spec)
        default: tuple[Spread, ...] = ()
        if not spec.topology_spread_constraints:
            default = self._default_spread.of(pod)
        key = (id(spec), namespace, tuple(labels.get(k) for k in keys), default)
        found = known.constraints.get(key)
        if found is None:
            found = constraints.read(
                spec, namespace=namespace, labels=labels, namespaces=self._namespaces, default_spread=default
            )
            found = known.constraints[key] = known.equal.setdefault(found, found)
        return found

    def requests(self, pod: Pod) -> Mapping[str, int]:
        if requests.is_resized(pod):
            return requests.of_pod(pod)
        spec, known = pod.spec, self._known
        parts = id(spec.containers), id(spec.init_containers), id(spec.resources), id(spec.overhead)
        found = known.requests.get(parts)
        if found is None:
            found = known.requests[parts] = requests.of_pod(pod)
            known.kept.append(spec)
        return found

    def attachments(self, pod: Pod) -> Mapping[str, frozenset[str]]:
        if not (self._attach_limited and pod.spec.volumes):
            return NOTHING_ATTACHED
        return self._volumes.attachments(pod)


def _demands_nothing(spec: PodSpec) -> bool:
    """Whether a pod demands nothing of its place but room."""
    if spec.affinity or spec.tolerations or spec.node_selector or spec.topology_spread_constraints:
        return False
    return not any(port.host_port for container in spec.containers for port in container.ports)
