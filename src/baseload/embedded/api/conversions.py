"""The conversions of Kubernetes' own kinds: horizontal pod autoscalers, and events of events.k8s.io.

An event of events.k8s.io/v1 is one of the core group with other names for some of its fields.
"""

from typing import Final, cast

from baseload.embedded.api import autoscalers
from baseload.embedded.api.versions import Conversion, Convert, Tree
from baseload.embedded.store.resource import Resource
from baseload.kube.protobuf import written

_EVENT_FIELDS: Final = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
"""core/v1 -> events.k8s.io/v1"""
_EVENT_SELECTORS: Final = {
    **{
        f"regarding.{name}": f"involvedObject.{name}"
        for name in ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
    },
    "reportingController": "reportingComponent",
}


def _named(fields: dict[str, str], api_version: str) -> Convert:
    def convert(tree: Tree) -> Tree:
        return {**{fields.get(name, name): value for name, value in tree.items()}, "apiVersion": api_version}

    return convert


_BACK: Final = {new: old for old, new in _EVENT_FIELDS.items()}
_KNOWN: Final[dict[tuple[str, str], tuple[Convert, Convert, dict[str, str]]]] = {
    ("autoscaling/v1", "HorizontalPodAutoscaler"): (autoscalers.as_v1, autoscalers.as_v2, {}),
    ("events.k8s.io/v1", "Event"): (_named(_EVENT_FIELDS, "events.k8s.io/v1"), _named(_BACK, "v1"), _EVENT_SELECTORS),
}
"""(apiVersion, kind) -> how it is shown, how it is stored, its selectable fields"""


def of_kind(view: Resource) -> Conversion:
    """The conversion of one of Kubernetes' own kinds in a version that is not the stored one."""
    shown, stored, fields = _KNOWN[view.api_version, view.kind]
    form = written.of_kind(view.api_version, view.kind)
    return Conversion(view, lambda tree: cast(Tree, form.write(shown(tree))), stored, fields)
