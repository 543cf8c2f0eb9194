"""Readings of the batch group: jobs and the schedules that make them."""

from baseload.kube.types.core import PodTemplateSpec
from baseload.kube.types.meta import Condition, LabelSelector, ObjectMeta, Wire


class JobSpec(Wire, frozen=True):
    parallelism: int | None = None  # None reads as 1
    completions: int | None = None
    suspend: bool = False
    selector: LabelSelector | None = None
    template: PodTemplateSpec = PodTemplateSpec()
    completion_mode: str = ""


class JobStatus(Wire, frozen=True):
    active: int = 0
    succeeded: int = 0
    failed: int = 0
    conditions: tuple[Condition, ...] = ()


class Job(Wire, frozen=True):
    metadata: ObjectMeta
    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()


class JobTemplateSpec(Wire, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: JobSpec = JobSpec()


class CronJobSpec(Wire, frozen=True):
    schedule: str = ""
    time_zone: str = ""
    suspend: bool = False
    job_template: JobTemplateSpec = JobTemplateSpec()


class CronJob(Wire, frozen=True):
    metadata: ObjectMeta
    spec: CronJobSpec = CronJobSpec()
