"""Whether each eviction leaves its PodDisruptionBudget what it wants, counted from the pods and who made them."""

from typing import Final

from baseload.embedded.actors import pods
from baseload.embedded.actors.client import ActorClient
from baseload.embedded.store.log import Event
from baseload.embedded.store.record import Owner, Record
from baseload.kube.kinds import group_of
from baseload.kube.types.meta import IntOrString, Wire
from baseload.kube.types.policy import PodDisruptionBudgetSpec
from baseload.replay.claims_held import Faults
from baseload.values import selector
from baseload.values.clock import Clock
from baseload.values.selector import Selector

_BY_API: Final = "EvictionByEvictionAPI"
_GO_ANYWAY: Final = ("Pending", "Succeeded", "Failed")


class _Scaled(Wire, frozen=True):
    replicas: int | None = None


class Pods:
    """The pods as they are after the changes that were gone through."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._in: dict[str, dict[str, Record]] = {}  # namespace -> uid -> pod
        self._on: dict[str, dict[str, int]] = {}  # node -> uid -> when it was bound

    def put(self, record: Record) -> tuple[bool, bool]:
        """A pod as it is now; whether it was not there, and whether it had no node before."""
        within = self._in.setdefault(record.namespace, {})
        before = within.get(record.uid)
        within[record.uid] = record
        is_bound = bool(record.node) and (before is None or not before.node)
        if is_bound:
            self._on.setdefault(record.node, {})[record.uid] = self.clock.now()
        return before is None, is_bound

    def drop(self, record: Record) -> None:
        self._in.get(record.namespace, {}).pop(record.uid, None)
        self._on.get(record.node, {}).pop(record.uid, None)

    def in_namespace(self, namespace: str) -> dict[str, Record]:
        return self._in.get(namespace, {})

    def on_node(self, node: str) -> list[tuple[str, int]]:
        """The uid of each pod of a node, and when it was bound."""
        return list(self._on.get(node, {}).items())

    def nodes(self) -> frozenset[str]:
        """The nodes that have or had pods."""
        return frozenset(self._on)

    def of_uid(self, uid: str) -> Record | None:
        return next((within[uid] for within in self._in.values() if uid in within), None)


def is_evicted(event: Event) -> bool:
    """Whether the change is the mark of the eviction API."""
    return _is_marked(event.record) and event.old is not None and not _is_marked(event.old)


def _is_marked(pod: Record) -> bool:
    target = pods.status(pod).condition("DisruptionTarget")
    return target is not None and target.status == "True" and target.reason == _BY_API


class EvictionsHeld:
    """Judges evictions by the budgets."""

    def __init__(self, client: ActorClient, held: Pods, faults: Faults) -> None:
        self._client, self._held, self._faults = client, held, faults

    def judge(self, pod: Record) -> None:
        """An eviction that was granted; the pod is still counted as one of those that are there."""
        if pods.status(pod).phase in _GO_ANYWAY or pod.deletion is not None:
            return
        records = self._client.records("policy", "PodDisruptionBudget")
        budgets = [records[key] for key in sorted(records) if records[key].namespace == pod.namespace]
        matching = [one for one in budgets if _selector(one).matches(pod.shared.labels)]
        name = f"Pod {pod.namespace}/{pod.name}"
        if len(matching) > 1:
            self._faults.add(f"{name} was evicted though several PodDisruptionBudgets guard it")
        for budget in matching:
            self._judge_by(pod, name, budget)

    def _judge_by(self, pod: Record, name: str, budget: Record) -> None:
        spec, wanted = budget.body.spec(PodDisruptionBudgetSpec), _selector(budget)
        guarded = [it for it in self._held.in_namespace(pod.namespace).values() if wanted.matches(it.shared.labels)]
        healthy = sum(1 for it in guarded if it.deletion is None and pods.is_ready(it))
        is_ready = pods.is_ready(self._held.in_namespace(pod.namespace).get(pod.uid, pod))
        if not is_ready and spec.unhealthy_pod_eviction_policy == "AlwaysAllow":
            return
        desired = self._desired(spec, guarded)
        if desired is not None and (healthy > desired or (not is_ready and healthy == desired > 0)):
            return
        told = "a number that nobody can tell" if desired is None else str(desired)
        wants = f"PodDisruptionBudget {budget.namespace}/{budget.name} wants {told} healthy pods"
        self._faults.add(f"{name} was evicted, {wants}, and {healthy - is_ready} are left")

    def _desired(self, spec: PodDisruptionBudgetSpec, guarded: list[Record]) -> int | None:
        """How many have to stay healthy; None where what made them has no number of replicas."""
        if isinstance(spec.min_available, int):
            return spec.min_available
        expected = self._expected(guarded)
        if expected is None:
            return None
        if spec.max_unavailable is not None:
            return max(0, expected - _portion(spec.max_unavailable, expected))
        return _portion(spec.min_available or 0, expected)

    def _expected(self, guarded: list[Record]) -> int | None:
        """The replicas of all that made these pods."""
        scales: dict[str, int] = {}
        for owner in {it.uid: it for pod in guarded for it in pod.shared.owners if it.controller}.values():
            found = self._above(guarded[0].namespace, owner)
            if found is None:
                return None
            scales[found.uid] = 1 if (asked := found.body.spec(_Scaled).replicas) is None else asked
        return sum(scales.values())

    def _above(self, namespace: str, owner: Owner) -> Record | None:
        if owner.kind not in ("ReplicaSet", "Deployment", "StatefulSet", "ReplicationController"):
            return None
        resource = self._client.store.resource_of(group_of(owner.api_version), owner.kind)
        found = self._client.store.find(resource, namespace, owner.name) if resource is not None else None
        if found is None:
            return None
        higher = next((one for one in found.shared.owners if one.controller), None)
        return found if higher is None else self._above(namespace, higher)


def _selector(budget: Record) -> Selector:
    return selector.compile(budget.body.spec(PodDisruptionBudgetSpec).selector)


def _portion(amount: IntOrString, whole: int) -> int:
    """A share of a number, rounded up."""
    if isinstance(amount, int):
        return amount
    return -(-whole * int(amount.removesuffix("%")) // 100)
