"""Horizontal pod autoscalers, and disruption budgets."""

from typing import Final

from baseload.kube.validation import metadata, names
from baseload.kube.validation.fault import Faults, Tree, forbidden, invalid, required, unsupported
from baseload.kube.validation.names import each
from baseload.kube.validation.resources import amount

_TYPES: Final = ("ContainerResource", "External", "Object", "Pods", "Resource")
_SOURCES: Final = {
    "ContainerResource": "containerResource",
    "External": "external",
    "Object": "object",
    "Pods": "pods",
    "Resource": "resource",
}
_HOUR, _HALF_HOUR = 3600, 1800
_TARGETS: Final = ("Utilization", "Value", "AverageValue")


def autoscaler(tree: Tree, old: Tree | None) -> Faults:
    """A HorizontalPodAutoscaler, in autoscaling/v2."""
    spec = tree.get("spec", {})
    least, most = spec.get("minReplicas"), spec.get("maxReplicas", 0)
    if least is not None and least < 0:
        yield invalid("spec.minReplicas", least, "must be greater than or equal to 0")
    if least is not None and most < least:
        yield invalid("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`")
    yield from _target_of(spec.get("scaleTargetRef", {}), "spec.scaleTargetRef")
    yield from _metrics(spec.get("metrics", ()), least)
    if (behavior := spec.get("behavior")) is not None:
        for name in ("scaleUp", "scaleDown"):
            if (rules := behavior.get(name)) is not None:
                yield from _rules(rules, f"spec.behavior.{name}")
    if not most:
        yield required("spec.maxReplicas")


def _target_of(given: Tree, at: str) -> Faults:
    for field in ("kind", "name"):
        told = given.get(field, "")
        if not told:
            yield required(f"{at}.{field}")
        else:
            yield from each(names.path_segment(told), f"{at}.{field}", told)
    version = given.get("apiVersion", "")
    if not version:
        yield invalid(f"{at}.apiVersion", version, "apiVersion must specify API group")
    elif version.count("/") > 1:
        yield invalid(f"{at}.apiVersion", version, f"unexpected GroupVersion string: {version}")


def _metrics(given: list[Tree], least: int | None) -> Faults:
    is_outside = False
    for index, metric in enumerate(given):
        yield from _metric(metric, f"spec.metrics[{index}]")
        is_outside = is_outside or metric.get("type") in ("Object", "External")
    if least == 0 and not is_outside:
        why = "must specify at least one Object or External metric to support scaling to zero replicas"
        yield forbidden("spec.metrics", why)


def _metric(metric: Tree, at: str) -> Faults:
    kind = metric.get("type", "")
    if not kind:
        yield required(f"{at}.type", "must specify a metric source type")
    if kind not in _TYPES:
        yield unsupported(f"{at}.type", kind, _TYPES)
        return
    source = metric.get(_SOURCES[kind])
    if source is None:
        yield required(f"{at}.{_SOURCES[kind]}", "must populate information for the given metric source")
        return
    yield from _source(kind, source, f"{at}.{_SOURCES[kind]}")


def _source(kind: str, source: Tree, at: str) -> Faults:
    target = source.get("target", {})
    if kind in ("Resource", "ContainerResource"):
        if not source.get("name"):
            yield required(f"{at}.name", "must specify a resource name")
        if kind == "ContainerResource" and not source.get("container"):
            yield required(f"{at}.container", "must specify a container")
    else:
        if kind == "Object":
            yield from _target_of(source.get("describedObject", {}), f"{at}.describedObject")
        metric = source.get("metric", {})
        if not metric.get("name"):
            yield required(f"{at}.metric.name", "must specify a metric name")
        else:
            yield from each(names.path_segment(metric["name"]), f"{at}.metric.name", metric["name"])
        yield from metadata.selector(metric.get("selector"), f"{at}.metric.selector")
    yield from _target(target, f"{at}.target")
    yield from _wanted(kind, target, f"{at}.target")


