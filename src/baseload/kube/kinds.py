"""Every kind of object that baseload knows: its name in paths, whether it lives in a namespace, and its reading.

A kind without a reading is a legal part of a dump that no decision looks at.
A kind that is missing here, in an API group that is here, is a mistake of whoever wrote it.
"""

import difflib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache

from baseload.kube.types import apps, autoscaling, batch, core, ec2, karpenter, policy, scheduling, storage
from baseload.kube.types.meta import Wire


@dataclass(frozen=True, slots=True, eq=False)  # one of each, told apart by identity
class Kind:
    """One kind in one version of its group."""

    api_version: str
    name: str
    plural: str
    namespaced: bool
    reading: type[Wire] | None
    group: str  # "" is the core group


def group_of(api_version: str) -> str:
    """The group of an apiVersion; "" is the core group."""
    group, slash, _ = api_version.partition("/")
    return group if slash else ""


_Row = tuple[str, str, str, type[Wire] | None]

_NAMESPACED: tuple[_Row, ...] = (
    ("v1", "Pod", "pods", core.Pod),
    ("v1", "PersistentVolumeClaim", "persistentvolumeclaims", core.PersistentVolumeClaim),
    ("v1", "PodTemplate", "podtemplates", core.PodTemplate),
    ("v1", "ReplicationController", "replicationcontrollers", core.ReplicationController),
    ("v1", "Service", "services", core.Service),
    ("v1", "ConfigMap", "configmaps", core.ConfigMap),
    ("v1", "Secret", "secrets", None),
    ("v1", "ServiceAccount", "serviceaccounts", None),
    ("v1", "Endpoints", "endpoints", None),
    ("v1", "Event", "events", None),
    ("v1", "LimitRange", "limitranges", None),
    ("v1", "ResourceQuota", "resourcequotas", None),
    ("v1", "Binding", "bindings", None),
    ("apps/v1", "Deployment", "deployments", apps.Deployment),
    ("apps/v1", "ReplicaSet", "replicasets", apps.ReplicaSet),
    ("apps/v1", "StatefulSet", "statefulsets", apps.StatefulSet),
    ("apps/v1", "DaemonSet", "daemonsets", apps.DaemonSet),
    ("apps/v1", "ControllerRevision", "controllerrevisions", None),
    ("batch/v1", "Job", "jobs", batch.Job),
    ("batch/v1", "CronJob", "cronjobs", batch.CronJob),
    ("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", policy.PodDisruptionBudget),
    ("policy/v1", "Eviction", "evictions", None),
    ("autoscaling/v1", "HorizontalPodAutoscaler", "horizontalpodautoscalers", None),
    ("autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", None),
    ("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", None),
    ("networking.k8s.io/v1", "Ingress", "ingresses", None),
    ("rbac.authorization.k8s.io/v1", "Role", "roles", None),
    ("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings", None),
    ("authorization.k8s.io/v1", "LocalSubjectAccessReview", "localsubjectaccessreviews", None),
    ("authentication.k8s.io/v1", "TokenRequest", "tokenrequests", None),
    ("coordination.k8s.io/v1", "Lease", "leases", None),
    ("discovery.k8s.io/v1", "EndpointSlice", "endpointslices", None),
    ("events.k8s.io/v1", "Event", "events", None),
    ("storage.k8s.io/v1", "CSIStorageCapacity", "csistoragecapacities", None),
    ("resource.k8s.io/v1", "ResourceClaim", "resourceclaims", None),
    ("resource.k8s.io/v1", "ResourceClaimTemplate", "resourceclaimtemplates", None),
    ("autoscaling.x-k8s.io/v1beta1", "CapacityBuffer", "capacitybuffers", autoscaling.CapacityBuffer),
    ("autoscaling.x-k8s.io/v1alpha1", "CapacityQuota", "capacityquotas", None),
    ("autoscaling.x-k8s.io/v1", "ProvisioningRequest", "provisioningrequests", None),
)

