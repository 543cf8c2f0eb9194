"""Which pods a provisioning pass places: pending ones that the scheduler gave up, and those of nodes that go away.

Rules: provisioning spec 2. A pod that carries no PodScheduled condition, as in a hand-written manifest, counts as given
up, unless it is gated.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from baseload.decide.fit.constraints import required_terms, requirements_of, selector_of
from baseload.decide.fit.taints import tolerated, tolerations_of
from baseload.decide.provision.memory import ByObject
from baseload.kube.types.core import Pod
from baseload.kube.types.policy import PodDisruptionBudget
from baseload.model.view import View, has_claims, is_daemon, is_static, is_terminal, owned_by
from baseload.plan.reason import Reason, Why
from baseload.values import duration, instant
from baseload.values.label import NODEPOOL
from baseload.values.requirement import Requirements, invalid
from baseload.values.selector import Selector
from baseload.values.taint import Taint

DO_NOT_DISRUPT: Final = "karpenter.sh/do-not-disrupt"
_DISRUPTED: Final = Taint("karpenter.sh/disrupted", "", "NoSchedule")

_CLAIMS_IGNORED: Final[Why] = (
    Reason.RESOURCE_CLAIM,
    "it uses ResourceClaims, which are not looked at (ignoreDraRequests)",
)


@dataclass(frozen=True, slots=True)
class Sought:
    """What a pass looks at."""

    pending: tuple[Pod, ...]
    moving: tuple[Pod, ...]  # bound to nodes that are marked for deletion
    left_out: tuple[tuple[Pod, Reason, str], ...]
    refused: tuple[Pod, ...]  # of those the bound ones


class Moves:
    """Which bound pods would come up elsewhere if their node went away now (2.4)."""

    def __init__(self, view: View, *, now: int | None) -> None:
        self._now: Final = now
        self._budgets: Final[dict[str, list[tuple[Selector, PodDisruptionBudget]]]] = {}
        for budget in view.pod_disruption_budgets:
            selector = selector_of(budget.spec.selector)
            if selector is not None:
                self._budgets.setdefault(budget.metadata.namespace, []).append((selector, budget))

    def __call__(self, pod: Pod) -> bool:
        return is_reschedulable(pod) and not is_held(pod, self._now) and not self._is_blocked(pod)

    def _is_blocked(self, pod: Pod) -> bool:
        """Whether PodDisruptionBudgets can never let a pod go: one that allows none, or two of them at once."""
        budgets = self._budgets.get(pod.metadata.namespace)
        if (
            not budgets
            or pod.metadata.deletion_timestamp
            or tolerated((_DISRUPTED,), tolerations_of(pod.spec.tolerations))
        ):
            return False  # nothing guards it, or it would not be evicted anyway
        matching = [budget for selector, budget in budgets if selector.matches(pod.metadata.labels)]
        return len(matching) > 1 or any(_allows_none(budget, pod) for budget in matching)


def sought(
    view: View,
    *,
    moves: Moves,
    well_known: frozenset[str],
    reserved_domains: Iterable[str],
    volume_fault: Callable[[Pod], str | None],
    ignore_dra: bool,
    known: ByObject[Pod, tuple[Why | None, bool]],
) -> Sought:
    """The pods to place, and the pending ones for which no place is sought; `known` is what an earlier pass found."""
    pending: list[Pod] = []
    left_out: list[tuple[Pod, Reason, str]] = []
    domains = tuple(reserved_domains)
    verdicts: dict[int, Why | None] = {}  # id of a spec, which equal pods share -> what is wrong with its demands

    def own_fault(pod: Pod) -> tuple[Why | None, bool]:
        """What is wrong with it whatever its volumes are, and whether it has any that are objects of their own."""
        fault = not_provisionable(pod)
        if fault is None:
            if id(pod.spec) not in verdicts:
                verdicts[id(pod.spec)] = invalid_demands(pod, well_known, domains)
            fault = verdicts[id(pod.spec)]
        return fault, has_claims(pod)

    for pod in view.waiting:
        if is_terminal(pod) and not _condition(pod):
            continue
        fault, claims = known.value(pod, own_fault)
        if fault is None and ignore_dra and pod.spec.resource_claims:
            fault = _CLAIMS_IGNORED
        if fault is None and claims and (text := volume_fault(pod)) is not None:
            fault = Reason.VOLUME, text
        if fault is None:
            pending.append(pod)
        else:
            left_out.append((pod, *fault))
    leaving = tuple(moving(view, moves))
    refused = tuple(pod for pod in leaving if ignore_dra and pod.spec.resource_claims)
    placed = tuple(pod for pod in leaving if not (ignore_dra and pod.spec.resource_claims))
    left_out += ((pod, *_CLAIMS_IGNORED) for pod in refused)
    return Sought(tuple(pending), placed, tuple(left_out), refused)


def _condition(pod: Pod) -> str | None:
    conditions = pod.status.conditions
    return next((c.reason for c in conditions if c.type == "PodScheduled"), None) if conditions else None


def not_provisionable(pod: Pod) -> Why | None:
    """Why a pending pod is none of the provisioner's business, None when it is (2.1)."""
    reason = _condition(pod)
    if reason is None and pod.spec.scheduling_gates:
        reason = "SchedulingGated"
    if reason == "SchedulingGated":
        gates = ", ".join(gate.name for gate in pod.spec.scheduling_gates)
        return Reason.GATED, f"it is held by scheduling gates{': ' + gates if gates else ''}"
    if reason is not None and reason != "Unschedulable":
        return Reason.NOT_UNSCHEDULABLE, f'the scheduler has not given it up (PodScheduled says "{reason}")'
    if pod.status.nominated_node_name:
        return Reason.NOMINATED, f"it is about to take a preempted place on node {pod.status.nominated_node_name}"
    if is_daemon(pod):
        return Reason.DAEMON, "its DaemonSet ties it to a node; nodes are planned with room for it"
    if is_static(pod):
        return Reason.STATIC, "it is a static pod of a node"
    return None


