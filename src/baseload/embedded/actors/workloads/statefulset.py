"""StatefulSets: pods with a number, a name of their own and claims of their own, one after the other."""

from dataclasses import dataclass
from typing import Final, cast

import msgspec

from baseload.embedded.actors import pods
from baseload.embedded.actors.workloads import history, making, stateful
from baseload.embedded.actors.workloads.controller import Workplace, said
from baseload.embedded.actors.workloads.history import LABEL, History, Revisions
from baseload.embedded.actors.workloads.making import Tree
from baseload.embedded.actors.workloads.ownership import Tally, ready_since, reference
from baseload.embedded.actors.workloads.pod_controller import PodController
from baseload.embedded.actors.workloads.portions import portion
from baseload.embedded.actors.workloads.readings import StatefulSetSpec, StatefulSetStatus
from baseload.embedded.actors.workloads.stateful import Act, Replica, Wanted
from baseload.embedded.store.errors import NotFound, StatusError
from baseload.embedded.store.record import Record
from baseload.values import instant

POD_NAME: Final = "statefulset.kubernetes.io/pod-name"
POD_INDEX: Final = "apps.kubernetes.io/pod-index"
_HASH: Final = "controller.kubernetes.io/hash"


@dataclass(slots=True)
class _Work:
    """One look at a StatefulSet."""

    record: Record
    spec: StatefulSetSpec
    wanted: Wanted
    revisions: Revisions
    current: str  # name of the revision that it comes from
    pods: dict[int, Record]


class StatefulSets(PodController):
    """The StatefulSet controller."""

    component, group, kind = "statefulset-controller", "apps", "StatefulSet"

    def __init__(self, place: Workplace) -> None:
        super().__init__(place)
        self._pod, self._claim = self.client.kind("", "Pod"), self.client.kind("", "PersistentVolumeClaim")
        self._history = History(self.client, _HASH)

    def gone(self, key: str) -> None:
        super().gone(key)
        self._history.forget(key)

    def sync(self, record: Record) -> None:
        spec, tally = record.body.spec(StatefulSetSpec), self.pods.of(record.uid)
        if record.deletion is None and self.claim(record, tally):
            return
        held = said(record, StatefulSetStatus)
        revisions = self._history.of(record, (held.collision_count or 0) if held is not None else 0)
        current = revisions.named(held.current_revision if held is not None else "").name
        wanted = _wanted(spec, revisions.present.name)
        work = _Work(record, spec, wanted, revisions, current, by_ordinal(record.name, tally))
        replicas, due = self._replicas(work)
        error = None
        if record.deletion is None:
            error = self._act(work, stateful.decide(wanted, replicas))
        status = _status(work, replicas)
        self.write_status(record, status)
        live = [pod.shared.labels.get(LABEL, "") for pod in work.pods.values()]
        self._history.clean(revisions, [*live, status.current_revision], spec.revision_history_limit)
        if due is not None:
            self.queue.add_at(record.key, due)
        if error is not None:
            raise error

    def _replicas(self, work: _Work) -> tuple[list[Replica], int | None]:
        """Its pods, and when the next one that is ready will be available."""
        now, due, found = self.place.now, None, []
        known = [revision.name for revision in work.revisions.all]
        for ordinal, pod in sorted(work.pods.items()):
            is_running = pods.status(pod).phase == "Running"
            is_ready = is_running and pods.is_ready(pod)
            since = ready_since(pod) if is_ready else None
            enough = (since or 0) + work.spec.min_ready_seconds * instant.SECOND
            if since is not None and enough > now:
                due = enough if due is None else min(due, enough)
            found.append(
                Replica(
                    ordinal,
                    history.counted(pod.shared.labels.get(LABEL, ""), known),
                    pods.is_over(pod),
                    is_ready,
                    since is not None and enough <= now,
                    pod.deletion is not None,
                )
            )
        return found, due

    # -- acts

    def _act(self, work: _Work, acts: list[Act]) -> StatusError | None:
        waiting = list(acts)

        def next_one() -> None:
            what, ordinal = waiting.pop(0)
            if what == "create":
                self._create(work, ordinal)
            else:
                self._delete(work, work.pods[ordinal], is_over=what == "recreate")

        return making.slowly(len(acts), next_one)[1]

    def _create(self, work: _Work, ordinal: int) -> None:
        record = work.record
        name = pod_name(record.name, ordinal)
        revision = stateful.revision_at(ordinal, work.wanted, work.current)
        body = pod_body(record, work.spec, work.revisions.named(revision), ordinal)
        try:
            self._make_claims(work, ordinal)
            self.wrote(record.key, self.client.create(self._pod, record.namespace, body))
        except StatusError as error:
            message = f"create Pod {name} in StatefulSet {record.name} failed error: {error}"
            self.recorder.record(record, "Warning", "FailedCreate", message)
            raise
        message = f"create Pod {name} in StatefulSet {record.name} successful"
        self.recorder.record(record, "Normal", "SuccessfulCreate", message)

    def _delete(self, work: _Work, pod: Record, *, is_over: bool) -> None:
        record = work.record
        if is_over:
            whose = f"StatefulSet {record.namespace}/{record.name} is recreating"
            if pods.status(pod).phase == "Failed":
                self.recorder.record(record, "Warning", "RecreatingFailedPod", f"{whose} failed Pod {pod.name}")
            else:
                self.recorder.record(record, "Normal", "RecreatingTerminatedPod", f"{whose} terminated Pod {pod.name}")
        elif work.spec.retention.when_scaled == "Delete":
            self._give_claims(work, pod)
        try:
            self.wrote(record.key, self.client.delete(pod))
        except NotFound:
            return
        except StatusError as error:
            message = f"delete Pod {pod.name} in StatefulSet {record.name} failed error: {error}"
            self.recorder.record(record, "Warning", "FailedDelete", message)
            raise
        message = f"delete Pod {pod.name} in StatefulSet {record.name} successful"
        self.recorder.record(record, "Normal", "SuccessfulDelete", message)

    def _make_claims(self, work: _Work, ordinal: int) -> None:
        record = work.record
        for template in work.spec.volume_claim_templates:
            name = claim_name(template, record.name, ordinal)
            if self.client.store.find(self._claim.resource, record.namespace, name) is not None:
                continue
            body = claim_body(record, work.spec, template, name)
            self.client.create(self._claim, record.namespace, body)
            pod = pod_name(record.name, ordinal)
            message = f"create Claim {name} Pod {pod} in StatefulSet {record.name} success"
            self.recorder.record(record, "Normal", "SuccessfulCreate", message)

    def _give_claims(self, work: _Work, pod: Record) -> None:
        """Has the claims of a pod that is too many go with it."""
        record, ordinal = work.record, _ordinal(work.record.name, pod.name)
        if ordinal is None or work.wanted.start <= ordinal < work.wanted.start + work.wanted.replicas:
            return
        owner = msgspec.to_builtins(msgspec.structs.replace(reference(pod), block_owner_deletion=True))
        for template in work.spec.volume_claim_templates:
            name = claim_name(template, record.name, ordinal)
            claim = self.client.store.find(self._claim.resource, record.namespace, name)
            if claim is not None:
                self.client.merge(claim, {"metadata": {"ownerReferences": [owner]}})


