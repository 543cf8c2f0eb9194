"""What a pod takes from the RuntimeClass that it names: overhead, and where it may run."""

from typing import Final

from baseload.embedded.api.admission.review import Review
from baseload.embedded.api.admission.tree import Tree, held
from baseload.embedded.store.record import Json
from baseload.values import quantity

_GROUP: Final = "node.k8s.io"
_MISMATCH: Final = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
_UNFOUNDED: Final = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"


def take_from_runtime(review: Review) -> None:
    """Fills in a new pod's overhead, node selector and tolerations from its class."""
    found = _class(review)
    if found is None:
        return
    spec = review.spec
    if overhead := held(found, "overhead", "podFixed"):
        if (told := spec.get("overhead")) and not _is_same(told, overhead):
            raise review.refused(_MISMATCH)
        spec["overhead"] = overhead
    scheduling = held(found, "scheduling")
    if selector := held(scheduling, "nodeSelector"):
        spec["nodeSelector"] = _merged(review, held(spec, "nodeSelector"), selector)
    tolerations = scheduling.get("tolerations")
    if isinstance(tolerations, list):
        own = spec.get("tolerations")
        known: list[Json] = own if isinstance(own, list) else []
        spec["tolerations"] = [*known, *(one for one in tolerations if one not in known)]


def refuse_overhead(review: Review) -> None:
    """Refuses a new pod with an overhead that no class gave it."""
    if review.operation != "CREATE" or not review.is_of("", "Pod") or review.is_seed:
        return
    told = review.spec.get("overhead")
    if told is None:
        return
    found = _class(review)
    overhead = held(found or {}, "overhead", "podFixed")
    if not overhead:
        raise review.refused(_UNFOUNDED)
    if not _is_same(told, overhead):
        raise review.refused(_MISMATCH)


def _class(review: Review) -> Tree | None:
    if review.operation != "CREATE" or not review.is_of("", "Pod") or review.is_seed:
        return None
    name = review.spec.get("runtimeClassName")
    if not isinstance(name, str):
        return None
    found = review.store.find(review.resource(_GROUP, "RuntimeClass"), "", name)
    if found is None:
        raise review.refused(f'pod rejected: RuntimeClass "{name}" not found')
    return found.body.tree()


def _merged(review: Review, own: Tree, runtime: Tree) -> Json:
    for key, value in runtime.items():
        if key in own and own[key] != value:
            why = f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}"
            raise review.refused(f"{why}; pod.spec.nodeSelector[{key}] = {own[key]}")
    return {**own, **runtime}


def _is_same(one: Json, other: Tree) -> bool:
    if not isinstance(one, dict) or one.keys() != other.keys():
        return False
    try:
        return all(quantity.parse(str(one[name])) == quantity.parse(str(other[name])) for name in one)
    except quantity.QuantityError:
        return False
