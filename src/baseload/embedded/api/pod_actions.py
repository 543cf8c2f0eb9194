"""What is done to a pod rather than written into it: binding it to a node."""

from typing import cast

import msgspec

from baseload.embedded.api import verbs
from baseload.embedded.api.call import Call, Tree
from baseload.embedded.api.cluster import Cluster
from baseload.embedded.api.pod_rows import text
from baseload.embedded.api.target import Target
from baseload.embedded.store import errors
from baseload.embedded.store.errors import BadRequest

_DONE: Tree = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}


def bind(cluster: Cluster, target: Target, call: Call) -> Tree:
    """POST of a Binding: the pod runs on that node from now on."""
    tree = call.object("v1", "Binding")
    node = text(tree, "target.name")
    if not node:
        raise BadRequest("Binding cannot be handled: target.name must name a node")
    pod = cluster.store.get(target.kind.resource, target.namespace, target.name)
    if pod.node:
        why = f"pod {pod.name} is already assigned to node {pod.node!r}".replace("'", '"')
        raise errors.conflict(pod.resource, pod.name, why)
    if pod.deletion is not None:
        raise errors.conflict(pod.resource, pod.name, f"pod {pod.name} is being deleted, cannot be assigned to a host")
    if not call.is_dry_run:
        status = cast(Tree, verbs.tree_of(pod).get("status") or {})
        conditions = [held for held in _conditions(status) if held.get("type") != "PodScheduled"]
        scheduled: Tree = {"type": "PodScheduled", "status": "True", "lastTransitionTime": cluster.now()}
        told = msgspec.json.encode({**status, "conditions": [*conditions, scheduled]})
        uid = text(tree, "metadata.uid")
        cluster.store.change(
            pod.resource, pod.namespace, pod.name, lambda old: old.bound(node).with_status(told), "all", uid=uid
        )
    return _DONE


def _conditions(status: Tree) -> list[Tree]:
    held = status.get("conditions")
    return [item for item in held if isinstance(item, dict)] if isinstance(held, list) else []
