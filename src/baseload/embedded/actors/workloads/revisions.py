"""The ReplicaSets of a Deployment as its revisions: which one has its template, how they are numbered and named.

The new ReplicaSet has the highest number, which the Deployment carries too: `kubectl rollout history` and `undo` go by
it. A template that comes back takes its old ReplicaSet up again, under the next number.
"""

from collections.abc import Mapping
from typing import Final

from baseload.embedded.actors.workloads import making
from baseload.embedded.actors.workloads.making import Tree
from baseload.embedded.actors.workloads.ownership import reference
from baseload.embedded.actors.workloads.rollout import Bounds
from baseload.embedded.store.record import Body, Record

REVISION: Final = "deployment.kubernetes.io/revision"
HISTORY: Final = "deployment.kubernetes.io/revision-history"
DESIRED: Final = "deployment.kubernetes.io/desired-replicas"
MOST: Final = "deployment.kubernetes.io/max-replicas"
HASH: Final = "pod-template-hash"
_OWN: Final = (
    "kubectl.kubernetes.io/last-applied-configuration",
    REVISION,
    HISTORY,
    DESIRED,
    MOST,
    "deprecated.deployment.rollback.to",
)
"""Annotations that a ReplicaSet does not take over from its Deployment"""
_HISTORY_AT_MOST: Final = 2000  # characters
_NAME_AT_MOST: Final = 253


class Templates:
    """The templates of Deployments and ReplicaSets in a form that can be compared, worked out once for each."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Body, bytes]] = {}

    def of(self, record: Record) -> bytes:
        known = self._known.get(record.uid)
        if known is None or known[0] is not record.body:
            known = self._known[record.uid] = record.body, making.canonical(bare(making.template_of(record)))
        return known[1]

    def forget(self, uid: str) -> None:
        self._known.pop(uid, None)


def bare(template: Tree) -> Tree:
    """A template without the label that tells ReplicaSets apart."""
    metadata = template.get("metadata")
    if not isinstance(metadata, dict):
        return {**template, "metadata": {}}
    labels = {key: value for key, value in (metadata.get("labels") or {}).items() if key != HASH}
    return {**template, "metadata": {**metadata, "labels": labels}}


def number(record: Record) -> int:
    """An object's revision; 0 where it has none."""
    return _integer(record.shared.annotations, REVISION) or 0


def scaled_for(record: Record) -> tuple[int | None, int | None]:
    """The replicas of its Deployment when a ReplicaSet was last scaled: without and with the surge."""
    annotations = record.shared.annotations
    return _integer(annotations, DESIRED), _integer(annotations, MOST)


def _integer(annotations: Mapping[str, str], name: str) -> int | None:
    text = annotations.get(name, "")
    return int(text) if text.isascii() and text.isdigit() else None


def replicas(limits: Bounds) -> dict[str, str]:
    """What a ReplicaSet is told of its Deployment when it is scaled."""
    return {DESIRED: str(limits.replicas), MOST: str(limits.most)}


def annotations(deployment: Record, replica_set: Record | None, revision: int) -> dict[str, str]:
    """The annotations of the new ReplicaSet that differ from those that it has, or all where it is to be made."""
    held = replica_set.shared.annotations if replica_set is not None else {}
    told = {key: value for key, value in deployment.shared.annotations.items() if key not in _OWN}
    if replica_set is None:
        return {**told, REVISION: str(revision)}
    old = held.get(REVISION, "")
    if number(replica_set) < revision:
        told[REVISION] = str(revision)
        if old:
            told[HISTORY] = _history(held.get(HISTORY, ""), old)
    return {key: value for key, value in told.items() if held.get(key) != value}


def _history(history: str, old: str) -> str:
    """The numbers that a ReplicaSet had, the oldest left out where they are too many."""
    numbers = [*(history.split(",") if history else ()), old]
    while len(numbers) > 1 and len(",".join(numbers)) > _HISTORY_AT_MOST:
        del numbers[0]
    return ",".join(numbers)


def name(deployment: str, hash: str) -> str:
    """The name of a Deployment's ReplicaSet."""
    return f"{deployment[: _NAME_AT_MOST - 1 - len(hash)]}-{hash}"


def replica_set(deployment: Record, hash: str, size: int, told: Mapping[str, str]) -> Tree:
    """The ReplicaSet of a Deployment's present template, to be made."""
    spec = deployment.body.tree()["spec"]
    assert isinstance(spec, dict)
    template, selector = making.template_of(deployment), dict(_map(spec.get("selector")))
    metadata = dict(_map(template.get("metadata")))
    labels = {**_map(metadata.get("labels")), HASH: hash}
    selector["matchLabels"] = {**_map(selector.get("matchLabels")), HASH: hash}
    wanted: Tree = {
        "replicas": size,
        "selector": selector,
        "template": {**template, "metadata": {**metadata, "labels": labels}},
    }
    if spec.get("minReadySeconds"):
        wanted["minReadySeconds"] = spec["minReadySeconds"]
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": name(deployment.name, hash),
            "labels": labels,
            "annotations": dict(told),
            "ownerReferences": [reference(deployment)],
        },
        "spec": wanted,
    }


def _map(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}
