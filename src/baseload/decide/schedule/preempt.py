"""Preemption: whose place a pod takes that found none (cluster-actors 5).

A node is tried by taking its less important pods off it and putting them back one by one, the most important first, as
long as the pod still fits; whoever could not be put back is a victim. All is undone before anything is decided.
"""

import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from baseload.decide.schedule import messages, statuses
from baseload.decide.schedule.engine import Engine, Extra, Unfit
from baseload.decide.schedule.kinds import Pod
from baseload.decide.schedule.statuses import Status
from baseload.values.selector import Selector

NEVER: Final = "not eligible due to preemptionPolicy=Never."
WAITS: Final = "not eligible due to a terminating pod on the nominated node."
_UPWARDS: Final = 1 << 31  # makes every priority at least 0, so that fewer victims sum up to less
_UNSTARTED: Final = "~"  # after every time


@dataclass(slots=True)
class Budget:
    """What a PodDisruptionBudget still allows."""

    namespace: str
    selector: Selector
    allowed: int
    disrupted: frozenset[str] = frozenset()
    """Names of pods that were charged already"""

    def guards(self, pod: Pod) -> bool:
        """A budget without a selector, or with an empty one, guards nobody here."""
        if not self.selector.terms or pod.namespace != self.namespace or not pod.kind.labels:
            return False
        return self.selector.matches(pod.kind.labels) and pod.name not in self.disrupted


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node that would do, and whom it would cost: the most important first."""

    node: str
    victims: tuple[Pod, ...]
    violations: int = 0
    """Victims that a budget would have spared"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The chosen node; or none, with what is said about it."""

    chosen: Candidate | None = None
    message: str = ""
    keeps_nomination: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """A pod that found no place, and what else decides."""

    pod: Pod
    unfit: Unfit
    may_preempt: bool = True
    """Not preemptionPolicy Never"""
    nominated_node: str = ""
    nominated: tuple[Pod, ...] = ()
    """Pods of at least its priority that nodes are promised to"""
    budgets: Callable[[], Sequence[Budget]] = tuple
    """Asked for when there are victims to choose from"""
    extra: Extra | None = None


def preempt(engine: Engine, request: Request) -> Outcome:
    """Whom to remove so that the pod will fit."""
    refusal = _not_eligible(engine, request)
    if refusal:
        return Outcome(message=refusal, keeps_nomination=True)
    unfit = request.unfit
    candidates: list[Candidate] = []
    if min(engine.cluster.priorities, default=request.pod.priority) < request.pod.priority:
        candidates, refused = _candidates(engine, request, _promising(engine, unfit))
    else:  # nobody is less important, anywhere
        refused = [statuses.NO_VICTIMS] * sum(count for status, count in unfit.counts if status.resolvable)
    if candidates:
        chosen = best(candidates)
        told = f"found a potential placement for pod on node {chosen.node}, preempting {len(chosen.victims)} victims"
        return Outcome(chosen, told)
    counts: dict[Status, int] = {}
    for status in refused:
        counts[status] = counts.get(status, 0) + 1
    if len(refused) < unfit.nodes:
        counts[statuses.NOT_HELPFUL] = unfit.nodes - len(refused)
    return Outcome(message=messages.unfit(unfit.nodes, counts.items()))


def _promising(engine: Engine, unfit: Unfit) -> list[int]:
    """The nodes where removing pods might help, in the order of the list of nodes."""
    slots = {slot for slot, status in unfit.by_node.items() if status.resolvable}
    return [slot for slot in engine.cluster.order.tolist() if slot in slots]


def best(candidates: Sequence[Candidate]) -> Candidate:
    """The one that does least harm (5.4); of equal ones, the first."""

    def harm(candidate: Candidate) -> tuple[int, int, int, int]:
        total = sum(victim.priority + _UPWARDS for victim in candidate.victims)
        return candidate.violations, candidate.victims[0].priority, total, len(candidate.victims)

    least = min(map(harm, candidates))
    equal = [candidate for candidate in candidates if harm(candidate) == least]
    latest = max(_earliest(candidate) for candidate in equal)
    return next(candidate for candidate in equal if _earliest(candidate) == latest)


