"""What a Job makes of its pods: which of them count as failures, when to try again, and when it is over."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from baseload.embedded.actors import pods
from baseload.embedded.actors.workloads import indexes
from baseload.embedded.actors.workloads.readings import JobSpec
from baseload.embedded.store.record import Record
from baseload.values import instant

FIRST_RETRY: Final = 10 * instant.SECOND
LAST_RETRY: Final = 600 * instant.SECOND
_DOUBLINGS: Final = 6  # more than lead from the first to the last

Action = Literal["FailJob", "FailIndex", "Ignore", "Count"]


@dataclass(frozen=True, slots=True)
class Failures:
    """The failures since the last success, and when the last one ended (nanoseconds)."""

    count: int = 0
    last: int = 0

    def after(self, succeeded: Iterable[int], failed: Iterable[int]) -> "Failures":
        """With pods that ended at these moments; failures before a success do not count any more."""
        ends, won = sorted(failed), max(succeeded, default=None)
        if won is None:
            return Failures(self.count + len(ends), ends[-1]) if ends else self
        later = [end for end in ends if end > won]
        return Failures(len(later), later[-1]) if later else Failures()

    @property
    def retry_at(self) -> int:
        """When the next pod may be made; 0 at once."""
        return self.last + wait(self.count) if self.count else 0


def wait(failures: int) -> int:
    """How long a Job waits after so many failures in a row (nanoseconds)."""
    return min(FIRST_RETRY << min(failures - 1, _DOUBLINGS), LAST_RETRY)


def finished_at(pod: Record) -> int:
    """When a pod ended: by its containers, else when it stopped being ready, or was deleted, or was made."""
    status = pods.status(pod)
    ends = [held.state.terminated.finished_at if held.state.terminated else "" for held in status.container_statuses]
    if ends and all(ends):
        return max(map(instant.parse, ends))
    ready = status.condition("Ready")
    if ready is not None and ready.status == "False" and ready.last_transition_time:
        return instant.parse(ready.last_transition_time)
    if pod.deletion is not None:
        return instant.parse(pod.deletion.timestamp) - pod.deletion.grace * instant.SECOND
    return instant.parse(pod.created)


def action(spec: JobSpec, pod: Record) -> tuple[Action, str]:
    """What the failure policy says of a failed pod; for FailJob, with why."""
    status = pods.status(pod)
    for index, rule in enumerate(spec.pod_failure_policy.rules if spec.pod_failure_policy is not None else ()):
        if rule.on_exit_codes is not None:
            for held in (*status.container_statuses, *status.init_container_statuses):
                code = held.state.terminated.exit_code if held.state.terminated is not None else 0
                if code and rule.on_exit_codes.matches(held.name, code):
                    what = f"Container {held.name} for pod {pod.namespace}/{pod.name} failed with exit code {code}"
                    return rule.action, f"{what} matching {rule.action} rule at index {index}"
            continue
        for condition in status.conditions:
            if any((one.type, one.status) == (condition.type, condition.status) for one in rule.on_pod_conditions):
                what = f"Pod {pod.namespace}/{pod.name} has condition {condition.type}"
                return rule.action, f"{what} matching {rule.action} rule at index {index}"
    return "Count", ""


def has_restarted_too_often(spec: JobSpec, running: Iterable[Record]) -> bool:
    """Whether containers that are restarted in place have used up the back-off limit."""
    if spec.template.spec.restart_policy != "OnFailure":
        return False
    restarts = 0
    for pod in running:
        status = pods.status(pod)
        every = (*status.init_container_statuses, *status.container_statuses)
        restarts += sum(held.restart_count for held in every)
    return restarts > 0 if spec.backoff_limit == 0 else restarts >= spec.backoff_limit


def wanted(spec: JobSpec, *, active: int, succeeded: int) -> int:
    """How many pods are to be active."""
    if spec.completions is None:
        return active if succeeded else spec.parallelism
    return max(0, min(spec.parallelism, spec.completions - succeeded))


def is_complete(spec: JobSpec, *, active: int, succeeded: int) -> bool:
    """Whether enough pods have succeeded; without a number, one is enough when all have ended."""
    if active:
        return False
    return succeeded > 0 if spec.completions is None else succeeded >= spec.completions


def succeeds_early(spec: JobSpec, done: set[int]) -> str:
    """Which rule of the success policy is met, in words; "" where none is."""
    for number, rule in enumerate(spec.success_policy.rules if spec.success_policy is not None else ()):
        among = done
        if rule.succeeded_indexes is not None:
            asked = indexes.parse(rule.succeeded_indexes, spec.completions or 0)
            among = done & asked
            if rule.succeeded_count is None and among != asked:
                continue
        if among and (rule.succeeded_count is None or len(among) >= rule.succeeded_count):
            return f"Matched rules at index {number}"
    return ""


def missing(completions: int, taken: set[int], count: int) -> list[int]:
    """The lowest indexes that nothing is done about, at most so many."""
    found: list[int] = []
    for index in range(completions):
        if len(found) >= count:
            break
        if index not in taken:
            found.append(index)
    return found


def first_to_go(active: Sequence[Record], count: int) -> list[Record]:
    """The pods to delete where there are too many: those that have got least far."""

    def far(pod: Record) -> tuple[bool, bool, bool, str, str]:
        return bool(pod.node), pods.status(pod).phase == "Running", pods.is_ready(pod), "", pod.name

    newest = sorted(active, key=lambda pod: pod.created, reverse=True)
    return sorted(newest, key=far)[:count]
