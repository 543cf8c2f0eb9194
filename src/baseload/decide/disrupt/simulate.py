"""What would become of the pods if some nodes were gone (disruption and lifecycle spec 13).

It is the provisioner's own engine, set up once for all candidates of a pass: the nodes that stay, less the candidates;
pending pods, those of nodes that are deleted, and those of the candidates; nodes to launch from the pools that may.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from baseload.decide.disrupt import windows
from baseload.decide.disrupt.prices import Prices
from baseload.decide.fit.attempt import OPEN, Closed
from baseload.decide.fit.engine import Fitted
from baseload.decide.fit.planned import Claim
from baseload.decide.fit.running import Bound
from baseload.decide.fit.shape import FitPod
from baseload.decide.fit.why import Refusal
from baseload.decide.provision import hosts
from baseload.decide.provision.launch import MOST_TYPES
from baseload.decide.provision.setup import Setting, SetUp, set_up
from baseload.model.view import View, name_of

_PENDING: Final = "Pending"
_DRA: Final = "it uses ResourceClaims, which cannot be placed (ignoreDraRequests)"


@dataclass(frozen=True, slots=True)
class Unplaced:
    """A pod that has to go somewhere and cannot; `why` where it is not for want of a place, else who refused it."""

    pod: str
    why: str = ""
    refusals: Sequence[Refusal] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Simulated:
    """Where everything would go."""

    claims: tuple[Claim, ...]  # nodes to launch
    places: Mapping[str, str]  # pod of a candidate -> the node that is there and takes it
    moved: tuple[str, ...]  # the pods of the candidates that were planned for
    unplaced: tuple[Unplaced, ...]

    @property
    def all_placed(self) -> bool:
        return not self.unplaced


class Simulator:
    """Simulations on one view."""

    def __init__(self, setting: Setting, now: int) -> None:
        self._strict: Final = setting.options.min_values_policy == "Strict"
        made = set_up(setting, movable=True, strict_reservations=False)
        self.made: Final[SetUp] = replace(made, movable=_movable(setting, made.movable))
        self.prices: Final = Prices(made.sets)
        states = hosts.offered(setting.view)
        pools = {pool.metadata.name: pool for pool in setting.pools}
        self._shut: Final = _mask(windows.is_target_inside(state, pools, now) for state in states)
        self._booting: Final = frozenset(place for place, state in enumerate(states) if not state.initialized)
        waiting = _waiting(setting.view) if self._shut else frozenset()
        self._exempt: Final = waiting
        pending, moving = len(setting.sought.pending), len(setting.sought.moving)
        self._deleted: Final = frozenset(id(pod) for pod in made.pods[pending : pending + moving])
        self._refused: Final = tuple(Unplaced(name_of(pod), _DRA) for pod in setting.sought.refused)
        self._claiming: Final = _with_resource_claims(setting)

    def without(self, nodes: Iterable[str], *, is_consolidation: bool, most_reasons: int | None = None) -> Simulated:
        """The outcome if these nodes were gone; in consolidations nodes inside their window take no moved pods."""
        gone = tuple(nodes)
        displaced = [bound.pod for name in gone for bound in self.made.movable.get(name, ())]
        closed = OPEN
        if is_consolidation and self._shut:
            closed = Closed(self._shut, frozenset(id(pod) for pod in displaced if pod.name not in self._exempt))
        fitted = self.made.without(gone, most_reasons=most_reasons, closed=closed)
        claims, dropped = self._truncated(fitted.claims)
        ours = frozenset(map(id, displaced))
        unplaced = [*self._refused, *self._unplaced(fitted, displaced, ours, dropped)]
        names = self.made.cluster.hosts
        return Simulated(
            claims=claims,
            places={pod.name: names[place].name for pod, place in fitted.on_nodes if id(pod) in ours},
            moved=tuple(pod.name for pod in displaced),
            unplaced=tuple(unplaced),
        )

    def cheapest(self, claim: Claim) -> float:
        """The price of the claim's first type at the cheapest offering that it may get."""
        return self.prices.ladder(claim.template.types, claim.hosts.number).price(claim.types)

    def _unplaced(
        self, fitted: Fitted, displaced: Sequence[FitPod], ours: frozenset[int], dropped: Sequence[Claim]
    ) -> Iterable[Unplaced]:
        """The pods that make it impossible; a pending one that goes nowhere is no obstacle."""
        for pod, refusals in fitted.failed:
            if id(pod) in ours or id(pod) in self._deleted:
                yield Unplaced(pod.name, refusals=refusals)
        for claim in dropped:
            for pod in claim.pods:
                if id(pod) in ours or id(pod) in self._deleted:
                    yield Unplaced(pod.name, "the cheapest 600 instance types do not reach the minValues")
        if self._booting:
            for pod, place in fitted.on_nodes:
                if place in self._booting and id(pod) in ours:
                    yield Unplaced(pod.name, f"node {self.made.cluster.hosts[place].name} is not initialised yet")
        if self._claiming:
            yield from (Unplaced(pod.name, _DRA) for pod in displaced if pod.name in self._claiming)

    def _truncated(self, claims: Sequence[Claim]) -> tuple[tuple[Claim, ...], list[Claim]]:
        """The claims with at most 600 types, and those that so miss their minValues (13.6)."""
        kept: list[Claim] = []
        dropped: list[Claim] = []
        for claim in claims:
            if claim.types.bit_count() > MOST_TYPES:
                index, number = claim.template.types, claim.hosts.number
                claim.types = self.prices.ladder(index, number).first(claim.types, MOST_TYPES)
                if self._strict and index.short_of_variety(claim.types, number):
                    dropped.append(claim)
                    continue
            kept.append(claim)
        return tuple(kept), dropped


def _mask(flags: Iterable[bool]) -> int:
    return sum(1 << place for place, flag in enumerate(flags) if flag)


def _waiting(view: View) -> frozenset[str]:
    """Bound pods that have not started, which windows do not hold back."""
    return frozenset(name_of(pod) for pod in view.pods if pod.spec.node_name and pod.status.phase == _PENDING)


def _with_lost_volumes(setting: Setting) -> frozenset[str]:
    """Running pods whose volumes cannot be looked up: nobody plans for them, and so they are no obstacle."""
    pods = (pod for pod in setting.view.pods if pod.spec.volumes and pod.spec.node_name)
    return frozenset(name_of(pod) for pod in pods if setting.readings.has_lost_volume(pod))


def _with_resource_claims(setting: Setting) -> frozenset[str]:
    if not setting.options.ignore_dra_requests:
        return frozenset()
    return frozenset(name_of(pod) for pod in setting.view.pods if pod.spec.resource_claims)


def _movable(setting: Setting, found: Mapping[str, Sequence[Bound]]) -> Mapping[str, Sequence[Bound]]:
    """The pods that would have to move, by the name that their node goes by."""
    lost = _with_lost_volumes(setting)
    states = {state.node.metadata.name: state.name for state in setting.view.state_nodes if state.node is not None}
    return {
        states.get(node, node): [bound for bound in pods if bound.pod.name not in lost] if lost else pods
        for node, pods in found.items()
    }
