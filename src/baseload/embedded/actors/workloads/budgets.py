"""PodDisruptionBudgets: their status, from counts that each change of a pod moves.

How many of the pods that a budget means are healthy, and of which controllers they are, is counted as they change.
"""

from dataclasses import dataclass, field
from typing import Final

from baseload.embedded.actors import pods
from baseload.embedded.actors.pods import Written
from baseload.embedded.actors.workloads import budget
from baseload.embedded.actors.workloads.controller import ALL, Controller, Workplace, said
from baseload.embedded.actors.workloads.meaning import Meaning
from baseload.embedded.actors.workloads.ownership import controller_of
from baseload.embedded.actors.workloads.readings import ReplicaSetSpec
from baseload.embedded.store.log import Event
from baseload.embedded.store.record import Body, Owner, Record
from baseload.kube.kinds import group_of
from baseload.kube.types.policy import PodDisruptionBudgetSpec
from baseload.values import instant, selector
from baseload.values.selector import Selector

ALLOWED: Final = "DisruptionAllowed"


class BudgetCondition(Written, frozen=True):
    """A condition as newer kinds have it: reason and message are always there."""

    type: str
    status: str
    reason: str
    message: str
    last_transition_time: str = ""
    observed_generation: int = 0


class BudgetStatus(Written, frozen=True):
    disruptions_allowed: int
    current_healthy: int
    desired_healthy: int
    expected_pods: int
    observed_generation: int = 0
    disrupted_pods: dict[str, str] = {}
    conditions: tuple[BudgetCondition, ...] = ()


class _NoScaleError(Exception):
    """A pod's controller has no number of replicas."""


@dataclass(slots=True)
class _Scope:
    """The pods that a budget means."""

    uid: str
    body: Body
    wanted: Selector
    pods: dict[str, tuple[bool, str]] = field(default_factory=dict)  # key -> (healthy, uid of its controller)
    owners: dict[str, tuple[int, Owner]] = field(default_factory=dict)  # uid -> (pods, reference)
    healthy: int = 0
    unmanaged: int = 0


