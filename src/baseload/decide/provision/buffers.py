"""Capacity buffers: room kept free by virtual pods that join each pass (gate CapacityBuffer; provisioning spec 22)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from baseload.kube.types.apps import Deployment, ReplicaSet, StatefulSet
from baseload.kube.types.autoscaling import CapacityBuffer
from baseload.kube.types.core import Pod, PodSpec, PodTemplateSpec
from baseload.kube.types.meta import ObjectMeta
from baseload.model import requests
from baseload.model.view import View, name_of
from baseload.plan.provision import Buffer
from baseload.values import instant, quantity

_LAST = "9999-12-31T23:59:59Z"
"""without an instant of its own a pass takes place after everything that exists"""


@dataclass(frozen=True, slots=True)
class VirtualPods:
    """The pods that stand for one buffer; none where it is not ready or asks for nothing."""

    buffer: CapacityBuffer
    ready: bool
    pods: tuple[Pod, ...]

    @property
    def name(self) -> str:
        return name_of(self.buffer)


def virtual_pods(view: View, now: int | None) -> Iterator[VirtualPods]:
    created = _LAST if now is None else instant.format(now)
    for buffer in view.capacity_buffers:
        found = _shape(buffer, view)
        if found is None:
            yield VirtualPods(buffer, False, ())
        else:
            template, replicas = found
            yield VirtualPods(buffer, True, tuple(_pods(buffer, template, replicas, created)))


def sizes(view: View) -> Iterator[tuple[CapacityBuffer, int]]:
    """How many pods each buffer that is ready stands for."""
    for buffer in view.capacity_buffers:
        if (found := _shape(buffer, view)) is not None:
            yield buffer, found[1]


def outcome(virtual: VirtualPods, landed: Mapping[str, bool]) -> Buffer:
    """What the pass says of a buffer. `landed`: virtual pod -> whether an existing node took it."""
    if not virtual.ready:
        provisioning = "NotReadyForProvisioning"
    elif not virtual.pods:
        provisioning = "BufferEmpty"
    elif all(landed.get(name_of(pod), False) for pod in virtual.pods):
        provisioning = "FitsExistingCapacity"
    else:
        provisioning = "RequiresNewCapacity"
    return Buffer(virtual.name, len(virtual.pods), provisioning)


def _shape(buffer: CapacityBuffer, view: View) -> tuple[PodTemplateSpec, int] | None:
    """The pod and the number of a buffer; None where what it refers to is not there."""
    spec, namespace = buffer.spec, buffer.metadata.namespace
    template: PodTemplateSpec | None = None
    workload_replicas: int | None = None
    if spec.pod_template_ref is not None:
        name = spec.pod_template_ref.name
        found = (t for t in view.pod_templates if (t.metadata.namespace, t.metadata.name) == (namespace, name))
        template = next((t.template for t in found), None)
    elif spec.scalable_ref is not None:
        template, workload_replicas = _workload(view, spec.scalable_ref.kind, namespace, spec.scalable_ref.name)
    if template is None:
        return None
    return template, _replicas(buffer, template.spec, workload_replicas)


def _workload(view: View, kind: str, namespace: str, name: str) -> tuple[PodTemplateSpec | None, int | None]:
    workloads: Mapping[str, Sequence[Deployment | StatefulSet | ReplicaSet]] = {
        "Deployment": view.deployments,
        "StatefulSet": view.stateful_sets,
        "ReplicaSet": view.replica_sets,
    }
    for workload in workloads.get(kind, ()):
        if (workload.metadata.namespace, workload.metadata.name) == (namespace, name):
            replicas = workload.spec.replicas
            return workload.spec.template, 1 if replicas is None else replicas
    return None, None


def _replicas(buffer: CapacityBuffer, pod: PodSpec, workload_replicas: int | None) -> int:
    spec = buffer.spec
    wanted: list[int] = [] if spec.replicas is None else [spec.replicas]
    if spec.percentage is not None and workload_replicas:
        wanted.append(-(-spec.percentage * workload_replicas // 100))
    asked = requests.of_spec(pod)
    bounds = [
        quantity.parse(limit) // asked[resource]
        for resource, limit in spec.limits.items()
        if asked.get(resource, 0) > 0
    ]
    if not wanted:
        return min(bounds, default=0)
    return min([max(wanted), *bounds])


def _pods(buffer: CapacityBuffer, template: PodTemplateSpec, replicas: int, created: str) -> Iterator[Pod]:
    kept = tuple(v for v in template.spec.volumes if v.persistent_volume_claim is None and v.ephemeral is None)
    spec = msgspec.structs.replace(template.spec, volumes=kept, node_name="")
    uid = buffer.metadata.uid or name_of(buffer)
    for place in range(1, replicas + 1):
        metadata = ObjectMeta(
            name=f"capacity-buffer-{buffer.metadata.name}-{place}",
            namespace=buffer.metadata.namespace,
            uid=f"{uid}-{place}",
            labels=template.metadata.labels,
            creation_timestamp=created,
        )
        yield Pod(metadata=metadata, spec=spec)


def names(buffers: Sequence[VirtualPods]) -> frozenset[str]:
    return frozenset(name_of(pod) for buffer in buffers for pod in buffer.pods)
