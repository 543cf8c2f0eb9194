"""CronJobs: a Job for the latest time that has come, as far as those that still run allow one."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, cast

import msgspec

from baseload.embedded.actors.pods import Written
from baseload.embedded.actors.workloads.controller import ALL, Controller, Workplace, said
from baseload.embedded.actors.workloads.making import Tree
from baseload.embedded.actors.workloads.ownership import controller_of, reference
from baseload.embedded.actors.workloads.readings import JobStatus
from baseload.embedded.store.deletion import Options
from baseload.embedded.store.errors import AlreadyExists, NotFound
from baseload.embedded.store.log import Event
from baseload.embedded.store.record import Record
from baseload.kube.types.meta import Wire
from baseload.values import cron, instant
from baseload.values.cron import CronError, Schedule

SCHEDULED: Final = "batch.kubernetes.io/cronjob-scheduled-timestamp"
LATE: Final = instant.SECOND // 10  # how long after its time a schedule is looked at
TOO_MANY: Final = 100  # missed times, from which on it is told
_BACKGROUND: Final = Options(propagation="Background")
_MINUTE: Final = 60 * instant.SECOND


class CronJobSpec(Wire, frozen=True):
    schedule: str = ""
    time_zone: str = ""
    suspend: bool = False
    concurrency_policy: str = "Allow"
    starting_deadline_seconds: int | None = None
    successful_jobs_history_limit: int = 3
    failed_jobs_history_limit: int = 1


class Reference(Written, frozen=True):
    """A Job that is running."""

    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    api_version: str = ""
    resource_version: str = ""


class CronJobStatus(Written, frozen=True):
    active: tuple[Reference, ...] = ()
    last_schedule_time: str = ""
    last_successful_time: str = ""


@dataclass(frozen=True, slots=True)
class Due:
    """What a schedule asks for now."""

    time: int | None  # the latest time that has come and is not too long ago
    is_behind: bool  # whether many were missed


def due(schedule: Schedule, *, since: int, now: int, deadline: int | None) -> Due:
    """The latest time after the last run, within the deadline (seconds); what was missed before is dropped."""
    earliest = since if deadline is None else max(since, now - deadline * instant.SECOND)
    return Due(schedule.latest(earliest, now), schedule.is_more_than(TOO_MANY, earliest, now))


def outdated(finished: Iterable[tuple[str, str]], limit: int) -> list[str]:
    """The Jobs beyond the limit, the first that began first; each is (start, name)."""
    ordered = [name for _, name in sorted(finished)]
    return ordered[: max(0, len(ordered) - limit)]


def job_name(name: str, time: int) -> str:
    """One name for each time, so that none is run twice."""
    return f"{name}-{time // _MINUTE}"


class CronJobs(Controller):
    """The CronJob controller."""

    component, group, kind = "cronjob-controller", "batch", "CronJob"

    def __init__(self, place: Workplace) -> None:
        super().__init__(place)
        self._job = self.client.kind("batch", "Job")
        self._schedules: dict[tuple[str, str], Schedule] = {}

    def begin(self) -> None:
        super().begin()
        self.place.hear("batch", "Job", ALL, self._note_job)

    def _note_job(self, event: Event) -> None:
        owner = controller_of(event.record)
        if owner is not None and owner.kind == self.kind:
            self.queue.add(f"{event.record.namespace}/{owner.name}")

    def sync(self, record: Record) -> None:
        spec, held = record.body.spec(CronJobSpec), said(record, CronJobStatus) or CronJobStatus()
        jobs = [job for job in self.client.store.garbage.dependents(record.uid) if job.resource is self._job.resource]
        status = self._looked_after(record, held, jobs)
        self._clean(record, spec, jobs)
        if record.deletion is None and not spec.suspend:
            status = self._run(record, spec, status)
        self.write_status(record, status)

    def _looked_after(self, record: Record, held: CronJobStatus, jobs: list[Record]) -> CronJobStatus:
        """The status without the Jobs that ended or went."""
        by_uid, running, succeeded = {job.uid: job for job in jobs}, [], held.last_successful_time
        for one in held.active:
            job = by_uid.get(one.uid)
            if job is None:
                self.recorder.record(record, "Normal", "MissingJob", f"Active job went missing: {one.name}")
                continue
            status = said(job, JobStatus) or JobStatus()
            if status.end is None:
                running.append(one)
                continue
            message = f"Saw completed job: {job.name}, condition: {status.end.type}"
            self.recorder.record(record, "Normal", "SawCompletedJob", message)
            if status.end.type == "Complete":
                succeeded = max(succeeded, status.completion_time)
        return CronJobStatus(tuple(running), held.last_schedule_time, succeeded)

    def _clean(self, record: Record, spec: CronJobSpec, jobs: list[Record]) -> None:
        limits = (("Complete", spec.successful_jobs_history_limit), ("Failed", spec.failed_jobs_history_limit))
        for type, limit in limits:
            ended = {
                job.name: ((said(job, JobStatus) or JobStatus()).start_time, job)
                for job in jobs
                if (end := (said(job, JobStatus) or JobStatus()).end) is not None and end.type == type
            }
            for name in outdated(((start, name) for name, (start, _) in ended.items()), limit):
                self._delete(record, ended[name][1])

    def _delete(self, record: Record, job: Record) -> None:
        try:
            self.client.delete(job, _BACKGROUND)
        except NotFound:
            return
        self.recorder.record(record, "Normal", "SuccessfulDelete", f"Deleted job {job.name}")

    def _run(self, record: Record, spec: CronJobSpec, status: CronJobStatus) -> CronJobStatus:
        """The status after a Job was made, if one is due; the next time is noted."""
        schedule, now = self._schedule(record, spec), self.place.now
        if schedule is None:
            return status
        since = instant.parse(status.last_schedule_time or record.created)
        told = due(schedule, since=since, now=now, deadline=spec.starting_deadline_seconds)
        if told.is_behind:
            message = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew"
            self.recorder.record(record, "Warning", "TooManyMissedTimes", message)
        following = schedule.next(now if told.time is None or not schedule.every else told.time)
        if following is not None:
            self.queue.add_at(record.key, following + LATE)
        if told.time is None:
            return status
        if spec.concurrency_policy == "Forbid" and status.active:
            message = "Not starting job because prior execution is running and concurrency policy is Forbid"
            self.recorder.record(record, "Normal", "JobAlreadyActive", message)
            return status
        if spec.concurrency_policy == "Replace":
            status = self._replaced(record, status)
        return self._made(record, spec, status, told.time)

    def _replaced(self, record: Record, status: CronJobStatus) -> CronJobStatus:
        for one in status.active:
            job = self.client.store.find(self._job.resource, record.namespace, one.name)
            if job is not None and job.uid == one.uid:
                self._delete(record, job)
        return msgspec.structs.replace(status, active=())

    def _made(self, record: Record, spec: CronJobSpec, status: CronJobStatus, time: int) -> CronJobStatus:
        try:
            job = self.client.create(self._job, record.namespace, job_body(record, spec, time))
        except AlreadyExists:
            job = self.client.store.get(self._job.resource, record.namespace, job_name(record.name, time))
            owner = controller_of(job)
            if owner is None or owner.uid != record.uid or any(one.uid == job.uid for one in status.active):
                return status
        else:
            self.recorder.record(record, "Normal", "SuccessfulCreate", f"Created job {job.name}")
        running = Reference("Job", job.namespace, job.name, job.uid, "batch/v1", str(job.version))
        return CronJobStatus((*status.active, running), instant.format(time), status.last_successful_time)

    def _schedule(self, record: Record, spec: CronJobSpec) -> Schedule | None:
        known = self._schedules.get((spec.schedule, spec.time_zone))
        if known is None:
            try:
                known = cron.parse(spec.schedule, spec.time_zone)
            except (CronError, KeyError, ValueError) as error:
                message = f"unparseable schedule: {spec.schedule} : {error}"
                self.recorder.record(record, "Warning", "UnparseableSchedule", message)
                return None
            self._schedules[spec.schedule, spec.time_zone] = known
        return known


def job_body(record: Record, spec: CronJobSpec, time: int) -> bytes:
    """The JSON of the Job of one time."""
    template = cast(Tree, cast(Tree, record.body.tree()["spec"]).get("jobTemplate") or {})
    given = cast(Tree, template.get("metadata") or {})
    metadata: Tree = {
        "name": job_name(record.name, time),
        "annotations": {**cast(Tree, given.get("annotations") or {}), SCHEDULED: cron.local(time, spec.time_zone)},
        "ownerReferences": [reference(record)],
    }
    if given.get("labels"):
        metadata["labels"] = given["labels"]
    tree = {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": template.get("spec") or {}}
    return msgspec.json.encode(tree)
