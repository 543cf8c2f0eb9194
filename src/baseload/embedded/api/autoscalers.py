"""HorizontalPodAutoscalers in autoscaling/v1, stored in v2.

Version 1 has a field for one metric, the use of CPU. All else that version 2 tells stands in annotations there, as
JSON: the other metrics and the conditions in version 1's own forms, the behaviour in the form that the API server has
it in memory. What was read in version 1 and is written back loses nothing.
"""

from collections.abc import Iterator
from typing import Final, TypeAlias

import msgspec

from baseload.embedded.api.versions import Tree
from baseload.embedded.store.record import Json

_Row: TypeAlias = tuple[str, str, bool]
"""(where a value stands in version 2, its name in version 1, whether it is never left out there)"""

_PREFIX: Final = "autoscaling.alpha.kubernetes.io/"
_METRICS: Final = f"{_PREFIX}metrics"
_STATUSES: Final = f"{_PREFIX}current-metrics"
_BEHAVIOR: Final = f"{_PREFIX}behavior"
_CONDITIONS: Final = f"{_PREFIX}conditions"
_OURS: Final = (
    _METRICS,
    _STATUSES,
    _BEHAVIOR,
    _CONDITIONS,
    f"{_PREFIX}scale-down-tolerance",
    f"{_PREFIX}scale-up-tolerance",
)
_FIELDS: Final = {
    "Object": "object",
    "Pods": "pods",
    "Resource": "resource",
    "ContainerResource": "containerResource",
    "External": "external",
}
_METRIC: Final[_Row] = ("metric.name", "metricName", True)
_SELECTOR: Final[_Row] = ("metric.selector", "selector", False)
_OBJECT: Final[_Row] = ("describedObject", "target", True)
_NAME: Final[_Row] = ("name", "name", True)
_SOURCES: Final[dict[str, tuple[_Row, ...]]] = {
    "Object": (
        _OBJECT,
        _METRIC,
        ("target.value", "targetValue", True),
        _SELECTOR,
        ("target.averageValue", "averageValue", False),
    ),
    "Pods": (_METRIC, ("target.averageValue", "targetAverageValue", True), _SELECTOR),
    "Resource": (
        _NAME,
        ("target.averageUtilization", "targetAverageUtilization", False),
        ("target.averageValue", "targetAverageValue", False),
    ),
    "ContainerResource": (
        _NAME,
        ("target.averageUtilization", "targetAverageUtilization", False),
        ("target.averageValue", "targetAverageValue", False),
        ("container", "container", True),
    ),
    "External": (
        _METRIC,
        ("metric.selector", "metricSelector", False),
        ("target.value", "targetValue", False),
        ("target.averageValue", "targetAverageValue", False),
    ),
}
_STATES: Final[dict[str, tuple[_Row, ...]]] = {
    "Object": (
        _OBJECT,
        _METRIC,
        ("current.value", "currentValue", True),
        _SELECTOR,
        ("current.averageValue", "averageValue", False),
    ),
    "Pods": (_METRIC, ("current.averageValue", "currentAverageValue", True), _SELECTOR),
    "Resource": (
        _NAME,
        ("current.averageUtilization", "currentAverageUtilization", False),
        ("current.averageValue", "currentAverageValue", True),
    ),
    "ContainerResource": (
        _NAME,
        ("current.averageUtilization", "currentAverageUtilization", False),
        ("current.averageValue", "currentAverageValue", True),
        ("container", "container", True),
    ),
    "External": (
        _METRIC,
        ("metric.selector", "metricSelector", False),
        ("current.value", "currentValue", True),
        ("current.averageValue", "currentAverageValue", False),
    ),
}
_KEPT_IN_SPEC: Final = ("scaleTargetRef", "minReplicas", "maxReplicas")
_KEPT_IN_STATUS: Final = ("observedGeneration", "lastScaleTime", "currentReplicas", "desiredReplicas")
_DEFAULT_USE: Final = 80


def as_v1(tree: Tree) -> Tree:
    """An autoscaler of version 2 in version 1."""
    spec, status = _map(tree.get("spec")), _map(tree.get("status"))
    metrics, states = list(_maps(spec.get("metrics"))), list(_maps(status.get("currentMetrics")))
    flat: list[Json] = [_flat(metric, _SOURCES) for metric in metrics if _use(metric, "target") is None]
    behavior = spec.get("behavior")
    told: Tree = {
        _BEHAVIOR: _in_memory(behavior) if isinstance(behavior, dict) else None,
        _CONDITIONS: status.get("conditions"),
        _STATUSES: [_flat(state, _STATES) for state in states],
        _METRICS: flat,
    }
    new: Tree = {key: spec[key] for key in _KEPT_IN_SPEC if key in spec}
    uses = [use for metric in metrics if (use := _use(metric, "target")) is not None]
    if uses:
        new["targetCPUUtilizationPercentage"] = uses[0]
    annotations = {key: msgspec.json.encode(value).decode() for key, value in told.items() if value}
    shown = {**_with(tree, annotations), "apiVersion": "autoscaling/v1", "spec": new}
    if "status" in tree:
        now: Tree = {key: status[key] for key in _KEPT_IN_STATUS if key in status}
        uses = [use for state in states if (use := _use(state, "current")) is not None]
        shown["status"] = {**now, "currentCPUUtilizationPercentage": uses[-1]} if uses else now
    return shown


