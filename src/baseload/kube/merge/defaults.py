"""What the published schemas do not say and server-side apply needs to know, as data.

The definitions were taken from a form of the API's schemas that carries no `default`; and no schema tells which parts
of an object are always there, because the server's own types hold them by value.
"""

from typing import Final

from baseload.kube.merge.tree import Object

_CORE: Final = "io.k8s.api.core.v1"

KEY_DEFAULTS: Final[dict[str, dict[str, object]]] = {
    # definition of the item -> key field -> what stands for it where it is missing.
    # Key fields that an item must have default to their zero value, by rule; these are the others.
    f"{_CORE}.ContainerPort": {"protocol": "TCP"},
    f"{_CORE}.ServicePort": {"protocol": "TCP"},
    f"{_CORE}.LocalObjectReference": {"name": ""},
}

_POD_TEMPLATE: Final[Object] = {"metadata": {}, "spec": {"containers": None}}
_JOB: Final[Object] = {"template": _POD_TEMPLATE}

ALWAYS_THERE: Final[dict[str, Object]] = {
    # apiVersion/kind -> the parts that even an empty object has: structs held by value as {}, lists that are never
    # left out as null. Nobody owns such a part as a whole, only what is in it.
    "v1/Event": {"involvedObject": {}, "source": {}, "firstTimestamp": None, "lastTimestamp": None, "eventTime": None},
    "v1/LimitRange": {"spec": {"limits": None}},
    "v1/Namespace": {"spec": {}, "status": {}},
    "v1/Node": {"spec": {}, "status": {"daemonEndpoints": {"kubeletEndpoint": {}}, "nodeInfo": {}}},
    "v1/PersistentVolume": {"spec": {}, "status": {}},
    "v1/PersistentVolumeClaim": {"spec": {"resources": {}}, "status": {}},
    "v1/Pod": {"spec": {"containers": None}, "status": {}},
    "v1/PodTemplate": {"template": _POD_TEMPLATE},
    "v1/ReplicationController": {"spec": {}, "status": {}},
    "v1/ResourceQuota": {"spec": {}, "status": {}},
    "v1/Service": {"spec": {}, "status": {"loadBalancer": {}}},
    "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy": {"spec": {}, "status": {}},
    "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicyBinding": {"spec": {}},
    "apps/v1/ControllerRevision": {"data": None},
    "apps/v1/DaemonSet": {"spec": {"selector": None, "template": _POD_TEMPLATE, "updateStrategy": {}}, "status": {}},
    "apps/v1/Deployment": {"spec": {"selector": None, "strategy": {}, "template": _POD_TEMPLATE}, "status": {}},
    "apps/v1/ReplicaSet": {"spec": {"selector": None, "template": _POD_TEMPLATE}, "status": {}},
    "apps/v1/StatefulSet": {"spec": {"selector": None, "template": _POD_TEMPLATE, "updateStrategy": {}}, "status": {}},
    "autoscaling/v1/HorizontalPodAutoscaler": {"spec": {"scaleTargetRef": {}}, "status": {}},
    "autoscaling/v2/HorizontalPodAutoscaler": {"spec": {"scaleTargetRef": {}}, "status": {"currentMetrics": None}},
    "batch/v1/CronJob": {"spec": {"jobTemplate": {"metadata": {}, "spec": _JOB}}, "status": {}},
    "batch/v1/Job": {"spec": _JOB, "status": {}},
    "certificates.k8s.io/v1/CertificateSigningRequest": {"spec": {"request": None}, "status": {}},
    "coordination.k8s.io/v1/Lease": {"spec": {}},
    "discovery.k8s.io/v1/EndpointSlice": {"endpoints": None, "ports": None},
    "events.k8s.io/v1/Event": {"eventTime": None, "regarding": {}, "deprecatedSource": {}},
    "flowcontrol.apiserver.k8s.io/v1/FlowSchema": {"spec": {"priorityLevelConfiguration": {}}, "status": {}},
    "flowcontrol.apiserver.k8s.io/v1/PriorityLevelConfiguration": {"spec": {}, "status": {}},
    "networking.k8s.io/v1/IPAddress": {"spec": {}},
    "networking.k8s.io/v1/Ingress": {"spec": {}, "status": {"loadBalancer": {}}},
    "networking.k8s.io/v1/IngressClass": {"spec": {}},
    "networking.k8s.io/v1/NetworkPolicy": {"spec": {"podSelector": {}}},
    "networking.k8s.io/v1/ServiceCIDR": {"spec": {}, "status": {}},
    "policy/v1/PodDisruptionBudget": {"spec": {}, "status": {}},
    "rbac.authorization.k8s.io/v1/ClusterRole": {"rules": None},
    "rbac.authorization.k8s.io/v1/ClusterRoleBinding": {"roleRef": {}},
    "rbac.authorization.k8s.io/v1/Role": {"rules": None},
    "rbac.authorization.k8s.io/v1/RoleBinding": {"roleRef": {}},
    "resource.k8s.io/v1/DeviceClass": {"spec": {}},
    "resource.k8s.io/v1/ResourceClaim": {"spec": {"devices": {"requests": None}}, "status": {}},
    "resource.k8s.io/v1/ResourceClaimTemplate": {"spec": {"metadata": {}, "spec": {"devices": {"requests": None}}}},
    "resource.k8s.io/v1/ResourceSlice": {"spec": {"pool": {}}},
    "storage.k8s.io/v1/CSIDriver": {"spec": {}},
    "storage.k8s.io/v1/CSINode": {"spec": {"drivers": None}, "status": {}},
    "storage.k8s.io/v1/VolumeAttachment": {"spec": {"source": {}}, "status": {}},
    "apiextensions.k8s.io/v1/CustomResourceDefinition": {"spec": {"names": {}, "versions": None}, "status": {}},
}

STATUS_WITHOUT: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    # apiVersion/kind -> fields beside spec that a write to the status subresource does not touch.
    "v1/Pod": (("metadata", "deletionTimestamp"), ("metadata", "ownerReferences")),
    "apps/v1/Deployment": (("metadata", "labels"),),
}

NEVER_OWNED: Final[tuple[tuple[str, ...], ...]] = (
    # What the server itself keeps; no manager holds it.
    ("apiVersion",),
    ("kind",),
    ("metadata",),
    ("metadata", "name"),
    ("metadata", "namespace"),
    ("metadata", "creationTimestamp"),
    ("metadata", "selfLink"),
    ("metadata", "uid"),
    ("metadata", "clusterName"),
    ("metadata", "generation"),
    ("metadata", "managedFields"),
    ("metadata", "resourceVersion"),
)
