"""The numbers behind a PodDisruptionBudget, and the least change by which it lets a pod go.

The disruption controller writes what a budget allows into its status. After a change of the budget it would write
something else, which is worked out here the same way; where a status has no numbers, pods are counted.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace as with_fields

from baseload.decide.explain.edits import Edit
from baseload.decide.fit.constraints import selector_of
from baseload.decide.lifecycle import conditions
from baseload.decide.lifecycle import pods as of_pods
from baseload.kube.types.core import Pod
from baseload.kube.types.policy import PodDisruptionBudget, PodDisruptionBudgetSpec
from baseload.model.view import View, ref_of
from baseload.plan.provision import Field

ALWAYS: Final = "AlwaysAllow"
MAX: Final = "spec.maxUnavailable"
MIN: Final = "spec.minAvailable"


@dataclass(frozen=True, slots=True)
class Numbers:
    """What a budget counts."""

    expected: int
    healthy: int
    desired: int

    @property
    def allowed(self) -> int:
        return max(0, self.healthy - self.desired) if self.expected else 0


def numbers(budget: PodDisruptionBudget, view: View) -> Numbers:
    """The numbers by the budget's spec as it is now."""
    status = budget.status
    expected, healthy = status.expected_pods, status.current_healthy
    if not expected:
        pods = _guarded(budget, view)
        expected, healthy = len(pods), sum(map(_is_healthy, pods))
    return Numbers(expected, healthy, _desired(budget.spec, expected))


def brought_up_to_date(budget: PodDisruptionBudget, view: View) -> PodDisruptionBudget:
    """The budget with the status that the disruption controller would write."""
    found = numbers(budget, view)
    status = with_fields(
        budget.status,
        disruptions_allowed=found.allowed,
        current_healthy=found.healthy,
        desired_healthy=found.desired,
        expected_pods=found.expected,
    )
    return with_fields(budget, status=status)


def limit_of(budget: PodDisruptionBudget) -> tuple[str, Field]:
    """The field that limits, and what it holds."""
    if budget.spec.max_unavailable is not None:
        return MAX, budget.spec.max_unavailable
    return MIN, budget.spec.min_available


def loosened(budget: PodDisruptionBudget, pod: Pod, view: View) -> Iterator[Edit]:
    """The changes that let a pod go, the least first."""
    found = numbers(budget, view)
    ref = ref_of(budget)
    if budget.spec.unhealthy_pod_eviction_policy != ALWAYS and _is_unready(pod):
        yield Edit(ref, "spec.unhealthyPodEvictionPolicy", ALWAYS)
    if found.healthy < 1 or not found.expected:
        return
    path, held = limit_of(budget)
    if path == MAX:
        yield Edit(ref, path, _unavailable(held, found))
    else:
        yield Edit(ref, path, _available(held, found))


def _unavailable(held: Field, found: Numbers) -> Field:
    most = found.expected - found.healthy + 1
    if not isinstance(held, str) or not held.endswith("%"):
        return most
    return next((f"{p}%" for p in range(101) if _share(p, found.expected) >= most), "100%")


def _available(held: Field, found: Numbers) -> Field:
    least = found.healthy - 1
    if not isinstance(held, str) or not held.endswith("%"):
        return least
    return next((f"{p}%" for p in range(100, -1, -1) if _share(p, found.expected) <= least), "0%")


def _desired(spec: PodDisruptionBudgetSpec, expected: int) -> int:
    if spec.max_unavailable is not None:
        return max(0, expected - _scaled(spec.max_unavailable, expected))
    return _scaled(spec.min_available, expected) if spec.min_available is not None else expected


def _scaled(held: int | str, expected: int) -> int:
    text = str(held)
    try:
        return _share(int(text[:-1]), expected) if text.endswith("%") else int(text)
    except ValueError:
        return expected


def _share(percent: int, expected: int) -> int:
    """Both limits round up."""
    return -(-expected * percent // 100)


def _guarded(budget: PodDisruptionBudget, view: View) -> list[Pod]:
    selector = selector_of(budget.spec.selector)
    if selector is None:
        return []
    namespace = budget.metadata.namespace
    ours = (pod for pod in view.pods if pod.metadata.namespace == namespace and of_pods.is_active(pod))
    return [pod for pod in ours if selector.matches(pod.metadata.labels)]


def _is_healthy(pod: Pod) -> bool:
    """Whether it is Ready; of a pod whose conditions are not given, whether it runs."""
    held = conditions.find(pod.status.conditions, "Ready")
    return held.status == "True" if held is not None else bool(pod.spec.node_name)


def _is_unready(pod: Pod) -> bool:
    return conditions.status_of(pod.status.conditions, "Ready") == "False"