def invalid_demands(pod: Pod, well_known: frozenset[str], reserved_domains: tuple[str, ...]) -> Why | None:
    """What is wrong with a pod's demands on nodes, so that it is left out of the pass (2.2)."""
    required = required_terms(pod.spec)
    preferred = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    weighted = preferred.preferred_during_scheduling_ignored_during_execution if preferred else ()
    demand = Requirements.of_labels(pod.spec.node_selector)
    if weighted:
        heaviest = max(weighted, key=lambda term: term.weight)
        demand = demand.add(requirements_of(heaviest.preference.match_expressions))
    if required:
        demand = demand.add(required[0])
    pool = demand.get(NODEPOOL)
    if pool is not None and pool.operator == "DoesNotExist":
        return Reason.OPTED_OUT, f"it demands that {NODEPOOL} does not exist"
    faults = list(_faults(pod, well_known, reserved_domains))
    return (Reason.INVALID, "; ".join(faults)) if faults else None


def _faults(pod: Pod, well_known: frozenset[str], reserved_domains: tuple[str, ...]) -> Iterator[str]:
    def check(key: str, operator: str, values: tuple[str, ...]) -> str | None:
        return invalid(key, operator, values, well_known=well_known, reserved_domains=reserved_domains)

    for key, value in pod.spec.node_selector.items():
        if fault := check(key, "In", (value,)):
            yield f'spec.nodeSelector["{key}"]: {fault}'
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    path = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
    for place, term in enumerate(required.node_selector_terms if required else ()):
        if term.match_fields:
            yield f"{path}[{place}].matchFields: node selector terms with matchFields are not supported"
        for at, expression in enumerate(term.match_expressions):
            if fault := check(expression.key, expression.operator, expression.values):
                yield f"{path}[{place}].matchExpressions[{at}]: {fault}"


def moving(view: View, moves: Moves) -> Iterator[Pod]:
    """The pods of nodes marked for deletion that are to be placed anew."""
    for state in view.state_nodes:
        if state.node is not None and state.marked_for_deletion:
            yield from filter(moves, view.pods_on.get(state.node.metadata.name, ()))


def is_reschedulable(pod: Pod) -> bool:
    """Whether a bound pod would come up elsewhere: a terminating one does only where a StatefulSet makes it anew."""
    if is_daemon(pod) or is_static(pod) or is_terminal(pod):
        return False
    return not pod.metadata.deletion_timestamp or owned_by(pod, "StatefulSet", "apps/v1")


def is_held(pod: Pod, now: int | None) -> bool:
    """Whether do-not-disrupt protects a pod at this instant: `true`, or a positive duration since it started."""
    value = pod.metadata.annotations.get(DO_NOT_DISRUPT)
    if value is None:
        return False
    if value == "true":
        return True
    try:
        length = duration.parse(value)
    except ValueError:
        return False
    if length <= 0:
        return False
    if not pod.status.start_time or now is None:
        return True
    return now < instant.parse(pod.status.start_time) + length


def _allows_none(budget: PodDisruptionBudget, pod: Pod) -> bool:
    unready = any(c.type == "Ready" and c.status == "False" for c in pod.status.conditions)
    if budget.spec.unhealthy_pod_eviction_policy == "AlwaysAllow" and unready:
        return False
    return budget.spec.max_unavailable in (0, "0", "0%") or budget.spec.min_available == "100%"
