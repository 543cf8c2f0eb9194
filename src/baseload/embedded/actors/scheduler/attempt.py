"""One pod's turn: decide, then bind it or say why not (cluster-actors 1.13, 5.6, 6).

The order of what is written after a failure is kube-scheduler's: the pod is queued again, nominated, told by an event,
and its condition is patched where it is another than before.

Pods of one kind fail alike as long as nothing changes that decides about them, so why the last one failed is
remembered. Nodes change all the time: it is mostly enough that as many of them say each thing as before. A pod that
fails as it did before, and that nobody wrote to since, is queued again and counted in its event.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

import msgspec

from baseload.decide.fit.constraints import selector_of
from baseload.decide.schedule import hints, messages, preempt, volumes
from baseload.decide.schedule.engine import Engine, Extra, Found, Unfit
from baseload.decide.schedule.kinds import Kind, Pod
from baseload.decide.schedule.preempt import Budget, Candidate, Outcome
from baseload.decide.schedule.queue import Waiting
from baseload.decide.schedule.volumes import Plan
from baseload.embedded.actors import pods, series
from baseload.embedded.actors.client import ActorClient
from baseload.embedded.actors.pods import Condition, PodStatus
from baseload.embedded.actors.scheduler.model import Model
from baseload.embedded.actors.scheduler.storage import LATE, POLL, Binding, Claims
from baseload.embedded.actors.series import Series
from baseload.embedded.store.errors import NotFound, StatusError
from baseload.embedded.store.record import Record, section
from baseload.kube import reading as json_reading
from baseload.kube.types import core, policy
from baseload.values import instant
from baseload.values.clock import Clock
from baseload.values.selector import NOTHING

_NO_PLAN: Final = Plan()


@dataclass(eq=False, slots=True)
class Failed:
    """How an attempt ended in vain; `seen` is the state of the cluster in which it did, or would have."""

    seen: int
    kind: Kind
    message: str
    plugins: frozenset[str]
    outcome: Outcome
    outlook: Mapping[int, int] | None
    """How many nodes said what, where that alone decides: no node was promised to anybody"""


@dataclass(eq=False, slots=True)
class Told:
    """What a pod was told at its last attempt, and its state since then."""

    record: Record
    failed: Failed
    event: series.Told | None


class Attempts:
    """What is done with pods whose turn it is."""

    def __init__(
        self,
        client: ActorClient,
        clock: Clock,
        recorder: Series,
        model: Model,
        engines: Mapping[str, Engine],
        claims: Claims,
        *,
        bind_timeout_seconds: int,
        remembers: bool = True,
    ) -> None:
        self._client: Final = client
        self._clock: Final = clock
        self._series: Final = recorder
        self._model: Final = model
        self._engines: Final = engines
        self._pods: Final = client.resource("", "Pod")
        self._claims: Final = claims
        self._remembers: Final = remembers
        self._bind_timeout: Final = bind_timeout_seconds * instant.SECOND
        self._failed: Final[dict[tuple[str, int, int, bool], Failed]] = {}

    def run(self, entry: Waiting) -> None:
        """Schedules a pod; nothing where it is gone, or has a node by now."""
        if entry.told is not None and self._fails_again(entry):
            return
        entry.told = None
        record = self._client.store.find(self._pods, entry.pod.namespace, entry.pod.name)
        if record is None or record.uid != entry.pod.uid or record.node or entry.pod.uid not in self._model.queue:
            self._model.queue.remove(entry.pod.uid)
            return
        if record.deletion is not None:
            self._model.queue.remove(entry.pod.uid)
            told = f"skip schedule deleting pod: {record.namespace}/{record.name}"
            self._series.record(record, "Warning", "FailedScheduling", "Scheduling", told)
            return
        self._decide(entry, record, record.body.spec(core.PodSpec), self._engine_of(record))

    def _engine_of(self, record: Record) -> Engine:
        return self._engines[record.body.spec(core.PodSpec).scheduler_name or "default-scheduler"]

    def forget(self) -> None:
        """Drops what is remembered of failures."""
        self._failed.clear()
        for entry in self._model.queue.all():
            entry.told = None

    def _decide(self, entry: Waiting, record: Record, spec: core.PodSpec, engine: Engine) -> None:
        pod = entry.pod
        key = engine.settings.scheduler_name, id(pod.kind), pod.priority, spec.preemption_policy != "Never"
        nominated = pods.status(record).nominated_node_name
        known = self._failed.get(key)
        if known is None or nominated or pod.claims or not self._remembers or not self._holds(known, pod, engine):
            found = self._choose(pod, engine)
            if isinstance(found, Found):
                self._bind(entry, record, found.node)
                return
            self._failed[key] = known = self._vain(pod, spec, nominated, engine, found)
        else:
            engine.passes(pod.kind)
        if known.outcome.chosen is not None:
            self._remove(record, engine, known.outcome.chosen)
        self._fail(entry, record, known)

    def _choose(self, pod: Pod, engine: Engine) -> Found | Unfit:
        """The nominated node where that still fits; else the best (2.7)."""
        others, extra = self._promised(pod), self._extra(pod, engine)
        if pod.claims and self._model.cluster.slots:
            refusal = volumes.refused(self._claims.now(self._model.storage_version), pod)
            if refusal is not None:
                return Unfit(len(self._model.cluster.slots), rejected=refusal)
        own = self._model.promised.get(pod.uid)
        slot = None if own is None else self._model.cluster.slots.get(own.node)
        if own is not None and slot is not None and engine.status(pod, slot, extra, others) is None:
            return Found(own.node, 1, 1)
        return engine.choose(pod, extra=extra, nominated=others)

    def _extra(self, pod: Pod, engine: Engine) -> Extra | None:
        if not pod.claims:
            return None
        storage = self._claims.now(self._model.storage_version)
        return volumes.filtering(storage, self._model.cluster, engine.judge)

    def _vain(self, pod: Pod, spec: core.PodSpec, nominated: str, engine: Engine, unfit: Unfit) -> Failed:
        outcome = Outcome()
        if unfit.nodes:
            request = preempt.Request(
                pod=pod,
                unfit=unfit,
                may_preempt=spec.preemption_policy != "Never",
                nominated_node=nominated,
                nominated=self._promised(pod),
                budgets=cache(self._budgets),
                extra=self._extra(pod, engine),
            )
            outcome = preempt.preempt(engine, request)
        message = unfit.message(messages.after_filter(outcome.message))
        outlook = None if nominated or self._model.promised else engine.outlook(pod)
        outlook = None if outlook is None else dict(outlook)
        return Failed(self._model.cluster.version, pod.kind, message, unfit.plugins, outcome, outlook)

    def _holds(self, failed: Failed, pod: Pod, engine: Engine) -> bool:
        """Whether a pod of that kind and priority would fail in the same way now."""
        seen = self._model.cluster.version
        if failed.seen == seen:
            return True
        if failed.outlook is None or self._model.promised or engine.outlook(pod) != failed.outlook:
            return False
        failed.seen = seen
        return True

    def _fails_again(self, entry: Waiting) -> bool:
        """Whether a pod that nobody wrote to failed as it did before; what there is to tell is told then."""
        told = entry.told
        assert isinstance(told, Told)
        failed = told.failed
        engine = self._engine_of(told.record)
        if not self._holds(failed, entry.pod, engine):
            return False
        engine.passes(entry.pod.kind)
        if self._model.queue.reject(entry, failed.plugins, self._clock.now()):
            event = told.event
            if event is None or event.is_over:
                told.event = self._tell_event(told.record, failed.message)
            else:
                self._series.again(event)
        return True

    def _bind(self, entry: Waiting, record: Record, node: str) -> None:
        pod, model = entry.pod, self._model
        pod.node = node
        model.cluster.put_pod(pod)
        model.withdraw(pod.uid)
        plan = self._claims.plan(model.storage_version, entry, node) if pod.claims else _NO_PLAN
        if plan == _NO_PLAN:
            self._finish(entry, record, node)
            return
        now = self._clock.now()
        binding = Binding(entry, record, node, plan, now + self._bind_timeout, now + POLL)
        try:
            self._nominate(record, node)
            self._claims.begin(binding)
        except StatusError as error:
            self._claims.end(binding)
            self._forget(entry, record, str(error))

    def look(self) -> None:
        """Binds the pods whose volumes are bound by now, and gives up those that waited too long."""
        now = self._clock.now()
        for binding in self._claims.due(now):
            binding.next = now + POLL
            record = self._client.store.find(self._pods, binding.record.namespace, binding.record.name)
            if record is None or record.uid != binding.entry.pod.uid or record.deletion is not None:
                self._claims.end(binding)
                gone = self._model.cluster.drop_pod(binding.entry.pod.uid)
                if gone is not None:
                    self._model.queue.wake(hints.pod_gone(gone), now)
                continue
            fault = self._claims.fault(self._model.storage_version, binding)
            if fault == "" and now >= binding.until:
                fault = LATE
            if fault is None:
                self._claims.end(binding)
                self._finish(binding.entry, record, binding.node)
            elif fault:
                self._claims.end(binding)
                self._forget(binding.entry, record, fault)

    def _nominate(self, record: Record, node: str) -> None:
        """Tells for which node volumes are made (6.3)."""
        status = msgspec.structs.replace(pods.status(record), nominated_node_name=node)
        owned = PodStatus(nominated_node_name=node)
        self._client.write_status(record, status, "nominated", owned=lambda: owned)

    def _finish(self, entry: Waiting, record: Record, node: str) -> None:
        pod, model = entry.pod, self._model
        try:
            self._client.bind(record, node)
        except NotFound:
            model.cluster.drop_pod(pod.uid)
            model.queue.remove(pod.uid)
            return
        except StatusError as error:
            self._forget(entry, record, str(error))
            return
        model.queue.remove(pod.uid)
        told = f"Successfully assigned {record.namespace}/{record.name} to {node}"
        self._series.record(record, "Normal", "Scheduled", "Binding", told)

    def _forget(self, entry: Waiting, record: Record, error: str) -> None:
        """A binding failed: what the pod would have taken is free, which may wake others (6.2)."""
        model, now = self._model, self._clock.now()
        gone = model.cluster.drop_pod(entry.pod.uid)
        if gone is not None:
            model.queue.wake(hints.pod_gone(gone), now)
        entry.pod.node = ""
        model.queue.reject(entry, frozenset(), now)
        self._tell(record, "SchedulerError", error, "")

    def _fail(self, entry: Waiting, record: Record, failed: Failed) -> None:
        model, outcome = self._model, failed.outcome
        model.queue.reject(entry, failed.plugins, self._clock.now())
        nominated = pods.status(record).nominated_node_name if outcome.keeps_nomination else ""
        if outcome.chosen is not None:
            nominated = outcome.chosen.node
        model.promise(entry.pod, nominated)
        event, new = self._tell(record, "Unschedulable", failed.message, nominated)
        if self._remembers and not entry.pod.claims and not nominated and outcome.chosen is None:
            entry.told = Told(new, failed, event if new is record else None)

    def _tell_event(self, record: Record, message: str) -> series.Told:
        return self._series.record(record, "Warning", "FailedScheduling", "Scheduling", messages.note(message))

    def _tell(self, record: Record, reason: str, message: str, nominated: str) -> tuple[series.Told, Record]:
        """The event, and the condition where it is another one; the pod as it is then."""
        event = self._tell_event(record, message)
        told = pods.status(record)
        held = told.condition("PodScheduled")
        new = Condition(
            "PodScheduled",
            "False",
            last_transition_time=self._client.now(),
            reason=reason,
            message=message,
            observed_generation=record.generation,
        )
        same = held is not None and (held.status, held.reason, held.message) == ("False", reason, message)
        if same and told.nominated_node_name == nominated:
            return event, record
        status = msgspec.structs.replace(told, conditions=told.with_condition(new), nominated_node_name=nominated)
        owned = PodStatus(conditions=(new,), nominated_node_name=nominated)
        try:
            held_now = self._client.write_status(record, status, ("scheduled", bool(nominated)), owned=lambda: owned)
        except StatusError:
            return event, record  # it is gone, or another by now: there is nothing to tell it
        return event, held_now

    def _remove(self, record: Record, engine: Engine, chosen: Candidate) -> None:
        """Victims are told, and deleted with their own grace; promises of the node to lesser pods end (5.6)."""
        name = engine.settings.scheduler_name
        for victim in chosen.victims:
            held = self._client.store.find(self._pods, victim.namespace, victim.name)
            if held is None or held.uid != victim.uid:
                continue
            if held.deletion is None:
                self._preempt(held, name)
            told = f"Preempted by pod {record.uid} on node {chosen.node}"
            self._series.record(held, "Normal", "Preempted", "Preempting", told, related=record)
        priority = record.body.spec(core.PodSpec).priority or 0
        for other in [held for held in self._model.promised.values() if held.node == chosen.node]:
            if other.priority < priority:
                self._withdraw(other)

    def _preempt(self, victim: Record, scheduler: str) -> None:
        told = pods.status(victim)
        marked = Condition(
            "DisruptionTarget",
            "True",
            last_transition_time=self._client.now(),
            reason="PreemptionByScheduler",
            message=f"{scheduler}: preempting to accommodate a higher priority pod",
        )
        status = msgspec.structs.replace(told, conditions=told.with_condition(marked))
        try:
            held = self._client.write_status(victim, status, "preempted", owned=lambda: PodStatus(conditions=(marked,)))
            self._client.delete(held)
        except StatusError:
            return  # it went by itself

    def _withdraw(self, other: Pod) -> None:
        self._model.promise(other, "")
        held = self._client.store.find(self._pods, other.namespace, other.name)
        if held is None or held.uid != other.uid:
            return
        status = msgspec.structs.replace(pods.status(held), nominated_node_name="")
        try:
            self._client.write_status(held, status, "withdrawn", owned=PodStatus)
        except StatusError:
            return

    def _promised(self, pod: Pod) -> tuple[Pod, ...]:
        """The pods to which nodes are promised, and which are at least as important."""
        held = self._model.promised
        if not held:
            return ()
        return tuple(other for other in held.values() if other.priority >= pod.priority and other.uid != pod.uid)

    def _budgets(self) -> list[Budget]:
        found = []
        for held in self._client.records("policy", "PodDisruptionBudget").values():
            told = json_reading.decoded(section(held.status) or b"{}", _BudgetStatus)
            selector = selector_of(held.body.spec(policy.PodDisruptionBudgetSpec).selector)
            disrupted = frozenset(told.disrupted_pods)
            found.append(Budget(held.namespace, selector or NOTHING, told.disruptions_allowed, disrupted))
        return found


class _BudgetStatus(msgspec.Struct, frozen=True, rename="camel"):
    disruptions_allowed: int = 0
    disrupted_pods: dict[str, object] = {}
