"""Volumes and claims in use do not vanish: a finalizer stands on each until it is used no more."""

from typing import Final

from baseload.embedded.api.admission.review import Review
from baseload.embedded.api.admission.tree import child

_FINALIZERS: Final = {
    "PersistentVolume": "kubernetes.io/pv-protection",
    "PersistentVolumeClaim": "kubernetes.io/pvc-protection",
}


def protect(review: Review) -> None:
    """Gives a new volume or claim its finalizer."""
    if review.operation != "CREATE" or not review.is_of("", *_FINALIZERS):
        return
    metadata, name = child(review.tree, "metadata"), _FINALIZERS[review.kind.resource.kind]
    held = metadata.get("finalizers") or []
    if isinstance(held, list) and name not in held:
        metadata["finalizers"] = [*held, name]