class Budgets(Controller):
    """The disruption controller."""

    component, group, kind = "controllermanager", "policy", "PodDisruptionBudget"

    def __init__(self, place: Workplace) -> None:
        super().__init__(place)
        self._scopes: dict[str, _Scope] = {}  # key of a budget -> its pods
        self._meaning = Meaning()

    def begin(self) -> None:
        self.place.hear(self.group, self.kind, ALL, self.note)
        for key in self.client.records(self.group, self.kind):
            self.queue.add(key)
        self.pods.hear_all(self._note_pod)

    def gone(self, key: str) -> None:
        super().gone(key)
        self._scopes.pop(key, None)
        self._meaning.drop(key.partition("/")[0], key)

    def _note_pod(self, event: Event) -> None:
        for key, is_meant in self._meaning.of_event(event):
            _put(self._scopes[key], event.record, is_meant=is_meant)
            self.queue.add(key)

    def _scope(self, record: Record) -> _Scope:
        scope = self._scopes.get(record.key)
        if scope is None or scope.uid != record.uid or scope.body is not record.body:
            wanted = selector.compile(record.body.spec(PodDisruptionBudgetSpec).selector)
            scope = self._scopes[record.key] = _Scope(record.uid, record.body, wanted)
            self._meaning.put(record.namespace, record.key, wanted.matches)
            for pod in self.pods.in_namespace(record.namespace):
                if wanted.matches(pod.shared.labels):
                    _put(scope, pod, is_meant=True)
        return scope

    def sync(self, record: Record) -> None:
        spec, scope = record.body.spec(PodDisruptionBudgetSpec), self._scope(record)
        held = said(record, BudgetStatus) or BudgetStatus(0, 0, 0, 0)
        if not scope.pods:
            self.recorder.record(record, "Normal", "NoPods", "No matching pods found")
        if scope.unmanaged and budget.asks_controllers(spec):
            told = f"Pods selected by this PodDisruptionBudget (selector: {scope.wanted}) were found to be unmanaged."
            self.recorder.record(record, "Warning", "UnmanagedPods", told)
        try:
            scales = self._scales(record, scope) if budget.asks_controllers(spec) else 0
        except _NoScaleError as error:
            self._fail(record, held, str(error))
            return
        disrupted, due = self._disrupted(record, held)
        absent = sum(scope.pods.get(f"{record.namespace}/{name}", (False, ""))[0] for name in disrupted)
        counts = budget.allowance(spec, pods=len(scope.pods), scales=scales, healthy=scope.healthy - absent)
        sufficient = counts.allowed > 0
        condition = self._condition(
            record, held, "True" if sufficient else "False", "SufficientPods" if sufficient else "InsufficientPods", ""
        )
        self.write_status(
            record,
            BudgetStatus(
                counts.allowed,
                counts.healthy,
                counts.desired,
                counts.expected,
                record.generation,
                disrupted,
                (condition,),
            ),
        )
        if due is not None:
            self.queue.add_at(record.key, due)

    def _scales(self, record: Record, scope: _Scope) -> int:
        """What the controllers of the pods want together, each counted once; a Deployment for its ReplicaSets."""
        seen: dict[str, int] = {}
        for _, owner in scope.owners.values():
            above = self._above(record, owner)
            if above is not None:
                seen[above.uid] = above.body.spec(ReplicaSetSpec).replicas
        return sum(seen.values())

    def _above(self, record: Record, owner: Owner) -> Record | None:
        """The controller whose scale counts; None where it is gone."""
        kind = self.client.cluster.kinds.named(group_of(owner.api_version), owner.kind)
        if kind is None or kind.scale is None:
            name = kind.resource.qualified if kind is not None else owner.kind
            raise _NoScaleError(f"{name} does not implement the scale subresource")
        found = self.client.store.find(kind.resource, record.namespace, owner.name)
        if found is None or found.uid != owner.uid:
            return None
        higher = controller_of(found)
        return self._above(record, higher) if owner.kind == "ReplicaSet" and higher is not None else found

    def _disrupted(self, record: Record, held: BudgetStatus) -> tuple[dict[str, str], int | None]:
        """The evictions whose pods are still to be marked, and when the first is given up."""
        kept, due, now = {}, None, self.place.now
        for name, since in held.disrupted_pods.items():
            pod = self.client.records("", "Pod").get(f"{record.namespace}/{name}")
            if pod is None or pod.deletion is not None:
                continue
            end = instant.parse(since) + budget.FORGOTTEN
            if end <= now:
                told = f"Pod was expected by PDB {record.namespace}/{record.name} to be deleted but it wasn't"
                self.recorder.record(pod, "Warning", "NotDeleted", told)
                continue
            kept[name] = since
            due = end if due is None else min(due, end)
        return kept, due

    def _condition(self, record: Record, held: BudgetStatus, status: str, reason: str, message: str) -> BudgetCondition:
        before = next((one for one in held.conditions if one.type == ALLOWED), None)
        same = before is not None and before.status == status
        since = before.last_transition_time if before is not None and same else self.client.now()
        return BudgetCondition(ALLOWED, status, reason, message, since, record.generation)

    def _fail(self, record: Record, held: BudgetStatus, why: str) -> None:
        message = f"Failed to calculate the number of expected pods: {why}"
        self.recorder.record(record, "Warning", "CalculateExpectedPodCountFailed", message)
        condition = self._condition(record, held, "False", "SyncFailed", why)
        self.write_status(
            record,
            BudgetStatus(
                0,
                held.current_healthy,
                held.desired_healthy,
                held.expected_pods,
                held.observed_generation,
                held.disrupted_pods,
                (condition,),
            ),
        )


def _put(scope: _Scope, pod: Record, *, is_meant: bool) -> None:
    """Counts a pod as it is now."""
    before = scope.pods.pop(pod.key, None)
    if before is not None:
        _count(scope, before, None, -1)
    if is_meant:
        owner = controller_of(pod)
        is_healthy = pod.deletion is None and pods.is_ready(pod)
        now = scope.pods[pod.key] = is_healthy, owner.uid if owner is not None else ""
        _count(scope, now, owner, 1)


def _count(scope: _Scope, counted: tuple[bool, str], owner: Owner | None, by: int) -> None:
    is_healthy, uid = counted
    scope.healthy += by * is_healthy
    if not uid:
        scope.unmanaged += by
        return
    held = scope.owners.get(uid)
    if held is not None:
        left = held[0] + by
        if left:
            scope.owners[uid] = left, held[1]
        else:
            del scope.owners[uid]
    elif owner is not None:
        scope.owners[uid] = by, owner
