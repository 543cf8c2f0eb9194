"""What is done to a pod rather than written into it: binding it to a node, and evicting it as its budget allows."""

from typing import cast

import msgspec

from baseload.embedded.api import verbs
from baseload.embedded.api.call import Call, Tree
from baseload.embedded.api.cluster import Cluster
from baseload.embedded.api.pod_rows import at, text
from baseload.embedded.api.refusals import Failed, TooManyRequests
from baseload.embedded.api.target import Target
from baseload.embedded.store import errors, selection
from baseload.embedded.store.deletion import Options
from baseload.embedded.store.errors import BadRequest, Cause
from baseload.embedded.store.record import Json, Record
from baseload.embedded.store.selection import Selection
from baseload.kube.types.meta import LabelSelector
from baseload.values import selector
from baseload.values.errors import BadInput

_BUDGET = ("policy", "PodDisruptionBudget")
_DONE: Tree = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
_WAIT = 10  # seconds until a budget that lags behind is looked at again


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


def evict(cluster: Cluster, target: Target, call: Call) -> Tree:
    """POST of an Eviction: a delete that the pod's budget may put off."""
    tree = call.object("policy/v1", "Eviction")
    pod = cluster.store.get(target.kind.resource, target.namespace, target.name)
    dry = call.is_dry_run
    if selection.field(pod, "status.phase") not in ("Pending", "Succeeded", "Failed") and pod.deletion is None:
        _charge(cluster, pod, dry=dry)
    asked = at(tree, "deleteOptions.gracePeriodSeconds")
    options = Options(grace_seconds=asked if isinstance(asked, int) else None)
    if not dry:
        cluster.removed(cluster.store.delete(pod.resource, pod.namespace, pod.name, options).record)
    return _DONE


def _charge(cluster: Cluster, pod: Record, *, dry: bool) -> None:
    """Takes one disruption from the pod's budget, or refuses."""
    budgets = [budget for budget in _budgets(cluster, pod) if _covers(budget, pod)]
    if len(budgets) > 1:
        raise Failed("This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.")
    for budget in budgets:
        tree = verbs.tree_of(budget)
        if int(text(tree, "status.observedGeneration") or 0) < budget.generation:
            raise _too_many(f"The disruption budget {budget.name} is still being processed by the server.", _WAIT)
        allowed = int(text(tree, "status.disruptionsAllowed") or 0)
        if allowed <= 0:
            healthy, wanted = text(tree, "status.currentHealthy") or 0, text(tree, "status.desiredHealthy") or 0
            needs = f"The disruption budget {budget.name} needs {wanted} healthy pods and has {healthy} currently"
            raise _too_many(needs, 0)
        if not dry:
            _note(cluster, budget, cast(Tree, tree["status"]), {"disruptionsAllowed": allowed - 1}, pod.name)


def _note(cluster: Cluster, budget: Record, status: Tree, left: Tree, pod: str) -> None:
    """Writes a disruption into the budget's status."""
    held = status.get("disruptedPods")
    disrupted: Json = {**(held if isinstance(held, dict) else {}), pod: cluster.now()}
    told = msgspec.json.encode({**status, **left, "disruptedPods": disrupted})
    cluster.store.change(budget.resource, budget.namespace, budget.name, lambda old: old.with_status(told), "status")


def _budgets(cluster: Cluster, pod: Record) -> list[Record]:
    kind = cluster.kinds.named(*_BUDGET)
    assert kind is not None
    return cluster.store.list(kind.resource, Selection(pod.namespace)).records


def _covers(budget: Record, pod: Record) -> bool:
    told = at(budget.body.tree(), "spec.selector")
    try:
        wanted = selector.compile(msgspec.convert(told, LabelSelector)) if isinstance(told, dict) else selector.NOTHING
    except (msgspec.ValidationError, BadInput):
        return False
    return wanted.matches(pod.shared.labels)


def _too_many(why: str, retry_after: int) -> TooManyRequests:
    message = "Cannot evict pod as it would violate the pod's disruption budget."
    return TooManyRequests(message, causes=(Cause("DisruptionBudget", why),), retry_after=retry_after)


def _conditions(status: Tree) -> list[Tree]:
    held = status.get("conditions")
    return [item for item in held if isinstance(item, dict)] if isinstance(held, list) else []
