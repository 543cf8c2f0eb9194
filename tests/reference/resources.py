"""Quantities and what pods ask for (§7), in exact nano-units."""

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction

from .algebra import Manifest

Amounts = dict[str, int]

DECIMAL = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
UNIT = 10**9


def quantity(text: str | int | float) -> int:
    """§7.3: a quantity in nano-units, rounded up as Kubernetes does."""
    text = str(text)
    if text[-2:] in BINARY:
        value = Fraction(text[:-2]) * Fraction(2) ** BINARY[text[-2:]]
    elif text[-1] in DECIMAL:
        value = Fraction(text[:-1]) * Fraction(10) ** DECIMAL[text[-1]]
    else:
        value = Fraction(text)
    return math.ceil(value * UNIT)


def amounts(listed: Mapping[str, str | int | float] | None) -> Amounts:
    return {name: quantity(value) for name, value in (listed or {}).items()}


def plus(*lists: Mapping[str, int]) -> Amounts:
    result: Amounts = {}
    for one in lists:
        for name, value in one.items():
            result[name] = result.get(name, 0) + value
    return result


def minus(left: Mapping[str, int], right: Mapping[str, int]) -> Amounts:
    """§7.5: only the keys of the left side."""
    return {name: value - right.get(name, 0) for name, value in left.items()}


def larger(*lists: Mapping[str, int]) -> Amounts:
    result: Amounts = {}
    for one in lists:
        for name, value in one.items():
            result[name] = max(result.get(name, value), value)
    return result


def floored(one: Mapping[str, int]) -> Amounts:
    return {name: max(value, 0) for name, value in one.items()}


def lacking(request: Mapping[str, int], total: Mapping[str, int]) -> str | None:
    """§7.2: the first resource that keeps the request out; any negative one in the total does."""
    for name, value in sorted(total.items()):
        if value < 0:
            return name
    return next((name for name, value in sorted(request.items()) if value > total.get(name, 0)), None)


def fits(request: Mapping[str, int], total: Mapping[str, int]) -> bool:
    return lacking(request, total) is None


def container_request(container: Manifest, status: Manifest | None, infeasible: bool, limits_too: bool) -> Amounts:
    """§7.1, first item: what one container asks, in-place resizes included."""
    resources = container.get("resources") or {}
    asked = amounts(resources.get("requests"))
    if limits_too:
        asked = {**amounts(resources.get("limits")), **asked}
    if not status or not status.get("resources"):
        return asked
    actual = amounts(status["resources"].get("requests"))
    return actual if infeasible else larger(asked, actual, amounts(status.get("allocatedResources")))


def resize_infeasible(pod: Manifest) -> bool:
    status = pod.get("status") or {}
    pending = (c for c in status.get("conditions") or () if c.get("type") == "PodResizePending")
    return status.get("resize") == "Infeasible" or any(c.get("reason") == "Infeasible" for c in pending)


def pod_request(pod: Manifest, limits_too: bool = False) -> Amounts:
    """§7.1, `pods: 1` included."""
    spec, status, infeasible = pod["spec"], pod.get("status") or {}, resize_infeasible(pod)
    listed = [*(status.get("containerStatuses") or ()), *(status.get("initContainerStatuses") or ())]
    by_name = {one.get("name"): one for one in listed}
    regular = [
        container_request(c, by_name.get(c["name"]), infeasible, limits_too) for c in spec.get("containers") or ()
    ]
    running, sidecars, largest_step = plus(*regular), Amounts(), Amounts()
    for container in spec.get("initContainers") or ():
        if container.get("restartPolicy") == "Always":
            own = container_request(container, by_name.get(container["name"]), infeasible, limits_too)
            running, sidecars = plus(running, own), plus(sidecars, own)
            step = sidecars
        else:
            step = plus(container_request(container, None, infeasible, limits_too), sidecars)
        largest_step = larger(largest_step, step)
    total = larger(running, largest_step)
    named = amounts((spec.get("resources") or {}).get("requests"))
    if limits_too:
        named = {**amounts((spec.get("resources") or {}).get("limits")), **named}
    pod_level = {n: v for n, v in named.items() if n in ("cpu", "memory") or n.startswith("hugepages-")}
    return plus({**total, **pod_level}, amounts(spec.get("overhead")), {"pods": UNIT})


def allocatable(capacity: Mapping[str, int], overhead: Mapping[str, int]) -> Amounts:
    """§7.4: hugepages are taken off ordinary memory."""
    result = minus(capacity, overhead)
    pages = sum(value for name, value in capacity.items() if name.startswith("hugepages-"))
    if pages and "memory" in result:
        result["memory"] = max(result["memory"] - pages, 0)
    return result


def total_of(lists: Iterable[Mapping[str, int]]) -> Amounts:
    return plus(*lists)
