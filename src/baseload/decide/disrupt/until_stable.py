"""Passes one upon the other, each carried out in full before the next, until one finds nothing to do.

Time stands still while there is something to do; then it moves on to where the next consolidateAfter is over. What is
forceful is decided once, in the first pass. Pods that a pass leaves without a node are provisioned for, as they would
be, before the next one. Nodes that are there again as they were after an earlier pass are a loop, which never ends.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from baseload.catalog.columns import InstanceTypes
from baseload.decide.disrupt import carried_out, costs, loops
from baseload.decide.disrupt.carried_out import marked
from baseload.decide.disrupt.decide import METHODS, Methods, Names, graceful, joined
from baseload.decide.disrupt.filters import is_drifted
from baseload.decide.disrupt.loops import History
from baseload.decide.disrupt.situation import Situation
from baseload.decide.disrupt.step import step
from baseload.decide.lifecycle import markers
from baseload.decide.provision.decide import provision
from baseload.decide.provision.options import Options
from baseload.decide.provision.setup import types_of
from baseload.model.statenode import StateNode
from baseload.model.view import View, name_of
from baseload.plan.disrupt import DisruptPasses, DisruptPlan, End, Loop, LoopKind
from baseload.values.label import CAPACITY_TYPE, INSTANCE_TYPE, ZONE

MOST: Final = 1_000
"""passes that do something, after which nobody waits for the end"""

Tables = Mapping[str, InstanceTypes]
Shape = tuple[tuple[object, ...], ...]
"""the nodes of a view, but for their names"""


def until_stable(view: View, tables: Tables, options: Options) -> DisruptPasses:
    """What the passes do, and the nodes that are left in the end."""
    run = Run(view, tables, options)
    run.play()
    return run.passes()


class Run:
    """A cluster on which passes are carried out."""

    def __init__(self, view: View, tables: Tables, options: Options) -> None:
        assert options.now is not None
        self.view = view
        self.now = options.now
        self.plans: list[DisruptPlan] = []
        self.loop: tuple[int, int] | None = None
        self._seen: Final[dict[Shape, int]] = {}  # the nodes -> the passes after which they were so
        self._tables: Final = tables
        self._options: Final = options
        self.names: Final = Names(state.name for state in view.state_nodes)
        self._history: Final = History()
        self._repeated: Final[dict[tuple[LoopKind, str], Loop]] = {}

    @property
    def is_stable(self) -> bool:
        return not self.plans[-1].commands and self.loop is None

    def play(self, methods: Methods = METHODS) -> None:
        """Passes until one finds nothing to do; where they ended already, until these methods find nothing either."""
        plans = self.plans
        if plans:
            plans[-1] = self.next(methods)
        else:
            plans.append(self._first(methods))
        while plans[-1].commands and self.loop is None and len(plans) < MOST:
            self.carry_out(plans[-1])
            plans.append(self.next(methods))
            now = shape(self.view)
            if now in self._seen and plans[-1].commands:
                self.loop = self._seen[now], len(plans) - 1
            self._seen[now] = len(plans) - 1
        if not plans[-1].commands:
            self.let_go()

    def passes(self) -> DisruptPasses:
        """What was done so far, and what is there now."""
        repeated = tuple(self._repeated.values())
        end = End(len(self.view.nodes), self.price(), self.is_stable, self.loop, repeated)
        return DisruptPasses(tuple(self.plans), end)

    def _first(self, methods: Methods) -> DisruptPlan:
        """The first pass, with what is forceful."""
        stepped = step(self.view, self._tables, self._options)
        self.view = stepped.view
        if not stepped.commands:  # what is forceful happens once
            self._seen[shape(self.view)] = 0
        return joined(stepped, graceful(self.situation(), self.names, methods))

    def carry_out(self, plan: DisruptPlan) -> None:
        """The cluster after a plan, and without those nodes that were on their way out before it."""
        self._remember(plan)
        waiting = {name_of(pod) for pod in self.view.pods if not pod.spec.node_name}
        self.view = carried_out.carried_out(self.view, plan.commands, self._overlaid(), self.now)
        self._provision(waiting)
        self.let_go()

    def let_go(self) -> None:
        """Ends the nodes that are being deleted."""
        going = [state.name for state in self.view.state_nodes if state.marked_for_deletion]
        if going:
            waiting = {name_of(pod) for pod in self.view.pods if not pod.spec.node_name}
            self.view = carried_out.without(self.view, going)
            self._provision(waiting)

    def next(self, methods: Methods = METHODS) -> DisruptPlan:
        """The next pass that finds something to do, or the last one of all."""
        while True:
            self.view = marked(self.view, self.now)
            plan = graceful(self.situation(), self.names, methods)
            if plan.commands or (ends := self._next_end()) is None:
                return plan
            self.now = ends

    def situation(self) -> Situation:
        """The cluster as it is now."""
        return Situation(self.view, self._tables, replace(self._options, now=self.now))

    def price(self) -> float:
        """What the nodes cost an hour, as far as it is known."""
        tables = self._overlaid()
        return sum(costs.of_node(state.labels, tables.get(state.pool)) or 0.0 for state in self.view.state_nodes)

    def _remember(self, plan: DisruptPlan) -> None:
        """Notes what a plan does, and what it does again."""
        of, replicas = loops.workloads_of(self.view.pods)
        for command in plan.commands:
            done = loops.given_up(command, self.now, lambda pod: of.get(pod, pod), replicas)
            if (loop := loops.seen_before(self._history, done)) is not None:
                self._repeated[loop.kind, loop.about] = loop
            self._history.give_up(done)

    def _overlaid(self) -> Tables:
        return {name: it.types for name, it in types_of(self.view, self._tables, self._options).items()}

    def _next_end(self) -> int | None:
        """When the next window is over."""
        pools = {pool.metadata.name: pool for pool in self.view.node_pools}
        ends = (
            markers.window_end(state.claim, pools[state.pool])
            for state in self.view.state_nodes
            if state.claim is not None and state.pool in pools
        )
        return min((end for end in ends if end is not None and end > self.now), default=None)

    def _provision(self, waiting: set[str]) -> None:
        """Gives those pods a place that lost theirs; the ones that waited before go on waiting."""
        homeless = {name_of(pod) for pod in self.view.pods if not pod.spec.node_name} - waiting
        if not homeless:
            return
        pods = tuple(pod for pod in self.view.pods if pod.spec.node_name or name_of(pod) in homeless)
        options = replace(self._options, now=self.now)
        plan = provision(replace(self.view, pods=pods), self._tables, options, most_reasons=None)
        claims = [replace(claim, name=self.names.next(claim.node_pool)) for claim in plan.node_claims]
        of, _ = loops.workloads_of(pods)
        for claim in claims:
            self._history.launch(loops.launched(claim, self.now, lambda pod: of.get(pod, pod)))
        to = {placement.pod: placement.node for placement in plan.placements if placement.node is not None}
        to |= {pod: claim.name for claim in claims for pod in claim.pods}
        view = carried_out.placed(self.view, to, self.now)
        self.view = carried_out.launched(view, claims, self._overlaid(), self.now)


def shape(view: View) -> Shape:
    """What the nodes of a view are and bear, whatever their names."""
    return tuple(sorted(_shapes(view)))


def _shapes(view: View) -> Iterator[tuple[object, ...]]:
    for state in view.state_nodes:
        labels, drifted = state.labels, state.claim is not None and is_drifted(state.claim)
        pods = tuple(sorted(name_of(pod) for pod in view.pods_on.get(_node_name(state), ())))
        kind = (state.pool, *(labels.get(key, "") for key in (INSTANCE_TYPE, CAPACITY_TYPE, ZONE)))
        yield kind, drifted, pods


def _node_name(state: StateNode) -> str:
    return state.node.metadata.name if state.node is not None else ""
