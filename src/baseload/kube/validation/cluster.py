"""Nodes, namespaces, priority and runtime classes, leases and events: what belongs to the cluster itself."""

from typing import Final

from baseload.kube.validation import affinity, names, resources
from baseload.kube.validation.fault import (
    Fault,
    Faults,
    Tree,
    duplicate,
    forbidden,
    immutable,
    invalid,
    not_negative,
    required,
    unsupported,
)
from baseload.kube.validation.metadata import STANDARD_FINALIZERS
from baseload.kube.validation.names import each

_HIGHEST: Final = 1_000_000_000
_SYSTEM: Final = "system-"
_SYSTEM_CLASSES: Final = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
_POLICIES: Final = ("PreemptLowerPriority", "Never")


def node(tree: Tree, old: Tree | None) -> Faults:
    """A Node."""
    spec, status = tree.get("spec", {}), tree.get("status", {})
    if taints := spec.get("taints"):
        yield from _taints(taints, "metadata.taints")
    if old is None:
        for field in ("capacity", "allocatable"):
            amounts = status.get(field, {})
            for name in sorted(amounts):
                yield from resources.value(name, amounts[name], f"status.{field}.{name}")
    yield from _ranges(spec.get("podCIDRs", []))
    if old is not None:
        yield from _node_changes(spec, old.get("spec", {}))


def _taints(given: list[Tree], path: str) -> Faults:
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(given):
        at, key = f"{path}[{index}]", taint.get("key", "")
        value, effect = taint.get("value", ""), taint.get("effect", "")
        yield from each(names.qualified(key), f"{at}.key", key)
        yield from each(names.label_value(value), f"{at}.value", value)
        if not effect:
            yield required(f"{at}.effect")
        elif effect not in affinity.EFFECTS:
            yield unsupported(f"{at}.effect", effect, affinity.EFFECTS)
        if (key, effect) in seen:
            told = {"Key": key, "Value": value, "Effect": effect, "TimeAdded": taint.get("timeAdded")}
            yield duplicate(at, told, "taints must be unique by key and effect pair")
        seen.add((key, effect))


def _ranges(given: list[str]) -> Faults:
    found = [names.network(text) for text in given]
    for index, (text, known) in enumerate(zip(given, found, strict=True)):
        if known is None:
            yield invalid(f"spec.podCIDRs[{index}]", text, names.CIDR_SAYS)
    if len(given) == 2 and found[0] is not None and found[1] is not None and found[0].version == found[1].version:
        yield invalid("spec.podCIDRs", given, "may specify no more than one CIDR for each IP family")


def _node_changes(spec: Tree, old: Tree) -> Faults:
    if old.get("podCIDRs") and spec.get("podCIDRs") != old.get("podCIDRs"):
        yield forbidden("spec.podCIDRs", 'node updates may not change podCIDR except from "" to valid')
    if old.get("providerID") and spec.get("providerID") != old.get("providerID"):
        done = "modified" if spec.get("providerID") else "cleared"
        yield invalid("spec.providerID", None, f"field cannot be {done} once set")


def namespace(tree: Tree, old: Tree | None) -> Faults:
    """A Namespace."""
    for name in tree.get("spec", {}).get("finalizers", ()):
        yield from each(names.qualified(name), "spec.finalizers", name)
        if "/" not in name and name not in STANDARD_FINALIZERS:
            why = "name is neither a standard finalizer name nor is it fully qualified"
            yield invalid("spec.finalizers", name, why)


def priority_class(tree: Tree, old: Tree | None) -> Faults:
    """A PriorityClass."""
    name, value = tree.get("metadata", {}).get("name", ""), tree.get("value", 0)
    if old is None and name.startswith(_SYSTEM):
        if wrong := _not_system(name, value, global_default=bool(tree.get("globalDefault"))):
            why = f"priority class names with '{_SYSTEM}' prefix are reserved for system use only. error: {wrong}"
            yield forbidden("metadata.name", why)
    elif old is None and value > _HIGHEST:
        yield forbidden("value", f"maximum allowed value of a user defined priority is {_HIGHEST}")
    policy = tree.get("preemptionPolicy")
    if old is None and policy is not None and policy not in _POLICIES:
        yield unsupported("preemptionPolicy", policy, _POLICIES)
    if old is not None:
        if value != old.get("value", 0):
            yield forbidden("value", "may not be changed in an update.")
        if policy != old.get("preemptionPolicy"):
            yield immutable("preemptionPolicy", policy)


def _not_system(name: str, value: int, *, global_default: bool) -> str:
    if name not in _SYSTEM_CLASSES:
        return f"{name} is not a known system priority class"
    wanted = _SYSTEM_CLASSES[name]
    if value != wanted:
        return f"value of {name} PriorityClass must be {wanted}"
    return f"globalDefault of {name} PriorityClass must be false" if global_default else ""


def runtime_class(tree: Tree, old: Tree | None) -> Faults:
    """A RuntimeClass."""
    handler = tree.get("handler", "")
    yield from names.needed(names.dns_label, handler, "handler")
    overhead = tree.get("overhead", {}).get("podFixed")
    if overhead:
        yield from resources.amounts(overhead, "overhead.limits")
    scheduling = tree.get("scheduling", {})
    if selector := scheduling.get("nodeSelector"):
        yield from names.labels(selector, "scheduling.nodeSelector")
    if tolerations := scheduling.get("tolerations"):
        yield from affinity.tolerations(tolerations, "scheduling.tolerations")
    if old is not None and handler != old.get("handler"):
        yield immutable("handler", None)


def lease(tree: Tree, old: Tree | None) -> Faults:
    """A Lease."""
    spec = tree.get("spec", {})
    seconds = spec.get("leaseDurationSeconds")
    if seconds is not None and seconds <= 0:
        yield invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0")
    yield from not_negative("spec.leaseTransitions", spec.get("leaseTransitions"))


def event(tree: Tree, old: Tree | None) -> Faults:
    """An Event; one about an object of the cluster as a whole lives in the namespace default."""
    own = tree.get("metadata", {}).get("namespace", "")
    told = tree.get("involvedObject", {}).get("namespace", "")
    if told != own and not (not told and own == "default"):
        yield Fault("involvedObject.namespace", f'Invalid value: "{told}": does not match event.namespace')
