"""ReplicaSets: as many active pods as they ask for, made in slow-start batches, the least missed deleted first."""

from collections.abc import Iterable
from typing import Final

from baseload.embedded.actors.workloads import making, ranking
from baseload.embedded.actors.workloads.controller import Workplace, said
from baseload.embedded.actors.workloads.making import BURST, Bodies
from baseload.embedded.actors.workloads.ownership import (
    ACTIVE,
    READY,
    Tally,
    controller_of,
    ready_since,
)
from baseload.embedded.actors.workloads.pod_controller import PodController
from baseload.embedded.actors.workloads.readings import Condition, ReplicaSetSpec, ReplicaSetStatus, find, without
from baseload.embedded.store.errors import NotFound, StatusError
from baseload.embedded.store.log import Event
from baseload.embedded.store.record import Owner, Record
from baseload.values import instant

_FAILURE: Final = "ReplicaFailure"
NOTHING: Final = ReplicaSetStatus(0)


def change(replicas: int, active: int) -> int:
    """How many pods to make, or with a minus to delete, in one sync."""
    return max(-BURST, min(BURST, replicas - active))


def available(pods: Iterable[Record], min_ready: int, now: int) -> tuple[int, int | None]:
    """How many ready pods have been so for long enough (seconds), and when the next will have been."""
    if not min_ready:
        return sum(1 for _ in pods), None
    count, next_due = 0, None
    for pod in pods:
        since = ready_since(pod)
        due = (since if since is not None else now) + min_ready * instant.SECOND
        if due <= now:
            count += 1
        elif next_due is None or due < next_due:
            next_due = due
    return count, next_due


class ReplicaSets(PodController):
    """The ReplicaSet controller."""

    component, group, kind = "replicaset-controller", "apps", "ReplicaSet"

    def __init__(self, place: Workplace) -> None:
        super().__init__(place)
        self._pod = self.client.kind("", "Pod")
        self._bodies = Bodies(lambda record: making.generated_body(record, making.template_of(record)))

    def note_pod(self, owner: Owner, event: Event) -> None:
        """Only what a pod counts as is of interest: not that it was bound, or that a container starts."""
        if self.pods.is_other:
            super().note_pod(owner, event)

    def sync(self, record: Record) -> None:
        spec = record.body.spec(ReplicaSetSpec)
        tally = self.pods.of(record.uid)
        error = None
        if record.deletion is None:
            if self.claim(record, tally):
                return
            error = self._adjust(record, change(spec.replicas, tally.active), tally)
        current = self.current(record)
        if current is None:
            return
        status, due = self._status(current, spec, tally, error)
        self.write_status(current, status)
        if due is not None:
            self.queue.add_at(record.key, due)
        if error is not None:
            raise error

    def _adjust(self, record: Record, by: int, tally: Tally) -> StatusError | None:
        if by > 0:
            return self._grow(record, by)
        if by < 0:
            return self._shrink(record, -by, tally)
        return None

    def _grow(self, record: Record, count: int) -> StatusError | None:
        body = self._bodies.of(record)
        create = self.client.create_alike if count > 1 else self.client.create

        def make() -> None:
            try:
                pod = create(self._pod, record.namespace, body)
            except StatusError as error:
                self.recorder.record(record, "Warning", "FailedCreate", f"Error creating: {error}")
                raise
            self.wrote(record.key, pod)
            self.recorder.record(record, "Normal", "SuccessfulCreate", f"Created pod: {pod.name}")

        return making.slowly(count, make)[1]

    def _shrink(self, record: Record, count: int, tally: Tally) -> StatusError | None:
        error = None
        for pod in self._first_to_go(record, count, tally):
            try:
                self.wrote(record.key, self.client.delete(pod))
            except NotFound:
                continue
            except StatusError as refused:
                self.recorder.record(record, "Warning", "FailedDelete", f"Error deleting: {refused}")
                error = error or refused
            else:
                self.recorder.record(record, "Normal", "SuccessfulDelete", f"Deleted pod: {pod.name}")
        return error

    def _first_to_go(self, record: Record, count: int, tally: Tally) -> list[Record]:
        active = tally.in_state(ACTIVE)
        if count >= len(active):
            return active
        beside: dict[str, int] = {}
        for uid in self._family(record):
            for pod in self.pods.of(uid).in_state(ACTIVE):
                beside[pod.node] = beside.get(pod.node, 0) + 1
        ranked = ranking.in_order(
            (ranking.candidate(pod, beside[pod.node] if pod.node else 0) for pod in active), self.place.now
        )
        return [tally.pods[chosen.key] for chosen in ranked[:count]]

    def _family(self, record: Record) -> list[str]:
        """The ReplicaSets of the same Deployment, by uid."""
        owner = controller_of(record)
        if owner is None:
            return [record.uid]
        siblings = self.client.store.garbage.dependents(owner.uid)
        return [sibling.uid for sibling in siblings if sibling.resource is self.resource]

    def _status(
        self, record: Record, spec: ReplicaSetSpec, tally: Tally, error: StatusError | None
    ) -> tuple[ReplicaSetStatus, int | None]:
        held = said(record, ReplicaSetStatus) or NOTHING
        if spec.min_ready_seconds:
            count, due = available(tally.in_state(READY), spec.min_ready_seconds, self.place.now)
        else:
            count, due = tally.ready, None
        return (
            ReplicaSetStatus(
                tally.active,
                tally.labelled(spec.template.metadata.labels),
                tally.ready,
                count,
                tally.terminating,
                record.generation,
                self._conditions(held, spec.replicas - tally.active, error),
            ),
            due,
        )

    def _conditions(self, held: ReplicaSetStatus, missing: int, error: StatusError | None) -> tuple[Condition, ...]:
        failure = find(held.conditions, _FAILURE)
        if error is None:
            return without(held.conditions, _FAILURE) if failure is not None else held.conditions
        if failure is not None:
            return held.conditions
        reason = "FailedCreate" if missing > 0 else "FailedDelete"
        now = self.client.now()
        new = Condition(_FAILURE, "True", last_transition_time=now, reason=reason, message=str(error))
        return (*held.conditions, new)

    def gone(self, key: str) -> None:
        super().gone(key)
        self._bodies.forget(key)
