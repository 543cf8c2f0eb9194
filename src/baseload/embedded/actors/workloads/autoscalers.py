"""HorizontalPodAutoscalers: every 15 s as many replicas as their metrics ask for.

What pods use comes from the port by which metrics.k8s.io is answered too (`embedded.api.usage`). Metrics of other
sources than pods' resources have no server here, and fail as they do in a cluster without one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec

from baseload.embedded.actors import pods
from baseload.embedded.actors.workloads import autoscale, readings
from baseload.embedded.actors.workloads.autoscale import Limits, Measured, MetricError, Policy, Rules, Sample, Target
from baseload.embedded.actors.workloads.autoscaling import (
    AutoscalerSpec,
    AutoscalerStatus,
    Behavior,
    ResourceMetric,
    ScalingRules,
)
from baseload.embedded.actors.workloads.controller import OF_SPEC, Controller, Workplace, said
from baseload.embedded.actors.workloads.ownership import controller_of
from baseload.embedded.actors.workloads.readings import Condition, ReplicaSetSpec
from baseload.embedded.api.usage import Amounts, Usage
from baseload.embedded.store.log import Event
from baseload.embedded.store.record import Record
from baseload.kube.kinds import group_of
from baseload.kube.types.core import PodSpec
from baseload.kube.types.meta import LabelSelector, Wire
from baseload.values import instant, quantity, selector

PERIOD: Final = 15 * instant.SECOND
WINDOW: Final = 30 * instant.SECOND  # over which use is measured
LEGACY: Final = 2, 4  # without a behaviour: at most twice as many, or four
_NANO: Final = 10**9
_MILLI: Final = 10**6  # to which Kubernetes measures

Load = Callable[[str, int], Amounts]
"""(namespace/name of a workload, now) -> what all of its pods use together"""


@dataclass(slots=True)
class _Memory:
    """What was recommended and done for one autoscaler: (when, how many)."""

    recommended: list[tuple[int, int]] = field(default_factory=list)
    ups: list[tuple[int, int]] = field(default_factory=list)
    downs: list[tuple[int, int]] = field(default_factory=list)


class Autoscalers(Controller):
    """The HorizontalPodAutoscaler controller."""

    component, group, kind = "horizontal-pod-autoscaler", "autoscaling", "HorizontalPodAutoscaler"

    def __init__(self, place: Workplace) -> None:
        super().__init__(place)
        self._memories: dict[str, _Memory] = {}

    def begin(self) -> None:
        self.place.hear(self.group, self.kind, OF_SPEC, self.note)
        for key in self.client.records(self.group, self.kind):
            self.queue.add(key)

    def note(self, event: Event) -> None:
        self.queue.add(event.record.key)

    def gone(self, key: str) -> None:
        super().gone(key)
        self._memories.pop(key, None)

    def sync(self, record: Record) -> None:
        self.queue.add_at(record.key, self.place.now + PERIOD)
        spec = record.body.spec(AutoscalerSpec)
        held = said(record, AutoscalerStatus) or AutoscalerStatus(None, 0)
        target = self._target(record, spec)
        if target is None:
            ref = spec.scale_target_ref
            message = f'{ref.kind.lower()}s.{group_of(ref.api_version)} "{ref.name}" not found'
            self.recorder.record(record, "Warning", "FailedGetScale", message)
            why = f"the HPA controller was unable to get the target's current scale: {message}"
            conditions = self._with(held.conditions, "AbleToScale", "False", "FailedGetScale", why)
            self._tell(record, held, held.current_replicas, held.desired_replicas, conditions, held.current_metrics)
            return
        message = "the HPA controller was able to get the target's current scale"
        conditions = self._with(held.conditions, "AbleToScale", "True", "SucceededGetScale", message)
        current = target.body.spec(ReplicaSetSpec).replicas
        memory = self._memories.setdefault(record.key, _Memory([(self.place.now, current)]))
        if current == 0:
            message = "scaling is disabled since the replica count of the target is zero"
            conditions = self._with(conditions, "ScalingActive", "False", "ScalingDisabled", message)
            self._tell(record, held, 0, 0, conditions, None)
        elif current > spec.max_replicas or current < spec.min_replicas:
            is_above = current > spec.max_replicas
            why = f"Current number of replicas {'above Spec.MaxReplicas' if is_above else 'below Spec.MinReplicas'}"
            wanted = spec.max_replicas if is_above else spec.min_replicas
            self._scale(record, held, target, (current, wanted, why), conditions, held.current_metrics)
        else:
            self._by_metrics(record, spec, held, target, current, conditions, memory)

    def _by_metrics(
        self,
        record: Record,
        spec: AutoscalerSpec,
        held: AutoscalerStatus,
        target: Record,
        current: int,
        conditions: tuple[Condition, ...],
        memory: _Memory,
    ) -> None:
        found, told, failed = self._measure(record, spec, target, current)
        if failed is not None:
            reason, why = failed
            self.recorder.record(record, "Warning", reason, why)
            if not found or max(replicas for replicas, _ in found) < current:
                message = f"the HPA was unable to compute the replica count: {why}"
                conditions = self._with(conditions, "ScalingActive", "False", reason, message)
                self._tell(record, held, current, held.desired_replicas, conditions, told)
                self.recorder.record(record, "Warning", "FailedComputeMetricsReplicas", _invalid(spec, why))
                return
        wanted, name = max(found, key=lambda one: one[0])
        message = f"the HPA was able to successfully calculate a replica count from {name}"
        conditions = self._with(conditions, "ScalingActive", "True", "ValidMetricFound", message)
        why = f"{name} above target" if wanted > current else "All metrics below target"
        wanted, conditions = self._normalized(spec, current, wanted, conditions, memory)
        self._scale(record, held, target, (current, wanted, why), conditions, told)

    def _normalized(
        self, spec: AutoscalerSpec, current: int, wanted: int, conditions: tuple[Condition, ...], memory: _Memory
    ) -> tuple[int, tuple[Condition, ...]]:
        now, up, down = self.place.now, *_rules(spec)
        held_back = autoscale.stabilized(wanted, current, memory.recommended, now, up, down)
        keep = now - max(up.window, down.window, autoscale.STABLE_DOWN) * instant.SECOND
        memory.recommended = [one for one in memory.recommended if one[0] > keep] + [(now, wanted)]
        if held_back == wanted:
            message = "recommended size matches current size"
            conditions = self._with(conditions, "AbleToScale", "True", "ReadyForNewScale", message)
        else:
            which = ("lower", "lowest", "Up") if wanted >= current else ("higher", "highest", "Down")
            message = f"recent recommendations were {which[0]} than current one, applying the {which[1]} recent"
            reason = f"Scale{which[2]}Stabilized"
            conditions = self._with(conditions, "AbleToScale", "True", reason, f"{message} recommendation")
        lowest = autoscale.least(current, memory.ups, memory.downs, now, down)
        highest = autoscale.most(current, memory.ups, memory.downs, now, up)
        if spec.behavior is None:
            lowest, highest = 0, max(LEGACY[0] * current, LEGACY[1])
        bounds = spec.min_replicas, spec.max_replicas
        told = autoscale.bounded(held_back, current, change=(lowest, highest), bounds=bounds)
        limited = "True" if told.is_limited else "False"
        return told.replicas, self._with(conditions, "ScalingLimited", limited, told.reason, told.message)

    # -- measuring

    def _measure(
        self, record: Record, spec: AutoscalerSpec, target: Record, current: int
    ) -> tuple[list[tuple[int, str]], tuple[msgspec.Raw, ...], tuple[str, str] | None]:
        """What each metric asks for and is called, as the status tells it; and the first failure."""
        found, told, failed = list[tuple[int, str]](), list[msgspec.Raw](), None
        for metric in spec.metrics:
            asked = metric.resource or metric.container_resource
            if asked is None:
                failed = failed or (f"FailedGet{metric.type}Metric", _unserved(metric.type))
                continue
            try:
                measured = self._measured(record, target, asked, current, _limits(spec))
            except MetricError as error:
                why = f"failed to get {asked.name} utilization: {error}"
                failed = failed or (f"FailedGet{metric.type}Metric", why)
                continue
            found.append((measured.replicas, _name(asked)))
            told.append(_told(metric.type, asked, measured))
        return found, tuple(told), failed

    def _measured(
        self, record: Record, target: Record, asked: ResourceMetric, current: int, limits: Limits
    ) -> Measured:
        wanted = selector.compile(target.body.spec(_Selecting).selector)
        samples = [
            self._sample(pod, asked)
            for pod in self.pods.in_namespace(record.namespace)
            if wanted.matches(pod.shared.labels)
        ]
        if not samples:
            raise MetricError("no pods returned by selector while calculating replica count")
        average = asked.target.average_value
        goal = Target(asked.target.average_utilization, quantity.parse(average) if average is not None else None)
        return autoscale.measured(samples, goal, current, limits)

    def _sample(self, pod: Record, asked: ResourceMetric) -> Sample:
        status, request = pods.status(pod), 0
        for container in pod.body.spec(PodSpec).containers:
            if asked.container and container.name != asked.container:
                continue
            held = container.resources.requests.get(asked.name)
            if held is None and asked.target.average_utilization is not None:
                what = f"missing request for {asked.name} in container {container.name} of Pod {pod.name}"
                raise MetricError(what)
            request += quantity.parse(held) if held is not None else 0
        if pod.deletion is not None or status.phase in ("Failed", "Succeeded"):
            return Sample("ignored", request)
        if status.phase != "Running":
            return Sample("unready", request)
        used = self.place.usage(pod)
        mine = [amounts for name, amounts in used.items() if not asked.container or name == asked.container]
        if not mine:
            return Sample("missing", request)
        usage = sum(amounts.get(asked.name, 0) for amounts in mine)
        is_unready = asked.name == "cpu" and self._is_starting(status)
        return Sample("unready" if is_unready else "ready", request, usage)

    def _is_starting(self, status: pods.PodStatus) -> bool:
        """Whether a pod's cpu is that of starting."""
        ready = status.condition("Ready")
        if ready is None or not status.start_time:
            return True
        start, now = instant.parse(status.start_time), self.place.now
        changed = instant.parse(ready.last_transition_time or status.start_time)
        if start + autoscale.INITIAL > now:
            return ready.status != "True" or now < changed + WINDOW
        return ready.status != "True" and start + autoscale.DELAY > changed

    # -- writing

    def _target(self, record: Record, spec: AutoscalerSpec) -> Record | None:
        ref = spec.scale_target_ref
        kind = self.client.cluster.kinds.named(group_of(ref.api_version), ref.kind)
        if kind is None or kind.scale is None:
            return None
        return self.client.store.find(kind.resource, record.namespace, ref.name)

    def _scale(
        self,
        record: Record,
        held: AutoscalerStatus,
        target: Record,
        change: tuple[int, int, str],
        conditions: tuple[Condition, ...],
        told: tuple[msgspec.Raw, ...] | None,
    ) -> None:
        current, wanted, why = change
        if wanted == current:
            self._tell(record, held, current, wanted, conditions, told)
            return
        self.client.merge(target, {"spec": {"replicas": wanted}})
        now, memory = self.place.now, self._memories[record.key]
        done = memory.ups if wanted > current else memory.downs
        done[:] = [one for one in done if one[0] > now - 1800 * instant.SECOND] + [(now, abs(wanted - current))]
        self.recorder.record(record, "Normal", "SuccessfulRescale", f"New size: {wanted}; reason: {why}")
        message = f"the HPA controller was able to update the target scale to {wanted}"
        conditions = self._with(conditions, "AbleToScale", "True", "SucceededRescale", message)
        held = msgspec.structs.replace(held, last_scale_time=self.client.now())
        self._tell(record, held, current, wanted, conditions, told)

    def _tell(
        self,
        record: Record,
        held: AutoscalerStatus,
        current: int,
        wanted: int,
        conditions: tuple[Condition, ...],
        told: tuple[msgspec.Raw, ...] | None,
    ) -> None:
        status = AutoscalerStatus(told, wanted, current, record.generation, held.last_scale_time, conditions)
        self.write_status(record, status)

    def _with(
        self, conditions: tuple[Condition, ...], type: str, status: str, reason: str, message: str
    ) -> tuple[Condition, ...]:
        """With a condition in its place, its time kept while its status stays."""
        held, now = readings.find(conditions, type), self.client.now()
        since = held.last_transition_time if held is not None and held.status == status else now
        new = Condition(type, status, last_transition_time=since, reason=reason, message=message)
        if held is None:
            return (*conditions, new)
        return tuple(new if one.type == type else one for one in conditions)


