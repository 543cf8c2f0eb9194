"""The values that Kubernetes' own kinds take where a client leaves a field out; pods have theirs in `pod_defaults`."""

import base64
from collections.abc import Callable
from typing import Final

from baseload.embedded.api.admission import autoscaler_defaults, definitions, pod_defaults, volume_defaults
from baseload.embedded.api.admission.amounts import settle_all
from baseload.embedded.api.admission.tree import Tree, child, fill, fill_empty, held, maps
from baseload.embedded.api.kinds import ServedKind
from baseload.embedded.store.record import Json

_RBAC: Final = "rbac.authorization.k8s.io"
_SPREAD: Final[dict[str, Json]] = {"maxSurge": "25%", "maxUnavailable": "25%"}
_MOST: Final = 2**31 - 1
_FROM_OUTSIDE: Final = ("NodePort", "LoadBalancer")


def give_defaults(kind: ServedKind, tree: Tree) -> None:
    """Fills in what the object's kind defaults; custom resources have theirs in the schema."""
    if kind.is_custom:
        return
    give = _BY_KIND.get(kind.resource.kind)
    if give is not None:
        give(tree)


def _template(spec: Tree) -> None:
    pod_defaults.template(child(spec, "template"))


def _deployment(tree: Tree) -> None:
    spec = child(tree, "spec")
    fill(spec, {"replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600})
    strategy = child(spec, "strategy")
    fill_empty(strategy, {"type": "RollingUpdate"})
    if strategy.get("type") == "RollingUpdate":
        fill(child(strategy, "rollingUpdate"), _SPREAD)
    _template(spec)


def _replica_set(tree: Tree) -> None:
    spec = child(tree, "spec")
    fill(spec, {"replicas": 1})
    _template(spec)


def _stateful_set(tree: Tree) -> None:
    spec = child(tree, "spec")
    fill(spec, {"replicas": 1, "revisionHistoryLimit": 10})
    fill_empty(spec, {"podManagementPolicy": "OrderedReady"})
    strategy = child(spec, "updateStrategy")
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
        child(strategy, "rollingUpdate")
    if strategy["type"] == "RollingUpdate" and isinstance(rolling := strategy.get("rollingUpdate"), dict):
        fill(rolling, {"partition": 0, "maxUnavailable": 1})
    fill_empty(child(spec, "persistentVolumeClaimRetentionPolicy"), {"whenDeleted": "Retain", "whenScaled": "Retain"})
    for claim in maps(spec, "volumeClaimTemplates"):
        fill(claim, {"kind": "PersistentVolumeClaim", "apiVersion": "v1", "metadata": {}})
        volume_defaults.claim_spec(child(claim, "spec"))
        fill_empty(child(claim, "status"), {"phase": "Pending"})
    _template(spec)


def _daemon_set(tree: Tree) -> None:
    spec = child(tree, "spec")
    fill(spec, {"revisionHistoryLimit": 10})
    strategy = child(spec, "updateStrategy")
    fill_empty(strategy, {"type": "RollingUpdate"})
    if strategy.get("type") == "RollingUpdate":
        fill(child(strategy, "rollingUpdate"), {"maxSurge": 0, "maxUnavailable": 1})
    _template(spec)


def _controller(tree: Tree) -> None:
    spec = child(tree, "spec")
    fill(spec, {"replicas": 1})
    labels = held(spec, "template", "metadata", "labels")
    if labels:
        fill_empty(spec, {"selector": dict(labels)})
        fill_empty(child(tree, "metadata"), {"labels": dict(labels)})
    if spec.get("template") is not None:
        _template(spec)


def _job(tree: Tree) -> None:
    spec = child(tree, "spec")
    _job_spec(spec)
    fill(
        spec,
        {
            "backoffLimit": 6 if spec.get("backoffLimitPerIndex") is None else _MOST,
            "completionMode": "NonIndexed",
            "suspend": False,
            "manualSelector": False,
            "podReplacementPolicy": "TerminatingOrFailed" if spec.get("podFailurePolicy") is None else "Failed",
        },
    )
    labels = held(spec, "template", "metadata", "labels")
    if labels:
        fill_empty(child(tree, "metadata"), {"labels": labels})  # the very map, which `birth` adds to
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    fill(spec, {"parallelism": 1})


def _job_spec(spec: Tree) -> None:
    for rule in maps(held(spec, "podFailurePolicy"), "rules"):
        for pattern in maps(rule, "onPodConditions"):
            fill_empty(pattern, {"status": "True"})
    _template(spec)


def _cron_job(tree: Tree) -> None:
    spec = child(tree, "spec")
    fill_empty(spec, {"concurrencyPolicy": "Allow"})
    fill(spec, {"suspend": False, "successfulJobsHistoryLimit": 3, "failedJobsHistoryLimit": 1})
    child(spec, "jobTemplate", "metadata")
    _job_spec(child(spec, "jobTemplate", "spec"))


def _service(tree: Tree) -> None:
    spec = child(tree, "spec")
    fill_empty(spec, {"type": "ClusterIP", "sessionAffinity": "None"})
    kind = spec["type"]
    if spec["sessionAffinity"] == "None":
        spec.pop("sessionAffinityConfig", None)
    elif spec["sessionAffinity"] == "ClientIP":
        fill(child(spec, "sessionAffinityConfig", "clientIP"), {"timeoutSeconds": 10800})
    for port in maps(spec, "ports"):
        fill_empty(port, {"protocol": "TCP", "targetPort": port.get("port") or 0})
    if kind in _FROM_OUTSIDE or (kind == "ClusterIP" and spec.get("externalIPs")):
        fill_empty(spec, {"externalTrafficPolicy": "Cluster"})
    if kind in (*_FROM_OUTSIDE, "ClusterIP"):
        fill(spec, {"internalTrafficPolicy": "Cluster"})
    if kind == "LoadBalancer":
        fill(spec, {"allocateLoadBalancerNodePorts": True})


def _namespace(tree: Tree) -> None:
    metadata = child(tree, "metadata")
    if metadata.get("name"):
        child(metadata, "labels")["kubernetes.io/metadata.name"] = metadata["name"]


def _node(tree: Tree) -> None:
    status = held(tree, "status")
    settle_all(status, "capacity", "allocatable")
    if isinstance(capacity := status.get("capacity"), dict):
        fill(status, {"allocatable": capacity})
    spec = child(tree, "spec")
    if spec.get("podCIDR") and not spec.get("podCIDRs"):
        spec["podCIDRs"] = [spec["podCIDR"]]
    elif isinstance(ranges := spec.get("podCIDRs"), list) and ranges and not spec.get("podCIDR"):
        spec["podCIDR"] = ranges[0]


def _storage_class(tree: Tree) -> None:
    fill(tree, {"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"})


def _driver(tree: Tree) -> None:
    fill(
        child(tree, "spec"),
        {
            "attachRequired": True,
            "podInfoOnMount": False,
            "storageCapacity": False,
            "fsGroupPolicy": "ReadWriteOnceWithFSType",
            "requiresRepublish": False,
            "seLinuxMount": False,
            "preventPodSchedulingIfMissing": False,
        },
    )
    fill_empty(child(tree, "spec"), {"volumeLifecycleModes": ["Persistent"]})


def _claim(tree: Tree) -> None:
    volume_defaults.claim_spec(child(tree, "spec"))


def _volume(tree: Tree) -> None:
    spec = child(tree, "spec")
    fill_empty(spec, {"persistentVolumeReclaimPolicy": "Retain"})
    fill(spec, {"volumeMode": "Filesystem"})
    settle_all(spec, "capacity")
    volume_defaults.source(spec)


def _limit_range(tree: Tree) -> None:
    for item in maps(child(tree, "spec"), "limits"):
        settle_all(item, "max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
        if item.get("type") == "Container":
            for name, source in (("default", "max"), ("defaultRequest", "default"), ("defaultRequest", "min")):
                if amounts := held(item, source):
                    fill(child(item, name), amounts)


def _policy(tree: Tree) -> None:
    spec = child(tree, "spec")
    for direction in ("ingress", "egress"):
        for rule in maps(spec, direction):
            for port in maps(rule, "ports"):
                fill(port, {"protocol": "TCP"})
    fill_empty(spec, {"policyTypes": ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]})


def _ingress_class(tree: Tree) -> None:
    if isinstance(parameters := held(tree, "spec").get("parameters"), dict):
        fill(parameters, {"scope": "Cluster"})


def _binding(tree: Tree) -> None:
    fill_empty(child(tree, "roleRef"), {"apiGroup": _RBAC})
    for subject in maps(tree, "subjects"):
        if subject.get("kind") in ("User", "Group"):
            fill_empty(subject, {"apiGroup": _RBAC})


def _endpoints(tree: Tree) -> None:
    for subset in maps(tree, "subsets"):
        for port in maps(subset, "ports"):
            fill_empty(port, {"protocol": "TCP"})


def _endpoint_slice(tree: Tree) -> None:
    for endpoint in maps(tree, "endpoints"):
        fill(endpoint, {"conditions": {}})
    for port in maps(tree, "ports"):
        fill(port, {"name": "", "protocol": "TCP"})


def _event(tree: Tree) -> None:
    fill(tree, {"source": {}, "reportingComponent": "", "reportingInstance": ""})


def _secret(tree: Tree) -> None:
    fill_empty(tree, {"type": "Opaque"})
    plain = tree.pop("stringData", None)
    if isinstance(plain, dict):
        data = child(tree, "data")
        for key, text in plain.items():
            data[key] = base64.b64encode(str(text).encode()).decode()


_BY_KIND: Final[dict[str, Callable[[Tree], None]]] = {
    "Pod": pod_defaults.pod,
    "PodTemplate": _template,
    "Deployment": _deployment,
    "ReplicaSet": _replica_set,
    "ReplicationController": _controller,
    "StatefulSet": _stateful_set,
    "DaemonSet": _daemon_set,
    "Job": _job,
    "CronJob": _cron_job,
    "Service": _service,
    "Namespace": _namespace,
    "CustomResourceDefinition": definitions.defaults,
    "Node": _node,
    "StorageClass": _storage_class,
    "CSIDriver": _driver,
    "PersistentVolumeClaim": _claim,
    "PersistentVolume": _volume,
    "PriorityClass": lambda tree: fill(tree, {"preemptionPolicy": "PreemptLowerPriority"}),
    "HorizontalPodAutoscaler": autoscaler_defaults.autoscaler,
    "LimitRange": _limit_range,
    "ResourceQuota": lambda tree: settle_all(child(tree, "spec"), "hard"),
    "RuntimeClass": lambda tree: settle_all(held(tree, "overhead"), "podFixed"),
    "NetworkPolicy": _policy,
    "IngressClass": _ingress_class,
    "RoleBinding": _binding,
    "ClusterRoleBinding": _binding,
    "Endpoints": _endpoints,
    "EndpointSlice": _endpoint_slice,
    "Event": _event,
    "Secret": _secret,
}