def _wanted(spec: StatefulSetSpec, revision: str) -> Wanted:
    update = spec.update_strategy.rolling_update
    most = portion(update.max_unavailable, spec.replicas, up=False) if update is not None else 1
    return Wanted(
        spec.ordinals.start,
        spec.replicas,
        revision,
        spec.pod_management_policy == "Parallel",
        spec.update_strategy.type == "RollingUpdate",
        update.partition if update is not None else 0,
        max(1, most),
    )


def by_ordinal(name: str, tally: Tally) -> dict[int, Record]:
    """A set's pods by their numbers; pods with other names are none of its own."""
    found = {}
    for pod in tally.pods.values():
        ordinal = _ordinal(name, pod.name)
        if ordinal is not None:
            found[ordinal] = pod
    return found


def _ordinal(name: str, pod: str) -> int | None:
    before, _, digits = pod.rpartition("-")
    return int(digits) if before == name and digits.isascii() and digits.isdigit() else None


def pod_name(name: str, ordinal: int) -> str:
    return f"{name}-{ordinal}"


def claim_name(template: Tree, name: str, ordinal: int) -> str:
    metadata = template.get("metadata")
    own = metadata.get("name") if isinstance(metadata, dict) else ""
    return f"{own}-{name}-{ordinal}"


def pod_body(record: Record, spec: StatefulSetSpec, revision: Record, ordinal: int) -> bytes:
    """The JSON of a numbered pod."""
    name = pod_name(record.name, ordinal)
    labels = {POD_NAME: name, POD_INDEX: str(ordinal), LABEL: revision.name}
    tree = making.pod_tree(record, history.template(revision), labels)
    metadata, wanted = cast(Tree, tree["metadata"]), dict(cast(Tree, tree["spec"]))
    wanted["hostname"] = name
    if spec.service_name:
        wanted["subdomain"] = spec.service_name
    claims = {
        str(cast(Tree, template["metadata"])["name"]): claim_name(template, record.name, ordinal)
        for template in spec.volume_claim_templates
    }
    if claims:
        held = cast("list[Tree]", wanted.get("volumes") or [])
        volumes: list[Tree] = [
            {"name": own, "persistentVolumeClaim": {"claimName": claim}} for own, claim in claims.items()
        ]
        wanted["volumes"] = [*volumes, *(volume for volume in held if volume.get("name") not in claims)]
    return msgspec.json.encode({**tree, "metadata": {"name": name, **metadata}, "spec": wanted})


def claim_body(record: Record, spec: StatefulSetSpec, template: Tree, name: str) -> bytes:
    """The JSON of a pod's claim."""
    held = cast(Tree, template.get("metadata") or {})
    labels = {
        **cast("dict[str, str]", held.get("labels") or {}),
        **(spec.selector.match_labels if spec.selector else {}),
    }
    metadata: Tree = {**held, "name": name, "labels": labels}
    if spec.retention.when_deleted == "Delete":
        metadata["ownerReferences"] = [reference(record)]
    return msgspec.json.encode(
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": template.get("spec") or {}}
    )


def _status(work: _Work, replicas: list[Replica]) -> StatefulSetStatus:
    alive = [replica for replica in replicas if not replica.is_terminating]
    present, current = work.revisions.present.name, work.current
    updated = sum(replica.revision == present for replica in alive)
    ready = sum(replica.is_ready for replica in replicas)
    on_current = sum(replica.revision == current for replica in alive)
    count = work.spec.replicas
    if work.wanted.rolls and (updated, ready, len(replicas)) == (count, count, count):
        current, on_current = present, updated
    return StatefulSetStatus(
        len(replicas),
        sum(replica.is_available for replica in replicas),
        observed_generation=work.record.generation,
        ready_replicas=ready,
        current_replicas=on_current,
        updated_replicas=updated,
        current_revision=current,
        update_revision=present,
        collision_count=work.revisions.collisions,
    )
