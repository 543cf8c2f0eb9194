"""A small cluster with all that `kubectl describe` tells of: objects, and the statuses that controllers would write."""

from typing import Any, Final

STAMP: Final = "2026-11-30T11:00:00Z"
_LIMITS: Final = {"requests": {"cpu": "250m", "memory": "128Mi"}, "limits": {"cpu": "500m", "memory": "256Mi"}}

NODE: Final[dict[str, Any]] = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {
        "name": "n1",
        "labels": {
            "karpenter.sh/nodepool": "default",
            "node-role.kubernetes.io/worker": "",
            "topology.kubernetes.io/zone": "eu-west-1a",
        },
        "annotations": {"karpenter.sh/nodepool-hash": "1"},
    },
    "spec": {
        "providerID": "aws:///eu-west-1a/i-0123456789abcdef0",
        "podCIDR": "10.1.0.0/24",
        "podCIDRs": ["10.1.0.0/24"],
        "taints": [{"key": "dedicated", "value": "web", "effect": "NoSchedule"}],
    },
}
NODE_STATUS: Final = {
    "addresses": [{"type": "InternalIP", "address": "10.0.0.7"}, {"type": "Hostname", "address": "n1"}],
    "capacity": {"cpu": "4", "memory": "8Gi", "pods": "58", "ephemeral-storage": "20Gi"},
    "allocatable": {"cpu": "3920m", "memory": "7Gi", "pods": "58", "ephemeral-storage": "18Gi"},
    "conditions": [
        {
            "type": type,
            "status": status,
            "lastHeartbeatTime": STAMP,
            "lastTransitionTime": STAMP,
            "reason": reason,
            "message": message,
        }
        for type, status, reason, message in (
            ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
            ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
            ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
            ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
        )
    ],
    "nodeInfo": {
        "machineID": "m",
        "systemUUID": "s",
        "bootID": "b",
        "kernelVersion": "6.12.0",
        "osImage": "Bottlerocket OS 1.40.0",
        "containerRuntimeVersion": "containerd://2.1.0",
        "kubeletVersion": "v1.37.0",
        "kubeProxyVersion": "",
        "operatingSystem": "linux",
        "architecture": "arm64",
    },
}

LEASE: Final[dict[str, Any]] = {
    "apiVersion": "coordination.k8s.io/v1",
    "kind": "Lease",
    "metadata": {"name": "n1", "namespace": "kube-node-lease"},
    "spec": {"holderIdentity": "n1", "leaseDurationSeconds": 40, "renewTime": "2026-11-30T11:59:50.000000Z"},
}

_TEMPLATE: Final[dict[str, Any]] = {
    "metadata": {"labels": {"app": "web"}},
    "spec": {
        "tolerations": [{"key": "dedicated", "operator": "Exists"}],
        "containers": [
            {
                "name": "main",
                "image": "nginx:1.25",
                "ports": [{"containerPort": 80}],
                "resources": _LIMITS,
                "env": [{"name": "MODE", "value": "fast"}],
                "readinessProbe": {"httpGet": {"path": "/ready", "port": 80}},
                "volumeMounts": [{"name": "settings", "mountPath": "/etc/settings"}],
            }
        ],
        "volumes": [{"name": "settings", "configMap": {"name": "settings"}}],
    },
}

DEPLOYMENT: Final[dict[str, Any]] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "labels": {"app": "web"}, "annotations": {"deployment.kubernetes.io/revision": "1"}},
    "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": _TEMPLATE},
}
DEPLOYMENT_STATUS: Final = {
    "observedGeneration": 1,
    "replicas": 2,
    "updatedReplicas": 2,
    "readyReplicas": 1,
    "availableReplicas": 1,
    "unavailableReplicas": 1,
    "conditions": [
        {"type": "Available", "status": "False", "reason": "MinimumReplicasUnavailable"},
        {"type": "Progressing", "status": "True", "reason": "ReplicaSetUpdated"},
    ],
}


