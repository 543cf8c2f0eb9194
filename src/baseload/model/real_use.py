"""What daemons say that they really use: the annotation `baseload.dev/real-memory` on their pod template.

Schedulers and autoscalers count requests alone. Daemons that use more fill nodes beyond what any plan shows; plans name
the gap, so what cannot be read there is a fault like any other.
"""

from collections.abc import Iterator
from typing import Final

from baseload.kube.types.apps import DaemonSet
from baseload.model.view import View, ref_of
from baseload.values import quantity

ANNOTATION: Final = "baseload.dev/real-memory"
PATH: Final = f'spec.template.metadata.annotations["{ANNOTATION}"]'


def stated(view: View) -> Iterator[tuple[DaemonSet, str]]:
    """The DaemonSets that carry the annotation, and what it says."""
    for daemon_set in view.daemon_sets:
        text = daemon_set.spec.template.metadata.annotations.get(ANNOTATION)
        if text is not None:
            yield daemon_set, text


def unreadable(view: View) -> Iterator[tuple[str, str]]:
    """The DaemonSets whose annotation is no quantity, and why not."""
    for daemon_set, text in stated(view):
        try:
            quantity.parse(text)
        except quantity.QuantityError as error:
            yield ref_of(daemon_set), str(error)
