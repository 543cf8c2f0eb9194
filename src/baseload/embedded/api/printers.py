"""The columns of Kubernetes' own kinds, in a real server's order."""

from collections.abc import Iterator
from typing import Final

from baseload.embedded.api import cells, extension_rows, pod_rows
from baseload.embedded.api.cells import Cell
from baseload.embedded.api.pod_rows import at, text
from baseload.embedded.store.record import Json

NAME: Final = Cell("Name", cells.path("metadata.name"))
_AGE: Final = Cell("Age", cells.age())
ANY: Final = (NAME, _AGE)

_WIDE_TEMPLATE: Final = (
    Cell("Containers", cells.containers("name"), priority=1),
    Cell("Images", cells.containers("image"), priority=1),
)
_CREATED: Final = (NAME, Cell("Created At", cells.path("metadata.creationTimestamp")))
_RBAC: Final = "rbac.authorization.k8s.io"


def _rows() -> Iterator[tuple[tuple[str, str], tuple[Cell, ...]]]:
    yield (
        ("", "Pod"),
        (
            NAME,
            Cell("Ready", pod_rows.ready),
            Cell("Status", pod_rows.status),
            Cell("Restarts", pod_rows.restarts),
            _AGE,
            Cell("IP", cells.path("status.podIP", cells.NONE), priority=1),
            Cell("Node", cells.path("spec.nodeName", cells.NONE), priority=1),
            Cell("Nominated Node", cells.path("status.nominatedNodeName", cells.NONE), priority=1),
            Cell("Readiness Gates", pod_rows.gates, priority=1),
        ),
    )
    yield (
        ("", "Node"),
        (
            NAME,
            Cell("Status", cells.node_status),
            Cell("Roles", cells.roles),
            _AGE,
            Cell("Version", cells.path("status.nodeInfo.kubeletVersion")),
            Cell("Internal-IP", cells.address("InternalIP"), priority=1),
            Cell("External-IP", cells.address("ExternalIP"), priority=1),
            Cell("OS-Image", cells.path("status.nodeInfo.osImage", "<unknown>"), priority=1),
            Cell("Kernel-Version", cells.path("status.nodeInfo.kernelVersion", "<unknown>"), priority=1),
            Cell("Container-Runtime", cells.path("status.nodeInfo.containerRuntimeVersion", "<unknown>"), priority=1),
        ),
    )
    yield ("", "Namespace"), (NAME, Cell("Status", cells.path("status.phase")), _AGE)
    yield ("", "ConfigMap"), (NAME, Cell("Data", cells.count("data")), _AGE)
    yield ("", "Secret"), (NAME, Cell("Type", cells.path("type")), Cell("Data", cells.count("data")), _AGE)
    yield ("", "ServiceAccount"), (NAME, Cell("Secrets", cells.count("secrets")), _AGE)
    yield (
        ("", "Service"),
        (
            NAME,
            Cell("Type", cells.path("spec.type")),
            Cell("Cluster-IP", cells.path("spec.clusterIP", cells.NONE)),
            Cell("External-IP", cells.external),
            Cell("Port(s)", cells.ports),
            _AGE,
            Cell("Selector", cells.selector(), priority=1),
        ),
    )
    yield (
        ("", "Event"),
        (
            Cell("Last Seen", cells.last_seen),
            Cell("Type", cells.path("type")),
            Cell("Reason", cells.path("reason")),
            Cell("Object", cells.involved),
            Cell("Subobject", cells.path("involvedObject.fieldPath"), priority=1),
            Cell("Source", cells.path("source.component"), priority=1),
            Cell("Message", lambda tree, _: text(tree, "message").strip()),
            Cell("First Seen", cells.age("firstTimestamp"), priority=1),
            Cell("Count", cells.number("count", 1), priority=1),
            Cell("Name", cells.path("metadata.name"), priority=1),
        ),
    )
    yield (
        ("", "ResourceQuota"),
        (NAME, Cell("Request", cells.amounts("requests")), Cell("Limit", cells.amounts("limits")), _AGE),
    )
    yield ("", "LimitRange"), _CREATED
    yield (
        ("", "PersistentVolume"),
        (
            NAME,
            Cell("Capacity", cells.path("spec.capacity.storage")),
            Cell("Access Modes", cells.modes),
            Cell("Reclaim Policy", cells.path("spec.persistentVolumeReclaimPolicy")),
            Cell("Status", cells.phase),
            Cell("Claim", cells.bound_claim),
            Cell("StorageClass", cells.path("spec.storageClassName")),
            Cell("VolumeAttributesClass", cells.path("spec.volumeAttributesClassName", "<unset>")),
            Cell("Reason", cells.path("status.reason")),
            _AGE,
            Cell("VolumeMode", cells.path("spec.volumeMode"), priority=1),
        ),
    )
    yield (
        ("", "PersistentVolumeClaim"),
        (
            NAME,
            Cell("Status", cells.phase),
            Cell("Volume", cells.path("spec.volumeName")),
            Cell("Capacity", cells.path("status.capacity.storage")),
            Cell("Access Modes", cells.modes),
            Cell("StorageClass", cells.path("spec.storageClassName")),
            Cell("VolumeAttributesClass", cells.path("spec.volumeAttributesClassName", "<unset>")),
            _AGE,
            Cell("VolumeMode", cells.path("spec.volumeMode"), priority=1),
        ),
    )
    counts = (
        Cell("Desired", cells.number("spec.replicas")),
        Cell("Current", cells.number("status.replicas")),
        Cell("Ready", cells.number("status.readyReplicas")),
        _AGE,
        *_WIDE_TEMPLATE,
        Cell("Selector", cells.selector(), priority=1),
    )
    yield ("", "ReplicationController"), (NAME, *counts)
    yield ("apps", "ReplicaSet"), (NAME, *counts)
    yield (
        ("apps", "Deployment"),
        (
            NAME,
            Cell("Ready", cells.ratio("status.readyReplicas", "spec.replicas")),
            Cell("Up-to-date", cells.number("status.updatedReplicas")),
            Cell("Available", cells.number("status.availableReplicas")),
            _AGE,
            *_WIDE_TEMPLATE,
            Cell("Selector", cells.selector(), priority=1),
        ),
    )
    yield (
        ("apps", "StatefulSet"),
        (
            NAME,
            Cell("Ready", cells.ratio("status.readyReplicas", "spec.replicas")),
            _AGE,
            *_WIDE_TEMPLATE,
        ),
    )
    yield (
        ("apps", "DaemonSet"),
        (
            NAME,
            Cell("Desired", cells.number("status.desiredNumberScheduled")),
            Cell("Current", cells.number("status.currentNumberScheduled")),
            Cell("Ready", cells.number("status.numberReady")),
            Cell("Up-to-date", cells.number("status.updatedNumberScheduled")),
            Cell("Available", cells.number("status.numberAvailable")),
            Cell("Node Selector", cells.selector("spec.template.spec.nodeSelector")),
            _AGE,
            *_WIDE_TEMPLATE,
            Cell("Selector", cells.selector(), priority=1),
        ),
    )
    yield ("apps", "ControllerRevision"), (NAME, Cell("Revision", cells.number("revision")), _AGE)
    yield (
        ("batch", "Job"),
        (
            NAME,
            Cell("Status", cells.job_status),
            Cell("Completions", cells.completions),
            Cell("Duration", cells.took),
            _AGE,
            *_WIDE_TEMPLATE,
            Cell("Selector", cells.selector(), priority=1),
        ),
    )
    template = "spec.jobTemplate.spec.template.spec"
    yield (
        ("batch", "CronJob"),
        (
            NAME,
            Cell("Schedule", cells.path("spec.schedule")),
            Cell("Timezone", cells.path("spec.timeZone", cells.NONE)),
            Cell("Suspend", lambda tree, _: "True" if at(tree, "spec.suspend") is True else "False"),
            Cell("Active", cells.active, type="integer"),
            Cell("Last Schedule", cells.age("status.lastScheduleTime", cells.NONE)),
            _AGE,
            Cell("Containers", cells.containers("name", template), priority=1),
            Cell("Images", cells.containers("image", template), priority=1),
            Cell("Selector", lambda *_: cells.NONE, priority=1),
        ),
    )
    yield (
        ("autoscaling", "HorizontalPodAutoscaler"),
        (
            NAME,
            Cell("Reference", cells.reference),
            Cell("MinPods", lambda tree, _: cells.shown(at(tree, "spec.minReplicas") or "<unset>")),
            Cell("MaxPods", cells.number("spec.maxReplicas")),
            Cell("Replicas", cells.number("status.currentReplicas")),
            _AGE,
        ),
    )
    yield (
        ("policy", "PodDisruptionBudget"),
        (
            NAME,
            Cell("Min Available", lambda tree, _: cells.shown(_or(at(tree, "spec.minAvailable"), "N/A"))),
            Cell("Max Unavailable", lambda tree, _: cells.shown(_or(at(tree, "spec.maxUnavailable"), "N/A"))),
            Cell("Allowed Disruptions", cells.number("status.disruptionsAllowed")),
            _AGE,
        ),
    )
    yield (
        ("networking.k8s.io", "Ingress"),
        (
            NAME,
            Cell("Class", cells.path("spec.ingressClassName", cells.NONE)),
            Cell("Hosts", cells.hosts),
            Cell("Address", cells.load_balancer),
            Cell("Ports", lambda tree, _: "80, 443" if at(tree, "spec.tls") else "80"),
            _AGE,
        ),
    )
    yield ("networking.k8s.io", "NetworkPolicy"), (NAME, Cell("Pod-Selector", cells.selector("spec.podSelector")), _AGE)
    yield (_RBAC, "Role"), _CREATED
    yield (_RBAC, "ClusterRole"), _CREATED
    yield (_RBAC, "RoleBinding"), (NAME, Cell("Role", cells.role), _AGE)
    yield (_RBAC, "ClusterRoleBinding"), (NAME, Cell("Role", cells.role), _AGE)
    yield (
        ("storage.k8s.io", "StorageClass"),
        (
            Cell("Name", cells.default_class),
            Cell("Provisioner", cells.path("provisioner")),
            Cell("ReclaimPolicy", cells.path("reclaimPolicy")),
            Cell("VolumeBindingMode", cells.path("volumeBindingMode")),
            Cell("AllowVolumeExpansion", cells.bool("allowVolumeExpansion")),
            _AGE,
        ),
    )
    yield ("storage.k8s.io", "CSINode"), (NAME, Cell("Drivers", cells.count("spec.drivers")), _AGE)
    yield (
        ("scheduling.k8s.io", "PriorityClass"),
        (
            NAME,
            Cell("Value", cells.number("value")),
            Cell("Global-Default", cells.bool("globalDefault")),
            _AGE,
            Cell("PreemptionPolicy", cells.path("preemptionPolicy")),
        ),
    )
    yield ("coordination.k8s.io", "Lease"), (NAME, Cell("Holder", cells.path("spec.holderIdentity")), _AGE)
    yield ("apiextensions.k8s.io", "CustomResourceDefinition"), _CREATED


def _or(value: Json, absent: str) -> Json:
    return absent if value is None else value


BY_KIND: Final = {**dict(_rows()), **dict(extension_rows.rows())}
"""(group, kind) -> its columns"""
