"""What containers and pods request and may use."""

from functools import lru_cache
from typing import Any, Final

from baseload.kube.validation import names
from baseload.kube.validation.fault import Faults, Tree, duplicate, forbidden, invalid, not_found, required, unsupported
from baseload.kube.validation.names import each
from baseload.kube.validation.remembered import once
from baseload.values import quantity

_HUGE: Final = "hugepages-"
_STANDARD: Final = ("cpu", "memory", "ephemeral-storage")
_INTEGER: Final = frozenset(
    (
        "pods",
        "services",
        "replicationcontrollers",
        "resourcequotas",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
        "services.nodeports",
        "services.loadbalancers",
    )
)
_KNOWN: Final = frozenset(
    (
        *_STANDARD,
        *_INTEGER,
        "requests.cpu",
        "requests.memory",
        "requests.ephemeral-storage",
        "limits.cpu",
        "limits.memory",
        "limits.ephemeral-storage",
        "requests.storage",
        "storage",
    )
)
"""Names without a domain that Kubernetes gives a meaning somewhere"""
_NEGATIVE: Final = "must be greater than or equal to 0"


def amount(value: Any) -> int:
    """A quantity that could be decoded, in nano-units."""
    try:
        return quantity.parse(value)
    except quantity.QuantityError:
        return 2**63 * quantity.UNIT  # what is beyond all counting


def name(text: str, path: str) -> Faults:
    """The name of a resource, anywhere."""
    wrong = names.qualified(text)
    yield from each(wrong, path, text)
    if not wrong and "/" not in text and text not in _KNOWN and not _is_huge(text):
        yield invalid(path, text, "must be a standard resource type or fully qualified")


def _is_huge(text: str) -> bool:
    return text.startswith((_HUGE, f"requests.{_HUGE}"))


@lru_cache(maxsize=4096)
def _of_container(text: str) -> bool:
    """Whether a container can have the resource, so that nothing more needs to be said of its name."""
    if "/" not in text:
        return text in _STANDARD or text.startswith(_HUGE)
    return is_extended(text) and not names.qualified(text)


def container_name(text: str, path: str) -> Faults:
    """The name of a resource of a container."""
    if _of_container(text):
        return
    yield from name(text, path)
    if "/" not in text:
        if text not in _STANDARD and not text.startswith(_HUGE):
            yield invalid(path, text, "must be a standard resource for containers")
    elif not is_native(text) and not is_extended(text):
        yield invalid(path, text, "doesn't follow extended resource name standard")


def is_native(text: str) -> bool:
    """Whether Kubernetes itself gives the resource a meaning."""
    return "/" not in text or "kubernetes.io/" in text


def is_extended(text: str) -> bool:
    """Whether the resource is one that somebody advertises on nodes, such as example.com/gpu."""
    return not is_native(text) and not text.startswith("requests.") and not names.qualified(f"requests.{text}")


def is_whole(text: str) -> bool:
    """Whether the resource comes in whole numbers only."""
    return text in _INTEGER or is_extended(text)


def value(text: str, given: Any, path: str) -> Faults:
    """The amount of a resource."""
    nanos = amount(given)
    if nanos < 0:
        yield invalid(path, str(given), _NEGATIVE)
    if nanos % quantity.UNIT and is_whole(text):
        yield invalid(path, str(given), "must be an integer")


def _overcommits(text: str) -> bool:
    return is_native(text) and not text.startswith(_HUGE)


@once
def requirements(given: Tree, path: str, claims: frozenset[str] = frozenset()) -> Faults:
    """The requests and limits of a container, and the claims of the pod that it uses."""
    limits, requests = given.get("limits", {}), given.get("requests", {})
    for field, amounts in (("limits", limits), ("requests", requests)):
        for resource in sorted(amounts):
            yield from _amount(resource, amounts[resource], f"{path}.{field}[{resource}]")
            if field == "requests":
                yield from _against_limit(resource, amounts[resource], limits.get(resource), path)
    asked = {*limits, *requests}
    if any(one.startswith(_HUGE) for one in asked) and not asked & {"cpu", "memory"}:
        yield forbidden(path, "HugePages require cpu or memory")
    if given.get("claims"):
        yield from _claims(given["claims"], f"{path}.claims", claims)


def _amount(resource: str, given: Any, path: str) -> Faults:
    yield from container_name(resource, path)
    yield from value(resource, given, path)
    if resource.startswith(_HUGE):
        page = amount(resource.removeprefix(_HUGE))
        if not page or amount(given) % page:
            yield invalid(path, str(given), f"{given} is not positive integer multiple of {resource}")


def _against_limit(resource: str, given: Any, limit: Any, path: str) -> Faults:
    if limit is None:
        if not _overcommits(resource):
            yield required(f"{path}.limits", "Limit must be set for non overcommitable resources")
    elif not _overcommits(resource) and amount(given) != amount(limit):
        yield invalid(f"{path}.requests", str(given), f"must be equal to {resource} limit of {limit}")
    elif amount(given) > amount(limit):
        yield invalid(f"{path}.requests", str(given), f"must be less than or equal to {resource} limit of {limit}")


def _claims(given: list[Tree], path: str, known: frozenset[str]) -> Faults:
    seen: set[str] = set()
    for index, claim in enumerate(given):
        at, told = f"{path}[{index}]", claim.get("name", "")
        if not told:
            yield required(at)
            continue
        key = told + (f"/{claim['request']}" if claim.get("request") else "")
        if key in seen:
            yield duplicate(at, told)
        seen.add(key)
        if told not in known:
            empty = "" if known else " which is empty"
            yield not_found(at, told, f"must be one of the names in pod.spec.resourceClaims{empty}")


def of_pod(spec: Tree, path: str) -> Faults:
    """What a pod asks for as a whole, beside what its containers ask for."""
    given = spec.get("resources")
    if not given:
        return
    at = f"{path}.resources"
    for field in ("limits", "requests"):
        for resource in sorted(given.get(field, {})):
            if resource not in ("cpu", "memory") and not resource.startswith(_HUGE):
                yield unsupported(f"{at}.{field}[{resource}]", resource, ("cpu", _HUGE, "memory"))
            yield from value(resource, given[field][resource], f"{at}.{field}[{resource}]")
    for resource in sorted(given.get("requests", {})):
        yield from _against_limit(resource, given["requests"][resource], given.get("limits", {}).get(resource), at)
    for resource, asked in sorted(given.get("requests", {}).items()):
        total = _total(spec, "requests", resource)
        if total > amount(asked):
            shown = quantity.format(total)
            why = f"must be greater than or equal to aggregate container requests of {shown}"
            yield invalid(f"{at}.requests[{resource}]", str(asked), why)


def _total(spec: Tree, field: str, resource: str) -> int:
    return sum(
        amount(container.get("resources", {}).get(field, {}).get(resource, 0))
        for container in spec.get("containers") or ()
    )


def amounts(given: Tree, path: str) -> Faults:
    """A list of resources, as of overhead or of a node."""
    for resource in sorted(given):
        yield from container_name(resource, f"{path}[{resource}]")
        yield from value(resource, given[resource], f"{path}[{resource}]")
