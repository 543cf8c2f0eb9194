"""What a pod asks of a node: Kubernetes' computation over containers, init containers, sidecars and overhead.

Amounts are nano-units by resource name; `pods: 1` is part of every pod's request. Rules: provisioning spec 7.1.
"""

from collections.abc import Mapping
from typing import Final

from baseload.kube.types.core import Container, ContainerStatus, Pod, PodSpec
from baseload.kube.types.meta import Quantity
from baseload.values import quantity

PODS: Final = "pods"
Amounts = dict[str, int]
"""resource name -> nano-units"""


def amounts(resources: Mapping[str, Quantity]) -> Amounts:
    """Written quantities as numbers."""
    return {name: quantity.parse(text) for name, text in resources.items()}


def add(into: Amounts, more: Mapping[str, int]) -> Amounts:
    """Adds in place; a resource that `into` lacks is taken over."""
    for name, amount in more.items():
        into[name] = into.get(name, 0) + amount
    return into


def greatest(into: Amounts, other: Mapping[str, int]) -> Amounts:
    """The larger of both in place, resource by resource."""
    for name, amount in other.items():
        if amount > into.get(name, amount - 1):
            into[name] = amount
    return into


def is_resized(pod: Pod) -> bool:
    """Whether its status says anything of its size, which its spec tells otherwise."""
    status = pod.status
    return any(map(_resized, status.container_statuses)) or any(map(_resized, status.init_container_statuses))


def of_pod(pod: Pod) -> Amounts:
    """A pod's request, the sizes of a resize in place included."""
    statuses = {status.name: status for status in (*pod.status.container_statuses, *pod.status.init_container_statuses)}
    infeasible = pod.status.resize == "Infeasible" or any(
        c.type == "PodResizePending" and c.reason == "Infeasible" for c in pod.status.conditions
    )
    return _of_spec(pod.spec, {name: s for name, s in statuses.items() if _resized(s)}, infeasible=infeasible)


def of_spec(spec: PodSpec, *, limits_fill: bool = False) -> Amounts:
    """The request of a pod made from a template; `limits_fill` for templates that the API server has not defaulted."""
    return _of_spec(spec, {}, limits_fill=limits_fill)


def _resized(status: ContainerStatus) -> bool:
    return bool(status.allocated_resources) or (status.resources is not None and bool(status.resources.requests))


def _of_spec(
    spec: PodSpec, statuses: Mapping[str, ContainerStatus], *, infeasible: bool = False, limits_fill: bool = False
) -> Amounts:
    def of(container: Container) -> Amounts:
        return _of_container(container, statuses.get(container.name), infeasible, limits_fill)

    total: Amounts = {}
    for container in spec.containers:
        add(total, of(container))
    sidecars: Amounts = {}
    largest_step: Amounts = {}
    for container in spec.init_containers:
        own = of(container)
        if container.restart_policy == "Always":
            add(total, own)
            add(sidecars, own)
            greatest(largest_step, sidecars)
        else:
            greatest(largest_step, add(dict(sidecars), own))
    greatest(total, largest_step)
    if spec.resources is not None:
        total.update(amounts(spec.resources.requests))
    if spec.overhead:
        add(total, amounts(spec.overhead))
    total[PODS] = quantity.UNIT
    return total


def _of_container(container: Container, status: ContainerStatus | None, infeasible: bool, limits_fill: bool) -> Amounts:
    requests = amounts(container.resources.requests)
    if limits_fill and container.resources.limits:
        requests = amounts(container.resources.limits) | requests
    if status is None:
        return requests
    actual = amounts(status.resources.requests) if status.resources is not None else {}
    greatest(actual, amounts(status.allocated_resources))
    return actual if infeasible else greatest(requests, actual)
