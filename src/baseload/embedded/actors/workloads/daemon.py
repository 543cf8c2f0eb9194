"""Which nodes a DaemonSet's pods belong on, which pods go, and how an update gets from node to node.

A node is judged for itself (`on_node`), so that a change on one node costs no look at the others; the sums over all
nodes (`Sums`) are kept by adding what a node counts for and taking away what it counted for before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from baseload.kube.types.core import NodeSelector, NodeSelectorTerm, PodSpec, Toleration
from baseload.kube.types.meta import Taint
from baseload.values import instant
from baseload.values.selector import Term

FIRST_RETRY: Final = instant.SECOND  # until a failed pod is deleted again on the same node
LAST_RETRY: Final = 15 * 60 * instant.SECOND
_NODE: Final = "node.kubernetes.io/"
ADDED: Final = (
    ("not-ready", "NoExecute"),
    ("unreachable", "NoExecute"),
    ("disk-pressure", "NoSchedule"),
    ("memory-pressure", "NoSchedule"),
    ("pid-pressure", "NoSchedule"),
    ("unschedulable", "NoSchedule"),
)
"""What every pod of a DaemonSet tolerates"""
_OF_HOST_NETWORK: Final = ("network-unavailable", "NoSchedule")
_NAME: Final = "metadata.name"


@dataclass(frozen=True, slots=True)
class Ground:
    """A node as DaemonSets see it."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]


@dataclass(frozen=True, slots=True)
class DaemonPod:
    """A pod of a DaemonSet, for one node."""

    key: str
    created: str
    is_present: bool  # of the present template
    is_bound: bool = False
    is_failed: bool = False
    is_succeeded: bool = False
    is_ready: bool = False
    is_available: bool = False
    is_terminating: bool = False


def tolerations(spec: PodSpec) -> tuple[Toleration, ...]:
    """What the pods tolerate: what the template says, and what every daemon does."""
    added = (*ADDED, *((_OF_HOST_NETWORK,) if spec.host_network else ()))
    given = (Toleration(f"{_NODE}{key}", "Exists", effect=effect) for key, effect in added)
    return (*spec.tolerations, *given)


def runs_on(spec: PodSpec, tolerated: Sequence[Toleration], node: Ground) -> tuple[bool, bool]:
    """Whether a pod belongs on a node, and whether one that is there may stay."""
    if spec.node_name and spec.node_name != node.name:
        return False, False
    if not _is_chosen(spec, node):
        return False, False
    untolerated = [
        taint.effect
        for taint in node.taints
        if taint.effect in ("NoSchedule", "NoExecute") and not any(tolerates(one, taint) for one in tolerated)
    ]
    return not untolerated, "NoExecute" not in untolerated


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Whether a toleration is one for a taint."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator == "Exists":
        return True
    return bool(toleration.key) and toleration.operator in ("", "Equal") and toleration.value == taint.value


def _is_chosen(spec: PodSpec, node: Ground) -> bool:
    if any(node.labels.get(key) != value for key, value in spec.node_selector.items()):
        return False
    affinity = spec.affinity.node_affinity if spec.affinity is not None else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity is not None else None
    return required is None or _matches(required, node)


def _matches(required: NodeSelector, node: Ground) -> bool:
    return any(_matches_term(term, node) for term in required.node_selector_terms)


def _matches_term(term: NodeSelectorTerm, node: Ground) -> bool:
    if not term.match_expressions and not term.match_fields:
        return False
    fields = {_NAME: node.name}
    return all(
        Term.of(one.key, one.operator, one.values).matches(node.labels) for one in term.match_expressions
    ) and all(Term.of(one.key, one.operator, one.values).matches(fields) for one in term.match_fields)


class Verdict(NamedTuple):
    """What is to be done on one node now."""

    create: bool = False
    delete: tuple[str, ...] = ()  # keys of pods
    failed: tuple[str, ...] = ()  # keys of pods that go when their back-off allows


def on_node(pods: Sequence[DaemonPod], *, belongs: bool, may_stay: bool, surges: bool) -> Verdict:
    """What a node lacks and what it has too much; updates are another matter."""
    alive = sorted((pod for pod in pods if not pod.is_terminating), key=_oldest_first)
    if belongs and not pods:
        return Verdict(create=True)
    if not may_stay:
        return Verdict(delete=tuple(pod.key for pod in alive))
    failed = tuple(pod.key for pod in alive if pod.is_failed)
    over = tuple(pod.key for pod in alive if pod.is_succeeded)
    running = [pod for pod in alive if not pod.is_failed and not pod.is_succeeded]
    if not surges:
        return Verdict(delete=(*over, *(pod.key for pod in running[1:])), failed=failed)
    if not running:
        return Verdict(create=belongs and not failed and not over, delete=over, failed=failed)
    return Verdict(delete=(*over, *_surplus(running)), failed=failed)


def _surplus(running: Sequence[DaemonPod]) -> list[str]:
    """While surging a node may have one pod of each template, the new one not yet available and the old one ready."""
    new = [pod for pod in running if pod.is_present]
    old = [pod for pod in running if not pod.is_present]
    surplus = [pod.key for pod in (*new[1:], *old[1:])]
    if new and old and (not old[0].is_ready or new[0].is_available):
        surplus.append(old[0].key)
    return surplus


def _oldest_first(pod: DaemonPod) -> tuple[bool, str, str]:
    return not pod.is_bound, pod.created, pod.key


class Count(NamedTuple):
    """What one node counts for in a DaemonSet's status and in its update."""

    desired: int = 0
    current: int = 0
    misscheduled: int = 0
    ready: int = 0
    available: int = 0
    updated: int = 0
    unavailable: int = 0  # towards maxUnavailable, while an update goes on
    surging: int = 0  # towards maxSurge


def count(pods: Sequence[DaemonPod], *, belongs: bool) -> Count:
    """What a node counts for."""
    unavailable, surging = _in_update(pods)
    if not pods:
        return Count(desired=int(belongs), unavailable=0)
    if not belongs:
        return Count(misscheduled=1, unavailable=unavailable, surging=surging)
    first = min(pods, key=_oldest_first)
    return Count(1, 1, 0, int(first.is_ready), int(first.is_available), int(first.is_present), unavailable, surging)


def _in_update(pods: Sequence[DaemonPod]) -> tuple[int, int]:
    alive = [pod for pod in pods if not pod.is_terminating]
    new, old = [pod for pod in alive if pod.is_present], [pod for pod in alive if not pod.is_present]
    if len(new) > 1 or len(old) > 1:
        return 1, 1
    if new and old:
        return 1, int(not new[0].is_available)
    if not alive:
        return int(bool(pods)), 0
    return int(not alive[0].is_available), 0


def replaceable(pods: Sequence[DaemonPod]) -> DaemonPod | None:
    """The one old pod of a node that has no new one yet."""
    alive = [pod for pod in pods if not pod.is_terminating]
    return alive[0] if len(alive) == 1 and not alive[0].is_present else None


def backed_off(since: int, wait: int, now: int) -> int:
    """When a failed pod may be deleted after the last one of its node was: `since`, after which to wait so long."""
    return max(now, since + wait)


def next_wait(wait: int, since: int, now: int) -> int:
    """How long to wait after the next failure on the same node; the first again after a long calm."""
    if not wait or now - since > 2 * LAST_RETRY:
        return FIRST_RETRY
    return min(2 * wait, LAST_RETRY)
