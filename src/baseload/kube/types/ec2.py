"""Readings of karpenter.k8s.aws: how EC2 instances are made, as far as it decides capacity, zones and offerings."""

import msgspec

from baseload.kube.types.meta import Condition, IntOrString, ObjectMeta, Quantity, Wire


class AMISelectorTerm(Wire, frozen=True):
    alias: str = ""
    tags: dict[str, str] = {}
    id: str = ""
    name: str = ""
    owner: str = ""
    ssm_parameter: str = ""


class SubnetSelectorTerm(Wire, frozen=True):
    tags: dict[str, str] = {}
    id: str = ""


class SecurityGroupSelectorTerm(Wire, frozen=True):
    tags: dict[str, str] = {}
    id: str = ""
    name: str = ""


class CapacityReservationSelectorTerm(Wire, frozen=True):
    tags: dict[str, str] = {}
    id: str = ""
    owner_id: str = msgspec.field(name="ownerID", default="")
    instance_match_criteria: str = ""


class PlacementGroupSelector(Wire, frozen=True):
    name: str = ""
    id: str = ""


class KubeletConfiguration(Wire, frozen=True):
    cluster_dns: tuple[str, ...] = msgspec.field(name="clusterDNS", default=())
    max_pods: IntOrString | None = None  # a string is an expression
    pods_per_core: int | None = None
    system_reserved: dict[str, str] = {}
    kube_reserved: dict[str, str] = {}
    eviction_hard: dict[str, str] = {}
    eviction_soft: dict[str, str] = {}
    eviction_soft_grace_period: dict[str, str] = {}
    eviction_max_pod_grace_period: int | None = None
    image_gc_high_threshold_percent: int | None = msgspec.field(name="imageGCHighThresholdPercent", default=None)
    image_gc_low_threshold_percent: int | None = msgspec.field(name="imageGCLowThresholdPercent", default=None)
    cpu_cfs_quota: bool | None = msgspec.field(name="cpuCFSQuota", default=None)


class BlockDevice(Wire, frozen=True):
    volume_size: Quantity | None = None
    volume_type: str = ""
    encrypted: bool | None = None
    delete_on_termination: bool | None = None
    iops: int | None = None
    throughput: int | None = None
    snapshot_id: str = msgspec.field(name="snapshotID", default="")


class BlockDeviceMapping(Wire, frozen=True):
    device_name: str = ""
    ebs: BlockDevice | None = None
    root_volume: bool = False


class MetadataOptions(Wire, frozen=True):
    http_endpoint: str = msgspec.field(name="httpEndpoint", default="")
    http_protocol_ipv6: str = msgspec.field(name="httpProtocolIPv6", default="")
    http_put_response_hop_limit: int | None = msgspec.field(name="httpPutResponseHopLimit", default=None)
    http_tokens: str = msgspec.field(name="httpTokens", default="")


class NetworkInterface(Wire, frozen=True):
    network_card_index: int = 0
    device_index: int = 0
    interface_type: str = ""  # interface or efa-only


class CPUOptions(Wire, frozen=True):
    nested_virtualization: str = ""


class EC2NodeClassSpec(Wire, frozen=True):
    ami_family: str = msgspec.field(name="amiFamily", default="")
    ami_selector_terms: tuple[AMISelectorTerm, ...] = msgspec.field(name="amiSelectorTerms", default=())
    subnet_selector_terms: tuple[SubnetSelectorTerm, ...] = ()
    security_group_selector_terms: tuple[SecurityGroupSelectorTerm, ...] = ()
    capacity_reservation_selector_terms: tuple[CapacityReservationSelectorTerm, ...] = ()
    placement_group_selector: PlacementGroupSelector | None = None
    network_interfaces: tuple[NetworkInterface, ...] = ()
    associate_public_ip_address: bool | None = msgspec.field(name="associatePublicIPAddress", default=None)
    role: str = ""
    instance_profile: str = ""
    kubelet: KubeletConfiguration = KubeletConfiguration()
    block_device_mappings: tuple[BlockDeviceMapping, ...] = ()
    instance_store_policy: str = ""
    metadata_options: MetadataOptions = MetadataOptions()
    cpu_options: CPUOptions | None = msgspec.field(name="cpuOptions", default=None)
    detailed_monitoring: bool | None = None
    user_data: str = ""
    tags: dict[str, str] = {}


class Subnet(Wire, frozen=True):
    id: str = ""
    zone: str = ""
    zone_id: str = msgspec.field(name="zoneID", default="")


class SecurityGroup(Wire, frozen=True):
    id: str = ""
    name: str = ""


class AMIRequirement(Wire, frozen=True):
    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class AMI(Wire, frozen=True):
    id: str = ""
    name: str = ""
    requirements: tuple[AMIRequirement, ...] = ()
    deprecated: bool = False


class CapacityReservation(Wire, frozen=True):
    id: str = ""
    availability_zone: str = ""
    instance_type: str = ""
    instance_match_criteria: str = ""
    owner_id: str = msgspec.field(name="ownerID", default="")
    reservation_type: str = ""
    state: str = ""
    end_time: str = ""
    interruptible: bool = False


class EC2NodeClassStatus(Wire, frozen=True):
    subnets: tuple[Subnet, ...] = ()
    security_groups: tuple[SecurityGroup, ...] = ()
    capacity_reservations: tuple[CapacityReservation, ...] = ()
    amis: tuple[AMI, ...] = ()
    instance_profile: str = ""
    conditions: tuple[Condition, ...] = ()


class EC2NodeClass(Wire, frozen=True):
    metadata: ObjectMeta
    spec: EC2NodeClassSpec = EC2NodeClassSpec()
    status: EC2NodeClassStatus = EC2NodeClassStatus()
