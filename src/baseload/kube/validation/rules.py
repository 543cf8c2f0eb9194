"""The rules of each kind, in one table: what its objects must be, and what their names must look like."""

from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

from baseload.kube.validation import (
    access,
    autoscaling,
    claims,
    cluster,
    configs,
    jobs,
    metadata,
    names,
    networking,
    pods,
    quotas,
    services,
    storage,
    workloads,
)
from baseload.kube.validation.fault import Fault, Faults, Tree
from baseload.kube.validation.names import Wrong

Rule: TypeAlias = Callable[[Tree, "Tree | None"], Faults]
"""(object, the object before an update; None where it is new) -> what is wrong with it"""


class Rules(NamedTuple):
    """What is asked of one kind beyond its shape."""

    rule: Rule
    name: Callable[[str], Wrong] = names.subdomain


_BY_KIND: Final[dict[tuple[str, str], Rules]] = {
    ("", "ConfigMap"): Rules(configs.config_map),
    ("", "Endpoints"): Rules(services.endpoints),
    ("", "Event"): Rules(cluster.event),
    ("", "LimitRange"): Rules(quotas.limit_range),
    ("", "Namespace"): Rules(cluster.namespace, names.dns_label),
    ("", "Node"): Rules(cluster.node),
    ("", "PersistentVolume"): Rules(storage.volume),
    ("", "PersistentVolumeClaim"): Rules(claims.claim),
    ("", "Pod"): Rules(pods.pod),
    ("", "PodTemplate"): Rules(pods.pod_template),
    ("", "ReplicationController"): Rules(workloads.controller),
    ("", "ResourceQuota"): Rules(quotas.quota),
    ("", "Secret"): Rules(configs.secret),
    ("", "Service"): Rules(services.service, names.dns_label),
    ("apps", "ControllerRevision"): Rules(workloads.revision),
    ("apps", "DaemonSet"): Rules(workloads.daemon_set),
    ("apps", "Deployment"): Rules(workloads.deployment),
    ("apps", "ReplicaSet"): Rules(workloads.replica_set),
    ("apps", "StatefulSet"): Rules(workloads.stateful_set),
    ("autoscaling", "HorizontalPodAutoscaler"): Rules(autoscaling.autoscaler),
    ("batch", "CronJob"): Rules(jobs.cron_job),
    ("batch", "Job"): Rules(jobs.job),
    ("coordination.k8s.io", "Lease"): Rules(cluster.lease),
    ("discovery.k8s.io", "EndpointSlice"): Rules(services.endpoint_slice),
    ("networking.k8s.io", "Ingress"): Rules(networking.ingress),
    ("networking.k8s.io", "IngressClass"): Rules(networking.ingress_class),
    ("networking.k8s.io", "NetworkPolicy"): Rules(networking.network_policy),
    ("node.k8s.io", "RuntimeClass"): Rules(cluster.runtime_class),
    ("policy", "PodDisruptionBudget"): Rules(autoscaling.budget),
    ("rbac.authorization.k8s.io", "ClusterRole"): Rules(access.cluster_role, names.path_segment),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): Rules(access.cluster_role_binding, names.path_segment),
    ("rbac.authorization.k8s.io", "Role"): Rules(access.role, names.path_segment),
    ("rbac.authorization.k8s.io", "RoleBinding"): Rules(access.role_binding, names.path_segment),
    ("scheduling.k8s.io", "PriorityClass"): Rules(cluster.priority_class),
    ("storage.k8s.io", "CSIDriver"): Rules(storage.csi_driver),
    ("storage.k8s.io", "CSINode"): Rules(storage.csi_node),
    ("storage.k8s.io", "StorageClass"): Rules(storage.storage_class),
    ("storage.k8s.io", "VolumeAttachment"): Rules(storage.attachment),
}


def check(group: str, kind: str, tree: Tree, old: Tree | None, *, part: str = "") -> list[Fault]:
    """Everything that is wrong with an object of one of Kubernetes' own kinds, in the order of a server.

    `part` is the subresource through which it is written: all else is as it was, and was looked at then.
    """
    rules = _BY_KIND.get((group, kind), _PLAIN)
    told = tree.get("metadata", {})
    faults = list(metadata.of_object(told, rules.name, namespaced="namespace" in told))
    if finalizers := told.get("finalizers"):
        faults += metadata.standing(finalizers)
    if part in ("", "scale"):
        faults += rules.rule(tree, old)
    elif kind == "Pod" and part != "status":
        faults += pods.spec(tree.get("spec", {}), "spec")
    return faults


def name_rule(group: str, kind: str) -> Callable[[str], Wrong]:
    """What the names of a kind must look like."""
    return _BY_KIND.get((group, kind), _PLAIN).name


def _nothing(tree: Tree, old: Tree | None) -> Faults:
    yield from ()


_PLAIN: Final = Rules(_nothing)
