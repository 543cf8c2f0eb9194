"""HorizontalPodAutoscalers as their controller reads and writes them, in version 2."""

import msgspec

from baseload.embedded.actors.pods import Written
from baseload.embedded.actors.workloads.readings import Condition
from baseload.kube.types.meta import Wire


class TargetReference(Wire, frozen=True):
    api_version: str = ""
    kind: str = ""
    name: str = ""


class MetricTarget(Wire, frozen=True):
    type: str = ""
    average_utilization: int | None = None
    average_value: str | int | float | None = None


class ResourceMetric(Wire, frozen=True):
    name: str = ""
    container: str = ""
    target: MetricTarget = MetricTarget()


class Metric(Wire, frozen=True):
    type: str = ""
    resource: ResourceMetric | None = None
    container_resource: ResourceMetric | None = None


class ScalingPolicy(Wire, frozen=True):
    type: str = ""
    value: int = 0
    period_seconds: int = 0


class ScalingRules(Wire, frozen=True):
    stabilization_window_seconds: int | None = None
    select_policy: str = "Max"
    policies: tuple[ScalingPolicy, ...] = ()
    tolerance: str | int | float | None = None


class Behavior(Wire, frozen=True):
    scale_up: ScalingRules | None = None
    scale_down: ScalingRules | None = None


class AutoscalerSpec(Wire, frozen=True):
    scale_target_ref: TargetReference = TargetReference()
    min_replicas: int = 1
    max_replicas: int = 0
    metrics: tuple[Metric, ...] = ()
    behavior: Behavior | None = None


class AutoscalerStatus(Written, frozen=True):
    current_metrics: tuple[msgspec.Raw, ...] | None
    desired_replicas: int
    current_replicas: int = 0
    observed_generation: int = 0
    last_scale_time: str = ""
    conditions: tuple[Condition, ...] = ()
