"""Claims for storage, their own and those in templates of others."""

from typing import Any, Final

from baseload.kube.validation import difference, metadata, names
from baseload.kube.validation.fault import Faults, Tree, forbidden, invalid, required, unsupported
from baseload.kube.validation.names import each
from baseload.kube.validation.resources import amount

MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
VOLUME_MODES: Final = ("Block", "Filesystem")
_ALONE: Final = "ReadWriteOncePod"
_IMMUTABLE: Final = (
    "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
)


def access_modes(given: Any, path: str, missing: str) -> Faults:
    """How a volume is mounted, and by how many."""
    if not given:
        yield required(path, missing)
        return
    for mode in given:
        if mode not in MODES:
            yield unsupported(path, mode, MODES)
    if _ALONE in given and len(set(given)) > 1:
        yield forbidden(path, "may not use ReadWriteOncePod with other access modes")


def spec(given: Tree, path: str) -> Faults:
    """The spec of a claim."""
    yield from access_modes(given.get("accessModes"), f"{path}.accessModes", "at least 1 access mode is required")
    yield from metadata.selector(given.get("selector"), f"{path}.selector")
    asked = given.get("resources", {}).get("requests", {}).get("storage")
    at = f"{path}.resources[storage]"
    if asked is None:
        yield required(at)
    elif amount(asked) <= 0:
        yield invalid(at, str(asked), "must be greater than zero")
    if named := given.get("storageClassName"):
        yield from each(names.subdomain(named), f"{path}.storageClassName", named)
    mode = given.get("volumeMode")
    if mode is not None and mode not in VOLUME_MODES:
        yield unsupported(f"{path}.volumeMode", mode, VOLUME_MODES)


def claim(tree: Tree, old: Tree | None) -> Faults:
    """A PersistentVolumeClaim."""
    yield from spec(tree.get("spec", {}), "spec")
    if old is not None:
        yield from _changes(tree, old)


def _changes(tree: Tree, old: Tree) -> Faults:
    new, before = dict(tree.get("spec", {})), old.get("spec", {})
    if not before.get("volumeName"):
        new["volumeName"] = before.get("volumeName")
        if not before.get("storageClassName"):
            new["storageClassName"] = before.get("storageClassName")
    is_bound = old.get("status", {}).get("phase") == "Bound"
    size, held = _size(new), _size(before)
    if is_bound:
        new["resources"] = {**new.get("resources", {}), "requests": before.get("resources", {}).get("requests")}
        new["volumeAttributesClassName"] = before.get("volumeAttributesClassName")
    if _given(new) != _given(before):
        yield forbidden("spec", f"{_IMMUTABLE}\n{difference.of('PersistentVolumeClaimSpec', before, new)}")
    elif is_bound and size < held:
        why = "field can not be less than status.capacity"
        if size < _capacity(old):
            yield forbidden("spec.resources.requests.storage", why)


def _given(spec: Tree) -> Tree:
    return {name: value for name, value in spec.items() if value not in (None, {}, [], "")}


def _size(spec: Tree) -> int:
    asked = spec.get("resources", {}).get("requests", {}).get("storage")
    return amount(asked) if asked is not None else 0


def _capacity(old: Tree) -> int:
    held = old.get("status", {}).get("capacity", {}).get("storage")
    return amount(held) if held is not None else 0
