"""The scale subresource: the number of replicas of whatever has some, as an object of its own."""

from typing import Final, cast

from baseload.embedded.api import verbs
from baseload.embedded.api.call import Call, Tree
from baseload.embedded.api.cluster import Cluster
from baseload.embedded.api.kinds import Scale, ServedKind
from baseload.embedded.api.refusals import no_such_method
from baseload.embedded.api.target import Target
from baseload.embedded.store import errors
from baseload.embedded.store.errors import BadRequest, Cause
from baseload.embedded.store.record import Json, Record

_KEPT: Final = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def answer(cluster: Cluster, target: Target, call: Call) -> Tree:
    """GET, PUT or PATCH of a scale."""
    record = cluster.store.get(target.kind.resource, target.namespace, target.name)
    if call.method == "GET":
        return told(target.kind, record)
    if call.method == "PUT":
        after = call.object("autoscaling/v1", "Scale")
    elif call.method == "PATCH":
        after = verbs.patched(told(target.kind, record), call, target)
    else:
        raise no_such_method()
    return told(target.kind, _scaled(cluster, target, record, after, call))


def told(kind: ServedKind, record: Record) -> Tree:
    """The scale of an object."""
    scale = kind.scale
    assert scale is not None
    tree = kind.tree(record)
    metadata = cast(Tree, tree["metadata"])
    kept: Tree = {key: metadata[key] for key in _KEPT if key in metadata}
    status: Tree = {"replicas": _at(tree, scale.current) or 0}
    if selector := _selector(tree, scale):
        status["selector"] = selector
    spec: Tree = {"replicas": _at(tree, scale.replicas) or 0}
    return {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": kept, "spec": spec, "status": status}


def _scaled(cluster: Cluster, target: Target, record: Record, after: Tree, call: Call) -> Record:
    replicas = _at(after, "spec.replicas") or 0
    if isinstance(replicas, bool) or not isinstance(replicas, int):
        raise BadRequest(f"Scale cannot be handled: spec.replicas must be an integer, not {replicas!r}")
    if replicas < 0:
        message = f"Invalid value: {replicas}: must be greater than or equal to 0"
        raise errors.invalid(target.kind.resource, record.name, (Cause("FieldValueInvalid", message, "spec.replicas"),))
    assert target.kind.scale is not None
    tree = target.kind.tree(record)
    sent = cast(Tree, after.get("metadata")) if isinstance(after.get("metadata"), dict) else {}
    metadata = cast(Tree, tree["metadata"])
    metadata["resourceVersion"] = sent.get("resourceVersion") or metadata["resourceVersion"]
    *path, last = target.kind.scale.replicas.split(".")
    held = tree
    for step in path:
        held = cast(Tree, held.setdefault(step, {}))
    held[last] = replicas
    return verbs.replace(cluster, target, record, tree, call)


def _at(tree: Json, path: str) -> Json:
    for step in path.split("."):
        if not isinstance(tree, dict):
            return None
        tree = tree.get(step)
    return tree


def _selector(tree: Tree, scale: Scale) -> str:
    """The selector of the pods that are counted, as text."""
    if scale.selector:
        return str(_at(tree, scale.selector) or "")
    labels = _at(tree, "spec.selector.matchLabels")
    return ",".join(f"{key}={value}" for key, value in labels.items()) if isinstance(labels, dict) else ""