def _target(target: Tree, at: str) -> Faults:
    kind = target.get("type", "")
    if not kind:
        yield required(f"{at}.type", "must specify a metric target type")
    if kind not in _TARGETS:
        yield invalid(f"{at}.type", kind, "must be either Utilization, Value, or AverageValue")
    for field in ("value", "averageValue"):
        if field in target and amount(target[field]) <= 0:
            yield invalid(f"{at}.{field}", str(target[field]), "must be positive")
    share = target.get("averageUtilization")
    if share is not None and share < 1:
        yield invalid(f"{at}.averageUtilization", share, "must be greater than 0")


# kind of source -> (the two ways to say what is wanted, where and how it is said that none is, and that both are)
_WAYS: Final = {
    "Resource": (("averageUtilization", "averageValue"), "must set either a target raw value or a target utilization"),
    "Pods": (("averageValue",), "must specify a positive target averageValue"),
    "Object": (("value", "averageValue"), "must set either a target value or averageValue"),
    "External": (("value", "averageValue"), "must set either a target value for metric or a per-pod target"),
}
_BOTH: Final = {
    "Resource": ("averageValue", "may not set both a target raw value and a target utilization"),
    "External": ("value", "may not set both a target value for metric and a per-pod target"),
}


def _wanted(kind: str, target: Tree, at: str) -> Faults:
    """What a target must say, by what is measured."""
    kind = "Resource" if kind == "ContainerResource" else kind
    ways, missing = _WAYS[kind]
    told = [way for way in ways if way in target]
    if not told:
        yield required(f"{at}.{'averageUtilization' if kind == 'Resource' else 'averageValue'}", missing)
    if len(told) > 1 and kind in _BOTH:
        field, why = _BOTH[kind]
        yield forbidden(f"{at}.{field}", why)


def _rules(rules: Tree, at: str) -> Faults:
    window = rules.get("stabilizationWindowSeconds")
    if window is not None:
        if window < 0:
            yield invalid(f"{at}.stabilizationWindowSeconds", window, "must be greater than or equal to zero")
        if window > _HOUR:
            yield invalid(f"{at}.stabilizationWindowSeconds", window, f"must be less than or equal to {_HOUR}")
    chosen = rules.get("selectPolicy")
    if chosen is not None and chosen not in ("Disabled", "Max", "Min"):
        yield unsupported(f"{at}.selectPolicy", chosen, ("Disabled", "Max", "Min"))
    policies = rules.get("policies", ())
    if not policies:
        yield required(f"{at}.policies", "must specify at least one Policy")
    for index, policy in enumerate(policies):
        yield from _policy(policy, f"{at}.policies[{index}]")


def _policy(policy: Tree, at: str) -> Faults:
    if policy.get("type") not in ("Pods", "Percent"):
        yield unsupported(f"{at}.type", policy.get("type", ""), ("Percent", "Pods"))
    for field in ("value", "periodSeconds"):
        number = policy.get(field, 0)
        if number <= 0:
            yield invalid(f"{at}.{field}", number, "must be greater than zero")
        if field == "periodSeconds" and number > _HALF_HOUR:
            yield invalid(f"{at}.{field}", number, f"must be less than or equal to {_HALF_HOUR}")


def budget(tree: Tree, old: Tree | None) -> Faults:
    """A PodDisruptionBudget."""
    spec = tree.get("spec", {})
    least, most, policy = (spec.get(name) for name in ("minAvailable", "maxUnavailable", "unhealthyPodEvictionPolicy"))
    if least is not None and most is not None:
        told = {"MinAvailable": least, "Selector": spec.get("selector"), "MaxUnavailable": most}
        told["UnhealthyPodEvictionPolicy"] = policy
        yield invalid("spec", told, "minAvailable and maxUnavailable cannot be both set")
    for name, share in (("minAvailable", least), ("maxUnavailable", most)):
        if share is not None:
            yield from names.share(f"spec.{name}", share)
            yield from names.at_most_all(f"spec.{name}", share)
    yield from metadata.selector(spec.get("selector"), "spec.selector")
    if policy is not None and policy not in ("IfHealthyBudget", "AlwaysAllow"):
        yield unsupported("spec.unhealthyPodEvictionPolicy", policy, ("AlwaysAllow", "IfHealthyBudget"))
