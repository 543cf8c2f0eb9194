"""What a namespace may hold at most, and what is in it must keep to."""

from typing import Any, Final

from baseload.kube.validation import names, resources
from baseload.kube.validation.fault import Faults, Tree, duplicate, forbidden, immutable, invalid, required
from baseload.kube.validation.names import each
from baseload.kube.validation.resources import amount
from baseload.values import quantity

_SCOPES: Final = (
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "CrossNamespacePodAffinity",
    "VolumeAttributesClass",
)
_EXISTS_ALONE: Final = ("Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "CrossNamespacePodAffinity")
_CONFLICTS: Final = ({"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"})
_COUNTED: Final = frozenset(
    (
        "cpu",
        "memory",
        "ephemeral-storage",
        "requests.cpu",
        "requests.memory",
        "requests.storage",
        "requests.ephemeral-storage",
        "limits.cpu",
        "limits.memory",
        "limits.ephemeral-storage",
        "pods",
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "persistentvolumeclaims",
        "configmaps",
        "services.nodeports",
        "services.loadbalancers",
    )
)
_NOT_EXISTS: Final = (
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
    "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
)
_LIMITS: Final = ("default", "defaultRequest", "max", "maxLimitRequestRatio", "min")


def quota(tree: Tree, old: Tree | None) -> Faults:
    """A ResourceQuota."""
    spec = tree.get("spec", {})
    for name in sorted(spec.get("hard", {})):
        at, told = f"spec.hard[{name}]", spec["hard"][name]
        yield from resources.name(name, at)
        if "/" not in name and name not in _COUNTED and not name.startswith(("hugepages-", "requests.hugepages-")):
            yield invalid(at, name, "must be a standard resource for quota")
        yield from resources.value(name, told, at)
    yield from _scopes(spec)
    yield from _selector(spec)
    if old is not None and (spec.get("scopes") or []) != (old.get("spec", {}).get("scopes") or []):
        yield immutable("spec.scopes", spec.get("scopes"))


def _scopes(spec: Tree) -> Faults:
    scopes: list[str] = spec.get("scopes", [])
    for scope in scopes:
        if scope not in _SCOPES:
            yield invalid("spec.scopes", scopes, "unsupported scope")
        elif any(not _applies(scope, name) for name in spec.get("hard", {})):
            yield invalid("spec.scopes", scopes, "unsupported scope applied to resource")
    if any(pair <= set(scopes) for pair in _CONFLICTS):
        yield invalid("spec.scopes", scopes, "conflicting scopes")


def _applies(scope: str, name: str) -> bool:
    if scope == "BestEffort":
        return name == "pods"
    counted = ("pods", "cpu", "memory", "requests.", "limits.", "ephemeral-storage", "hugepages-")
    return scope == "VolumeAttributesClass" or name.startswith(counted)


def _selector(spec: Tree) -> Faults:
    at = "spec.scopeSelector.matchExpressions"
    for one in spec.get("scopeSelector", {}).get("matchExpressions", ()):
        scope, operator, values = one.get("scopeName", ""), one.get("operator", ""), one.get("values", [])
        if scope not in _SCOPES:
            yield invalid(f"{at}.scopeName", scope, "unsupported scope")
        if scope in _EXISTS_ALONE and operator != "Exists":
            yield invalid(f"{at}.operator", operator, _NOT_EXISTS)
        if operator in ("In", "NotIn"):
            if not values:
                why = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
                yield required(f"{at}.values", why)
        elif operator in ("Exists", "DoesNotExist"):
            if values:
                why = "must be no value when `operator` is 'Exists' or 'DoesNotExist' for scope selector"
                yield invalid(f"{at}.values", values, why)
        else:
            yield invalid(f"{at}.operator", operator, "not a valid selector operator")


def limit_range(tree: Tree, old: Tree | None) -> Faults:
    """A LimitRange."""
    seen: set[str] = set()
    for index, limit in enumerate(tree.get("spec", {}).get("limits") or ()):
        at, kind = f"spec.limits[{index}]", limit.get("type", "")
        yield from _kind(kind, f"{at}.type")
        if kind in seen:
            yield duplicate(f"{at}.type", kind)
        seen.add(kind)
        yield from _names(limit, kind, at)
        if kind == "PersistentVolumeClaim" and not _has_storage(limit):
            why = "either minimum or maximum storage value is required, but neither was provided"
            yield required(f"{at}.limits", why)
        for name in sorted({key for field in _LIMITS for key in limit.get(field, {})}):
            yield from _order(limit, kind, name, at)


def _kind(kind: str, path: str) -> Faults:
    wrong = names.qualified(kind)
    yield from each(wrong, path, kind)
    if not wrong and "/" not in kind and kind not in ("Pod", "Container", "PersistentVolumeClaim"):
        yield invalid(path, kind, "must be a standard limit type or fully qualified")


def _has_storage(limit: Tree) -> bool:
    return any("storage" in limit.get(field, {}) for field in ("min", "max"))


def _names(limit: Tree, kind: str, at: str) -> Faults:
    check = resources.container_name if kind in ("Pod", "Container") else resources.name
    for field in ("max", "min"):
        for name in sorted(limit.get(field, {})):
            yield from check(name, f"{at}.{field}[{name}]")
    if kind == "Pod":
        for field in ("default", "defaultRequest"):
            if limit.get(field):
                yield forbidden(f"{at}.{field}", "may not be specified when `type` is 'Pod'")
    else:
        for field in ("default", "defaultRequest"):
            for name in sorted(limit.get(field, {})):
                yield from check(name, f"{at}.{field}[{name}]")
    for name in sorted(limit.get("maxLimitRequestRatio", {})):
        yield from check(name, f"{at}.maxLimitRequestRatio[{name}]")


# (a field, what it is called, a field that it must not exceed, what that is called, the field that is at fault,
#  whether the greater one is told)
_ORDERED: Final = (
    ("min", "min value", "max", "max value", "min"),
    ("min", "min value", "defaultRequest", "default request value", "defaultRequest"),
    ("defaultRequest", "default request value", "max", "max value", "defaultRequest"),
    ("defaultRequest", "default request value", "default", "default limit value", "defaultRequest"),
    ("min", "min value", "default", "default value", "default"),
    ("default", "default value", "max", "max value", "default"),
)


def _order(limit: Tree, kind: str, name: str, at: str) -> Faults:
    told: dict[str, Any] = {field: limit.get(field, {}).get(name) for field in _LIMITS}
    for small, small_name, great, great_name, field in _ORDERED:
        if told[small] is None or told[great] is None or amount(told[small]) <= amount(told[great]):
            continue
        why = f"{small_name} {told[small]} is greater than {great_name} {told[great]}"
        shown = told[great] if (small, great) == ("default", "max") else told[small]
        shown = told[field] if small == "min" and field != "min" else shown
        if (small, great) == ("min", "default"):
            shown = told["min"]
        if (small, great) == ("default", "max"):
            shown = told["max"]
        yield invalid(f"{at}.{field}[{name}]", str(shown), why)
    ratio = told["maxLimitRequestRatio"]
    if ratio is not None and amount(ratio) < quantity.UNIT:
        yield invalid(f"{at}.maxLimitRequestRatio[{name}]", str(ratio), f"ratio {ratio} is less than 1")
