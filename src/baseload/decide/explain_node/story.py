"""All there is to tell of one node: what methods make of it, what would free it, what it costs to leave it."""

from collections.abc import Iterator
from typing import Final

from baseload.decide.disrupt import costs
from baseload.decide.disrupt.decide import METHODS, disrupt
from baseload.decide.explain.edits import Edit
from baseload.decide.explain_node.owners import Owners
from baseload.decide.explain_node.pending import MOST_PENDING, pending_pods, without_pod
from baseload.decide.explain_node.search import Freed, nearest, wait
from baseload.decide.explain_node.takers import takers
from baseload.decide.explain_node.turns import Turns
from baseload.decide.explain_node.walls import wall
from baseload.decide.explain_node.what_if import OPTIONS, Retabled, Tables, Upon, WhatIf
from baseload.decide.lifecycle import conditions
from baseload.decide.lifecycle.changed import is_same_taint
from baseload.decide.lifecycle.names import DISRUPTED, DISRUPTION_REASON
from baseload.decide.provision.options import Options
from baseload.decide.provision.pods import is_reschedulable
from baseload.kube import fieldpath
from baseload.kube.types.core import Node
from baseload.model.statenode import StateNode
from baseload.model.view import View, name_of
from baseload.plan.disrupt import Command, DisruptPlan, Kept, Method
from baseload.plan.node_story import Change, MethodStory, NodeStory, PendingPod, Verdict, Wait
from baseload.plan.provision import Field, Fix
from baseload.values import instant
from baseload.values.label import CAPACITY_TYPE, INSTANCE_TYPE, ZONE

_PROTECTED: Final = (Kept.POD_MARK, Kept.BUDGET_OF_PODS, Kept.SEVERAL_BUDGETS)
_GONE_BY: Final = {
    Kept.NOT_CONSOLIDATABLE: "its pods have been let alone for consolidateAfter by then",
    Kept.BUDGET: "the window of the NodePool's budget is over by then",
    Kept.POD_MARK: "the pods' do-not-disrupt has run out by then",
}
_OTHERS: Final = "a node that takes its pods is past its own consolidateAfter by then"


def story(
    name: str, view: View, tables: Tables, options: Options, *, retabled: Retabled | None = None
) -> NodeStory | None:
    """The story of a node at `options.now`; None where no node of that name is tracked."""
    state = next((one for one in view.state_nodes if one.name == name), None)
    if state is None or options.now is None:
        return None
    plan = disrupt(view, tables, options)
    trials = WhatIf(view, tables, options, name, retabled=retabled)
    turns = trials.turns()
    assert turns is not None
    return _Telling(state, plan, trials, turns).story()


