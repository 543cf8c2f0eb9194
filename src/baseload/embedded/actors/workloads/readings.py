"""The specs and statuses of workloads, as their controllers read and write them."""

from typing import Literal

import msgspec

from baseload.embedded.actors.pods import Written
from baseload.kube.types.core import PodTemplateSpec
from baseload.kube.types.meta import IntOrString, LabelSelector, Wire


class Condition(Written, frozen=True):
    """A condition of a workload; only a Deployment's has lastUpdateTime, only a Job's lastProbeTime."""

    type: str
    status: str
    last_probe_time: str = ""
    last_update_time: str = ""
    last_transition_time: str = ""
    reason: str = ""
    message: str = ""
    observed_generation: int = 0


def find(conditions: tuple[Condition, ...], type: str) -> Condition | None:
    """The condition of a type."""
    for held in conditions:
        if held.type == type:
            return held
    return None


def without(conditions: tuple[Condition, ...], type: str) -> tuple[Condition, ...]:
    """All but the condition of a type."""
    return tuple(held for held in conditions if held.type != type)


def put(conditions: tuple[Condition, ...], new: Condition) -> tuple[Condition, ...]:
    """With a condition, last; nothing changes where its type has that status and reason already."""
    held = find(conditions, new.type)
    if held is not None and (held.status, held.reason) == (new.status, new.reason):
        return conditions
    if held is not None and held.status == new.status:
        new = msgspec.structs.replace(new, last_transition_time=held.last_transition_time)
    return (*without(conditions, new.type), new)


class TemplateMetadata(Wire, frozen=True):
    labels: dict[str, str] = {}


class Template(Wire, frozen=True):
    metadata: TemplateMetadata = TemplateMetadata()


class ReplicaSetSpec(Wire, frozen=True):
    replicas: int = 1
    min_ready_seconds: int = 0
    selector: LabelSelector | None = None
    template: Template = Template()


class ReplicaSetStatus(Written, frozen=True):
    replicas: int
    fully_labeled_replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    terminating_replicas: int | None = None
    observed_generation: int = 0
    conditions: tuple[Condition, ...] = ()


class RollingUpdate(Wire, frozen=True):
    max_unavailable: IntOrString | None = None
    max_surge: IntOrString | None = None
    partition: int = 0


class Strategy(Wire, frozen=True):
    type: str = "RollingUpdate"
    rolling_update: RollingUpdate | None = None


class DeploymentSpec(Wire, frozen=True):
    replicas: int = 1
    min_ready_seconds: int = 0
    selector: LabelSelector | None = None
    strategy: Strategy = Strategy()
    revision_history_limit: int = 10
    progress_deadline_seconds: int = 600
    paused: bool = False


class DeploymentStatus(Written, frozen=True):
    observed_generation: int = 0
    replicas: int = 0
    updated_replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    unavailable_replicas: int = 0
    terminating_replicas: int | None = None
    conditions: tuple[Condition, ...] = ()
    collision_count: int | None = None


class Ordinals(Wire, frozen=True):
    start: int = 0


class Retention(Wire, frozen=True):
    when_deleted: str = "Retain"
    when_scaled: str = "Retain"


class StatefulSetSpec(Wire, frozen=True):
    replicas: int = 1
    min_ready_seconds: int = 0
    selector: LabelSelector | None = None
    service_name: str = ""
    pod_management_policy: str = "OrderedReady"
    update_strategy: Strategy = Strategy()
    revision_history_limit: int = 10
    ordinals: Ordinals = Ordinals()
    volume_claim_templates: tuple[dict[str, object], ...] = ()
    retention: Retention = msgspec.field(name="persistentVolumeClaimRetentionPolicy", default=Retention())


class StatefulSetStatus(Written, frozen=True):
    replicas: int
    available_replicas: int
    observed_generation: int = 0
    ready_replicas: int = 0
    current_replicas: int = 0
    updated_replicas: int = 0
    current_revision: str = ""
    update_revision: str = ""
    collision_count: int | None = None
    conditions: tuple[Condition, ...] = ()


class DaemonSetSpec(Wire, frozen=True):
    min_ready_seconds: int = 0
    selector: LabelSelector | None = None
    update_strategy: Strategy = Strategy()
    revision_history_limit: int = 10
    template: PodTemplateSpec = PodTemplateSpec()


class DaemonSetStatus(Written, frozen=True):
    current_number_scheduled: int
    number_misscheduled: int
    desired_number_scheduled: int
    number_ready: int
    observed_generation: int = 0
    updated_number_scheduled: int = 0
    number_available: int = 0
    number_unavailable: int = 0
    collision_count: int | None = None
    conditions: tuple[Condition, ...] = ()


class OnExitCodes(Wire, frozen=True):
    container_name: str | None = None
    operator: str = ""
    values: tuple[int, ...] = ()

    def matches(self, container: str, code: int) -> bool:
        """Whether a container that ended with a code other than 0 is meant."""
        if self.container_name not in (None, container):
            return False
        return (code in self.values) is (self.operator == "In")


class OnPodCondition(Wire, frozen=True):
    type: str = ""
    status: str = "True"


class PodFailureRule(Wire, frozen=True):
    action: Literal["FailJob", "FailIndex", "Ignore", "Count"] = "Count"
    on_exit_codes: OnExitCodes | None = None
    on_pod_conditions: tuple[OnPodCondition, ...] = ()


class PodFailurePolicy(Wire, frozen=True):
    rules: tuple[PodFailureRule, ...] = ()


class SuccessRule(Wire, frozen=True):
    succeeded_indexes: str | None = None
    succeeded_count: int | None = None


class SuccessPolicy(Wire, frozen=True):
    rules: tuple[SuccessRule, ...] = ()


class JobSpec(Wire, frozen=True):
    parallelism: int = 1
    completions: int | None = None
    completion_mode: str = "NonIndexed"
    backoff_limit: int = 6
    backoff_limit_per_index: int | None = None
    max_failed_indexes: int | None = None
    active_deadline_seconds: int | None = None
    ttl_seconds_after_finished: int | None = None
    suspend: bool = False
    pod_replacement_policy: str = "TerminatingOrFailed"
    pod_failure_policy: PodFailurePolicy | None = None
    success_policy: SuccessPolicy | None = None
    template: PodTemplateSpec = PodTemplateSpec()

    @property
    def is_indexed(self) -> bool:
        return self.completion_mode == "Indexed"


class Uncounted(Written, frozen=True):
    """Pods that ended and are not counted yet; here they are counted in the step in which that is seen."""


NONE_UNCOUNTED = Uncounted()


class JobStatus(Written, frozen=True):
    conditions: tuple[Condition, ...] = ()
    start_time: str = ""
    completion_time: str = ""
    active: int = 0
    succeeded: int = 0
    failed: int = 0
    terminating: int | None = None
    completed_indexes: str = ""
    failed_indexes: str | None = None
    uncounted_terminated_pods: Uncounted | None = None
    ready: int | None = None

    @property
    def end(self) -> Condition | None:
        """The condition by which it is over."""
        over = (held for held in self.conditions if held.type in ("Complete", "Failed") and held.status == "True")
        return next(over, None)
