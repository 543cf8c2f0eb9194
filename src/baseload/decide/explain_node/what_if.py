"""The cluster with fields changed, or at a later moment, decided on again.

What controllers would bring up to date after such a change is brought up to date first: what a PodDisruptionBudget
allows, and which NodeClaims are Consolidatable. The number of trials depends on the size of the input.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from baseload.catalog.columns import InstanceTypes
from baseload.decide.disrupt.situation import Situation
from baseload.decide.disrupt.step import step
from baseload.decide.explain.edits import Edit, Impossible, Objects
from baseload.decide.explain_node import pod_budgets
from baseload.decide.explain_node.turns import Turns
from baseload.decide.lifecycle import conditions, markers
from baseload.decide.lifecycle.changed import claim_saying, with_status
from baseload.decide.lifecycle.conditions import Said
from baseload.decide.lifecycle.names import CONSOLIDATABLE
from baseload.decide.provision.options import Options
from baseload.decide.provision.pools import is_static
from baseload.kube.types.karpenter import NodeClaim, NodePool
from baseload.model.view import View, ref_of
from baseload.values.errors import BadInput
from baseload.values.label import NODEPOOL

Tables = Mapping[str, InstanceTypes]
Retabled = Callable[[View], Tables]

OPTIONS: Final = "Options"
"""what stands for the controller's own settings where an object is named"""
GATES: Final = "featureGates."
_WORK: Final = 60_000  # pods and nodes set up anew, in all trials together
_LEAST: Final = 10
_MOST: Final = 150
_WINDOW: Final = "spec.disruption.consolidateAfter"


class WhatIf:
    """Trials on one input, about one node."""

    def __init__(
        self, view: View, tables: Tables, options: Options, node: str, *, retabled: Retabled | None = None
    ) -> None:
        assert options.now is not None
        self.view: Final = view
        self.tables: Final = tables
        self.options: Final = options
        self.now: Final = options.now
        self.node: Final = node
        self.objects: Final = Objects(view, {})
        self.retabled: Final = retabled
        size = len(view.pods) + len(view.nodes) + 40
        self._left = min(_MOST, max(_LEAST, _WORK // size))
        self._known: Final[dict[tuple[object, ...], Turns | None]] = {}

    @property
    def is_exhausted(self) -> bool:
        return self._left <= 0

    def turns(self, edits: Sequence[Edit] = (), *, at: int | None = None) -> Turns | None:
        """What the methods make of the node then; None where the change is impossible, or no trial is left."""
        key = (at, *(edit.key for edit in edits))
        if key not in self._known:
            if edits or at is not None:
                if self._left <= 0:
                    return None
                self._left -= 1
            self._known[key] = self._tried(edits, at)
        return self._known[key]

    def _tried(self, edits: Sequence[Edit], at: int | None) -> Turns | None:
        try:
            view = self.edited(edits, at=at)
            tables = self.tables
            if self.retabled is not None and any("NodeClass" in edit.object for edit in edits):
                tables = self.retabled(view)
        except (Impossible, BadInput):
            return None
        options = self._options(edits, at)
        return Turns(Situation(step(view, tables, options).view, tables, options), self.node)

    def edited(self, edits: Sequence[Edit], *, at: int | None = None) -> View:
        """The view after edits, as it would be at a moment; raises Impossible."""
        view = self.objects.edited([edit for edit in edits if edit.path and edit.object != OPTIONS])
        gone = {edit.object for edit in edits if not edit.path}
        if gone:
            budgets = tuple(one for one in view.pod_disruption_budgets if ref_of(one) not in gone)
            pods = tuple(pod for pod in view.pods if pod.spec.node_name or ref_of(pod) not in gone)
            view = replace(view, pod_disruption_budgets=budgets, pods=pods)
        touched = {edit.object for edit in edits}
        budgets = tuple(
            pod_budgets.brought_up_to_date(one, view) if ref_of(one) in touched else one
            for one in view.pod_disruption_budgets
        )
        view = replace(view, pod_disruption_budgets=budgets)
        pools = {edit.object.removeprefix("NodePool ") for edit in edits if edit.path == _WINDOW}
        return marked(view, self.now if at is None else at, pools, only_ended=at is not None)

    def _options(self, edits: Sequence[Edit], at: int | None) -> Options:
        gates = {e.path.removeprefix(GATES): bool(e.value) for e in edits if e.object == OPTIONS}
        options = replace(self.options, now=self.now if at is None else at)
        return replace(options, feature_gates={**options.feature_gates, **gates})


@dataclass(frozen=True, slots=True, eq=False)
class Upon:
    """Trials on what some edits have changed already."""

    trials: WhatIf
    before: tuple[Edit, ...] = ()

    def turns(self, edits: Sequence[Edit] = (), *, at: int | None = None) -> Turns | None:
        """As `WhatIf.turns`, with these edits after the earlier ones."""
        return self.trials.turns((*self.before, *edits), at=at)

    def frees(self, edit: Edit) -> bool:
        """Whether some method has a command for the node then."""
        turns = self.turns((edit,))
        return turns is not None and turns.free() is not None


def marked(view: View, now: int, pools: Iterable[str], *, only_ended: bool) -> View:
    """The view with the Consolidatable marks of these pools' claims made anew, and with those set that time has set."""
    wanted = set(pools)
    by_name = {pool.metadata.name: pool for pool in view.node_pools}
    if not wanted and not only_ended:
        return view

    def made(claim: NodeClaim) -> NodeClaim:
        pool = by_name.get(claim.metadata.labels.get(NODEPOOL, ""))
        if pool is None or is_static(pool):
            return claim
        return _marked(claim, pool, now, may_end=pool.metadata.name in wanted, only_ended=only_ended)

    return replace(view, node_claims=tuple(map(made, view.node_claims)))


def _marked(claim: NodeClaim, pool: NodePool, now: int, *, may_end: bool, only_ended: bool) -> NodeClaim:
    held = conditions.is_true(claim.status.conditions, CONSOLIDATABLE)
    due = markers.is_consolidatable(claim, pool, now)
    if due and not held and (may_end or (only_ended and markers.window_end(claim, pool) is not None)):
        return claim_saying(claim, Said(CONSOLIDATABLE), now=now)
    if held and not due and may_end:
        return with_status(claim, conditions=conditions.without(claim.status.conditions, CONSOLIDATABLE))
    return claim