def replica_set(owner: str) -> dict[str, Any]:
    """The Deployment's set."""
    labels = {"app": "web", "pod-template-hash": "abc"}
    template = {**_TEMPLATE, "metadata": {"labels": labels}}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": "web-abc",
            "labels": labels,
            "annotations": {"deployment.kubernetes.io/revision": "1"},
            "ownerReferences": [_reference("Deployment", "web", owner)],
        },
        "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": template},
    }


def pod(owner: str) -> dict[str, Any]:
    """A pod of the set, on the node."""
    labels = {"app": "web", "pod-template-hash": "abc"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "web-abc-1",
            "labels": labels,
            "ownerReferences": [_reference("ReplicaSet", "web-abc", owner)],
        },
        "spec": {**_TEMPLATE["spec"], "nodeName": "n1", "automountServiceAccountToken": False},
    }


POD_STATUS: Final = {
    "phase": "Running",
    "podIP": "10.1.0.5",
    "podIPs": [{"ip": "10.1.0.5"}],
    "hostIP": "10.0.0.7",
    "startTime": STAMP,
    "conditions": [
        {"type": type, "status": "True", "lastTransitionTime": STAMP}
        for type in ("PodScheduled", "Initialized", "Ready", "ContainersReady")
    ],
    "containerStatuses": [
        {
            "name": "main",
            "image": "nginx:1.25",
            "imageID": "sha256:1",
            "containerID": "containerd://1",
            "ready": True,
            "restartCount": 1,
            "state": {"running": {"startedAt": STAMP}},
            "lastState": {
                "terminated": {"exitCode": 137, "reason": "OOMKilled", "startedAt": STAMP, "finishedAt": STAMP}
            },
        }
    ],
}

QUOTA: Final[dict[str, Any]] = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "team"},
    "spec": {"hard": {"pods": "10", "requests.cpu": "4", "requests.memory": "8Gi"}},
}
QUOTA_STATUS: Final = {
    "hard": {"pods": "10", "requests.cpu": "4", "requests.memory": "8Gi"},
    "used": {"pods": "1", "requests.cpu": "250m", "requests.memory": "128Mi"},
}

STATUSES: Final = {
    "node/n1": NODE_STATUS,
    "deployment/web": DEPLOYMENT_STATUS,
    "replicaset/web-abc": {"replicas": 2, "readyReplicas": 1},
    "pod/web-abc-1": POD_STATUS,
    "resourcequota/team": QUOTA_STATUS,
}
"""What controllers and kubelets would write"""

OTHERS: Final[tuple[dict[str, Any], ...]] = (
    {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web"},
        "spec": {"clusterIP": "10.96.0.20", "selector": {"app": "web"}, "ports": [{"name": "http", "port": 80}]},
    },
    {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": "web-1", "labels": {"kubernetes.io/service-name": "web"}},
        "addressType": "IPv4",
        "ports": [{"name": "http", "port": 80, "protocol": "TCP"}],
        "endpoints": [{"addresses": ["10.1.0.5"], "conditions": {"ready": True}}],
    },
    {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "sizes"},
        "spec": {"limits": [{"type": "Container", "default": {"cpu": "1"}, "max": {"cpu": "2"}}]},
    },
    {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "disk"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "gp3",
            "resources": {"requests": {"storage": "10Gi"}},
        },
    },
)


def event(
    name: str, kind: str, about: str, uid: str, reason: str, message: str, type: str = "Normal"
) -> dict[str, Any]:
    """Something that happened to an object."""
    version = "apps/v1" if kind == "Deployment" else "v1"
    involved = {"kind": kind, "name": about, "uid": uid, "apiVersion": version}
    if kind != "Node":
        involved["namespace"] = "default"
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": "default"},
        "involvedObject": involved,
        "reason": reason,
        "message": message,
        "type": type,
        "count": 1,
        "firstTimestamp": STAMP,
        "lastTimestamp": STAMP,
        "source": {"component": "kubelet", "host": "n1"},
    }


def _reference(kind: str, name: str, uid: str) -> dict[str, Any]:
    reference: dict[str, Any] = {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": uid}
    return {**reference, "controller": True, "blockOwnerDeletion": True}
