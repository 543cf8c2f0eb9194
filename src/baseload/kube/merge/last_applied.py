"""The annotation that client-side apply leaves, on the way to server-side apply.

`kubectl apply` without --server-side remembers the applied manifest in an annotation and owns its fields as an updater.
Where `kubectl apply --server-side` then meets only conflicts on fields that still have the value of that annotation,
they are its own and it takes them over; and it keeps the annotation up to date, for a way back.
"""

import json

from baseload.kube.merge import check, fieldset, owned
from baseload.kube.merge.compare import compare
from baseload.kube.merge.fieldset import FieldSet
from baseload.kube.merge.tree import Object
from baseload.kube.merge.types import ObjectType

MANAGER = "kubectl"
ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"
_MOST_BYTES = 256 * 1024  # of all annotations of an object together
_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def annotated(live: Object) -> str:
    """The annotation of an object, "" where it has none."""
    value = _annotations(live).get(ANNOTATION)
    return value if isinstance(value, str) else ""


def _annotations(live: Object) -> dict[str, object]:
    metadata = live.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    return annotations if isinstance(annotations, dict) else {}


def still_own(kind: ObjectType, live: Object) -> FieldSet:
    """The fields of the last client-side apply that have its value to this day."""
    try:
        applied = json.loads(annotated(live) or "null")
    except ValueError:
        return {}
    if not isinstance(applied, dict) or applied.get("apiVersion") != kind.api_version:
        return {}
    if check.faults(kind.root, applied) or check.faults(kind.root, live):
        return {}
    found = compare(kind.root, applied, live)
    fields = owned.fields(kind.root, applied)
    for changed in (found.modified, found.added, found.removed):
        fields = fieldset.difference(fields, changed)
    return fields


def renewed(new: Object, config: Object) -> Object:
    """The object with its annotation telling the configuration now applied; without one it stays without."""
    if not annotated(new):
        return new
    annotations = dict(_annotations(new))
    annotations[ANNOTATION] = _told(config)
    if sum(len(str(text).encode()) for pair in annotations.items() for text in pair) > _MOST_BYTES:
        del annotations[ANNOTATION]
    metadata = new["metadata"]
    assert isinstance(metadata, dict)  # it has the annotation
    return {**new, "metadata": {**metadata, "annotations": annotations}}


def _told(config: Object) -> str:
    bare = dict(config)
    metadata = config.get("metadata")
    if isinstance(metadata, dict) and ANNOTATION in _annotations(config):
        annotations = {key: value for key, value in _annotations(config).items() if key != ANNOTATION}
        bare["metadata"] = {**metadata, "annotations": annotations}
    text = json.dumps(bare, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    for plain, escaped in _ESCAPES.items():
        text = text.replace(plain, escaped)
    return text + "\n"
