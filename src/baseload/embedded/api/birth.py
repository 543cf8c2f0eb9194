"""What a new object of one of Kubernetes' own kinds begins with, whatever the client wrote there.

Its status is the server's, except a node's, which the kubelet registers with one; its generation is 1; a job is given
the labels by which it knows its pods; a pod, the class of service that follows from what it asks for.
"""

from typing import Final

from baseload.embedded.api.admission import definitions
from baseload.embedded.api.admission.tree import Tree, child, fill_empty, held, maps
from baseload.embedded.api.kinds import ServedKind
from baseload.embedded.store.record import Json
from baseload.values import quantity

# kind -> the counts that stand in its status although they are none yet
_COUNTS: Final[dict[str, Tree]] = {
    "ReplicaSet": {"replicas": 0},
    "ReplicationController": {"replicas": 0},
    "StatefulSet": {"replicas": 0, "availableReplicas": 0},
    "DaemonSet": {"currentNumberScheduled": 0, "numberMisscheduled": 0, "desiredNumberScheduled": 0, "numberReady": 0},
    "PodDisruptionBudget": {"disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0},
    "HorizontalPodAutoscaler": {"desiredReplicas": 0, "currentMetrics": None},
    "VolumeAttachment": {"attached": False},
    "Service": {"loadBalancer": {}},
    "Ingress": {"loadBalancer": {}},
    "PersistentVolumeClaim": {"phase": "Pending"},
    "Namespace": {"phase": "Active"},
}
_NODE_INFO: Final = (
    "machineID",
    "systemUUID",
    "bootID",
    "kernelVersion",
    "osImage",
    "containerRuntimeVersion",
    "kubeletVersion",
    "kubeProxyVersion",
    "operatingSystem",
    "architecture",
)
_JOB_NAMES: Final = ("job-name", "batch.kubernetes.io/job-name")
_JOB_UIDS: Final = ("controller-uid", "batch.kubernetes.io/controller-uid")
_AMOUNTS: Final = (str, int, float)
_GENERATION: Final = "deprecated.daemonset.template.generation"
_BEST_EFFORT, _BURSTABLE, _GUARANTEED = "BestEffort", "Burstable", "Guaranteed"


def begin(kind: ServedKind, tree: Tree, *, now: str) -> None:
    """Makes an object, whose uid and name are given already, one that is just being created."""
    name = "" if kind.is_custom else kind.resource.kind
    if kind.has_status and name != "Node":
        tree.pop("status", None)
        if not kind.is_custom:
            tree["status"] = dict(_COUNTS.get(name, {}))
    match name:
        case "CustomResourceDefinition":
            tree["status"] = {"storedVersions": list(definitions.storage_versions(tree))}
        case "Namespace":
            _namespace(tree)
        case "Node":
            _node(child(tree, "status"))
        case "Pod":
            _pod(tree, now)
        case "PersistentVolume":
            tree["status"] = {"phase": "Pending", "lastPhaseTransitionTime": now}
        case "Job":
            _job(tree)
        case "DaemonSet":
            child(tree, "metadata", "annotations").setdefault(_GENERATION, "1")


def _namespace(tree: Tree) -> None:
    spec = child(tree, "spec")
    named = spec.get("finalizers")
    others = [name for name in named if name != "kubernetes"] if isinstance(named, list) else []
    spec["finalizers"] = [*others, "kubernetes"]


def _node(status: Tree) -> None:
    child(status, "daemonEndpoints", "kubeletEndpoint").setdefault("Port", 0)
    info = child(status, "nodeInfo")
    for name in _NODE_INFO:
        info.setdefault(name, "")


def _job(tree: Tree) -> None:
    """The labels and the selector by which a job knows its pods, unless the client chose them."""
    spec, metadata = child(tree, "spec"), child(tree, "metadata")
    if spec.get("manualSelector") is True:
        return
    labels = child(spec, "template", "metadata", "labels")
    for names, value in ((_JOB_NAMES, metadata.get("name")), (_JOB_UIDS, metadata.get("uid"))):
        for name in names:
            labels.setdefault(name, value)
    child(spec, "selector", "matchLabels").setdefault(_JOB_UIDS[1], metadata.get("uid"))


def finish(kind: ServedKind, tree: Tree) -> None:
    """Adds what nobody has to check: a job without labels takes those of its pods."""
    if kind.resource.kind == "Job" and not kind.is_custom:
        labels = held(tree, "spec", "template", "metadata", "labels")
        if labels:
            fill_empty(child(tree, "metadata"), {"labels": dict(labels)})


def _pod(tree: Tree, now: str) -> None:
    spec = child(tree, "spec")
    status: Tree = {"phase": "Pending", "qosClass": service_class(spec)}
    if spec.get("schedulingGates"):
        gated: Tree = {
            "type": "PodScheduled",
            "status": "False",
            "lastProbeTime": None,
            "lastTransitionTime": now,
            "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
        }
        status["conditions"] = [gated]
    tree["status"] = status
    _select_by_keys(spec, held(tree, "metadata", "labels"))


def _select_by_keys(spec: Tree, labels: Tree) -> None:
    """Adds to selectors what matchLabelKeys mean for this pod."""
    for constraint in maps(spec, "topologySpreadConstraints"):
        _match(constraint, labels)
    affinity = spec.get("affinity")
    if isinstance(affinity, dict):
        for name in ("podAffinity", "podAntiAffinity"):
            terms = held(affinity, name)
            for term in maps(terms, "requiredDuringSchedulingIgnoredDuringExecution"):
                _match(term, labels)
            for weighted in maps(terms, "preferredDuringSchedulingIgnoredDuringExecution"):
                _match(held(weighted, "podAffinityTerm"), labels)


def _match(term: Tree, labels: Tree) -> None:
    selector = term.get("labelSelector")
    if not isinstance(selector, dict):
        return
    for field, operator in (("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")):
        keys = term.get(field)
        for key in keys if isinstance(keys, list) else ():
            if isinstance(key, str) and key in labels:
                expressions = selector.setdefault("matchExpressions", [])
                if isinstance(expressions, list):
                    expressions.append({"key": key, "operator": operator, "values": [labels[key]]})


def service_class(spec: Tree) -> str:
    """Guaranteed, Burstable or BestEffort, by what a pod as a whole or each of its containers asks for."""
    whole = held(spec, "resources")
    if whole.get("requests") or whole.get("limits"):
        return _class_of(whole)
    found = ""
    for name in ("initContainers", "containers"):
        for container in maps(spec, name):
            its = _class_of(held(container, "resources"))
            if its == _BURSTABLE or (found and its != found):
                return _BURSTABLE
            found = its
    return found or _BEST_EFFORT


def _class_of(resources: Tree) -> str:
    requests, limits = held(resources, "requests"), held(resources, "limits")
    if not requests and not limits:
        return _BEST_EFFORT
    found = ""
    for name in ("cpu", "memory"):
        asked, limit = _amount(requests.get(name)), _amount(limits.get(name))
        its = _BURSTABLE if asked != limit else _GUARANTEED if asked else _BEST_EFFORT
        if its == _BURSTABLE or (found and its != found):
            return _BURSTABLE
        found = its
    return found


def _amount(value: Json) -> int:
    try:
        return quantity.parse(value) if isinstance(value, _AMOUNTS) else 0
    except quantity.QuantityError:
        return 0
