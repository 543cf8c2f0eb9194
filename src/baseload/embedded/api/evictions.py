"""Evictions: deletes of pods that a disruption budget may put off.

A pod that is pending, has ended or is being deleted goes whatever its budget says. One that runs and is ready takes one
disruption from the budget; one that is not ready goes without where the budget's policy lets it, or enough are ready.
A pod that is evicted is marked so (DisruptionTarget) before it is deleted.
"""

from dataclasses import replace
from typing import Final, cast

import msgspec

from baseload.embedded.api import verbs
from baseload.embedded.api.call import JSON, Call, Tree
from baseload.embedded.api.cluster import Cluster
from baseload.embedded.api.pod_rows import at, maps, text
from baseload.embedded.api.refusals import Failed, TooManyRequests
from baseload.embedded.api.target import Target
from baseload.embedded.store import deletion, selection
from baseload.embedded.store.errors import BadRequest, Cause, Forbidden
from baseload.embedded.store.record import Json, Record
from baseload.embedded.store.selection import Selection
from baseload.kube.types.meta import LabelSelector
from baseload.values import selector
from baseload.values.errors import BadInput

_BUDGET: Final = ("policy", "PodDisruptionBudget")
_DONE: Final[Tree] = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
_WAIT: Final = 10  # seconds until a budget that lags behind is looked at again
_MOST_BOOKED: Final = 2000  # evictions that the budget's controller has not confirmed


def evict(cluster: Cluster, target: Target, call: Call) -> Tree:
    """POST of an Eviction."""
    tree = call.object("policy/v1", "Eviction")
    if text(tree, "metadata.name") != target.name:
        raise BadRequest("name in URL does not match name in Eviction object")
    told = at(tree, "deleteOptions")
    asked = replace(call, headers={"content-type": JSON}, body=msgspec.json.encode(told) if told else b"")
    options, dry = asked.options(), asked.is_dry_delete()
    pod = cluster.store.get(target.kind.resource, target.namespace, target.name)
    if selection.field(pod, "status.phase") not in ("Pending", "Succeeded", "Failed") and pod.deletion is None:
        _charge(cluster, pod, dry=dry)
    deletion.check(pod, options)
    if not dry:
        marked = _mark(cluster, pod)
        options = replace(options, version=marked.version) if options.version else options
        cluster.removed(cluster.store.delete(pod.resource, pod.namespace, pod.name, options).record)
    return _DONE


def _mark(cluster: Cluster, pod: Record) -> Record:
    """Says in the pod's status why it goes."""
    now = cluster.now()
    target: Tree = {"type": "DisruptionTarget", "status": "True", "lastProbeTime": None, "lastTransitionTime": now}
    target |= {"reason": "EvictionByEvictionAPI", "message": "Eviction API: evicting"}
    status = cast(Tree, verbs.tree_of(pod).get("status") or {})
    conditions: list[Json] = [held for held in maps(status, "conditions") if held.get("type") != "DisruptionTarget"]
    told = msgspec.json.encode({**status, "conditions": [*conditions, target]})
    return cluster.store.change(
        pod.resource, pod.namespace, pod.name, lambda old: old.with_status(told), "status", uid=pod.uid
    )


def _charge(cluster: Cluster, pod: Record, *, dry: bool) -> None:
    """Takes one disruption from the pod's budget, or refuses."""
    budgets = [budget for budget in _budgets(cluster, pod) if _covers(budget, pod)]
    if len(budgets) > 1:
        raise Failed("This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.")
    for budget in budgets:
        tree = verbs.tree_of(budget)
        if _is_free(pod, tree):
            return
        _check(budget, tree)
        if not dry:
            _book(cluster, budget, cast(Tree, tree["status"]), pod.name)