_CLUSTER_WIDE: tuple[_Row, ...] = (
    ("v1", "Node", "nodes", core.Node),
    ("v1", "Namespace", "namespaces", core.Namespace),
    ("v1", "PersistentVolume", "persistentvolumes", core.PersistentVolume),
    ("v1", "ComponentStatus", "componentstatuses", None),
    ("storage.k8s.io/v1", "StorageClass", "storageclasses", storage.StorageClass),
    ("storage.k8s.io/v1", "CSINode", "csinodes", storage.CSINode),
    ("storage.k8s.io/v1", "CSIDriver", "csidrivers", None),
    ("storage.k8s.io/v1", "VolumeAttachment", "volumeattachments", storage.VolumeAttachment),
    ("storage.k8s.io/v1", "VolumeAttributesClass", "volumeattributesclasses", None),
    ("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses", scheduling.PriorityClass),
    ("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", None),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings", None),
    ("authorization.k8s.io/v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews", None),
    ("authorization.k8s.io/v1", "SelfSubjectRulesReview", "selfsubjectrulesreviews", None),
    ("authorization.k8s.io/v1", "SubjectAccessReview", "subjectaccessreviews", None),
    ("authentication.k8s.io/v1", "SelfSubjectReview", "selfsubjectreviews", None),
    ("authentication.k8s.io/v1", "TokenReview", "tokenreviews", None),
    ("networking.k8s.io/v1", "IngressClass", "ingressclasses", None),
    ("networking.k8s.io/v1", "IPAddress", "ipaddresses", None),
    ("networking.k8s.io/v1", "ServiceCIDR", "servicecidrs", None),
    ("node.k8s.io/v1", "RuntimeClass", "runtimeclasses", None),
    ("resource.k8s.io/v1", "DeviceClass", "deviceclasses", None),
    ("resource.k8s.io/v1", "ResourceSlice", "resourceslices", None),
    ("certificates.k8s.io/v1", "CertificateSigningRequest", "certificatesigningrequests", None),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions", None),
    ("apiregistration.k8s.io/v1", "APIService", "apiservices", None),
    ("flowcontrol.apiserver.k8s.io/v1", "FlowSchema", "flowschemas", None),
    ("flowcontrol.apiserver.k8s.io/v1", "PriorityLevelConfiguration", "prioritylevelconfigurations", None),
    (
        "admissionregistration.k8s.io/v1",
        "MutatingWebhookConfiguration",
        "mutatingwebhookconfigurations",
        None,
    ),
    (
        "admissionregistration.k8s.io/v1",
        "ValidatingWebhookConfiguration",
        "validatingwebhookconfigurations",
        None,
    ),
    ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy", "validatingadmissionpolicies", None),
    (
        "admissionregistration.k8s.io/v1",
        "ValidatingAdmissionPolicyBinding",
        "validatingadmissionpolicybindings",
        None,
    ),
    ("karpenter.sh/v1", "NodePool", "nodepools", karpenter.NodePool),
    ("karpenter.sh/v1", "NodeClaim", "nodeclaims", karpenter.NodeClaim),
    ("karpenter.sh/v1alpha1", "NodeOverlay", "nodeoverlays", karpenter.NodeOverlay),
    ("karpenter.k8s.aws/v1", "EC2NodeClass", "ec2nodeclasses", ec2.EC2NodeClass),
    ("karpenter.kwok.sh/v1alpha1", "KWOKNodeClass", "kwoknodeclasses", None),
)

KINDS = {
    (api_version, name): Kind(api_version, name, plural, namespaced, reading, group_of(api_version))
    for rows, namespaced in ((_NAMESPACED, True), (_CLUSTER_WIDE, False))
    for api_version, name, plural, reading in rows
}
"""(apiVersion, kind) -> what is known of it"""

GROUPS = frozenset(kind.group for kind in KINDS.values())


@cache
def find(api_version: str, name: str) -> Kind | None:
    """The kind of that name, None when there is none."""
    return KINDS.get((api_version, name))


def is_known_group(api_version: str) -> bool:
    """Whether all kinds of an apiVersion's group are known, so that another one must be a mistake."""
    return group_of(api_version) in GROUPS


def nearest(api_version: str, name: str) -> Kind | None:
    """The known kind that was probably meant: the same name in another version or group, else the most similar one."""
    group = group_of(api_version)
    ranked = sorted(KINDS.values(), key=lambda kind: kind.group != group)
    same_name = [kind for kind in ranked if kind.name == name]
    if same_name:
        return same_name[0]
    alike = most_similar(name, (kind.name for kind in ranked))
    return next((kind for kind in ranked if kind.name == alike), None)


def most_similar(word: str, known: Iterable[str]) -> str | None:
    """The known word that a misspelt one is nearest to, None when none is near; case does not count."""
    by_lower: dict[str, str] = {}
    for candidate in known:
        by_lower.setdefault(candidate.lower(), candidate)
    close: Collection[str] = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    return next((by_lower[match] for match in close), None)
