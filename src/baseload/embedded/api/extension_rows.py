"""The columns of kinds that extend a cluster: admission policies and webhooks, API services, drivers of storage."""

from collections.abc import Iterator
from typing import Final

from baseload.embedded.api import cells
from baseload.embedded.api.cells import NONE, Cell, Tree
from baseload.embedded.api.pod_rows import at, maps, text

_ADMISSION: Final = "admissionregistration.k8s.io"
_STORAGE: Final = "storage.k8s.io"
_UNSET: Final = "<unset>"
_NAME: Final = Cell("Name", cells.path("metadata.name"))
_AGE: Final = Cell("Age", cells.age())


def rows() -> Iterator[tuple[tuple[str, str], tuple[Cell, ...]]]:
    """(group, kind) and its columns."""
    webhooks = (_NAME, Cell("Webhooks", cells.count("webhooks"), "integer"), _AGE)
    yield (_ADMISSION, "MutatingWebhookConfiguration"), webhooks
    yield (_ADMISSION, "ValidatingWebhookConfiguration"), webhooks
    yield (
        (_ADMISSION, "ValidatingAdmissionPolicy"),
        (
            _NAME,
            Cell("Validations", cells.count("spec.validations"), "integer"),
            Cell("ParamKind", _parameter_kind),
            _AGE,
        ),
    )
    yield (
        (_ADMISSION, "ValidatingAdmissionPolicyBinding"),
        (_NAME, Cell("PolicyName", cells.path("spec.policyName")), Cell("ParamRef", _parameter), _AGE),
    )
    yield (
        ("apiregistration.k8s.io", "APIService"),
        (_NAME, Cell("Service", _service), Cell("Available", _available), _AGE),
    )
    yield (
        (_STORAGE, "CSIDriver"),
        (
            _NAME,
            Cell("AttachRequired", lambda tree, _: at(tree, "spec.attachRequired") is not False, "boolean"),
            Cell("PodInfoOnMount", lambda tree, _: at(tree, "spec.podInfoOnMount") is True, "boolean"),
            Cell("StorageCapacity", lambda tree, _: at(tree, "spec.storageCapacity") is True, "boolean"),
            Cell("TokenRequests", _audiences),
            Cell("RequiresRepublish", lambda tree, _: at(tree, "spec.requiresRepublish") is True, "boolean"),
            Cell("Modes", _life_cycles),
            _AGE,
        ),
    )
    yield (
        (_STORAGE, "VolumeAttachment"),
        (
            _NAME,
            Cell("Attacher", cells.path("spec.attacher"), format="name"),
            Cell("PV", cells.path("spec.source.persistentVolumeName")),
            Cell("Node", cells.path("spec.nodeName")),
            Cell("Attached", lambda tree, _: at(tree, "status.attached") is True, "boolean"),
            _AGE,
        ),
    )
    yield (_STORAGE, "VolumeAttributesClass"), (_NAME, Cell("DriverName", cells.path("driverName")), _AGE)
    created = Cell("Created At", cells.path("metadata.creationTimestamp"), "date")
    yield (_STORAGE, "CSIStorageCapacity"), (_NAME, created)
    yield (
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
        (
            _NAME,
            Cell("Scope", cells.path("spec.scope")),
            Cell("Versions", _versions),
            created,
            Cell("Group", cells.path("spec.group"), priority=1),
            Cell("Kind", cells.path("spec.names.kind"), priority=1),
            Cell("ShortNames", _short_names, priority=1),
            Cell("Established", _is_established, "boolean", priority=1),
        ),
    )


def _versions(tree: Tree, _: int) -> str:
    served = (held for held in maps(at(tree, "spec"), "versions") if held.get("served") is True)
    return ",".join(sorted(text(held, "name") + "(storage)" * (held.get("storage") is True) for held in served))


def _short_names(tree: Tree, _: int) -> str:
    return ",".join(map(cells.shown, cells.items(at(tree, "spec.names.shortNames"))))


def _is_established(tree: Tree, _: int) -> bool:
    conditions = maps(at(tree, "status"), "conditions")
    return any(held.get("type") == "Established" and held.get("status") == "True" for held in conditions)


def _parameter_kind(tree: Tree, _: int) -> str:
    held = at(tree, "spec.paramKind")
    return f"{text(held, 'apiVersion')}/{text(held, 'kind')}" if isinstance(held, dict) else _UNSET


def _parameter(tree: Tree, _: int) -> str:
    held = at(tree, "spec.paramRef")
    if name := text(held, "name"):
        return f"{text(held, 'namespace') or '*'}/{name}"
    selector = at(held, "selector")
    return cells.selector_text(selector) if isinstance(selector, dict) else _UNSET


def _service(tree: Tree, _: int) -> str:
    held = at(tree, "spec.service")
    return f"{text(held, 'namespace')}/{text(held, 'name')}" if isinstance(held, dict) else "Local"


def _available(tree: Tree, _: int) -> str:
    for condition in maps(at(tree, "status"), "conditions"):
        if condition.get("type") == "Available":
            status, reason = text(condition, "status"), text(condition, "reason")
            return f"{status} ({reason})" if status != "True" and reason else status
    return "Unknown"


def _audiences(tree: Tree, _: int) -> str:
    requests = at(tree, "spec.tokenRequests")
    if not isinstance(requests, list):
        return _UNSET
    return ",".join(text(request, "audience") for request in maps(at(tree, "spec"), "tokenRequests"))


def _life_cycles(tree: Tree, _: int) -> str:
    return ",".join(map(cells.shown, cells.items(at(tree, "spec.volumeLifecycleModes")))) or NONE
