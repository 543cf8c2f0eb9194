"""Readings of the core group: pods, nodes, volumes and their claims, namespaces and what else decisions look up."""

import msgspec

from baseload.kube.types.meta import (
    Condition,
    LabelSelector,
    NodeSelectorRequirement,
    ObjectMeta,
    Quantity,
    Resources,
    Taint,
    Wire,
)


class ResourceClaimUse(Wire, frozen=True):
    """A container's use of one of its pod's resource claims."""

    name: str = ""
    request: str = ""


class ResourceRequirements(Wire, frozen=True):
    requests: Resources = {}
    limits: Resources = {}
    claims: tuple[ResourceClaimUse, ...] = ()


class ContainerPort(Wire, frozen=True):
    name: str = ""
    container_port: int | None = None
    host_port: int = 0
    host_ip: str = msgspec.field(name="hostIP", default="")
    protocol: str = "TCP"


class Container(Wire, frozen=True):
    name: str = ""
    image: str = ""
    resources: ResourceRequirements = ResourceRequirements()
    ports: tuple[ContainerPort, ...] = ()
    restart_policy: str = ""  # "Always" on an init container makes it a sidecar


class NodeSelectorTerm(Wire, frozen=True):
    match_expressions: tuple[NodeSelectorRequirement, ...] = ()
    match_fields: tuple[NodeSelectorRequirement, ...] = ()


class NodeSelector(Wire, frozen=True):
    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()


class PreferredSchedulingTerm(Wire, frozen=True):
    weight: int = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()


class NodeAffinity(Wire, frozen=True):
    required_during_scheduling_ignored_during_execution: NodeSelector | None = None
    preferred_during_scheduling_ignored_during_execution: tuple[PreferredSchedulingTerm, ...] = ()


class PodAffinityTerm(Wire, frozen=True):
    topology_key: str = ""
    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


class WeightedPodAffinityTerm(Wire, frozen=True):
    weight: int = 0
    pod_affinity_term: PodAffinityTerm = PodAffinityTerm()


class PodAffinity(Wire, frozen=True):
    """Pod affinity, and pod anti-affinity alike."""

    required_during_scheduling_ignored_during_execution: tuple[PodAffinityTerm, ...] = ()
    preferred_during_scheduling_ignored_during_execution: tuple[WeightedPodAffinityTerm, ...] = ()


class Affinity(Wire, frozen=True):
    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class Toleration(Wire, frozen=True):
    key: str = ""
    operator: str = ""  # "" reads as Equal
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


class TopologySpreadConstraint(Wire, frozen=True):
    max_skew: int = 1
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str = ""  # "" reads as Honor
    node_taints_policy: str = ""  # "" reads as Ignore
    match_label_keys: tuple[str, ...] = ()


class PersistentVolumeClaimVolumeSource(Wire, frozen=True):
    claim_name: str = ""
    read_only: bool = False


class VolumeResourceRequirements(Wire, frozen=True):
    requests: Resources = {}
    limits: Resources = {}


class PersistentVolumeClaimSpec(Wire, frozen=True):
    storage_class_name: str | None = None  # None: the default class; "": no class at all
    volume_name: str = ""
    access_modes: tuple[str, ...] = ()
    volume_mode: str = ""  # "" reads as Filesystem
    selector: LabelSelector | None = None
    resources: VolumeResourceRequirements = VolumeResourceRequirements()


class PersistentVolumeClaimTemplate(Wire, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()


class EphemeralVolumeSource(Wire, frozen=True):
    volume_claim_template: PersistentVolumeClaimTemplate | None = None


class EmptyDirVolumeSource(Wire, frozen=True):
    medium: str = ""
    size_limit: Quantity | None = None


class HostPathVolumeSource(Wire, frozen=True):
    path: str = ""


class Volume(Wire, frozen=True):
    """A pod's volume; of its sources only those that tie a pod to a place or to its data are read."""

    name: str = ""
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None
    ephemeral: EphemeralVolumeSource | None = None
    empty_dir: EmptyDirVolumeSource | None = None
    host_path: HostPathVolumeSource | None = None


class PodSchedulingGate(Wire, frozen=True):
    name: str = ""


class PodResourceClaim(Wire, frozen=True):
    name: str = ""
    resource_claim_name: str = ""
    resource_claim_template_name: str = ""


class PodSpec(Wire, frozen=True):
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    resources: ResourceRequirements | None = None
    overhead: Resources = {}
    node_name: str = ""
    node_selector: dict[str, str] = {}
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] = ()
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    volumes: tuple[Volume, ...] = ()
    priority: int | None = None
    priority_class_name: str = ""
    preemption_policy: str = ""
    scheduler_name: str = ""
    scheduling_gates: tuple[PodSchedulingGate, ...] = ()
    host_network: bool = False
    restart_policy: str = ""
    termination_grace_period_seconds: int | None = None
    resource_claims: tuple[PodResourceClaim, ...] = ()
    service_account_name: str = ""


