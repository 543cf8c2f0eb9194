"""How many pods a PodDisruptionBudget lets go: arithmetic on counts."""

from dataclasses import dataclass
from typing import Final

from baseload.embedded.actors.workloads.portions import portion
from baseload.kube.types.policy import PodDisruptionBudgetSpec
from baseload.values import instant

FORGOTTEN: Final = 120 * instant.SECOND  # how long an eviction counts whose pod is still there


@dataclass(frozen=True, slots=True)
class Allowance:
    """The numbers of a budget's status."""

    expected: int
    desired: int
    healthy: int

    @property
    def allowed(self) -> int:
        return max(0, self.healthy - self.desired) if self.expected > 0 else 0


def asks_controllers(spec: PodDisruptionBudgetSpec) -> bool:
    """Whether what is expected follows from the scale of the pods' controllers, not from the pods themselves."""
    return spec.max_unavailable is not None or isinstance(spec.min_available, str)


def allowance(spec: PodDisruptionBudgetSpec, *, pods: int, scales: int, healthy: int) -> Allowance:
    """What a budget allows with so many pods, of controllers that want so many; percentages are rounded up."""
    expected = scales if asks_controllers(spec) else pods
    if spec.max_unavailable is not None:
        desired = max(0, expected - portion(spec.max_unavailable, expected, up=True))
    else:
        desired = portion(spec.min_available, expected, up=True)
    return Allowance(expected, desired, healthy)
