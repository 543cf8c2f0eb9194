"""Metadata, which every object has, and the selectors that look at it."""

from typing import Any, Final

from baseload.kube.validation import names
from baseload.kube.validation.fault import Fault, Faults, Tree, forbidden, invalid, required
from baseload.kube.validation.names import each

_MOST_ANNOTATIONS: Final = 256 * 1024  # bytes of keys and values together
_ORPHAN, _FOREGROUND = "orphan", "foregroundDeletion"
STANDARD_FINALIZERS: Final = ("kubernetes", _ORPHAN, _FOREGROUND)
_OPERATORS: Final = ("In", "NotIn", "Exists", "DoesNotExist")


def of_object(metadata: Tree, name_rule: Any, *, namespaced: bool) -> Faults:
    """The metadata of an object; `name_rule` says what names of its kind must look like."""
    prefix, name = metadata.get("generateName", ""), metadata.get("name", "")
    if prefix:
        masked = f"{prefix[:-1]}a" if prefix.endswith("-") else prefix  # what follows makes a dash a sound ending
        yield from each(name_rule(masked), "metadata.generateName", prefix)
    if name:
        yield from each(name_rule(name), "metadata.name", name)
    else:
        yield required("metadata.name", "name or generateName is required")
    if namespaced and metadata.get("namespace"):
        yield from each(names.dns_label(metadata["namespace"]), "metadata.namespace", metadata["namespace"])
    if given := metadata.get("labels"):
        yield from names.labels(given, "metadata.labels")
    if given := metadata.get("annotations"):
        yield from annotations(given, "metadata.annotations")
    if given := metadata.get("ownerReferences"):
        yield from _owners(given)
    if given := metadata.get("finalizers"):
        yield from _finalizers(given)


def annotations(given: Tree, path: str) -> Faults:
    """Annotations: their keys, and how much room they take."""
    for key in given:
        yield from each(names.qualified(key.lower()), path, key)
    size = sum(len(key.encode()) + len(value.encode()) for key, value in given.items())
    if size > _MOST_ANNOTATIONS:
        yield Fault(path, f"Too long: may not be more than {_MOST_ANNOTATIONS} bytes")


def _owners(given: list[Tree]) -> Faults:
    controller: Tree | None = None
    for index, owner in enumerate(given):
        at = f"metadata.ownerReferences[{index}]"
        for field in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(field):
                yield required(f"{at}.{field}", "must not be empty")
        if (owner.get("apiVersion"), owner.get("kind")) == ("v1", "Event"):
            yield invalid(at, _in_order(owner), "/v1, Kind=Event is disallowed from being an owner")
        if owner.get("controller"):
            if controller is not None:
                both = " and ".join(f"{one.get('kind')}/{one.get('name')}" for one in (controller, owner))
                why = f'Only one reference can have Controller set to true. Found "true" in references for {both}'
                yield invalid("metadata.ownerReferences", [_in_order(one) for one in given], why)
            else:
                controller = owner


def _in_order(owner: Tree) -> Tree:
    told = {name: owner.get(name, "") for name in ("apiVersion", "kind", "name", "uid")}
    return told | {name: owner[name] for name in ("controller", "blockOwnerDeletion") if name in owner}


def _finalizers(given: list[str]) -> Faults:
    for name in given:
        yield from each(names.qualified(name), "metadata.finalizers", name)
    if _ORPHAN in given and _FOREGROUND in given:
        why = f"finalizer {_ORPHAN} and {_FOREGROUND} cannot be both set"
        yield invalid("metadata.finalizers", given, why)


def standing(given: list[str]) -> Faults:
    """Finalizers without a domain are the server's own alone."""
    for index, name in enumerate(given):
        if "/" not in name and name not in STANDARD_FINALIZERS:
            why = "name is neither a standard finalizer name nor is it fully qualified"
            yield invalid(f"metadata.finalizers[{index}]", name, why)


def selector(given: Tree | None, path: str) -> Faults:
    """A label selector."""
    if not given:
        return
    yield from names.labels(given.get("matchLabels", {}), f"{path}.matchLabels")
    for index, expression in enumerate(given.get("matchExpressions", ())):
        yield from _requirement(expression, f"{path}.matchExpressions[{index}]")


def _requirement(expression: Tree, at: str) -> Faults:
    operator, values = expression.get("operator", ""), expression.get("values", ())
    if operator in ("In", "NotIn"):
        if not values:
            yield required(f"{at}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            yield forbidden(f"{at}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
    else:
        yield invalid(f"{at}.operator", operator, "not a valid selector operator")
    yield from each(names.qualified(expression.get("key", "")), f"{at}.key", expression.get("key", ""))
    for index, value in enumerate(values):
        yield from each(names.label_value(value), f"{at}.values[{index}]", value)


def selects(given: Tree, labels: Tree) -> bool:
    """Whether a sound selector selects an object with these labels."""
    if any(labels.get(key) != value for key, value in given.get("matchLabels", {}).items()):
        return False
    return all(_holds(one, labels) for one in given.get("matchExpressions", ()))


def _holds(expression: Tree, labels: Tree) -> bool:
    key, values = expression["key"], expression.get("values", ())
    match expression["operator"]:
        case "In":
            return labels.get(key) in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
    return key not in labels


def is_empty(given: Tree) -> bool:
    """Whether a selector says nothing."""
    return not given.get("matchLabels") and not given.get("matchExpressions")