class _Telling:
    """The story of one node, in the making."""

    def __init__(self, state: StateNode, plan: DisruptPlan, trials: WhatIf, turns: Turns) -> None:
        self._state: Final = state
        self._plan: Final = plan
        self._trials: Final = trials
        self._turns: Final = turns
        self._taken: Final = next((c for c in plan.commands if _has(c, state.name)), None)

    def story(self) -> NodeStory:
        state, claim = self._state, self._state.claim
        forced = self._taken if self._taken is not None and self._taken.method is Method.FORCEFUL else None
        methods = tuple(self._methods()) if forced is None else ()
        found = None
        if self._taken is None and self._turns.free() is None:
            found = nearest(self._trials, self._turns)
        freed = found.freed if found is not None else None
        waits = self._wait() if found is not None else None
        change = self._change(freed) if freed is not None else None
        is_cut_short = found is not None and freed is None and self._trials.is_exhausted
        protected = any(told.wall is not None and told.wall.reason in _PROTECTED for told in methods)
        node = state.node
        pods = self._trials.view.pods_on.get(node.metadata.name, ()) if node is not None else ()
        return NodeStory(
            node=state.name,
            node_claim=claim.metadata.name if claim is not None else None,
            node_pool=state.pool or None,
            instance_type=state.labels.get(INSTANCE_TYPE, ""),
            capacity_type=state.labels.get(CAPACITY_TYPE, ""),
            zone=state.labels.get(ZONE, ""),
            price_per_hour=costs.of_node(state.labels, self._turns.situation.tables.get(state.pool)) or 0.0,
            now=instant.format(self._trials.now),
            is_candidate=any(told.verdict is not Verdict.PASSED_OVER for told in methods),
            pods=tuple(name_of(pod) for pod in pods if is_reschedulable(pod)),
            methods=methods,
            forced=forced,
            walls=found.walls if found is not None else (),
            change=change,
            wait=waits,
            cost_per_hour=self._cost(methods, change, waits),
            takers=tuple(takers(self._trials.view, state, self._trials.options, is_protected=protected)),
            pending=tuple(self._pending(kept=found is not None)) if state.claim is not None else (),
            note=next(iter(self._plan.notes), "") or _running(state),
            is_cut_short=is_cut_short,
        )

    def _methods(self) -> Iterator[MethodStory]:
        ends = next((c for c in self._plan.commands if c.method is not Method.FORCEFUL), None)
        for method in METHODS:
            turn = self._turns.of(method)
            if self._taken is not None and self._taken.method is method:
                yield MethodStory(method, Verdict.TAKEN, command=self._taken)
            elif turn.command is not None:
                yield MethodStory(method, Verdict.LATER, command=turn.command, message=self._later(method, ends))
            else:
                verdict = Verdict.PASSED_OVER if turn.is_passed_over else Verdict.KEPT
                yield MethodStory(method, verdict, wall(self._turns, turn))

    def _pending(self, *, kept: bool) -> Iterator[PendingPod]:
        names = pending_pods(self._turns.situation)
        for at, name in enumerate(names):
            is_tried = kept and at < MOST_PENDING and not self._trials.is_exhausted
            yield PendingPod(name, Upon(self._trials).frees(without_pod(name)) if is_tried else None if kept else False)

    def _later(self, method: Method, ends: Command | None) -> str:
        """Why the pass does not start what the method could do."""
        if ends is None:
            return next(iter(self._plan.notes), "other nodes use up what the budgets allow")
        nodes = ", ".join(one.node for one in ends.candidates[:3])
        more = f" and {len(ends.candidates) - 3} more" if len(ends.candidates) > 3 else ""
        if ends.method is not method:
            return f"the pass ends with {ends.method} of {nodes}{more}"
        kept = next((t for t in self._plan.tried if t.node == self._state.name and t.method is method), None)
        return f"{method} takes {nodes}{more} in this pass" + (f", and {kept.message}" if kept is not None else "")

    def _wait(self) -> Wait | None:
        found = wait(self._trials, self._turns)
        if found is None:
            return None
        moment, turn, held = found
        assert turn.command is not None
        message = _GONE_BY.get(held.reason, _OTHERS)
        return Wait(instant.format(moment), message, turn.method, turn.command)

    def _change(self, freed: Freed) -> Change:
        assert freed.turn.command is not None
        fixes = tuple(Fix(e.object, e.path, self._held(e), e.value) for e in freed.edits)
        owners = Owners(self._trials.view)
        pods = [self._trials.objects.pods.get(fix.object.removeprefix("Pod ")) if fix.path else None for fix in fixes]
        written = (
            owners.template_of(pod, fieldpath.parse(fix.path)) if pod is not None else None
            for fix, pod in zip(fixes, pods, strict=True)
        )
        return Change(fixes, freed.turn.method, freed.turn.command, tuple(written))

    def _held(self, edit: Edit) -> Field:
        if edit.object == OPTIONS:
            return False
        return self._trials.objects.value(edit.object, edit.path) if edit.path else None

    def _cost(self, methods: tuple[MethodStory, ...], change: Change | None, waits: Wait | None) -> float:
        """What is saved by the best of the moves that are open or would be opened."""
        commands = [told.command for told in methods if told.command is not None]
        commands += [one.command for one in (change, waits) if one is not None]
        return max([0.0, *(self._share(command) for command in commands)])

    def _share(self, command: Command) -> float:
        """The node's part of what a command saves, by its price."""
        whole = sum(one.price_per_hour for one in command.candidates)
        own = next((one.price_per_hour for one in command.candidates if one.node == self._state.name), 0.0)
        return command.savings_per_hour * own / whole if whole > 0 else 0.0


def _has(command: Command, node: str) -> bool:
    return any(one.node == node for one in command.candidates)


def _running(state: StateNode) -> str:
    """What a command that runs leaves on a node, and one that was broken off too: objects do not tell which it is."""
    node, claim = state.node, state.claim
    if node is None or claim is None or state.marked_for_deletion or not _is_disrupted(node):
        return ""
    held = conditions.find(claim.status.conditions, DISRUPTION_REASON)
    why = f" ({DISRUPTION_REASON} {held.reason})" if held is not None else ""
    return f"it carries the taint {DISRUPTED.key}{why}: a command gives it up already, or was broken off"


def _is_disrupted(node: Node) -> bool:
    return any(is_same_taint(taint, DISRUPTED) for taint in node.spec.taints)
