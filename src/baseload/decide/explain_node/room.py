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
from baseload.decide.explain_node.what_if import Upon
from baseload.decide.provision.decide import provision
from baseload.plan.node_story import Wall

_MOST: Final = 3  # pods that are explained


def room(trials: Upon, turns: Turns, candidate: Candidate, wall: Wall) -> Iterator[tuple[Edit, ...]]:
    """The change of each pod without a place by itself, then those of all of them."""
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