def importance(pod: Pod) -> tuple[int, str, str]:
    """Sorts the more important first: higher priority, then the longer running."""
    return -pod.priority, pod.started or _UNSTARTED, pod.uid


def violating(pods: Iterable[Pod], budgets: Sequence[Budget]) -> tuple[list[Pod], list[Pod]]:
    """Pods by importance, apart: those whose removal a budget no longer allows, and the others."""
    left = [budget.allowed for budget in budgets]
    against: list[Pod] = []
    fine: list[Pod] = []
    for pod in pods:
        breaks = False
        for at, budget in enumerate(budgets):
            if budget.guards(pod):
                left[at] -= 1
                if left[at] < 0:
                    breaks = True
                    break
        (against if breaks else fine).append(pod)
    return against, fine


def _not_eligible(engine: Engine, request: Request) -> str:
    if not request.may_preempt:
        return NEVER
    node = engine.cluster.node(request.nominated_node)
    if node is None:
        return ""
    told = request.unfit.by_node.get(node.slot, request.unfit.elsewhere or request.unfit.rejected)
    if told is not None and not told.resolvable:
        return ""
    waits = any(other.is_preempted and other.priority < request.pod.priority for other in node.pods.values())
    return WAITS if waits else ""


def _candidates(engine: Engine, request: Request, slots: Sequence[int]) -> tuple[list[Candidate], list[Status]]:
    """Enough nodes that would do, those without a violation first; and what the others said."""
    wanted = _enough(engine, len(slots))
    fine: list[Candidate] = []
    costly: list[Candidate] = []
    refused: list[Status] = []
    offset = zlib.crc32(request.pod.uid.encode()) % len(slots) if slots else 0
    for at in range(len(slots)):
        found = _victims(engine, request, slots[(offset + at) % len(slots)])
        if isinstance(found, Status):
            refused.append(found)
            continue
        (costly if found.violations else fine).append(found)
        if fine and len(fine) + len(costly) >= wanted:
            break
    return fine + costly, refused


def _enough(engine: Engine, nodes: int) -> int:
    settings = engine.settings
    share = nodes * settings.min_candidate_nodes_percentage // 100
    return min(max(share, settings.min_candidate_nodes_absolute), nodes)


def _victims(engine: Engine, request: Request, slot: int) -> Candidate | Status:
    """Whom the pod would cost on one node; or why it would not fit all the same."""
    cluster, pod = engine.cluster, request.pod
    node = cluster.at(slot)
    lesser = sorted((other for other in node.pods.values() if other.priority < pod.priority), key=importance)
    if not lesser:
        return statuses.NO_VICTIMS
    for other in lesser:
        cluster.drop_pod(other.uid)
    try:
        told = _says(engine, request, slot)
        if told is not None:
            return told
        against, fine = violating(lesser, request.budgets())
        victims, violations = [], 0
        for at, other in enumerate((*against, *fine)):
            cluster.put_pod(other)
            if _says(engine, request, slot) is not None:
                cluster.drop_pod(other.uid)
                victims.append(other)
                violations += at < len(against)
        if not victims:
            return statuses.NO_VICTIMS
        return Candidate(node.facts.name, tuple(sorted(victims, key=importance)), violations)
    finally:
        for other in lesser:
            cluster.put_pod(other)


def _says(engine: Engine, request: Request, slot: int) -> Status | None:
    return engine.status(request.pod, slot, request.extra, request.nominated)


def _earliest(candidate: Candidate) -> str:
    """When the first of the most important victims started."""
    highest = candidate.victims[0].priority
    return min(victim.started or _UNSTARTED for victim in candidate.victims if victim.priority == highest)
