"""The JSON Schema of scenarios, from the same tables by which they are read.

What a scenario shares with other files (the cloud's settings, Karpenter's options, manifests) is an object there; the
pages of these tell what may stand in it.
"""

from collections.abc import Mapping
from typing import Final

from baseload.decide.node import behaviour
from baseload.replay import controllers, expecting, fields, happenings
from baseload.replay.fields import Field, Schema, about
from baseload.replay.scenario import API_VERSION, KIND
from baseload.replay.series import KINDS
from baseload.world.living import KARPENTER

_ID: Final = "https://json-schema.org/draft/2020-12/schema"
_OPTIONS: Final[Mapping[str, Mapping[str, Field]]] = {
    "scheduler": controllers.SCHEDULER,
    "kubelet": controllers.KUBELET,
    "node-lifecycle": controllers.LIFECYCLE,
    "cni": controllers.CNI,
}
_MANIFESTS: Final[Schema] = {
    "type": "array",
    "items": {"anyOf": [{"type": "string", "minLength": 1}, {"type": "object"}]},
}


def schema() -> dict[str, object]:
    """The whole of it."""
    return {
        "$schema": _ID,
        "title": KIND,
        "type": "object",
        "additionalProperties": False,
        "required": ["apiVersion", "kind", "metadata", "spec"],
        "properties": {
            "apiVersion": {"const": API_VERSION},
            "kind": {"const": KIND},
            "metadata": {
                "type": "object",
                "required": ["name"],
                "additionalProperties": False,
                "properties": {
                    "name": {"type": "string", "minLength": 1},
                    "labels": {"type": "object"},
                    "annotations": {"type": "object"},
                },
            },
            "spec": _spec(),
        },
    }


def _spec() -> dict[str, object]:
    return {
        "type": "object",
        "required": ["duration"],
        "additionalProperties": False,
        "properties": {
            "start": {"type": "string", "format": "date-time", "description": "when the run begins"},
            "duration": {**fields.LENGTH.schema, "description": "how long it goes on"},
            "seed": {"type": "integer", "minimum": 0, "description": "what chance is made from"},
            "region": {"type": "string", "description": "of EC2"},
            "manifests": {**_MANIFESTS, "description": "what is there at the start: files and objects"},
            "controllers": {"type": "array", "items": {"oneOf": [_controller(name) for name in controllers.NAMES]}},
            "cloud": {"type": "object", "description": "the simulated cloud: docs/cloud.md"},
            "workloads": {"type": "array", "items": _workload()},
            "events": {"type": "array", "items": {"oneOf": [_happening(do) for do in happenings.KINDS]}},
            "expect": {"type": "array", "items": {"oneOf": [_expectation(series) for series in KINDS]}},
            "checkEvery": {**fields.LENGTH.schema, "description": "how often the cluster's sums are recounted"},
        },
    }


def _controller(name: str) -> dict[str, object]:
    is_karpenter = name == KARPENTER
    options: Schema = {"type": "object"} if is_karpenter else fields.schema(_OPTIONS.get(name, {}))
    properties: dict[str, Schema] = {"name": {"const": name}, "options": options}
    if name in controllers.HOSTED:
        host = {"namespace": fields.TEXT, "selector": fields.TEXT.required}
        properties |= {
            "hostedBy": fields.schema(host),
            "enabled": {"type": "boolean"} if is_karpenter else {"const": True},
        }
    return {"type": "object", "required": ["name"], "additionalProperties": False, "properties": properties}


def _workload() -> dict[str, object]:
    said = {name: {"description": "docs/kubelet.md"} for name in behaviour.FIELDS}
    names = {"name": about(fields.TEXT, "with `*` and `?`"), "namespace": about(fields.TEXT, "with `*` and `?`")}
    return fields.schema(names, said)


def _happening(do: str) -> dict[str, object]:
    what, table = happenings.KINDS[do]
    made = fields.schema({**happenings.MOMENTS, **table}, {"do": {"const": do}})
    required = ["do", *(name for name, field in table.items() if field.is_required)]
    properties = made["properties"]
    assert isinstance(properties, dict)
    if "manifests" in properties:
        properties["manifests"] = _MANIFESTS
    moments = {"oneOf": [{"required": ["at"]}, {"required": ["cron"]}]}
    return {**made, "description": what, "required": required, **moments}


def _expectation(series: str) -> dict[str, object]:
    kind = KINDS[series]
    own = {"longerThan": expecting.OWN["longerThan"].required} if "longerThan" in kind.about else {}
    filters = {name: expecting.filter_of(series, name) for name in kind.filters}
    made = fields.schema({**own, **filters, **expecting.WHEN, **expecting.VALUES}, {"series": {"const": series}})
    when = {"oneOf": [{"required": [name]} for name in ("at", "always", "eventually", "within")]}
    bounds = {"anyOf": [{"required": [name]} for name in expecting.VALUES]}
    return {**made, "description": kind.about, "required": ["series", *own], "allOf": [when, bounds]}
