"""Definitions of custom resources: names that follow from others, and the versions that objects were ever stored in."""

from baseload.embedded.api.admission.review import Review
from baseload.embedded.api.admission.tree import Tree, child, fill, held, maps


def defaults(tree: Tree) -> None:
    """Fills in what a definition defaults."""
    spec = child(tree, "spec")
    names = child(spec, "names")
    kind = str(names.get("kind") or "")
    if kind:
        fill(names, {"singular": kind.lower(), "listKind": f"{kind}List"})
    fill(spec, {"conversion": {"strategy": "None"}})
    service = held(spec, "conversion", "webhook", "clientConfig", "service")
    if service:
        fill(service, {"port": 443})


def note_version(review: Review) -> None:
    """Notes a version as one that objects may be stored in from now on."""
    resource = review.kind.resource
    if resource.kind != "CustomResourceDefinition" or review.subresource:
        return
    status = child(review.tree, "status")
    told = status.get("storedVersions")
    known = told if isinstance(told, list) else []
    status["storedVersions"] = [*known, *(name for name in storage_versions(review.tree) if name not in known)]


def storage_versions(tree: Tree) -> list[str]:
    """The names of the versions that are marked as the one in which objects are stored."""
    return [str(version.get("name")) for version in maps(child(tree, "spec"), "versions") if version.get("storage")]
