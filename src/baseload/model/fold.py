"""A view after changes: View x changes -> View, the way in which a view follows a cluster.

The objects of each kind are in the order of namespace and name. Kinds that did not change are the very same tuples, and
so are the pods of a node where none of them did.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar, cast

from baseload.kube.types import apps, autoscaling, core, ec2, karpenter, policy, storage
from baseload.kube.types.meta import Wire
from baseload.model.statenode import pair
from baseload.model.view import Named, View, is_terminal

FIELDS: Final[Mapping[str, type[Wire]]] = {
    "pods": core.Pod,
    "nodes": core.Node,
    "node_claims": karpenter.NodeClaim,
    "node_pools": karpenter.NodePool,
    "node_overlays": karpenter.NodeOverlay,
    "node_classes": ec2.EC2NodeClass,
    "capacity_buffers": autoscaling.CapacityBuffer,
    "pod_templates": core.PodTemplate,
    "deployments": apps.Deployment,
    "replica_sets": apps.ReplicaSet,
    "stateful_sets": apps.StatefulSet,
    "daemon_sets": apps.DaemonSet,
    "replication_controllers": core.ReplicationController,
    "services": core.Service,
    "namespaces": core.Namespace,
    "pod_disruption_budgets": policy.PodDisruptionBudget,
    "persistent_volumes": core.PersistentVolume,
    "persistent_volume_claims": core.PersistentVolumeClaim,
    "storage_classes": storage.StorageClass,
    "csi_nodes": storage.CSINode,
}
"""field of the view -> the kind that it holds"""

_FEW: Final = 4
"""Where less than one object in so many changed, each is put in its place; else all are put in order anew"""
N = TypeVar("N", bound=Named)
_FIELD_OF: Final = {kind: name for name, kind in FIELDS.items()}


@dataclass(frozen=True, slots=True)
class Change:
    """One object as it is now, None where it is gone; `reading` is None for a kind that no decision reads."""

    api_version: str
    kind: str
    namespace: str
    name: str
    is_gone: bool
    reading: Wire | None = None


def fold(view: View, changes: Iterable[Change]) -> View:
    """The view after changes, in their order; what is gone is told with its last reading, also where it is replaced."""
    changes = tuple(changes)
    by_field: dict[str, dict[tuple[str, str], Named | None]] = {}
    refs = set(view.node_class_refs)
    for change in changes:
        field = _FIELD_OF.get(type(change.reading)) if change.reading is not None else None
        if field is not None:
            after = None if change.is_gone else cast(Named, change.reading)
            by_field.setdefault(field, {})[change.namespace, change.name] = after
        if change.kind.endswith("NodeClass"):
            ref = change.api_version.partition("/")[0], change.kind, change.name
            (refs.discard if change.is_gone else refs.add)(ref)
    told: dict[str, object] = {field: _merged(getattr(view, field), after) for field, after in by_field.items()}
    folded = view.but(**told, node_class_refs=frozenset(refs))
    worked_out, before = folded.__dict__, view.__dict__
    if "state_nodes" in before and "state_nodes" not in worked_out:
        worked_out["state_nodes"] = pair(folded.nodes, folded.node_claims, folded.marked, view.state_nodes)
    if "pods_on" in before and "pods_on" not in worked_out:
        worked_out["pods_on"] = _pods_on(view.pods_on, changes)
    return folded


_PodsOn = Mapping[str, tuple[core.Pod, ...]]


def _pods_on(before: _PodsOn, changes: Iterable[Change]) -> _PodsOn:
    """What `View.pods_on` becomes."""
    by_node: dict[str, dict[tuple[str, str], core.Pod | None]] = {}
    for change in changes:
        pod = change.reading
        if isinstance(pod, core.Pod) and pod.spec.node_name and not is_terminal(pod):
            by_node.setdefault(pod.spec.node_name, {})[_key(pod)] = None if change.is_gone else pod
    found = dict(before)
    for node, after in by_node.items():
        pods = found[node] = _merged(found.get(node, ()), after)
        if not pods:
            del found[node]
    return found


def _merged(before: tuple[N, ...], after: Mapping[tuple[str, str], N | None]) -> tuple[N, ...]:
    if len(after) * _FEW > len(before):
        whole: dict[tuple[str, str], N | None] = {_key(it): it for it in before}
        whole.update(after)
        return tuple(it for key in sorted(whole) if (it := whole[key]) is not None)
    held = list(before)
    for key, reading in after.items():
        place = bisect_left(held, key, key=_key)
        is_there = place < len(held) and _key(held[place]) == key
        held[place : place + is_there] = [] if reading is None else [reading]
    return tuple(held)


def _key(it: Named) -> tuple[str, str]:
    return it.metadata.namespace, it.metadata.name
