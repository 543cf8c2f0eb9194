"""What a HorizontalPodAutoscaler's row says of its metrics: how much there is of how much is wanted."""

from typing import Final

from baseload.embedded.api.cells import NONE, Tree, shown
from baseload.embedded.api.pod_rows import at, maps, text
from baseload.embedded.store.record import Json

_SHOWN: Final = 2
_UNKNOWN: Final = "<unknown>"
_OF_TYPE: Final = {
    "External": "external",
    "Pods": "pods",
    "Object": "object",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}
_BY_SHARE: Final = ("Resource", "ContainerResource")  # that may be wanted as a share of what is requested


def targets(tree: Tree, _: int) -> str:
    """Each metric's current value and its target, the first two of them."""
    specs = list(maps(at(tree, "spec"), "metrics"))
    statuses = list(maps(at(tree, "status"), "currentMetrics"))
    told = [_target(spec, statuses[place] if place < len(statuses) else {}) for place, spec in enumerate(specs)]
    if not told:
        return NONE
    listed = ", ".join(told[:_SHOWN])
    return f"{listed} + {len(told) - _SHOWN} more..." if len(told) > _SHOWN else listed


def _target(spec: Tree, status: Tree) -> str:
    type = text(spec, "type")
    field = _OF_TYPE.get(type)
    if field is None:
        return "<unknown type>"
    target, current = at(spec, f"{field}.target"), at(status, f"{field}.current")
    if type in _BY_SHARE:
        return f"{text(spec, f'{field}.name')}: {_of_resource(target, current)}"
    average = at(target, "averageValue")
    if average is None:
        return f"{_value(current, 'value')}/{shown(at(target, 'value'))}"
    mark = "" if type == "Pods" else " (avg)"
    return f"{_value(current, 'averageValue')}/{shown(average)}{mark}"


def _of_resource(target: Json, current: Json) -> str:
    average = at(target, "averageValue")
    if average is not None:
        return f"{_value(current, 'averageValue')}/{shown(average)}"
    wanted, used = at(target, "averageUtilization"), at(current, "averageUtilization")
    return f"{_UNKNOWN if used is None else f'{used}%'}/{'<auto>' if wanted is None else f'{wanted}%'}"


def _value(current: Json, name: str) -> str:
    held = at(current, name)
    return _UNKNOWN if held is None else shown(held)
