"""A new node takes no pods until it is ready: a taint keeps them off until a controller sees it ready."""

from typing import Final

from baseload.embedded.api.admission.review import Review
from baseload.embedded.api.admission.tree import child
from baseload.embedded.store.record import Json

_KEY: Final = "node.kubernetes.io/not-ready"


def taint_node(review: Review) -> None:
    """Taints a node that is created; one of an earlier cluster comes as it was."""
    if review.operation != "CREATE" or not review.is_of("", "Node") or review.is_seed:
        return
    spec = child(review.tree, "spec")
    held = spec.get("taints")
    taints: list[Json] = held if isinstance(held, list) else []
    if not any(
        isinstance(taint, dict) and (taint.get("key"), taint.get("effect")) == (_KEY, "NoSchedule") for taint in taints
    ):
        spec["taints"] = [*taints, {"key": _KEY, "effect": "NoSchedule"}]
