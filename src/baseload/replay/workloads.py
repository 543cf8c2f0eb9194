"""What a pod is made for: the workload that somebody wrote, not the object between it and the pod."""

from typing import Final

from baseload.embedded.store.record import Record
from baseload.embedded.store.store import Store

_PARENTS: Final = {"ReplicaSet": ("apps", "ReplicaSet"), "Job": ("batch", "Job")}


def workload_of(store: Store, pod: Record) -> tuple[str, str]:
    """Kind and name: the Deployment of a ReplicaSet's pod, the CronJob of a Job's, the pod itself where it has none."""
    owner = next((one for one in pod.shared.owners if one.controller), None)
    if owner is None:
        return "Pod", pod.name
    return _parent(store, pod.namespace, owner.kind, owner.name) or (owner.kind, owner.name)


def _parent(store: Store, namespace: str, kind: str, name: str) -> tuple[str, str] | None:
    resource = store.resource_of(*_PARENTS[kind]) if kind in _PARENTS else None
    held = store.find(resource, namespace, name) if resource is not None else None
    owners = held.shared.owners if held is not None else ()
    return next(((one.kind, one.name) for one in owners if one.controller), None)
