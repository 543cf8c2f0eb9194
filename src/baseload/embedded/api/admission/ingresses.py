"""The class of an ingress that names none."""

from typing import Final

from baseload.embedded.api.admission import classes
from baseload.embedded.api.admission.review import Review
from baseload.embedded.api.admission.tree import child, held

_GROUP: Final = "networking.k8s.io"
_OLD_CLASS: Final = "kubernetes.io/ingress.class"
_DEFAULT: Final = "ingressclass.kubernetes.io/is-default-class"


def give_ingress_class(review: Review) -> None:
    """Fills in the default class of a new ingress."""
    if review.operation != "CREATE" or not review.is_of(_GROUP, "Ingress"):
        return
    if review.spec.get("ingressClassName") is not None or _OLD_CLASS in held(review.tree, "metadata", "annotations"):
        return
    if name := classes.default(review.records(_GROUP, "IngressClass"), _DEFAULT):
        child(review.tree, "spec")["ingressClassName"] = name
