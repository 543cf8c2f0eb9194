"""Deployments: a ReplicaSet for each template, and the way from one to the next."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import msgspec

from baseload.embedded.actors.workloads import deployment_status as statuses
from baseload.embedded.actors.workloads import making, readings, revisions, rollout
from baseload.embedded.actors.workloads.controller import ALL, Controller, Workplace, said
from baseload.embedded.actors.workloads.deployment_status import Subject
from baseload.embedded.actors.workloads.ownership import adopted, controller_of, is_meant
from baseload.embedded.actors.workloads.readings import DeploymentSpec, DeploymentStatus, ReplicaSetSpec
from baseload.embedded.actors.workloads.replicaset import NOTHING
from baseload.embedded.actors.workloads.revisions import REVISION, Templates
from baseload.embedded.actors.workloads.rollout import Revision, Scaled
from baseload.embedded.store.errors import AlreadyExists, StatusError
from baseload.embedded.store.log import Event
from baseload.embedded.store.record import Owner, Record
from baseload.values import selector


@dataclass(slots=True)
class _Work:
    """One look at a Deployment: its ReplicaSets, and its status as it becomes."""

    record: Record
    spec: DeploymentSpec
    held: DeploymentStatus
    new: Record | None
    old: list[Record]

    @property
    def subject(self) -> Subject:
        return Subject(self.record.name, self.record.generation, self.spec, self.new.name if self.new else "")

    @property
    def all(self) -> list[Record]:
        return [*self.old, *([self.new] if self.new is not None else [])]


class Deployments(Controller):
    """The Deployment controller."""

    component, group, kind = "deployment-controller", "apps", "Deployment"

    def __init__(self, place: Workplace) -> None:
        super().__init__(place)
        self._replica_set = self.client.kind("apps", "ReplicaSet")
        self._templates = Templates()
        self._uids: dict[str, str] = {}  # key -> uid of the Deployment that was last there
        self._known: dict[str, tuple[Record, Revision]] = {}  # uid of a ReplicaSet -> it as a rollout sees it
        self._free: dict[str, dict[str, Record]] = {}  # namespace -> key -> a ReplicaSet that nobody controls

    def begin(self) -> None:
        super().begin()
        self.place.hear("apps", "ReplicaSet", ALL, self._note_replica_set)
        self.pods.hear_removed("ReplicaSet", self._note_pod)
        for record in self.client.records("apps", "ReplicaSet").values():
            self._note_free(record, is_gone=False)

    def _note_replica_set(self, event: Event) -> None:
        record = event.record
        owner = controller_of(record)
        if owner is not None and owner.kind == self.kind:
            self.queue.add(f"{record.namespace}/{owner.name}")
        if event.type == "DELETED":
            self._templates.forget(record.uid)
            self._known.pop(record.uid, None)
        if event.old is None or event.type == "DELETED" or event.old.shared is not record.shared:
            self._note_free(record, is_gone=event.type == "DELETED")

    def _note_free(self, record: Record, *, is_gone: bool) -> None:
        """A ReplicaSet that nobody controls may be one that a Deployment means."""
        free = self._free.setdefault(record.namespace, {})
        if is_gone or controller_of(record) is not None:
            free.pop(record.key, None)
            return
        free[record.key] = record
        for key, held in self.client.records(self.group, self.kind).items():
            if held.namespace == record.namespace:
                self.queue.add(key)

    def _note_pod(self, owner: Owner, event: Event) -> None:
        """Recreate waits for the last old pod to be gone."""
        held = self.client.store.find(self._replica_set.resource, event.record.namespace, owner.name)
        above = controller_of(held) if held is not None else None
        if above is not None and above.kind == self.kind:
            key = f"{event.record.namespace}/{above.name}"
            record = self._objects.get(key)
            if record is not None and record.body.spec(DeploymentSpec).strategy.type == "Recreate":
                self.queue.add(key)

    def gone(self, key: str) -> None:
        super().gone(key)
        self._templates.forget(self._uids.pop(key, ""))

    def sync(self, record: Record) -> None:
        self._uids[record.key] = record.uid
        spec = record.body.spec(DeploymentSpec)
        if spec.selector is None:
            return
        new, old = self._revisions(record, spec)
        work = _Work(record, spec, said(record, DeploymentStatus) or DeploymentStatus(), new, old)
        if record.deletion is not None:
            self._tell(work, rolls=False)
            return
        work.held = statuses.with_pause(work.held, spec, self.client.now())
        if new is not None:
            self._renumber(work)
        if spec.paused or rollout.is_resized(map(self._seen, work.all), spec):
            self._resize(work)
        elif spec.strategy.type == "Recreate":
            self._recreate(work)
        else:
            self._roll(work)

    # -- the ways

    def _resize(self, work: _Work) -> None:
        new = self._seen(work.new) if work.new is not None else None
        scaled = rollout.resized(new, [self._seen(record) for record in work.old], work.spec)
        self._scale(work, scaled, annotate=True)
        if work.spec.paused:
            self._clean(work)
        self._tell(work, rolls=False)

    def _roll(self, work: _Work) -> None:
        if work.new is None and not self._make(work):
            return
        assert work.new is not None
        limits = rollout.bounds(work.spec)
        old = [self._seen(record) for record in work.old]
        if not self._scale(work, rollout.rolled(self._seen(work.new), old, limits)) and self._is_complete(work):
            self._clean(work)
        self._tell(work, rolls=True)

    def _recreate(self, work: _Work) -> None:
        scaled = self._scale(work, rollout.recreated(self._seen(record) for record in work.old))
        if not scaled and not self._runs_old_pods(work):
            if work.new is None and not self._make(work):
                return
            assert work.new is not None
            if work.new.body.spec(ReplicaSetSpec).replicas != work.spec.replicas:
                self._scale(work, {work.new.name: work.spec.replicas})
            if self._is_complete(work):
                self._clean(work)
        self._tell(work, rolls=True)

    def _runs_old_pods(self, work: _Work) -> bool:
        tallies = (self.pods.of(record.uid) for record in work.old)
        return any(tally.active or tally.terminating for tally in tallies) or any(
            (said(record, readings.ReplicaSetStatus) or NOTHING).replicas for record in work.old
        )

    def _is_complete(self, work: _Work) -> bool:
        return statuses.is_complete(work.held, work.subject)

    # -- ReplicaSets

    def _revisions(self, record: Record, spec: DeploymentSpec) -> tuple[Record | None, list[Record]]:
        """Its ReplicaSets, the oldest first: the one that has its template, and the others."""
        mine = [
            owned
            for owned in self.client.store.garbage.dependents(record.uid)
            if owned.resource is self._replica_set.resource
        ]
        if record.deletion is None and self._free.get(record.namespace):
            mine.extend(self._adopted(record, selector.compile(spec.selector)))
        if len(mine) > 1:
            mine.sort(key=lambda held: (held.created, held.name))
        wanted = self._templates.of(record)
        new = next((held for held in mine if self._templates.of(held) == wanted), None)
        return new, [held for held in mine if held is not new]

    def _adopted(self, record: Record, wanted: selector.Selector) -> list[Record]:
        """ReplicaSets that nobody controls and that it means, which are its own from now on."""
        free = [held for held in self._free.get(record.namespace, {}).values() if is_meant(wanted, held)]
        found = [now for held in free if (now := self.current(held)) is not None and controller_of(now) is None]
        return [self.client.merge(held, adopted(record, held)) for held in found]

    def _seen(self, record: Record) -> Revision:
        known = self._known.get(record.uid)
        if known is None or known[0] is not record:
            known = self._known[record.uid] = record, self._read(record)
        return known[1]

    def _read(self, record: Record) -> Revision:
        status = said(record, readings.ReplicaSetStatus) or NOTHING
        desired, most = revisions.scaled_for(record)
        return Revision(
            record.name,
            record.created,
            record.body.spec(ReplicaSetSpec).replicas,
            status.replicas,
            status.ready_replicas,
            status.available_replicas,
            desired,
            most,
            revisions.number(record),
            status.observed_generation >= record.generation and record.deletion is None,
        )

    def _renumber(self, work: _Work) -> None:
        """Gives the new ReplicaSet the highest number, and the Deployment the same."""
        new = work.new
        assert new is not None
        told = revisions.annotations(work.record, new, self._highest(work) + 1)
        change: dict[str, object] = {"metadata": {"annotations": told}} if told else {}
        if new.body.spec(ReplicaSetSpec).min_ready_seconds != work.spec.min_ready_seconds:
            change["spec"] = {"minReadySeconds": work.spec.min_ready_seconds}
        if change:
            new = work.new = self.client.merge(new, change)
        self._mark(work, new.shared.annotations.get(REVISION, ""))
        if statuses.has_deadline(work.spec) and readings.find(work.held.conditions, statuses.PROGRESSING) is None:
            self._say(work, "True", statuses.FOUND, f'Found new replica set "{new.name}"')

    def _highest(self, work: _Work) -> int:
        """The number of the last of the old revisions."""
        return max([self._seen(record).revision for record in work.old], default=0)

    def _mark(self, work: _Work, revision: str) -> None:
        """Writes the revision on the Deployment."""
        record = work.record
        if not revision or record.shared.annotations.get(REVISION) == revision:
            return
        work.record = self.client.annotate(record, {REVISION: revision})

    def _say(self, work: _Work, status: str, reason: str, message: str) -> None:
        told = statuses.condition(statuses.PROGRESSING, status, reason, message, self.client.now())
        conditions = readings.put(work.held.conditions, told)
        work.held = msgspec.structs.replace(work.held, conditions=conditions)

    def _make(self, work: _Work) -> bool:
        """Makes the new ReplicaSet; False where its name is taken, so that another is tried next."""
        record, spec, limits = work.record, work.spec, rollout.bounds(work.spec)
        hash = making.template_hash(making.template_of(record), work.held.collision_count or 0)
        planned = Revision(revisions.name(record.name, hash), "", 0)
        size = spec.replicas
        if spec.strategy.type == "RollingUpdate":
            size = rollout.grown(planned, [self._seen(held) for held in work.old], limits)
        number = self._highest(work) + 1
        told = {**revisions.annotations(record, None, number), **revisions.replicas(limits)}
        tree = revisions.replica_set(record, hash, size, told)
        try:
            work.new = self.client.create(self._replica_set, record.namespace, msgspec.json.encode(tree))
        except AlreadyExists:
            count = (work.held.collision_count or 0) + 1
            self.write_status(record, msgspec.structs.replace(work.held, collision_count=count))
            self.queue.failed(record.key, self.place.now)
            return False
        except StatusError as error:
            self._not_made(work, f'Failed to create new replica set "{planned.name}": {error}')
            raise
        if size:
            self._tell_scaled(work, work.new.name, 0, size)
        self._mark(work, str(number))
        if statuses.has_deadline(spec):
            self._say(work, "True", statuses.CREATED, f'Created new replica set "{work.new.name}"')
        return True

    def _not_made(self, work: _Work, message: str) -> None:
        if statuses.has_deadline(work.spec):
            self._say(work, "False", statuses.NOT_CREATED, message)
            self.write_status(work.record, work.held)
        self.recorder.record(work.record, "Warning", statuses.NOT_CREATED, message)

    def _scale(self, work: _Work, scaled: Scaled, *, annotate: bool = False) -> bool:
        """Scales ReplicaSets; whether any has another size now."""
        if not scaled:
            return False
        told, changed = revisions.replicas(rollout.bounds(work.spec)), False

        def each(record: Record) -> Record:
            nonlocal changed
            before = record.body.spec(ReplicaSetSpec).replicas
            size = scaled.get(record.name, before)
            if size == before and (not annotate or record.name not in scaled or _is_told(record, told)):
                return record
            record = self.client.scale(record, size, told)
            if size != before:
                changed = True
                self._tell_scaled(work, record.name, before, size)
            return record

        _replace(work, each)
        return changed

    def _tell_scaled(self, work: _Work, name: str, before: int, after: int) -> None:
        way = "up" if before < after else "down"
        message = f"Scaled {way} replica set {name} from {before} to {after}"
        self.recorder.record(work.record, "Normal", "ScalingReplicaSet", message)

    def _clean(self, work: _Work) -> None:
        """Deletes the revisions that are too many to keep."""
        alive = [self._seen(record) for record in work.old if record.deletion is None]
        names = rollout.outdated(alive, work.spec.revision_history_limit)
        for record in [record for record in work.old if record.name in names]:
            self.client.delete(record)
            work.old.remove(record)

    # -- status

    def _tell(self, work: _Work, *, rolls: bool) -> None:
        now, spec, subject = self.client.now(), work.spec, work.subject
        new = (said(work.new, readings.ReplicaSetStatus) or NOTHING) if work.new is not None else None
        old = [said(record, readings.ReplicaSetStatus) or NOTHING for record in work.old]
        wanted = sum([self._seen(record).spec for record in work.all])
        status = statuses.counted(subject, work.held, new, old, wanted)
        status = statuses.with_availability(status, spec, now)
        if rolls:
            status = statuses.with_progress(status, work.held, subject, now)
            status = statuses.with_failure(status, new, old)
        self.write_status(work.record, status)
        due = statuses.next_check(status, subject) if rolls else None
        if due is not None:
            self.queue.add_at(work.record.key, due)


def _is_told(record: Record, told: Mapping[str, str]) -> bool:
    held = record.shared.annotations
    return all(held.get(key) == value for key, value in told.items())


def _replace(work: _Work, function: Callable[[Record], Record]) -> None:
    """Puts what a function makes of each ReplicaSet in its place."""
    if work.new is not None:
        work.new = function(work.new)
    work.old = [function(record) for record in work.old]
