"""Nothing is created in a namespace that is not there or is ending."""

from baseload.embedded.api.admission.review import Review
from baseload.embedded.store.record import Record


def check_namespace(review: Review) -> None:
    """Refuses what would be created there, before anything else about it is looked at."""
    if review.operation == "CREATE" and review.kind.resource.namespaced:
        review.store.namespaces.check_open(Record(review.kind.resource, review.namespace, review.name))
