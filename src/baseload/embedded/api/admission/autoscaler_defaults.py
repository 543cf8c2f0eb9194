"""What a HorizontalPodAutoscaler takes where a client leaves a field out."""

from typing import Final

from baseload.embedded.api.admission.amounts import settle
from baseload.embedded.api.admission.tree import Tree, child, fill, held, maps
from baseload.embedded.store.record import Json

_PERIOD: Final = 15
_UTILIZATION: Final = 80  # percent of what a pod asks for, on average
_PERCENT: Final[dict[str, Json]] = {"type": "Percent", "value": 100, "periodSeconds": _PERIOD}
_PODS: Final[dict[str, Json]] = {"type": "Pods", "value": 4, "periodSeconds": _PERIOD}
_SOURCES: Final = ("resource", "pods", "object", "external", "containerResource")


def autoscaler(tree: Tree) -> None:
    """One as it is served in autoscaling/v2."""
    spec = child(tree, "spec")
    fill(spec, {"minReplicas": 1})
    if not spec.get("metrics"):
        target: Json = {"type": "Utilization", "averageUtilization": _UTILIZATION}
        spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    for metric in maps(spec, "metrics"):
        for source in _SOURCES:
            for name in ("value", "averageValue"):
                settle(held(metric, source, "target"), name)
    behavior = spec.get("behavior")
    if isinstance(behavior, dict):
        up, down = child(behavior, "scaleUp"), child(behavior, "scaleDown")
        fill(up, {"stabilizationWindowSeconds": 0, "selectPolicy": "Max", "policies": [dict(_PODS), dict(_PERCENT)]})
        fill(down, {"selectPolicy": "Max", "policies": [dict(_PERCENT)]})
        for rules in (up, down):
            settle(rules, "tolerance")
