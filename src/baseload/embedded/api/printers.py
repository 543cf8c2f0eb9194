"""The columns of Kubernetes' own kinds, in a real server's order and words."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from baseload.embedded.api import ages, pod_rows
from baseload.embedded.api.pod_rows import at, maps, text
from baseload.embedded.store.record import Json
from baseload.values import instant

Tree: TypeAlias = dict[str, Json]
Value: TypeAlias = Callable[[Tree, int], Json]

NONE: Final = "<none>"


@dataclass(frozen=True, slots=True)
class Cell:
    """One column; those with a priority above 0 are for `-o wide`."""

    name: str
    text: Value
    type: str = "string"
    priority: int = 0


def shown(value: Json) -> str:
    """A value as a cell prints it."""
    if isinstance(value, str):
        return value
    return json.dumps(value, separators=(",", ":"))


def _path(path: str, absent: str = "") -> Value:
    return lambda tree, _: text(tree, path) or absent


def _number(path: str, absent: int | None = 0) -> Value:
    def value(tree: Tree, _: int) -> Json:
        held = at(tree, path)
        return absent if held is None else held

    return value


def _count(path: str) -> Value:
    def value(tree: Tree, _: int) -> Json:
        held = at(tree, path)
        return len(held) if isinstance(held, dict | list) else 0

    return value


def _age(path: str = "metadata.creationTimestamp", absent: str = "<unknown>") -> Value:
    return lambda tree, now: ages.age(held, now) if (held := at(tree, path)) else absent


def _containers(field: str, path: str = "spec.template.spec") -> Value:
    return lambda tree, _: ",".join(text(item, field) for item in maps(at(tree, path), "containers"))


def _selector(path: str = "spec.selector") -> Value:
    return lambda tree, _: _selector_text(at(tree, path))


def _selector_text(selector: Json) -> str:
    if not isinstance(selector, dict):
        return NONE
    labels = selector.get("matchLabels", {} if "matchExpressions" in selector else selector)
    terms = [f"{key}={value}" for key, value in labels.items()] if isinstance(labels, dict) else []
    for term in maps(selector, "matchExpressions"):
        key, values = text(term, "key"), ",".join(map(shown, _items(term.get("values"))))
        operators = {"In": f"{key} in ({values})", "NotIn": f"{key} notin ({values})", "Exists": key}
        terms.append(operators.get(text(term, "operator"), f"!{key}"))
    return ",".join(terms) or NONE


def _items(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _ratio(ready: str, wanted: str) -> Value:
    return lambda tree, _: f"{at(tree, ready) or 0}/{at(tree, wanted) or 0}"


def _node_status(tree: Tree, _: int) -> str:
    said = ""
    for condition in maps(at(tree, "status"), "conditions"):
        if condition.get("type") == "Ready":
            said = "Ready" if condition.get("status") == "True" else "NotReady"
    said = said or "Unknown"
    return f"{said},SchedulingDisabled" if at(tree, "spec.unschedulable") is True else said


def _roles(tree: Tree, _: int) -> str:
    labels = at(tree, "metadata.labels")
    prefix = "node-role.kubernetes.io/"
    found = set()
    for key, value in labels.items() if isinstance(labels, dict) else ():
        if key.startswith(prefix) and len(key) > len(prefix):
            found.add(key[len(prefix) :])
        elif key == "kubernetes.io/role" and value:
            found.add(str(value))
    return ",".join(sorted(found)) or NONE


def _address(type: str) -> Value:
    def value(tree: Tree, _: int) -> str:
        addresses = maps(at(tree, "status"), "addresses")
        return next((text(item, "address") for item in addresses if item.get("type") == type), NONE)

    return value


def _external(tree: Tree, _: int) -> str:
    spec = at(tree, "spec")
    listed = [shown(item) for item in _items(at(spec, "externalIPs"))]
    kind = text(spec, "type")
    if kind == "ExternalName":
        return text(spec, "externalName")
    if kind == "LoadBalancer":
        ingress = maps(at(tree, "status.loadBalancer"), "ingress")
        listed = [text(item, "ip") or text(item, "hostname") for item in ingress] + listed
        return ",".join(listed) or "<pending>"
    return ",".join(listed) or NONE


def _ports(tree: Tree, _: int) -> str:
    return ",".join(map(_port, maps(at(tree, "spec"), "ports"))) or NONE


def _port(port: Tree) -> str:
    node = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{port.get('port')}{node}/{text(port, 'protocol')}"


def _job_status(tree: Tree, _: int) -> str:
    for condition in maps(at(tree, "status"), "conditions"):
        if condition.get("status") == "True" and condition.get("type") in ("Complete", "Failed", "Suspended"):
            return text(condition, "type")
        if condition.get("status") == "True" and condition.get("type") == "FailureTarget":
            return "FailureTarget"
    return "Terminating" if at(tree, "metadata.deletionTimestamp") else "Running"


def _completions(tree: Tree, _: int) -> str:
    done, wanted, parallel = (at(tree, path) for path in ("status.succeeded", "spec.completions", "spec.parallelism"))
    if wanted is not None:
        return f"{done or 0}/{wanted}"
    many = isinstance(parallel, int) and parallel > 1
    return f"{done or 0}/1 of {parallel}" if many else f"{done or 0}/1"


def _took(tree: Tree, now: int) -> str:
    start, end = at(tree, "status.startTime"), at(tree, "status.completionTime")
    if not isinstance(start, str):
        return ""
    return ages.age(start, instant.parse(end) if isinstance(end, str) else now)


def _reference(tree: Tree, _: int) -> str:
    return f"{text(tree, 'spec.scaleTargetRef.kind')}/{text(tree, 'spec.scaleTargetRef.name')}"


def _role(tree: Tree, _: int) -> str:
    return f"{text(tree, 'roleRef.kind')}/{text(tree, 'roleRef.name')}"


def _involved(tree: Tree, _: int) -> str:
    return f"{text(tree, 'involvedObject.kind').lower()}/{text(tree, 'involvedObject.name')}"


def _last_seen(tree: Tree, now: int) -> str:
    moments = ("series.lastObservedTime", "lastTimestamp", "eventTime", "firstTimestamp", "metadata.creationTimestamp")
    return ages.age(next((at(tree, path) for path in moments if at(tree, path)), None), now)


def _amounts(of: str) -> Value:
    def value(tree: Tree, _: int) -> str:
        hard, used = at(tree, "status.hard"), at(tree, "status.used")
        if not isinstance(hard, dict):
            return ""
        told = used if isinstance(used, dict) else {}
        names = [name for name in sorted(hard) if name.startswith("limits.") == (of == "limits")]
        return ", ".join(f"{name}: {shown(told.get(name, '0'))}/{shown(hard[name])}" for name in names)

    return value


def _default_class(tree: Tree, _: int) -> str:
    name = text(tree, "metadata.name")
    annotations = at(tree, "metadata.annotations")
    mark = "storageclass.kubernetes.io/is-default-class"
    is_default = isinstance(annotations, dict) and annotations.get(mark) == "true"
    return f"{name} (default)" if is_default else name


def _modes(tree: Tree, _: int) -> str:
    short = {
        "ReadWriteOnce": "RWO",
        "ReadOnlyMany": "ROX",
        "ReadWriteMany": "RWX",
        "ReadWriteOncePod": "RWOP",
    }
    modes = [shown(mode) for mode in _items(at(tree, "spec.accessModes"))]
    return ",".join(short.get(mode, mode) for mode in dict.fromkeys(modes))


def _bound_claim(tree: Tree, _: int) -> str:
    claim = at(tree, "spec.claimRef")
    return f"{text(claim, 'namespace')}/{text(claim, 'name')}" if isinstance(claim, dict) else ""


def _phase(tree: Tree, _: int) -> str:
    return "Terminating" if at(tree, "metadata.deletionTimestamp") else text(tree, "status.phase")


def _bool(path: str) -> Value:
    return lambda tree, _: "true" if at(tree, path) is True else "false"


def _hosts(tree: Tree, _: int) -> str:
    return ",".join(filter(None, (text(rule, "host") for rule in maps(at(tree, "spec"), "rules")))) or "*"


def _load_balancer(tree: Tree, _: int) -> str:
    ingress = maps(at(tree, "status.loadBalancer"), "ingress")
    return ",".join(text(item, "ip") or text(item, "hostname") for item in ingress)


def _active(tree: Tree, _: int) -> int:
    return len(_items(at(tree, "status.active")))


NAME: Final = Cell("Name", _path("metadata.name"))
_AGE: Final = Cell("Age", _age())
ANY: Final = (NAME, _AGE)

_WIDE_TEMPLATE: Final = (
    Cell("Containers", _containers("name"), priority=1),
    Cell("Images", _containers("image"), priority=1),
)
_CREATED: Final = (NAME, Cell("Created At", _path("metadata.creationTimestamp")))
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
            Cell("IP", _path("status.podIP", NONE), priority=1),
            Cell("Node", _path("spec.nodeName", NONE), priority=1),
            Cell("Nominated Node", _path("status.nominatedNodeName", NONE), priority=1),
            Cell("Readiness Gates", pod_rows.gates, priority=1),
        ),
    )
    yield (
        ("", "Node"),
        (
            NAME,
            Cell("Status", _node_status),
            Cell("Roles", _roles),
            _AGE,
            Cell("Version", _path("status.nodeInfo.kubeletVersion")),
            Cell("Internal-IP", _address("InternalIP"), priority=1),
            Cell("External-IP", _address("ExternalIP"), priority=1),
            Cell("OS-Image", _path("status.nodeInfo.osImage", "<unknown>"), priority=1),
            Cell("Kernel-Version", _path("status.nodeInfo.kernelVersion", "<unknown>"), priority=1),
            Cell("Container-Runtime", _path("status.nodeInfo.containerRuntimeVersion", "<unknown>"), priority=1),
        ),
    )
    yield ("", "Namespace"), (NAME, Cell("Status", _path("status.phase")), _AGE)
    yield ("", "ConfigMap"), (NAME, Cell("Data", _count("data")), _AGE)
    yield ("", "Secret"), (NAME, Cell("Type", _path("type")), Cell("Data", _count("data")), _AGE)
    yield ("", "ServiceAccount"), (NAME, Cell("Secrets", _count("secrets")), _AGE)
    yield (
        ("", "Service"),
        (
            NAME,
            Cell("Type", _path("spec.type")),
            Cell("Cluster-IP", _path("spec.clusterIP", NONE)),
            Cell("External-IP", _external),
            Cell("Port(s)", _ports),
            _AGE,
            Cell("Selector", _selector(), priority=1),
        ),
    )
    yield (
        ("", "Event"),
        (
            Cell("Last Seen", _last_seen),
            Cell("Type", _path("type")),
            Cell("Reason", _path("reason")),
            Cell("Object", _involved),
            Cell("Subobject", _path("involvedObject.fieldPath"), priority=1),
            Cell("Source", _path("source.component"), priority=1),
            Cell("Message", lambda tree, _: text(tree, "message").strip()),
            Cell("First Seen", _age("firstTimestamp"), priority=1),
            Cell("Count", _number("count", 1), priority=1),
            Cell("Name", _path("metadata.name"), priority=1),
        ),
    )
    yield ("", "ResourceQuota"), (NAME, Cell("Request", _amounts("requests")), Cell("Limit", _amounts("limits")), _AGE)
    yield ("", "LimitRange"), _CREATED
    yield (
        ("", "PersistentVolume"),
        (
            NAME,
            Cell("Capacity", _path("spec.capacity.storage")),
            Cell("Access Modes", _modes),
            Cell("Reclaim Policy", _path("spec.persistentVolumeReclaimPolicy")),
            Cell("Status", _phase),
            Cell("Claim", _bound_claim),
            Cell("StorageClass", _path("spec.storageClassName")),
            Cell("VolumeAttributesClass", _path("spec.volumeAttributesClassName", "<unset>")),
            Cell("Reason", _path("status.reason")),
            _AGE,
            Cell("VolumeMode", _path("spec.volumeMode"), priority=1),
        ),
    )
    yield (
        ("", "PersistentVolumeClaim"),
        (
            NAME,
            Cell("Status", _phase),
            Cell("Volume", _path("spec.volumeName")),
            Cell("Capacity", _path("status.capacity.storage")),
            Cell("Access Modes", _modes),
            Cell("StorageClass", _path("spec.storageClassName")),
            Cell("VolumeAttributesClass", _path("spec.volumeAttributesClassName", "<unset>")),
            _AGE,
            Cell("VolumeMode", _path("spec.volumeMode"), priority=1),
        ),
    )
    counts = (
        Cell("Desired", _number("spec.replicas")),
        Cell("Current", _number("status.replicas")),
        Cell("Ready", _number("status.readyReplicas")),
        _AGE,
        *_WIDE_TEMPLATE,
        Cell("Selector", _selector(), priority=1),
    )
    yield ("", "ReplicationController"), (NAME, *counts)
    yield ("apps", "ReplicaSet"), (NAME, *counts)
    yield (
        ("apps", "Deployment"),
        (
            NAME,
            Cell("Ready", _ratio("status.readyReplicas", "spec.replicas")),
            Cell("Up-to-date", _number("status.updatedReplicas")),
            Cell("Available", _number("status.availableReplicas")),
            _AGE,
            *_WIDE_TEMPLATE,
            Cell("Selector", _selector(), priority=1),
        ),
    )
    yield (
        ("apps", "StatefulSet"),
        (
            NAME,
            Cell("Ready", _ratio("status.readyReplicas", "spec.replicas")),
            _AGE,
            *_WIDE_TEMPLATE,
        ),
    )
    yield (
        ("apps", "DaemonSet"),
        (
            NAME,
            Cell("Desired", _number("status.desiredNumberScheduled")),
            Cell("Current", _number("status.currentNumberScheduled")),
            Cell("Ready", _number("status.numberReady")),
            Cell("Up-to-date", _number("status.updatedNumberScheduled")),
            Cell("Available", _number("status.numberAvailable")),
            Cell("Node Selector", _selector("spec.template.spec.nodeSelector")),
            _AGE,
            *_WIDE_TEMPLATE,
            Cell("Selector", _selector(), priority=1),
        ),
    )
    yield ("apps", "ControllerRevision"), (NAME, Cell("Revision", _number("revision")), _AGE)
    yield (
        ("batch", "Job"),
        (
            NAME,
            Cell("Status", _job_status),
            Cell("Completions", _completions),
            Cell("Duration", _took),
            _AGE,
            *_WIDE_TEMPLATE,
            Cell("Selector", _selector(), priority=1),
        ),
    )
    template = "spec.jobTemplate.spec.template.spec"
    yield (
        ("batch", "CronJob"),
        (
            NAME,
            Cell("Schedule", _path("spec.schedule")),
            Cell("Timezone", _path("spec.timeZone", NONE)),
            Cell("Suspend", lambda tree, _: "True" if at(tree, "spec.suspend") is True else "False"),
            Cell("Active", _active, type="integer"),
            Cell("Last Schedule", _age("status.lastScheduleTime", NONE)),
            _AGE,
            Cell("Containers", _containers("name", template), priority=1),
            Cell("Images", _containers("image", template), priority=1),
            Cell("Selector", lambda *_: NONE, priority=1),
        ),
    )
    yield (
        ("autoscaling", "HorizontalPodAutoscaler"),
        (
            NAME,
            Cell("Reference", _reference),
            Cell("MinPods", lambda tree, _: shown(at(tree, "spec.minReplicas") or "<unset>")),
            Cell("MaxPods", _number("spec.maxReplicas")),
            Cell("Replicas", _number("status.currentReplicas")),
            _AGE,
        ),
    )
    yield (
        ("policy", "PodDisruptionBudget"),
        (
            NAME,
            Cell("Min Available", lambda tree, _: shown(_or(at(tree, "spec.minAvailable"), "N/A"))),
            Cell("Max Unavailable", lambda tree, _: shown(_or(at(tree, "spec.maxUnavailable"), "N/A"))),
            Cell("Allowed Disruptions", _number("status.disruptionsAllowed")),
            _AGE,
        ),
    )
    yield (
        ("networking.k8s.io", "Ingress"),
        (
            NAME,
            Cell("Class", _path("spec.ingressClassName", NONE)),
            Cell("Hosts", _hosts),
            Cell("Address", _load_balancer),
            Cell("Ports", lambda tree, _: "80, 443" if at(tree, "spec.tls") else "80"),
            _AGE,
        ),
    )
    yield ("networking.k8s.io", "NetworkPolicy"), (NAME, Cell("Pod-Selector", _selector("spec.podSelector")), _AGE)
    yield (_RBAC, "Role"), _CREATED
    yield (_RBAC, "ClusterRole"), _CREATED
    yield (_RBAC, "RoleBinding"), (NAME, Cell("Role", _role), _AGE)
    yield (_RBAC, "ClusterRoleBinding"), (NAME, Cell("Role", _role), _AGE)
    yield (
        ("storage.k8s.io", "StorageClass"),
        (
            Cell("Name", _default_class),
            Cell("Provisioner", _path("provisioner")),
            Cell("ReclaimPolicy", _path("reclaimPolicy")),
            Cell("VolumeBindingMode", _path("volumeBindingMode")),
            Cell("AllowVolumeExpansion", _bool("allowVolumeExpansion")),
            _AGE,
        ),
    )
    yield ("storage.k8s.io", "CSINode"), (NAME, Cell("Drivers", _count("spec.drivers")), _AGE)
    yield (
        ("scheduling.k8s.io", "PriorityClass"),
        (
            NAME,
            Cell("Value", _number("value")),
            Cell("Global-Default", _bool("globalDefault")),
            _AGE,
            Cell("PreemptionPolicy", _path("preemptionPolicy")),
        ),
    )
    yield ("coordination.k8s.io", "Lease"), (NAME, Cell("Holder", _path("spec.holderIdentity")), _AGE)
    yield ("apiextensions.k8s.io", "CustomResourceDefinition"), _CREATED


def _or(value: Json, absent: str) -> Json:
    return absent if value is None else value


BY_KIND: Final = dict(_rows())
"""(group, kind) -> its columns"""
