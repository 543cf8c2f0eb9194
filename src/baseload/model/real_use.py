"""What daemons really use of a node's memory, where their manifests say so.

Schedulers and autoscalers count requests alone. Daemons that use more than they request fill nodes beyond what any plan
shows; the annotation `baseload.dev/real-memory` on their pod template makes the gap visible.
"""

from dataclasses import dataclass
from typing import Final

from baseload.model import requests
from baseload.model.view import View
from baseload.values import quantity
from baseload.values.errors import BadInput, Fault

ANNOTATION: Final = "baseload.dev/real-memory"


@dataclass(frozen=True, slots=True)
class DaemonMemory:
    """Memory of the daemons that say what they use, a node, in nano-units."""

    requested: int
    used: int

    @property
    def gap(self) -> int:
        return self.used - self.requested


def daemon_memory(view: View) -> DaemonMemory:
    """What the annotated DaemonSets request and use; raises BadInput where an annotation is no quantity."""
    requested = used = 0
    faults: list[Fault] = []
    for daemon_set in view.daemon_sets:
        template = daemon_set.spec.template
        text = template.metadata.annotations.get(ANNOTATION)
        if text is None:
            continue
        try:
            used += quantity.parse(text)
        except quantity.QuantityError as error:
            owner = f"DaemonSet {daemon_set.metadata.namespace}/{daemon_set.metadata.name}"
            path = f'spec.template.metadata.annotations["{ANNOTATION}"]'
            faults.append(Fault(f"Invalid value: {error}", path=path, object=owner))
            continue
        requested += requests.of_spec(template.spec, limits_fill=True).get("memory", 0)
    if faults:
        raise BadInput(faults)
    return DaemonMemory(requested, used)