class ContainerStatus(Wire, frozen=True):
    name: str = ""
    ready: bool = False
    restart_count: int = 0
    resources: ResourceRequirements | None = None
    allocated_resources: Resources = {}


class PodStatus(Wire, frozen=True):
    phase: str = ""
    reason: str = ""
    conditions: tuple[Condition, ...] = ()
    start_time: str = ""
    nominated_node_name: str = ""
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    resize: str = ""
    pod_ip: str = msgspec.field(name="podIP", default="")


class Pod(Wire, frozen=True):
    metadata: ObjectMeta
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


class PodTemplateSpec(Wire, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()


class PodTemplate(Wire, frozen=True):
    metadata: ObjectMeta
    template: PodTemplateSpec = PodTemplateSpec()


class NodeSpec(Wire, frozen=True):
    provider_id: str = msgspec.field(name="providerID", default="")
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False


class NodeAddress(Wire, frozen=True):
    type: str = ""
    address: str = ""


class NodeSystemInfo(Wire, frozen=True):
    architecture: str = ""
    operating_system: str = ""
    kubelet_version: str = ""


class NodeStatus(Wire, frozen=True):
    capacity: Resources = {}
    allocatable: Resources = {}
    conditions: tuple[Condition, ...] = ()
    addresses: tuple[NodeAddress, ...] = ()
    node_info: NodeSystemInfo = NodeSystemInfo()


class Node(Wire, frozen=True):
    metadata: ObjectMeta
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class Namespace(Wire, frozen=True):
    metadata: ObjectMeta


class ServiceSpec(Wire, frozen=True):
    selector: dict[str, str] = {}


class Service(Wire, frozen=True):
    metadata: ObjectMeta
    spec: ServiceSpec = ServiceSpec()


class ObjectReference(Wire, frozen=True):
    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""


class VolumeNodeAffinity(Wire, frozen=True):
    required: NodeSelector | None = None


class CSIPersistentVolumeSource(Wire, frozen=True):
    driver: str = ""
    volume_handle: str = ""


class AWSElasticBlockStoreVolumeSource(Wire, frozen=True):
    volume_id: str = msgspec.field(name="volumeID", default="")


class GCEPersistentDiskVolumeSource(Wire, frozen=True):
    pd_name: str = ""


class AzureDiskVolumeSource(Wire, frozen=True):
    disk_name: str = ""


class LocalVolumeSource(Wire, frozen=True):
    path: str = ""


class PersistentVolumeSpec(Wire, frozen=True):
    persistent_volume_reclaim_policy: str = ""  # "" reads as Retain
    volume_mode: str = ""  # "" reads as Filesystem
    node_affinity: VolumeNodeAffinity | None = None
    storage_class_name: str = ""
    access_modes: tuple[str, ...] = ()
    capacity: Resources = {}
    claim_ref: ObjectReference | None = None
    csi: CSIPersistentVolumeSource | None = None
    aws_elastic_block_store: AWSElasticBlockStoreVolumeSource | None = None
    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = None
    azure_disk: AzureDiskVolumeSource | None = None
    local: LocalVolumeSource | None = None
    host_path: HostPathVolumeSource | None = None


class PhaseStatus(Wire, frozen=True):
    """The status of a volume or of a claim on one: Available, Bound, Pending, Lost …"""

    phase: str = ""


class PersistentVolume(Wire, frozen=True):
    metadata: ObjectMeta
    spec: PersistentVolumeSpec = PersistentVolumeSpec()
    status: PhaseStatus = PhaseStatus()


class PersistentVolumeClaim(Wire, frozen=True):
    metadata: ObjectMeta
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    status: PhaseStatus = PhaseStatus()


class ReplicationControllerSpec(Wire, frozen=True):
    replicas: int | None = None
    selector: dict[str, str] = {}
    template: PodTemplateSpec | None = None


class ReplicationController(Wire, frozen=True):
    metadata: ObjectMeta
    spec: ReplicationControllerSpec = ReplicationControllerSpec()


class ConfigMap(Wire, frozen=True):
    metadata: ObjectMeta
    data: dict[str, str] = {}
