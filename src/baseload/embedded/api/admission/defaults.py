"""The values that Kubernetes' own kinds take where a client leaves a field out."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from baseload.embedded.api.admission.review import Review
from baseload.embedded.store.record import Json

_Tree: TypeAlias = dict[str, Json]

_SPREAD: Final = {"maxSurge": "25%", "maxUnavailable": "25%"}
_PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")
_PROBE: Final = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}


def give_defaults(review: Review) -> None:
    """Fills in what the object's kind defaults; custom resources have theirs in the schema."""
    if review.kind.is_custom:
        return
    give = _BY_KIND.get(review.kind.resource.kind)
    if give is not None:
        give(review.tree)


def _child(tree: _Tree, *path: str) -> _Tree:
    """The map at a path, made where it is not there."""
    for name in path:
        held = tree.get(name)
        if not isinstance(held, dict):
            if held is not None:
                return {}  # of another type, which is refused elsewhere
            held = tree[name] = {}
        tree = held
    return tree


def _maps(tree: _Tree, name: str) -> Iterator[_Tree]:
    held = tree.get(name)
    yield from (item for item in held if isinstance(item, dict)) if isinstance(held, list) else ()


def _fill(tree: _Tree, values: Mapping[str, Json]) -> None:
    for key, value in values.items():
        if tree.get(key) is None:
            tree[key] = dict(value) if isinstance(value, dict) else value


def _pod_spec(spec: _Tree) -> None:
    _fill(
        spec,
        {
            "restartPolicy": "Always",
            "terminationGracePeriodSeconds": 30,
            "dnsPolicy": "ClusterFirst",
            "securityContext": {},
            "schedulerName": "default-scheduler",
        },
    )
    for name in ("initContainers", "containers"):
        for container in _maps(spec, name):
            _container(container)


def _container(container: _Tree) -> None:
    image = str(container.get("image") or "")
    tag = image.rpartition("/")[2].partition(":")[2]
    pull = "Always" if tag in ("", "latest") and "@" not in image else "IfNotPresent"
    _fill(
        container,
        {
            "imagePullPolicy": pull,
            "resources": {},
            "terminationMessagePath": "/dev/termination-log",
            "terminationMessagePolicy": "File",
        },
    )
    for port in _maps(container, "ports"):
        _fill(port, {"protocol": "TCP"})
    for name in _PROBES:
        probe = container.get(name)
        if isinstance(probe, dict):
            _fill(probe, _PROBE)


def _pod(tree: _Tree) -> None:
    spec = _child(tree, "spec")
    _pod_spec(spec)
    _fill(spec, {"serviceAccountName": "default", "enableServiceLinks": True})
    spec.setdefault("serviceAccount", spec["serviceAccountName"])
    tolerations = spec.setdefault("tolerations", [])
    if isinstance(tolerations, list):
        for condition in ("not-ready", "unreachable"):
            key = f"node.kubernetes.io/{condition}"
            if not any(_tolerates(held, key) for held in tolerations):
                tolerations.append({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300})


def _tolerates(held: Json, key: str) -> bool:
    """Whether a toleration is already about a taint of that key, with the effect NoExecute."""
    if not isinstance(held, dict) or held.get("effect") not in (None, "", "NoExecute"):
        return False
    return held.get("key") == key or (not held.get("key") and held.get("operator") == "Exists")


def _template(spec: _Tree) -> None:
    _pod_spec(_child(spec, "template", "spec"))


def _deployment(tree: _Tree) -> None:
    spec = _child(tree, "spec")
    _fill(spec, {"replicas": 1, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600})
    strategy = _child(spec, "strategy")
    _fill(strategy, {"type": "RollingUpdate"})
    if strategy.get("type") == "RollingUpdate":
        _fill(_child(strategy, "rollingUpdate"), _SPREAD)
    _template(spec)


def _replica_set(tree: _Tree) -> None:
    spec = _child(tree, "spec")
    _fill(spec, {"replicas": 1})
    _template(spec)


def _stateful_set(tree: _Tree) -> None:
    spec = _child(tree, "spec")
    _fill(spec, {"replicas": 1, "revisionHistoryLimit": 10, "podManagementPolicy": "OrderedReady"})
    strategy = _child(spec, "updateStrategy")
    _fill(strategy, {"type": "RollingUpdate"})
    if strategy.get("type") == "RollingUpdate":
        _fill(_child(strategy, "rollingUpdate"), {"partition": 0})
    retention = _child(spec, "persistentVolumeClaimRetentionPolicy")
    _fill(retention, {"whenDeleted": "Retain", "whenScaled": "Retain"})
    _template(spec)


def _daemon_set(tree: _Tree) -> None:
    spec = _child(tree, "spec")
    _fill(spec, {"revisionHistoryLimit": 10})
    strategy = _child(spec, "updateStrategy")
    _fill(strategy, {"type": "RollingUpdate"})
    if strategy.get("type") == "RollingUpdate":
        _fill(_child(strategy, "rollingUpdate"), {"maxSurge": 0, "maxUnavailable": 1})
    _template(spec)


def _job_spec(spec: _Tree) -> None:
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    _fill(
        spec,
        {
            "parallelism": 1,
            "backoffLimit": 6,
            "completionMode": "NonIndexed",
            "suspend": False,
            "manualSelector": False,
            "podReplacementPolicy": "TerminatingOrFailed",
        },
    )
    _template(spec)


def _cron_job(tree: _Tree) -> None:
    spec = _child(tree, "spec")
    _fill(
        spec,
        {
            "concurrencyPolicy": "Allow",
            "suspend": False,
            "successfulJobsHistoryLimit": 3,
            "failedJobsHistoryLimit": 1,
        },
    )
    _template(_child(spec, "jobTemplate", "spec"))


def _service(tree: _Tree) -> None:
    spec = _child(tree, "spec")
    _fill(spec, {"type": "ClusterIP", "sessionAffinity": "None"})
    if spec["type"] != "ExternalName":
        _fill(spec, {"internalTrafficPolicy": "Cluster", "ipFamilyPolicy": "SingleStack"})
    for port in _maps(spec, "ports"):
        _fill(port, {"protocol": "TCP", "targetPort": port.get("port")})


def _namespace(tree: _Tree) -> None:
    name = _child(tree, "metadata").get("name")
    _fill(_child(tree, "metadata", "labels"), {"kubernetes.io/metadata.name": name})


def _storage_class(tree: _Tree) -> None:
    _fill(tree, {"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"})


def _claim(tree: _Tree) -> None:
    _fill(_child(tree, "spec"), {"volumeMode": "Filesystem"})


def _volume(tree: _Tree) -> None:
    _fill(_child(tree, "spec"), {"persistentVolumeReclaimPolicy": "Retain", "volumeMode": "Filesystem"})


def _priority_class(tree: _Tree) -> None:
    _fill(tree, {"preemptionPolicy": "PreemptLowerPriority"})


def _secret(tree: _Tree) -> None:
    _fill(tree, {"type": "Opaque"})


_BY_KIND: Final[dict[str, Callable[[_Tree], None]]] = {
    "Pod": _pod,
    "Deployment": _deployment,
    "ReplicaSet": _replica_set,
    "StatefulSet": _stateful_set,
    "DaemonSet": _daemon_set,
    "Job": lambda tree: _job_spec(_child(tree, "spec")),
    "CronJob": _cron_job,
    "Service": _service,
    "Namespace": _namespace,
    "StorageClass": _storage_class,
    "PersistentVolumeClaim": _claim,
    "PersistentVolume": _volume,
    "PriorityClass": _priority_class,
    "Secret": _secret,
}
