"""Jobs: pods until enough of them have succeeded, or too many have failed.

Every pod carries a finalizer until it is counted, so none is missed and none counted twice. A Job whose end is decided
first says so (SuccessCriteriaMet, FailureTarget) and is over when its last pod has ended.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from baseload.embedded.actors import pods
from baseload.embedded.actors.workloads import indexes, job_pods, making, readings, trials
from baseload.embedded.actors.workloads.controller import Controller, Workplace, said
from baseload.embedded.actors.workloads.job_pods import FAILURES, TRACKING
from baseload.embedded.actors.workloads.making import BURST
from baseload.embedded.actors.workloads.ownership import ACTIVE, Tally, controller_of
from baseload.embedded.actors.workloads.pod_controller import PodController
from baseload.embedded.actors.workloads.readings import Condition, JobSpec, JobStatus
from baseload.embedded.actors.workloads.trials import Failures
from baseload.embedded.store.errors import NotFound, StatusError
from baseload.embedded.store.log import Event
from baseload.embedded.store.record import Owner, Record
from baseload.values import instant

SUCCESS: Final = "SuccessCriteriaMet"
FAILURE: Final = "FailureTarget"
COMPLETE: Final = "Complete"
FAILED: Final = "Failed"
SUSPENDED: Final = "Suspended"
_END_OF: Final = {SUCCESS: COMPLETE, FAILURE: FAILED}


@dataclass(slots=True)
class _Work:
    """One look at a Job, and what becomes of its status."""

    record: Record
    spec: JobSpec
    tally: Tally
    conditions: tuple[Condition, ...]
    start: str
    active: int
    ready: int
    terminating: int
    succeeded: int
    failed: int
    done: set[int] = field(default_factory=set)  # indexes that succeeded
    lost: set[int] = field(default_factory=set)  # indexes that failed for good
    counted: list[Record] = field(default_factory=list)
    verdict: tuple[str, str, str] | None = None  # type, reason and message of the end, once it is decided
    due: int | None = None


class Jobs(PodController):
    """The Job controller."""

    component, group, kind = "job-controller", "batch", "Job"

    def __init__(self, place: Workplace) -> None:
        super().__init__(place)
        self._pod = self.client.kind("", "Pod")
        self._ended: dict[str, dict[str, None]] = {}  # uid of the Job -> keys of its pods that are to be counted
        self._failures: dict[str, Failures] = {}  # key of the Job, or of one index of it -> its failures
        self._strays: dict[str, None] = {}  # keys of pods whose Job is gone

    def begin(self) -> None:
        super().begin()
        for pod in self.client.records("", "Pod").values():
            owner = controller_of(pod)
            if owner is not None and owner.kind == self.kind:
                self._file(owner, pod)

    def note_pod(self, owner: Owner, event: Event) -> None:
        if event.type != "DELETED":
            self._file(owner, event.record)
        super().note_pod(owner, event)

    def _file(self, owner: Owner, pod: Record) -> None:
        if TRACKING not in pod.finalizers:
            return
        if pods.is_over(pod) or pod.deletion is not None:
            self._ended.setdefault(owner.uid, {})[pod.key] = None
        record = self.client.store.find(self.resource, pod.namespace, owner.name)
        if record is None or record.uid != owner.uid:
            self._strays[pod.key] = None

    def work(self) -> None:
        for key in list(self._strays):
            del self._strays[key]
            self._release(self.client.records("", "Pod").get(key))
        super().work()

    def gone(self, key: str) -> None:
        super().gone(key)
        for known in [known for known in self._failures if known.partition("#")[0] == key]:
            del self._failures[known]

    def _release(self, pod: Record | None) -> None:
        if pod is not None and TRACKING in pod.finalizers:
            self.client.drop_finalizer(pod, TRACKING)

    # -- sync

    def sync(self, record: Record) -> None:
        spec, tally = record.body.spec(JobSpec), self.pods.of(record.uid)
        held = said(record, JobStatus) or JobStatus()
        if held.end is not None:
            self._release_all(record, self._ended.pop(record.uid, {}))
            return
        if record.deletion is None and self.claim(record, tally):
            return
        work = self._begun(record, spec, tally, held)
        self._count(work, self._ended.pop(record.uid, {}))
        self._judge(work)
        error = self._manage(work)
        self._finish(work)
        self._tell(work, held)
        for pod in work.counted:
            self._release(self.current(pod))
        if work.due is not None:
            self.queue.add_at(record.key, work.due)
        if error is not None:
            raise error

    def _begun(self, record: Record, spec: JobSpec, tally: Tally, held: JobStatus) -> _Work:
        start = held.start_time or ("" if spec.suspend else self.client.now())
        below = spec.completions or 0
        return _Work(
            record,
            spec,
            tally,
            held.conditions,
            start,
            tally.active,
            tally.ready,
            tally.terminating,
            held.succeeded,
            held.failed,
            indexes.parse(held.completed_indexes, below),
            indexes.parse(held.failed_indexes or "", below),
        )

    def _count(self, work: _Work, ended: Iterable[str]) -> None:
        """Counts the pods that ended, each once: its finalizer goes when that is written."""
        won, lost = list[int](), list[int]()
        for key in ended:
            pod = self.client.records("", "Pod").get(key)
            if pod is None or TRACKING not in pod.finalizers or not _is_of(pod, work.record):
                continue
            phase = pods.status(pod).phase
            if phase == "Succeeded":
                won.append(trials.finished_at(pod))
                self._won(work, pod)
            elif phase == "Failed" or work.spec.pod_replacement_policy != "Failed":
                if self._lost(work, pod):
                    lost.append(trials.finished_at(pod))
            else:
                continue
            work.counted.append(pod)
        key = work.record.key
        failures = self._failures.get(key, Failures()).after(won, lost)
        if failures.count:
            self._failures[key] = failures
        else:
            self._failures.pop(key, None)

    def _won(self, work: _Work, pod: Record) -> None:
        index = job_pods.index_of(pod)
        if not work.spec.is_indexed:
            work.succeeded += 1
        elif index is not None and index < (work.spec.completions or 0):
            work.done.add(index)

    def _lost(self, work: _Work, pod: Record) -> bool:
        """Counts a failure; False where the policy says that it is none."""
        what, why = trials.action(work.spec, pod) if pods.is_over(pod) else ("Count", "")
        if what == "FailJob" and work.verdict is None:
            work.verdict = FAILURE, "PodFailurePolicy", why
        index = job_pods.index_of(pod)
        if index is not None and work.spec.backoff_limit_per_index is not None:
            self._lost_index(work, pod, index, what)
        if what == "Ignore":
            return False
        work.failed += 1
        return True

    def _lost_index(self, work: _Work, pod: Record, index: int, what: trials.Action) -> None:
        before = int(pod.shared.annotations.get(FAILURES, "0"))
        count = before + (what != "Ignore")
        self._failures[f"{work.record.key}#{index}"] = Failures(count, trials.finished_at(pod) if count else 0)
        if what == "FailIndex" or count > (work.spec.backoff_limit_per_index or 0):
            work.lost.add(index)

    def _judge(self, work: _Work) -> None:
        """Decides whether it is to end, by what was decided before, by failures, by successes."""
        spec = work.spec
        if spec.is_indexed:
            work.succeeded = len(work.done)
        for type in _END_OF:
            held = readings.find(work.conditions, type)
            if held is not None and held.status == "True":
                work.verdict = type, held.reason, held.message
                return
        if work.verdict is not None:
            return
        failure = self._failure(work)
        if failure is not None:
            work.verdict = FAILURE, *failure
        elif met := trials.succeeds_early(spec, work.done):
            work.verdict = SUCCESS, "SuccessPolicy", met

    def _failure(self, work: _Work) -> tuple[str, str] | None:
        spec = work.spec
        if work.failed > spec.backoff_limit or trials.has_restarted_too_often(spec, self._running(work)):
            return "BackoffLimitExceeded", "Job has reached the specified backoff limit"
        if spec.active_deadline_seconds is not None and not spec.suspend and work.start:
            end = instant.parse(work.start) + spec.active_deadline_seconds * instant.SECOND
            if self.place.now >= end:
                return "DeadlineExceeded", "Job was active longer than specified deadline"
            work.due = end
        if spec.backoff_limit_per_index is None:
            return None
        if spec.max_failed_indexes is not None and len(work.lost) > spec.max_failed_indexes:
            return "MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes"
        if work.lost and len(work.lost) + len(work.done) >= (spec.completions or 0):
            return "FailedIndexes", "Job has failed indexes"
        return None

    def _running(self, work: _Work) -> Iterable[Record]:
        return work.tally.in_state(ACTIVE) if work.spec.template.spec.restart_policy == "OnFailure" else ()

    # -- pods

    def _manage(self, work: _Work) -> StatusError | None:
        spec = work.spec
        if work.verdict is not None:
            return self._delete(work, work.tally.in_state(ACTIVE))
        if work.record.deletion is not None:
            return None
        self._say_suspended(work)
        if spec.suspend:
            return self._delete(work, work.tally.in_state(ACTIVE))
        want = trials.wanted(spec, active=work.active, succeeded=work.succeeded)
        if work.active > want:
            return self._delete(work, trials.first_to_go(work.tally.in_state(ACTIVE), work.active - want))
        missing = want - work.active - (work.terminating if spec.pod_replacement_policy == "Failed" else 0)
        if missing > 0:
            return self._add(work, min(missing, BURST))
        return None

    def _add(self, work: _Work, count: int) -> StatusError | None:
        spec, record, now = work.spec, work.record, self.place.now
        again = 0
        if spec.backoff_limit_per_index is None:
            again = self._failures.get(record.key, Failures()).retry_at
        if again > now:
            work.due = again if work.due is None else min(work.due, again)
            return None
        numbers: list[int | None] = [None] * count
        if spec.is_indexed:
            numbers = [*self._indexes(work, count)]

        def make() -> None:
            index = numbers.pop(0)
            failed = self._failures.get(f"{record.key}#{index}", Failures()).count
            body = job_pods.body(record, index, failed if spec.backoff_limit_per_index is not None else None)
            try:
                pod = self.client.create(self._pod, record.namespace, body)
            except StatusError as error:
                self.recorder.record(record, "Warning", "FailedCreate", f"Error creating: {error}")
                raise
            work.active += 1
            self.wrote(record.key, pod)
            self.recorder.record(record, "Normal", "SuccessfulCreate", f"Created pod: {pod.name}")

        return making.slowly(len(numbers), make)[1]

    def _indexes(self, work: _Work, count: int) -> list[int]:
        """The indexes to make pods for now; when others may be tried again is noted."""
        now, record = self.place.now, work.record
        taken = {*work.done, *work.lost}
        taken.update(index for pod in work.tally.in_state(ACTIVE) if (index := job_pods.index_of(pod)) is not None)
        found = []
        for index in trials.missing(work.spec.completions or 0, taken, work.spec.completions or 0):
            again = self._failures.get(f"{record.key}#{index}", Failures()).retry_at
            if again > now:
                work.due = again if work.due is None else min(work.due, again)
            else:
                found.append(index)
        return found[:count]

    def _delete(self, work: _Work, chosen: list[Record]) -> StatusError | None:
        error = None
        for pod in chosen:
            try:
                self.wrote(work.record.key, self.client.delete(pod))
            except NotFound:
                continue
            except StatusError as refused:
                error = error or refused
                continue
            self.recorder.record(work.record, "Normal", "SuccessfulDelete", f"Deleted pod: {pod.name}")
            work.active -= 1
            work.terminating += 1
            work.ready -= pods.is_ready(pod)
        return error

    def _release_all(self, record: Record, keys: Iterable[str]) -> None:
        for key in keys:
            self._release(self.client.records("", "Pod").get(key))

    # -- status

    def _say_suspended(self, work: _Work) -> None:
        held = readings.find(work.conditions, SUSPENDED)
        if work.spec.suspend and (held is None or held.status != "True"):
            work.start = ""
            self._say(work, SUSPENDED, "True", "JobSuspended", "Job suspended")
            self.recorder.record(work.record, "Normal", "Suspended", "Job suspended")
        elif not work.spec.suspend and held is not None and held.status == "True":
            work.start = self.client.now()
            self._say(work, SUSPENDED, "False", "JobResumed", "Job resumed")
            self.recorder.record(work.record, "Normal", "Resumed", "Job resumed")

    def _say(self, work: _Work, type: str, status: str, reason: str, message: str) -> None:
        now = self.client.now()
        new = Condition(type, status, now, "", now, reason, message)
        work.conditions = readings.put(work.conditions, new)

    def _finish(self, work: _Work) -> None:
        """Tells that it is to end, and that it is over once its last pod has ended."""
        if work.verdict is None and trials.is_complete(work.spec, active=work.active, succeeded=work.succeeded):
            work.verdict = SUCCESS, "CompletionsReached", "Reached expected number of succeeded pods"
        if work.verdict is None:
            return
        type, reason, message = work.verdict
        self._say(work, type, "True", reason, message)
        if work.active or work.terminating:
            return
        self._say(work, _END_OF[type], "True", reason, message)
        if type == SUCCESS:
            self.recorder.record(work.record, "Normal", "Completed", "Job completed")
        else:
            self.recorder.record(work.record, "Warning", reason, message)

    def _tell(self, work: _Work, held: JobStatus) -> None:
        is_complete = readings.find(work.conditions, COMPLETE) is not None
        status = JobStatus(
            work.conditions,
            work.start,
            held.completion_time or (self.client.now() if is_complete else ""),
            work.active,
            work.succeeded,
            work.failed,
            work.terminating,
            indexes.format(work.done) if work.spec.is_indexed else "",
            indexes.format(work.lost) if work.spec.backoff_limit_per_index is not None else None,
            readings.NONE_UNCOUNTED,
            work.ready,
        )
        self.write_status(work.record, status)


def _is_of(pod: Record, record: Record) -> bool:
    owner = controller_of(pod)
    return owner is not None and owner.uid == record.uid


class JobExpiry(Controller):
    """Deletes Jobs some time after they ended, where they say so."""

    component, group, kind = "ttl-after-finished-controller", "batch", "Job"

    def begin(self) -> None:
        self.place.hear(self.group, self.kind, ("added", "spec", "status"), self.note)
        for key in self.client.records(self.group, self.kind):
            self.queue.add(key)

    def sync(self, record: Record) -> None:
        kept, status = record.body.spec(JobSpec).ttl_seconds_after_finished, said(record, JobStatus)
        end = status.end if status is not None else None
        if kept is None or end is None or record.deletion is not None:
            return
        due = instant.parse(end.last_transition_time) + kept * instant.SECOND
        if due > self.place.now:
            self.queue.add_at(record.key, due)
        else:
            self.client.delete(record, job_pods.FOREGROUND)
