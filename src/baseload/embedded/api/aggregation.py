"""API services: one object for each version of each group, as the aggregator of a real server keeps them.

All groups are served here, so that each is Local and available; those of definitions come and go with them. The
priorities are a real server's, and give groups their order in discovery.
"""

from typing import Final

from baseload.embedded.store.parse import parse_object
from baseload.embedded.store.record import Json
from baseload.embedded.store.store import Store

KIND: Final = ("apiregistration.k8s.io", "APIService")
_MANAGED: Final = "kube-aggregator.kubernetes.io/automanaged"
_ADDED: Final = 1000
_PRIORITIES: Final = {
    "": 18000,
    "apps": 17800,
    "events.k8s.io": 17750,
    "authentication.k8s.io": 17700,
    "authorization.k8s.io": 17600,
    "autoscaling": 17500,
    "batch": 17400,
    "certificates.k8s.io": 17300,
    "networking.k8s.io": 17200,
    "policy": 17100,
    "rbac.authorization.k8s.io": 17000,
    "storage.k8s.io": 16800,
    "admissionregistration.k8s.io": 16700,
    "apiextensions.k8s.io": 16700,
    "scheduling.k8s.io": 16600,
    "coordination.k8s.io": 16500,
    "node.k8s.io": 16300,
    "discovery.k8s.io": 16200,
    "resource.k8s.io": 16200,
    "flowcontrol.apiserver.k8s.io": 16100,
    "storagemigration.k8s.io": 15800,
}
"""group -> how early it is preferred; the highest first"""


def place(group: str) -> tuple[int, str]:
    """Where a group stands among all."""
    is_aggregator = group == KIND[0]  # which is no service of its own, and comes first
    return (0, "") if is_aggregator else (-_PRIORITIES.get(group, _ADDED), group)


def sync(store: Store, versions: dict[str, list[str]], now: str) -> None:
    """Has one API service for each version that is served."""
    resource = store.resource_of(*KIND)
    assert resource is not None
    wanted = {
        f"{version}.{group}": (group, version)
        for group, found in versions.items()
        for version in found
        if group != KIND[0]
    }
    held = dict(store.table(resource).records)
    for record in held.values():
        if record.name not in wanted and _MANAGED in record.shared.labels:
            store.delete(resource, "", record.name)
    for name, (group, version) in wanted.items():
        if name not in held:
            store.create(parse_object(resource, _service(name, group, version, now)))


def _service(name: str, group: str, version: str, now: str) -> dict[str, Json]:
    is_added = group not in _PRIORITIES
    rank = 100 if is_added else {"v2": 30}.get(version, 1 if not group else 15)
    told: dict[str, Json] = {"group": group} if group else {}
    spec: Json = {
        **told,
        "groupPriorityMinimum": _PRIORITIES.get(group, _ADDED),
        "version": version,
        "versionPriority": rank,
    }
    condition: Json = {
        "lastTransitionTime": now,
        "message": "Local APIServices are always available",
        "reason": "Local",
        "status": "True",
        "type": "Available",
    }
    return {
        "metadata": {"name": name, "labels": {_MANAGED: "true" if is_added else "onstart"}},
        "spec": spec,
        "status": {"conditions": [condition]},
    }
