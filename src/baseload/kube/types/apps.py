"""Readings of the apps group: the workloads that own pods."""

from baseload.kube.types.core import PersistentVolumeClaimTemplate, PodTemplateSpec
from baseload.kube.types.meta import LabelSelector, ObjectMeta, Wire


class DeploymentSpec(Wire, frozen=True):
    replicas: int | None = None  # None reads as 1
    selector: LabelSelector | None = None
    template: PodTemplateSpec = PodTemplateSpec()
    paused: bool = False


class ReplicaStatus(Wire, frozen=True):
    """The replica counts that workloads of this group report."""

    replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    observed_generation: int | None = None


class Deployment(Wire, frozen=True):
    metadata: ObjectMeta
    spec: DeploymentSpec = DeploymentSpec()
    status: ReplicaStatus = ReplicaStatus()


class ReplicaSetSpec(Wire, frozen=True):
    replicas: int | None = None  # None reads as 1
    selector: LabelSelector | None = None
    template: PodTemplateSpec = PodTemplateSpec()


class ReplicaSet(Wire, frozen=True):
    metadata: ObjectMeta
    spec: ReplicaSetSpec = ReplicaSetSpec()
    status: ReplicaStatus = ReplicaStatus()


class StatefulSetSpec(Wire, frozen=True):
    replicas: int | None = None  # None reads as 1
    selector: LabelSelector | None = None
    service_name: str = ""
    template: PodTemplateSpec = PodTemplateSpec()
    volume_claim_templates: tuple[PersistentVolumeClaimTemplate, ...] = ()
    pod_management_policy: str = ""


class StatefulSet(Wire, frozen=True):
    metadata: ObjectMeta
    spec: StatefulSetSpec = StatefulSetSpec()
    status: ReplicaStatus = ReplicaStatus()


class DaemonSetSpec(Wire, frozen=True):
    selector: LabelSelector | None = None
    template: PodTemplateSpec = PodTemplateSpec()


class DaemonSet(Wire, frozen=True):
    metadata: ObjectMeta
    spec: DaemonSetSpec = DaemonSetSpec()
