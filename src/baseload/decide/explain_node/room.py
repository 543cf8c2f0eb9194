"""What would give a place to the pods that a node cannot get rid of: the provisioner's own explanation of them.

The node is taken to be on its way out, so that provisioning looks for places for its pods; those that find none are
explained as pending pods are, each with the one field that would place it.
"""

from collections.abc import Iterator
from typing import Final

from baseload.decide.disrupt.candidates import Candidate
from baseload.decide.disrupt.overlay import deleting
from baseload.decide.explain.edits import Edit
from baseload.decide.explain.explain import explain_pod
from baseload.decide.explain_node.turns import Turns
from baseload.decide.explain_node.walls import AFTER
from baseload.decide.explain_node.what_if import Upon
from baseload.decide.lifecycle import markers
from baseload.decide.provision.decide import provision
from baseload.model.view import ref_of
from baseload.plan.node_story import Wall
from baseload.plan.reason import Reason

_MOST: Final = 3  # pods that are explained


def room(trials: Upon, turns: Turns, candidate: Candidate, wall: Wall) -> Iterator[tuple[Edit, ...]]:
    """The change of each pod without a place by itself, then those of all of them."""
    yield from _of_windows(turns, wall)
    situation = turns.situation
    view = deleting(situation.view, {candidate.claim.metadata.name}, situation.now)
    plan = provision(view, trials.trials.tables, situation.options)
    failed = [u.pod for u in plan.unschedulable if u.pod in wall.pods][:_MOST]
    fixes: dict[tuple[str, str, str], Edit] = {}
    for pod in failed:
        told = explain_pod(pod, view, trials.trials.tables, situation.options, plan, retabled=trials.trials.retabled)
        if told is not None and told.fix is not None:
            edit = Edit(told.fix.object, told.fix.path, told.fix.to)
            fixes.setdefault(edit.key, edit)
    yield from ((edit,) for edit in fixes.values())
    if len(fixes) > 1:
        yield tuple(fixes.values())


def _of_windows(turns: Turns, wall: Wall) -> Iterator[tuple[Edit, ...]]:
    """A shorter window for the pools whose nodes would take the pods, were they let alone for long enough."""
    closed = {
        rejection.target.removeprefix("node/")
        for _, by in wall.rejections
        for rejection in by
        if rejection.reason is Reason.WINDOW
    }
    pools = turns.situation.pools
    names = {state.pool for state in turns.situation.view.state_nodes if state.name in closed}
    for name in sorted(names & set(pools)):
        yield (Edit(ref_of(pools[name]), AFTER, "0s"),)


def windows_end(turns: Turns, wall: Wall) -> Iterator[int]:
    """When the nodes that would take the pods are inside their windows no more, the first first."""
    closed = {
        rejection.target.removeprefix("node/")
        for _, by in wall.rejections
        for rejection in by
        if rejection.reason is Reason.WINDOW
    }
    pools = turns.situation.pools
    ends = set()
    for state in turns.situation.view.state_nodes:
        if state.name in closed and state.claim is not None and state.pool in pools:
            end = markers.window_end(state.claim, pools[state.pool])
            if end is not None:
                ends.add(end)
    yield from sorted(ends)
