"""What the published schemas do not say and server-side apply needs to know, as data.

The definitions were taken from a form of the API's schemas that carries no `default`.
"""

from typing import Final

_CORE: Final = "io.k8s.api.core.v1"

KEY_DEFAULTS: Final[dict[str, dict[str, object]]] = {
    # definition of the item -> key field -> what stands for it where it is missing.
    # Key fields that an item must have default to their zero value, by rule; these are the others.
    f"{_CORE}.ContainerPort": {"protocol": "TCP"},
    f"{_CORE}.ServicePort": {"protocol": "TCP"},
    f"{_CORE}.LocalObjectReference": {"name": ""},
}

STATUS_WITHOUT: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    # apiVersion/kind -> fields beside spec that a write to the status subresource does not touch.
    "v1/Pod": (("metadata", "deletionTimestamp"), ("metadata", "ownerReferences")),
    "apps/v1/Deployment": (("metadata", "labels"),),
}

NEVER_OWNED: Final[tuple[tuple[str, ...], ...]] = (
    # What the server itself keeps; no manager holds it.
    ("apiVersion",),
    ("kind",),
    ("metadata",),
    ("metadata", "name"),
    ("metadata", "namespace"),
    ("metadata", "creationTimestamp"),
    ("metadata", "selfLink"),
    ("metadata", "uid"),
    ("metadata", "clusterName"),
    ("metadata", "generation"),
    ("metadata", "managedFields"),
    ("metadata", "resourceVersion"),
)