def as_v2(tree: Tree) -> Tree:
    """An autoscaler of version 1 in version 2."""
    spec, status = _map(tree.get("spec")), _map(tree.get("status"))
    annotations = _map(_map(tree.get("metadata")).get("annotations"))
    new: Tree = {key: spec[key] for key in _KEPT_IN_SPEC if key in spec}
    metrics = [_deep(metric, _SOURCES, "target") for metric in _maps(_read(annotations, _METRICS))]
    use = spec.get("targetCPUUtilizationPercentage")
    if use is not None or not metrics:
        metrics.append(_cpu("target", _DEFAULT_USE if use is None else use))
    new["metrics"] = list(metrics)
    if behavior := _map(_read(annotations, _BEHAVIOR)):
        new["behavior"] = _written(behavior)
    shown = {**_with(tree, {}), "apiVersion": "autoscaling/v2", "spec": new}
    if "status" in tree:
        shown["status"] = _status(status, annotations)
    return shown


def _status(status: Tree, annotations: Tree) -> Tree:
    new: Tree = {key: status[key] for key in _KEPT_IN_STATUS if key in status}
    states = [_deep(state, _STATES, "current") for state in _maps(_read(annotations, _STATUSES))]
    use = status.get("currentCPUUtilizationPercentage")
    if use is not None and not states:
        states = [_cpu("current", use)]
    if states:
        new["currentMetrics"] = list(states)
    if conditions := _read(annotations, _CONDITIONS):
        new["conditions"] = conditions
    return new


def _with(tree: Tree, told: dict[str, str]) -> Tree:
    """The object with these annotations in the place of those that were made by a conversion before."""
    metadata = dict(_map(tree.get("metadata")))
    annotations = {key: value for key, value in _map(metadata.get("annotations")).items() if key not in _OURS}
    annotations |= told
    if annotations or metadata.get("annotations") == {}:
        metadata["annotations"] = annotations
    else:
        metadata.pop("annotations", None)
    return {**tree, "metadata": metadata}


def _use(metric: Tree, part: str) -> Json:
    """The use of CPU that a metric is about, None where it is about something else."""
    resource = _map(metric.get("resource"))
    if metric.get("type") != "Resource" or resource.get("name") != "cpu":
        return None
    return _map(resource.get(part)).get("averageUtilization")


def _cpu(part: str, use: Json) -> Tree:
    told: Tree = {"type": "Utilization"} if part == "target" else {}
    return {"type": "Resource", "resource": {"name": "cpu", part: {**told, "averageUtilization": use}}}


def _flat(metric: Tree, rows: dict[str, tuple[_Row, ...]]) -> Tree:
    """A metric as version 1 has it."""
    type = str(metric.get("type"))
    source = _map(metric.get(_FIELDS.get(type, "")))
    told: Tree = {}
    for path, name, always in rows.get(type, ()) if source else ():
        value = _at(source, path)
        if value is not None or always:
            told[name] = "0" if value is None else value
    return {"type": type, _FIELDS[type]: told} if told else {"type": type}


def _deep(metric: Tree, rows: dict[str, tuple[_Row, ...]], part: str) -> Tree:
    """A metric of version 1 as version 2 has it."""
    type = str(metric.get("type"))
    source = _map(metric.get(_FIELDS.get(type, "")))
    told: Tree = {}
    for path, name, _ in rows.get(type, ()) if source else ():
        if source.get(name) is not None:
            _put(told, path, source[name])
    if told and part == "target":
        _type(type, _map(told.setdefault("target", {})))
    return {"type": type, _FIELDS[type]: told} if told else {"type": type}


def _type(type: str, target: Tree) -> None:
    """Names what a target compares; a value of 0 beside an average only stands there since it cannot be left out."""
    if type == "Object" and target.get("averageValue") is not None and target.get("value") == "0":
        del target["value"]
    if type == "Object" and target.get("averageValue") is not None:
        target["type"] = "AverageValue"
    elif target.get("averageUtilization") is not None:
        target["type"] = "Utilization"
    else:
        target["type"] = "AverageValue" if target.get("value") is None else "Value"


def _in_memory(behavior: Tree) -> Tree:
    def rules(held: Json) -> Json:
        if not isinstance(held, dict):
            return None
        policies = held.get("policies")
        return {
            "StabilizationWindowSeconds": held.get("stabilizationWindowSeconds"),
            "SelectPolicy": held.get("selectPolicy"),
            "Policies": [
                {"Type": it.get("type"), "Value": it.get("value"), "PeriodSeconds": it.get("periodSeconds")}
                for it in _maps(policies)
            ]
            if policies is not None
            else None,
            "Tolerance": held.get("tolerance"),
        }

    return {"ScaleUp": rules(behavior.get("scaleUp")), "ScaleDown": rules(behavior.get("scaleDown"))}


def _written(value: Json) -> Json:
    if isinstance(value, list):
        return [_written(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key[:1].lower() + key[1:]: _written(held) for key, held in value.items() if held is not None}


def _read(annotations: Tree, key: str) -> Json:
    try:
        value: Json = msgspec.json.decode(str(annotations.get(key, "null")))
    except msgspec.DecodeError:
        return None
    return value


def _map(value: Json) -> Tree:
    return value if isinstance(value, dict) else {}


def _maps(value: Json) -> Iterator[Tree]:
    return (item for item in value if isinstance(item, dict)) if isinstance(value, list) else iter(())


def _at(tree: Tree, path: str) -> Json:
    held: Json = tree
    for step in path.split("."):
        held = _map(held).get(step)
    return held


def _put(tree: Tree, path: str, value: Json) -> None:
    *steps, last = path.split(".")
    for step in steps:
        tree = _map(tree.setdefault(step, {}))
    tree[last] = value
