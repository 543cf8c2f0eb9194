"""Readings of karpenter.sh: pools, claims and overlays."""

import msgspec

from baseload.kube.types.meta import Condition, NodeSelectorRequirement, ObjectMeta, Quantity, Resources, Taint, Wire


class NodeClassReference(Wire, frozen=True):
    group: str = ""
    kind: str = ""
    name: str = ""


class NodeClaimTemplateSpec(Wire, frozen=True):
    node_class_ref: NodeClassReference = NodeClassReference()
    requirements: tuple[NodeSelectorRequirement, ...] = ()
    taints: tuple[Taint, ...] = ()
    startup_taints: tuple[Taint, ...] = ()
    expire_after: str = ""  # "" reads as 720h
    termination_grace_period: str = ""


class NodeClaimTemplateMeta(Wire, frozen=True):
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}


class NodeClaimTemplate(Wire, frozen=True):
    metadata: NodeClaimTemplateMeta = NodeClaimTemplateMeta()
    spec: NodeClaimTemplateSpec = NodeClaimTemplateSpec()


class Budget(Wire, frozen=True):
    nodes: str = ""  # "" reads as 10%
    reasons: tuple[str, ...] = ()
    schedule: str = ""
    duration: str = ""


class Disruption(Wire, frozen=True):
    consolidation_policy: str = ""  # "" reads as WhenEmptyOrUnderutilized
    consolidate_after: str = ""  # "" reads as 0s
    budgets: tuple[Budget, ...] | None = None  # None reads as one budget of 10%


class NodePoolSpec(Wire, frozen=True):
    template: NodeClaimTemplate = NodeClaimTemplate()
    disruption: Disruption = Disruption()
    limits: Resources = {}
    weight: int | None = None
    replicas: int | None = None  # a number makes the pool static


class NodePoolStatus(Wire, frozen=True):
    resources: Resources = {}
    nodes: int | None = None
    node_class_observed_generation: int | None = None
    conditions: tuple[Condition, ...] = ()


class NodePool(Wire, frozen=True):
    metadata: ObjectMeta
    spec: NodePoolSpec = NodePoolSpec()
    status: NodePoolStatus = NodePoolStatus()


class ResourceRequests(Wire, frozen=True):
    requests: Resources = {}


class NodeClaimSpec(Wire, frozen=True):
    node_class_ref: NodeClassReference = NodeClassReference()
    requirements: tuple[NodeSelectorRequirement, ...] = ()
    resources: ResourceRequests = ResourceRequests()
    taints: tuple[Taint, ...] = ()
    startup_taints: tuple[Taint, ...] = ()
    expire_after: str = ""
    termination_grace_period: str = ""


class NodeClaimStatus(Wire, frozen=True):
    node_name: str = ""
    provider_id: str = msgspec.field(name="providerID", default="")
    image_id: str = msgspec.field(name="imageID", default="")
    capacity: Resources = {}
    allocatable: Resources = {}
    conditions: tuple[Condition, ...] = ()
    last_pod_event_time: str = ""


class NodeClaim(Wire, frozen=True):
    metadata: ObjectMeta
    spec: NodeClaimSpec = NodeClaimSpec()
    status: NodeClaimStatus = NodeClaimStatus()


class NodeOverlaySpec(Wire, frozen=True):
    requirements: tuple[NodeSelectorRequirement, ...] = ()
    price: Quantity | None = None
    price_adjustment: str = ""
    capacity: Resources = {}
    weight: int | None = None


class NodeOverlayStatus(Wire, frozen=True):
    conditions: tuple[Condition, ...] = ()


class NodeOverlay(Wire, frozen=True):
    metadata: ObjectMeta
    spec: NodeOverlaySpec = NodeOverlaySpec()
    status: NodeOverlayStatus = NodeOverlayStatus()
