"""How many replicas a HorizontalPodAutoscaler wants: from what pods use, and from what it wanted before.

All is done in whole numbers (percentages are cut to whole ones, as Kubernetes does): no rounding of floats decides.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from baseload.values import instant

TOLERANCE: Final = 100_000  # millionths by which use may differ from the target without consequence
STABLE_DOWN: Final = 300  # seconds whose highest recommendation holds, where the autoscaler says nothing
INITIAL: Final = 300 * instant.SECOND  # how long after its start a pod's cpu may be that of starting
DELAY: Final = 30 * instant.SECOND  # how long a pod may take to be ready at first
_MILLION: Final = 1_000_000
_DESIRED: Final = "the desired replica count"

Group = Literal["ready", "unready", "ignored", "missing"]


class MetricError(Exception):
    """A metric cannot be worked out; the message is Kubernetes' own."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A pod, what it requests and what it uses (both in one unit), and how it counts."""

    group: Group
    request: int
    usage: int = 0


@dataclass(frozen=True, slots=True)
class Target:
    """A percentage of the requests, or an average amount for each pod."""

    utilization: int | None = None
    average: int | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """What one metric asks for, and what its current value is."""

    replicas: int
    utilization: int | None
    average: int


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a difference is passed over, by direction (millionths)."""

    up: int = TOLERANCE
    down: int = TOLERANCE

    def holds(self, value: int, target: int) -> bool:
        """Whether a value is near enough to its target."""
        return target * (_MILLION - self.down) <= value * _MILLION <= target * (_MILLION + self.up)


def measured(samples: Sequence[Sample], target: Target, current: int, limits: Limits) -> Measured:
    """The replicas at which a metric would meet its target."""
    counted = [sample for sample in samples if sample.group == "ready"]
    if not counted:
        raise MetricError("did not receive metrics for targeted pods (pods might be unready)")
    total = sum(sample.usage for sample in counted)
    value, wanted, told = _ratio(counted, target)
    average = total // len(counted)
    unready = [sample for sample in samples if sample.group == "unready"]
    missing = [sample for sample in samples if sample.group == "missing"]
    is_up = value > wanted
    if not missing and not (unready and is_up):
        replicas = current if limits.holds(value, wanted) else -(-value * len(counted) // wanted)
        return Measured(replicas, told, average)
    # What is not known is taken to be what keeps the change small.
    assumed = list(counted)
    if value != wanted:
        usages = (0 if is_up else _as_targeted(sample, target) for sample in missing)
        assumed.extend(Sample("ready", sample.request, usage) for sample, usage in zip(missing, usages, strict=True))
    if unready and is_up:
        assumed.extend(Sample("ready", sample.request, 0) for sample in unready)
    again, wanted, _ = _ratio(assumed, target)
    replicas = -(-again * len(assumed) // wanted)
    turned = (value < wanted < again) or (again < wanted < value)
    backwards = (again < wanted and replicas > current) or (again > wanted and replicas < current)
    if limits.holds(again, wanted) or turned or backwards:
        replicas = current
    return Measured(replicas, told, average)


def _ratio(samples: Sequence[Sample], target: Target) -> tuple[int, int, int | None]:
    """(value, what it should be, percentage of the requests)."""
    used, requested = sum(sample.usage for sample in samples), sum(sample.request for sample in samples)
    percent = used * 100 // requested if requested else None
    if target.utilization is not None:
        assert percent is not None
        return percent, target.utilization, percent
    return used // len(samples), target.average or 1, percent


def _as_targeted(sample: Sample, target: Target) -> int:
    if target.utilization is not None:
        return sample.request * max(100, target.utilization) // 100
    return target.average or 0


@dataclass(frozen=True, slots=True)
class Policy:
    """So many pods, or so many percent, within so many seconds."""

    type: str
    value: int
    period: int


@dataclass(frozen=True, slots=True)
class Rules:
    """One direction of a behaviour."""

    policies: tuple[Policy, ...]
    select: str = "Max"  # Max, Min or Disabled
    window: int = 0  # seconds whose recommendations are looked back on


UP: Final = Rules((Policy("Pods", 4, 15), Policy("Percent", 100, 15)))
DOWN: Final = Rules((Policy("Percent", 100, 15),), window=STABLE_DOWN)

History = Sequence[tuple[int, int]]
"""(when, how many) of what was recommended, or of changes that were made"""


def stabilized(recommended: int, current: int, history: History, now: int, up: Rules, down: Rules) -> int:
    """The size held back by the window: up to the lowest recommendation in it, down to the highest."""
    lowest = min([recommended, *_within(history, now, up.window)])
    highest = max([recommended, *_within(history, now, down.window)])
    return min(max(current, lowest), highest)


def _within(history: History, now: int, seconds: int) -> list[int]:
    return [value for moment, value in history if moment > now - seconds * instant.SECOND]


def most(current: int, ups: History, downs: History, now: int, rules: Rules) -> int:
    """The largest size that the policies for growing allow now."""
    if rules.select == "Disabled":
        return current
    sizes = []
    for policy in rules.policies:
        start = current - sum(_within(ups, now, policy.period)) + sum(_within(downs, now, policy.period))
        grown = policy.value if policy.type == "Pods" else -(-start * policy.value // 100)
        sizes.append(start + grown)
    return _chosen(sizes, current, is_max=rules.select == "Max")


def least(current: int, ups: History, downs: History, now: int, rules: Rules) -> int:
    """The smallest size that the policies for shrinking allow now."""
    if rules.select == "Disabled":
        return current
    sizes = []
    for policy in rules.policies:
        start = current + sum(_within(downs, now, policy.period)) - sum(_within(ups, now, policy.period))
        left = start - policy.value if policy.type == "Pods" else start * (100 - policy.value) // 100
        sizes.append(left)
    return _chosen(sizes, current, is_max=rules.select != "Max")


def _chosen(sizes: Iterable[int], current: int, *, is_max: bool) -> int:
    found = list(sizes)
    if not found:
        return current
    return max(found) if is_max else min(found)


@dataclass(frozen=True, slots=True)
class Bounded:
    """A size within its bounds, and what bounded it."""

    replicas: int
    reason: str
    message: str

    @property
    def is_limited(self) -> bool:
        return self.reason != "DesiredWithinRange"


def bounded(wanted: int, current: int, *, change: tuple[int, int], bounds: tuple[int, int]) -> Bounded:
    """A size within minReplicas and maxReplicas (`bounds`), and within what may be reached now (`change`)."""
    least_now, most_now = min(change[0], current), max(change[1], current)
    if wanted > current and wanted > min(most_now, bounds[1]):
        if most_now < bounds[1]:
            return Bounded(most_now, "ScaleUpLimit", f"{_DESIRED} is increasing faster than the maximum scale rate")
        return Bounded(bounds[1], "TooManyReplicas", f"{_DESIRED} is more than the maximum replica count")
    if wanted < current and wanted < max(least_now, bounds[0]):
        if least_now > bounds[0]:
            return Bounded(least_now, "ScaleDownLimit", f"{_DESIRED} is decreasing faster than the maximum scale rate")
        return Bounded(bounds[0], "TooFewReplicas", f"{_DESIRED} is less than the minimum replica count")
    return Bounded(wanted, "DesiredWithinRange", "the desired count is within the acceptable range")