class _Selecting(Wire, frozen=True):
    selector: LabelSelector | None = None


def spread(load: Load, place: Workplace) -> Usage:
    """What a pod uses where a script tells what its workload does: an even share of it, in its first container."""

    def used(pod: Record) -> Mapping[str, Amounts]:
        owner = controller_of(pod)
        if owner is None:
            return {}
        count, name = place.pods.of(owner.uid).ready, owner.name
        above = place.client.store.find(place.client.resource("apps", "ReplicaSet"), pod.namespace, owner.name)
        higher = controller_of(above) if above is not None and above.uid == owner.uid else None
        if higher is not None:
            name, owned = higher.name, place.client.store.garbage.dependents(higher.uid)
            count = sum(place.pods.of(held.uid).ready for held in owned)
        amounts = load(f"{pod.namespace}/{name}", place.now)
        first = pod.body.spec(PodSpec).containers[0].name
        return {first: {resource: amount // max(1, count) for resource, amount in amounts.items()}}

    return used


def _rules(spec: AutoscalerSpec) -> tuple[Rules, Rules]:
    behavior = spec.behavior or Behavior()
    return _of(behavior.scale_up, autoscale.UP), _of(behavior.scale_down, autoscale.DOWN)


def _of(given: ScalingRules | None, default: Rules) -> Rules:
    if given is None:
        return default
    policies = tuple(Policy(one.type, one.value, one.period_seconds) for one in given.policies)
    window = given.stabilization_window_seconds
    return Rules(policies or default.policies, given.select_policy, default.window if window is None else window)


def _limits(spec: AutoscalerSpec) -> Limits:
    behavior = spec.behavior or Behavior()
    up, down = (rules.tolerance if rules is not None else None for rules in (behavior.scale_up, behavior.scale_down))
    millionths = [
        autoscale.TOLERANCE if one is None else quantity.parse(one) * 1_000_000 // _NANO for one in (up, down)
    ]
    return Limits(*millionths)


def _name(asked: ResourceMetric) -> str:
    if asked.target.average_utilization is None:
        return f"{asked.name} resource"
    where = f"container {asked.container} " if asked.container else ""
    return f"{asked.name} {where}resource utilization (percentage of request)"


def _told(type: str, asked: ResourceMetric, measured: Measured) -> msgspec.Raw:
    """A metric's current value, as the status tells it."""
    value: dict[str, object] = {"averageValue": quantity.format(measured.average // _MILLI * _MILLI)}
    if asked.target.average_utilization is not None:
        value = {"averageUtilization": measured.utilization, **value}
    where = {"container": asked.container} if asked.container else {}
    name = f"{type[0].lower()}{type[1:]}"
    return msgspec.Raw(msgspec.json.encode({"type": type, name: {"name": asked.name, **where, "current": value}}))


def _unserved(type: str) -> str:
    source = "external" if type == "External" else "custom"
    return f"unable to get {type.lower()} metric: no {source} metrics API is served"


def _invalid(spec: AutoscalerSpec, why: str) -> str:
    return f"invalid metrics ({len(spec.metrics)} invalid out of {len(spec.metrics)}), first error is: {why}"
