"""The columns of Kubernetes' own kinds, in a real server's order."""

from collections.abc import Iterator
from typing import Final

from baseload.embedded.api import autoscaler_rows, cells, event_rows, extension_rows, network_rows, pod_rows
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
_CREATED: Final = (NAME, Cell("Created At", cells.path("metadata.creationTimestamp"), "date"))
_BINDING: Final = (
    NAME,
    Cell("Role", cells.role),
    _AGE,
    Cell("Users", cells.subjects("User"), priority=1),
    Cell("Groups", cells.subjects("Group"), priority=1),
    Cell("ServiceAccounts", cells.subjects("ServiceAccount"), priority=1),
)
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
            Cell("IP", pod_rows.address, priority=1),
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
            Cell("Kernel-Version", cells.kernel, priority=1),
            Cell("Container-Runtime", cells.path("status.nodeInfo.containerRuntimeVersion", "<unknown>"), priority=1),
        ),
    )
    yield ("", "Namespace"), (NAME, Cell("Status", cells.path("status.phase")), _AGE)
    yield ("", "ConfigMap"), (NAME, Cell("Data", cells.count("data", "binaryData")), _AGE)
    yield (
        ("", "Secret"),
        (NAME, Cell("Type", cells.path("type")), Cell("Data", cells.count("data")), _AGE),
    )
    yield ("", "Endpoints"), (NAME, Cell("Endpoints", network_rows.endpoints), _AGE)
    yield (
        ("", "Service"),
        (
            NAME,
            Cell("Type", cells.path("spec.type")),
            Cell("Cluster-IP", cells.path("spec.clusterIP", cells.NONE)),
            Cell("External-IP", network_rows.external),
            Cell("Port(s)", network_rows.ports),
            _AGE,
            Cell("Selector", cells.selector(), priority=1),
        ),
    )
    yield (
        ("", "Event"),
        (
            Cell("Last Seen", event_rows.last_seen),
            Cell("Type", cells.path("type")),
            Cell("Reason", cells.path("reason")),
            Cell("Object", event_rows.involved),
            Cell("Subobject", cells.path("involvedObject.fieldPath"), priority=1),
            Cell("Source", event_rows.source, priority=1),
            Cell("Message", lambda tree, _: text(tree, "message").strip()),
            Cell("First Seen", event_rows.first_seen, priority=1),
            Cell("Count", event_rows.times, priority=1),
            Cell("Name", cells.path("metadata.name"), priority=1),
        ),
    )
    yield (
        ("", "ResourceQuota"),
        (NAME, Cell("Request", cells.amounts("requests")), Cell("Limit", cells.amounts("limits")), _AGE),
    )
    yield ("", "LimitRange"), _CREATED
    yield (
        ("", "PodTemplate"),
        (
            NAME,
            Cell("Containers", cells.containers("name", "template.spec")),
            Cell("Images", cells.containers("image", "template.spec")),
            Cell("Pod Labels", cells.selector("template.metadata.labels")),
        ),
    )
    yield (
        ("", "PersistentVolume"),
        (
            NAME,
            Cell("Capacity", cells.path("spec.capacity.storage", "0")),
            Cell("Access Modes", cells.modes("spec.accessModes")),
            Cell("Reclaim Policy", cells.path("spec.persistentVolumeReclaimPolicy")),
            Cell("Status", cells.phase),
            Cell("Claim", cells.bound_claim),
            Cell("StorageClass", cells.path("spec.storageClassName")),
            Cell("VolumeAttributesClass", cells.path("spec.volumeAttributesClassName", "<unset>")),
            Cell("Reason", cells.path("status.reason")),
            _AGE,
            Cell("VolumeMode", cells.path("spec.volumeMode", "<unset>"), priority=1),
        ),
    )
    yield (
        ("", "PersistentVolumeClaim"),
        (
            NAME,
            Cell("Status", cells.phase),
            Cell("Volume", cells.path("spec.volumeName")),
            Cell("Capacity", cells.bound(cells.path("status.capacity.storage", "0"))),
            Cell("Access Modes", cells.bound(cells.modes("status.accessModes"))),
            Cell("StorageClass", cells.path("spec.storageClassName")),
            Cell("VolumeAttributesClass", cells.path("spec.volumeAttributesClassName", "<unset>")),
            _AGE,
            Cell("VolumeMode", cells.path("spec.volumeMode", "<unset>"), priority=1),
        ),
    )
    counts = (
        Cell("Desired", cells.number("spec.replicas"), "integer"),
        Cell("Current", cells.number("status.replicas"), "integer"),
        Cell("Ready", cells.number("status.readyReplicas"), "integer"),
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
            Cell("Desired", cells.number("status.desiredNumberScheduled"), "integer"),
            Cell("Current", cells.number("status.currentNumberScheduled"), "integer"),
            Cell("Ready", cells.number("status.numberReady"), "integer"),
            Cell("Up-to-date", cells.number("status.updatedNumberScheduled"), "integer"),
            Cell("Available", cells.number("status.numberAvailable"), "integer"),
            Cell("Node Selector", cells.selector("spec.template.spec.nodeSelector")),
            _AGE,
            *_WIDE_TEMPLATE,
            Cell("Selector", cells.selector(), priority=1),
        ),
    )
    yield (
        ("apps", "ControllerRevision"),
        (
            NAME,
            Cell("Controller", cells.controller),
            Cell("Revision", cells.number("revision")),
            _AGE,
        ),
    )
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
            Cell("Suspend", lambda tree, _: "True" if at(tree, "spec.suspend") is True else "False", "boolean"),
            Cell("Active", cells.active, "integer"),
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
            Cell("Targets", autoscaler_rows.targets),
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
            Cell("Allowed Disruptions", cells.number("status.disruptionsAllowed"), "integer"),
            _AGE,
        ),
    )
    yield (
        ("networking.k8s.io", "Ingress"),
        (
            NAME,
            Cell("Class", cells.path("spec.ingressClassName", cells.NONE)),
            Cell("Hosts", network_rows.hosts),
            Cell("Address", network_rows.load_balancer),
            Cell("Ports", lambda tree, _: "80, 443" if at(tree, "spec.tls") else "80"),
            _AGE,
        ),
    )
    yield (
        ("networking.k8s.io", "IngressClass"),
        (
            Cell("Name", cells.default_class("ingressclass.kubernetes.io/is-default-class")),
            Cell("Controller", cells.path("spec.controller")),
            Cell("Parameters", network_rows.class_parameters),
            _AGE,
        ),
    )
    yield (
        ("discovery.k8s.io", "EndpointSlice"),
        (
            NAME,
            Cell("AddressType", cells.path("addressType")),
            Cell("Ports", network_rows.slice_ports),
            Cell("Endpoints", network_rows.slice_endpoints),
            _AGE,
        ),
    )
    yield ("node.k8s.io", "RuntimeClass"), (NAME, Cell("Handler", cells.path("handler")), _AGE)
    yield ("networking.k8s.io", "NetworkPolicy"), (NAME, Cell("Pod-Selector", cells.selector("spec.podSelector")), _AGE)
    yield (_RBAC, "Role"), _CREATED
    yield (_RBAC, "ClusterRole"), _CREATED
    yield (_RBAC, "RoleBinding"), _BINDING
    yield (_RBAC, "ClusterRoleBinding"), _BINDING
    yield (
        ("storage.k8s.io", "StorageClass"),
        (
            Cell("Name", cells.default_class("storageclass.kubernetes.io/is-default-class")),
            Cell("Provisioner", cells.path("provisioner")),
            Cell("ReclaimPolicy", cells.path("reclaimPolicy")),
            Cell("VolumeBindingMode", cells.path("volumeBindingMode")),
            Cell("AllowVolumeExpansion", cells.truth("allowVolumeExpansion")),
            _AGE,
        ),
    )
    yield ("storage.k8s.io", "CSINode"), (NAME, Cell("Drivers", cells.count("spec.drivers"), "integer"), _AGE)
    yield (
        ("scheduling.k8s.io", "PriorityClass"),
        (
            NAME,
            Cell("Value", cells.number("value"), "integer"),
            Cell("Global-Default", cells.truth("globalDefault"), "boolean"),
            _AGE,
            Cell("PreemptionPolicy", cells.path("preemptionPolicy")),
        ),
    )
    yield ("coordination.k8s.io", "Lease"), (NAME, Cell("Holder", cells.path("spec.holderIdentity")), _AGE)


def _or(value: Json, absent: str) -> Json:
    return absent if value is None else value


BY_KIND: Final = {**dict(_rows()), **dict(extension_rows.rows())}
"""(group, kind) -> its columns"""
