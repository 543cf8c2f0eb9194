"""The Node that a kubelet creates when it begins."""

from typing import Final

from baseload.embedded.actors.kubelet.machines import Machine
from baseload.embedded.store.record import Json
from baseload.values import resource

_HEALTHY: Final = (
    ("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
)


def tree(machine: Machine, address: str, version: str, now: str) -> dict[str, Json]:
    """The Node of a machine, not ready yet."""
    labels: dict[str, Json] = {
        "beta.kubernetes.io/arch": machine.architecture,
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": machine.architecture,
        "kubernetes.io/hostname": machine.name,
        "kubernetes.io/os": "linux",
        **machine.labels,
    }
    taints: list[Json] = [
        {"key": taint.key, "effect": taint.effect, **({"value": taint.value} if taint.value else {})}
        for taint in machine.taints
    ]
    spec: dict[str, Json] = {}
    if machine.provider_id:
        spec["providerID"] = machine.provider_id
    if taints:
        spec["taints"] = taints
    conditions: list[Json] = [_condition(now, type, reason, message) for type, reason, message in _HEALTHY]
    conditions.append(
        _condition(now, "Ready", "KubeletNotReady", "[container runtime status check may not have completed yet]")
    )
    status: dict[str, Json] = {
        "capacity": {name: resource.written(name, amount) for name, amount in machine.capacity.items()},
        "allocatable": {name: resource.written(name, amount) for name, amount in machine.allocatable.items()},
        "conditions": conditions,
        "addresses": [
            {"type": "InternalIP", "address": address},
            {"type": "Hostname", "address": machine.name},
        ],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
        "nodeInfo": {
            "machineID": machine.name,
            "systemUUID": machine.name,
            "bootID": machine.name,
            "kernelVersion": "6.12.0",
            "osImage": "baseload",
            "containerRuntimeVersion": "containerd://2.1.4",
            "kubeletVersion": version,
            "kubeProxyVersion": "",
            "operatingSystem": "linux",
            "architecture": machine.architecture,
        },
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": machine.name,
            "labels": labels,
            "annotations": {"volumes.kubernetes.io/controller-managed-attach-detach": "true"},
        },
        "spec": spec,
        "status": status,
    }


def _condition(now: str, type: str, reason: str, message: str) -> dict[str, Json]:
    return {
        "type": type,
        "status": "False",
        "lastHeartbeatTime": now,
        "lastTransitionTime": now,
        "reason": reason,
        "message": message,
    }
