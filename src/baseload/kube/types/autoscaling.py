"""Readings of autoscaling.x-k8s.io: capacity kept free for pods that are still to come."""

from baseload.kube.types.meta import Condition, ObjectMeta, Resources, Wire


class LocalObjectRef(Wire, frozen=True):
    name: str = ""


class ScalableRef(Wire, frozen=True):
    api_group: str = ""
    kind: str = ""
    name: str = ""


class CapacityBufferSpec(Wire, frozen=True):
    provisioning_strategy: str = ""
    pod_template_ref: LocalObjectRef | None = None
    scalable_ref: ScalableRef | None = None
    replicas: int | None = None
    percentage: int | None = None
    limits: Resources = {}


class CapacityBufferStatus(Wire, frozen=True):
    pod_template_ref: LocalObjectRef | None = None
    replicas: int | None = None
    pod_template_generation: int | None = None
    conditions: tuple[Condition, ...] = ()


class CapacityBuffer(Wire, frozen=True):
    metadata: ObjectMeta
    spec: CapacityBufferSpec = CapacityBufferSpec()
    status: CapacityBufferStatus = CapacityBufferStatus()
