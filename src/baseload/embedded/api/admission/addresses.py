"""Cluster addresses of services: each gets the lowest free one of the range, and keeps it."""

from ipaddress import IPv4Network
from typing import Final

from baseload.embedded.api.admission.review import Review
from baseload.embedded.store.record import Json

RANGE: Final = IPv4Network("10.96.0.0/16")
_HEADLESS: Final = "None"


def give_address(review: Review) -> None:
    """Fills in spec.clusterIP of a service that wants one and names none."""
    resource, spec = review.kind.resource, review.tree.get("spec")
    if (resource.group, resource.kind) != ("", "Service") or not isinstance(spec, dict):
        return
    if spec.get("type") == "ExternalName":
        return
    if not spec.get("clusterIP"):
        held = review.old.body.field("spec.clusterIP") if review.old is not None else ""
        spec["clusterIP"] = held or _free(review)
    spec.setdefault("clusterIPs", [spec["clusterIP"]])
    if spec["clusterIP"] != _HEADLESS:
        spec.setdefault("ipFamilies", ["IPv4"])


def _free(review: Review) -> Json:
    taken = {record.body.field("spec.clusterIP") for record in review.store.list(review.kind.resource).records}
    return next(address for address in map(str, RANGE.hosts()) if address not in taken)
