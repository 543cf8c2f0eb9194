"""Claims for storage: the class they take where they name none, and whether they may grow."""

from typing import Final

from baseload.embedded.api.admission import classes
from baseload.embedded.api.admission.review import Review
from baseload.embedded.api.admission.tree import Tree, held
from baseload.embedded.store import selection
from baseload.embedded.store.record import Record
from baseload.values import quantity

_GROUP: Final = "storage.k8s.io"
_OLD_CLASS: Final = "volume.beta.kubernetes.io/storage-class"
_DEFAULTS: Final = ("storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class")


def give_storage_class(review: Review) -> None:
    """Fills in the default class of a new claim that names none; an empty name means that it wants none."""
    if review.operation != "CREATE" or not review.is_of("", "PersistentVolumeClaim"):
        return
    if review.spec.get("storageClassName") is not None:
        return
    if _OLD_CLASS in held(review.tree, "metadata", "annotations"):
        return
    if name := classes.default(review.records(_GROUP, "StorageClass"), *_DEFAULTS):
        review.spec["storageClassName"] = name


def refuse_growth(review: Review) -> None:
    """Refuses a claim that asks for more than it did, unless it is bound and its class lets it."""
    old = review.old
    if old is None or not review.is_of("", "PersistentVolumeClaim") or review.subresource:
        return
    before = held(old.body.tree(), "spec")
    if _size(review.spec) <= _size(before):
        return
    if selection.field(old, "status.phase") != "Bound":
        raise review.refused("Only bound persistent volume claims can be expanded")
    name = _class(review.spec, held(review.tree, "metadata", "annotations"))
    if not name or name != _class(before, dict(old.shared.annotations)) or not _may_grow(review, name):
        why = (
            "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc "
            "must support resize"
        )
        raise review.refused(why)


def _size(spec: Tree) -> int:
    asked = held(spec, "resources", "requests").get("storage")
    try:
        return quantity.parse(asked) if isinstance(asked, str) else 0
    except quantity.QuantityError:
        return 0


def _class(spec: Tree, annotations: Tree) -> str:
    return str(annotations.get(_OLD_CLASS) or spec.get("storageClassName") or "")


def _may_grow(review: Review, name: str) -> bool:
    found: Record | None = review.store.find(review.resource(_GROUP, "StorageClass"), "", name)
    return found is not None and found.body.field("allowVolumeExpansion") == "true"
