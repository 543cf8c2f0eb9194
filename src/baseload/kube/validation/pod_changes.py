"""What may be changed of a pod that is there: images, its deadline, more tolerations, fewer gates."""

from typing import Final

from baseload.kube.validation import difference
from baseload.kube.validation.fault import Faults, Tree, forbidden, invalid

_MAY: Final = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
_LISTS: Final = ("containers", "initContainers")


def pod(tree: Tree, old: Tree) -> Faults:
    """A pod that was there before."""
    new, before = tree.get("spec", {}), old.get("spec", {})
    for field in _LISTS:
        wanted, held = new.get(field, []), before.get(field, [])
        if len(wanted) != len(held):
            yield forbidden(f"spec.{field}", "pod updates may not add or remove containers")
            return
    stopped = list(_deadline(new, before))
    yield from stopped
    if stopped and new.get("activeDeadlineSeconds") is not None:
        return
    yield from _tolerations(new.get("tolerations", []), before.get("tolerations", []))
    yield from _gates(new.get("schedulingGates", []), before.get("schedulingGates", []))
    if new != before:
        yield from _others(new, before)


def _deadline(new: Tree, before: Tree) -> Faults:
    path, wanted, held = (
        "spec.activeDeadlineSeconds",
        new.get("activeDeadlineSeconds"),
        before.get("activeDeadlineSeconds"),
    )
    if held is None:
        return
    if wanted is None:
        yield invalid(path, None, "must not update from a positive integer to nil value")
    elif wanted > held:
        yield invalid(path, wanted, "must be less than or equal to previous value")


def _tolerations(new: list[Tree], before: list[Tree]) -> Faults:
    def bare(one: Tree) -> Tree:
        return {name: value for name, value in one.items() if name != "tolerationSeconds" and value != ""}

    wanted = [bare(one) for one in new]
    if any(bare(one) not in wanted for one in before):
        yield forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds")


def _gates(new: list[Tree], before: list[Tree]) -> Faults:
    known = [one.get("name") for one in before]
    for index, gate in enumerate(new):
        if gate.get("name") not in known:
            why = f"only deletion is allowed, but found new scheduling gate '{gate.get('name', '')}'"
            yield forbidden(f"spec.schedulingGates[{index}].name", why)


def _others(new: Tree, before: Tree) -> Faults:
    munged = dict(new)
    for field in _LISTS:
        if field in new:
            pairs = zip(new[field], before.get(field, []), strict=True)
            munged[field] = [{**one, "image": held.get("image")} for one, held in pairs]
    for field in ("activeDeadlineSeconds", "schedulingGates", "tolerations"):
        _keep(munged, before, field)
    if before.get("terminationGracePeriodSeconds", 0) < 0 and munged.get("terminationGracePeriodSeconds") == 1:
        _keep(munged, before, "terminationGracePeriodSeconds")
    if before.get("schedulingGates"):
        yield from _while_gated(munged, before)
    if _given(munged) != _given(before):
        yield forbidden("spec", f"{_MAY}\n{difference.of('PodSpec', before, munged)}")


def _keep(munged: Tree, before: Tree, field: str) -> None:
    munged.pop(field, None)
    if field in before:
        munged[field] = before[field]


def _given(spec: Tree) -> Tree:
    return {name: value for name, value in spec.items() if value not in (None, {}, [], "", False)}


def _while_gated(munged: Tree, before: Tree) -> Faults:
    """Until the last gate is gone a pod may still be bound more narrowly to nodes."""
    wanted, held = munged.get("nodeSelector") or {}, before.get("nodeSelector") or {}
    if any(wanted.get(key) != value for key, value in held.items()):
        why = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        yield invalid("spec.nodeSelector", wanted, why)
    _keep(munged, before, "nodeSelector")
    affinity = munged.get("affinity") or {}
    kept = {name: value for name, value in affinity.items() if name != "nodeAffinity"}
    nodes = (before.get("affinity") or {}).get("nodeAffinity")
    yield from _narrower(affinity.get("nodeAffinity") or {}, nodes or {})
    merged = {**kept, "nodeAffinity": nodes} if nodes else kept
    munged.pop("affinity", None)
    if merged:
        munged["affinity"] = merged


def _narrower(new: Tree, before: Tree) -> Faults:
    at = "spec.affinity.nodeAffinity"
    path = f"{at}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
    wanted, held = (one.get("requiredDuringSchedulingIgnoredDuringExecution") for one in (new, before))
    if held is None:
        return
    if wanted is None or len(wanted["nodeSelectorTerms"]) != len(held["nodeSelectorTerms"]):
        told = [] if wanted is None else wanted["nodeSelectorTerms"]
        yield invalid(path, told, "no additions/deletions to non-empty NodeSelectorTerms list are allowed")
        return
    for index, (one, other) in enumerate(zip(wanted["nodeSelectorTerms"], held["nodeSelectorTerms"], strict=True)):
        for field in ("matchExpressions", "matchFields"):
            if other.get(field, []) != one.get(field, [])[: len(other.get(field, []))]:
                why = "only additions are allowed (no mutations or deletions)"
                yield invalid(f"{path}[{index}]", one, why)
                break