def _is_free(pod: Record, budget: Tree) -> bool:
    """Whether a pod that is not ready may go without a disruption."""
    conditions = maps(verbs.tree_of(pod).get("status"), "conditions")
    if any(held.get("type") == "Ready" and held.get("status") == "True" for held in conditions):
        return False
    if text(budget, "spec.unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    return _number(budget, "currentHealthy") >= _number(budget, "desiredHealthy") > 0


def _check(budget: Record, tree: Tree) -> None:
    """Refuses where the budget has no disruption left."""
    name, allowed = budget.name, _number(tree, "disruptionsAllowed")
    if _number(tree, "observedGeneration") < budget.generation:
        raise _too_many(f"The disruption budget {name} is still being processed by the server.", _WAIT)
    if allowed < 0:
        raise _forbidden(budget, "pdb disruptions allowed is negative", "pdb disruptions allowed is negative")
    booked = at(tree, "status.disruptedPods")
    if isinstance(booked, dict) and len(booked) > _MOST_BOOKED:
        why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
        raise _forbidden(budget, why, "too many pending evictions not confirmed by PDB controller")
    if allowed == 0:
        raise _too_many(_reason(name, tree), 0)


def _reason(name: str, budget: Tree) -> str:
    """Why a budget allows nothing."""
    conditions = maps(budget.get("status"), "conditions")
    allowed = next((held for held in conditions if held.get("type") == "DisruptionAllowed"), {})
    says = text(allowed, "message") if allowed.get("status") == "False" else ""
    nothing = f"The disruption budget {name} does not allow evicting pods currently"
    if says and allowed.get("reason") == "SyncFailed":
        return f"{nothing} because it failed sync: {says}"
    healthy, wanted = _number(budget, "currentHealthy"), _number(budget, "desiredHealthy")
    if healthy <= wanted:
        return f"The disruption budget {name} needs {wanted} healthy pods and has {healthy} currently"
    return f"{nothing} ({text(allowed, 'reason')}): {says}" if says else nothing


def _book(cluster: Cluster, budget: Record, status: Tree, pod: str) -> None:
    """Writes a disruption into the budget's status."""
    left = cast(int, status["disruptionsAllowed"]) - 1
    held = status.get("disruptedPods")
    disrupted: Json = {**(held if isinstance(held, dict) else {}), pod: cluster.now()}
    after: Tree = {**status, "disruptionsAllowed": left, "disruptedPods": disrupted}
    if not left:
        after["conditions"] = _nothing_left(cluster, status)
    told = msgspec.json.encode(after)
    cluster.store.change(budget.resource, budget.namespace, budget.name, lambda old: old.with_status(told), "status")


def _nothing_left(cluster: Cluster, status: Tree) -> list[Json]:
    """The budget's conditions when its last disruption is taken."""
    held = list(maps(status, "conditions"))
    old = next((it for it in held if it.get("type") == "DisruptionAllowed"), None)
    since = cluster.now() if old is None or old.get("status") != "False" else old.get("lastTransitionTime")
    told: Tree = {"type": "DisruptionAllowed", "status": "False", "lastTransitionTime": since, "message": ""}
    told |= {"observedGeneration": status.get("observedGeneration"), "reason": "InsufficientPods"}
    return [*(told if it is old else it for it in held), *([told] if old is None else [])]


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


def _number(budget: Tree, name: str) -> int:
    held = at(budget.get("status"), name)
    return held if isinstance(held, int) else 0


def _too_many(why: str, retry_after: int) -> TooManyRequests:
    message = "Cannot evict pod as it would violate the pod's disruption budget."
    return TooManyRequests(message, causes=(Cause("DisruptionBudget", why),), retry_after=retry_after)


def _forbidden(budget: Record, why: str, told: str) -> Forbidden:
    name = budget.name
    message = f'poddisruptionbudget.policy "{name}" is forbidden: {why}'
    cause = Cause("DisruptionBudget", f"The disruption budget {name} does not allow evicting pods currently: {told}")
    return Forbidden(message, resource=budget.resource, name=name, causes=(cause,))
