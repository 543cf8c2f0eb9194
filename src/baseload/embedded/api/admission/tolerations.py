"""How long pods stay on nodes that went away: five minutes, unless they say so themselves."""

from typing import Final

from baseload.embedded.api.admission.review import Review
from baseload.embedded.store.record import Json

_SECONDS: Final = 300
_TAINTS: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


def give_tolerations(review: Review) -> None:
    """Adds a toleration for each of the two taints that the pod says nothing about."""
    if not review.is_of("", "Pod") or review.subresource:
        return
    tolerations = review.spec.get("tolerations") or []
    if not isinstance(tolerations, list):
        return
    missing: list[Json] = [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": _SECONDS}
        for key in _TAINTS
        if not any(_is_about(held, key) for held in tolerations)
    ]
    if missing:
        review.spec["tolerations"] = [*tolerations, *missing]


def _is_about(held: Json, key: str) -> bool:
    if not isinstance(held, dict) or held.get("effect") not in (None, "", "NoExecute"):
        return False
    return held.get("key") in (None, "", key)
