"""From inputs to a plan: the decision, and for what it leaves out the explanation."""

import time
from dataclasses import replace

from baseload.decide.disrupt import decide as disruption
from baseload.decide.disrupt import until_stable
from baseload.decide.disrupt.optimal import modes
from baseload.decide.explain import explain
from baseload.decide.explain_node import story as explain_node
from baseload.decide.provision import decide
from baseload.kube.bulk import paused_gc
from baseload.kube.kinds import most_similar
from baseload.model import times
from baseload.model.view import View
from baseload.plan.disrupt import Compared, DisruptPasses, DisruptPlan
from baseload.plan.node_story import NodeStory
from baseload.plan.provision import ProvisionPlan
from baseload.values.errors import BadInput, Fault
from baseload.values.instant import SECOND
from baseload.world.files import Inputs


def provision(inputs: Inputs) -> ProvisionPlan:
    """What one provisioning pass on these inputs would do."""
    with paused_gc():
        plan = decide.provision(inputs.view, inputs.tables, inputs.options)
    return replace(plan, expanded=inputs.expanded)


def explained(inputs: Inputs) -> ProvisionPlan:
    """The same, with what stands in the way of each pod without a place, and notes on what is odd."""
    with paused_gc():
        return explain.explain(
            inputs.view,
            inputs.tables,
            inputs.options,
            provision(inputs),
            place_of=inputs.place_of,
            retabled=inputs.tables_for,
        )


def at_some_moment(inputs: Inputs) -> Inputs:
    """The inputs of a decision that needs a moment: this one, where the options name none.

    Raises BadInput where a time that such a decision reads is none.
    """
    faults = [_fault(inputs, *one) for one in times.unreadable(inputs.view)]
    if faults:
        raise BadInput(faults)
    if inputs.options.now is not None:
        return inputs
    now = time.time_ns()
    return replace(inputs, options=replace(inputs.options, now=now - now % SECOND))


def _fault(inputs: Inputs, ref: str, path: str, why: str) -> Fault:
    found = inputs.manifests.find(ref)
    message = f"Invalid value: {why}"
    return Fault(message, object=ref, path=path) if found is None else found.fault(message, path=path)


def disrupted(inputs: Inputs) -> DisruptPlan:
    """What one disruption pass on these inputs would start at its moment."""
    with paused_gc():
        return disruption.disrupt(inputs.view, inputs.tables, inputs.options)


def disrupted_until_stable(inputs: Inputs) -> DisruptPasses:
    """Passes one upon the other until one finds nothing to do."""
    with paused_gc():
        return until_stable.until_stable(inputs.view, inputs.tables, inputs.options)


def disrupted_in_both_modes(inputs: Inputs) -> Compared[DisruptPlan]:
    """What one pass would start, as Karpenter decides and beyond it."""
    with paused_gc():
        return modes.once(inputs.view, inputs.tables, inputs.options)


def disrupted_until_stable_in_both_modes(inputs: Inputs) -> Compared[DisruptPasses]:
    """Passes until nothing is left to do, as Karpenter decides and beyond it."""
    with paused_gc():
        return modes.until_stable(inputs.view, inputs.tables, inputs.options)


def node_story(inputs: Inputs, name: str) -> NodeStory:
    """Why a node would be given up or kept at the moment of the inputs; a NodeClaim's name stands for its node."""
    wanted = _node(inputs.view, name)
    with paused_gc():
        told = explain_node.story(wanted, inputs.view, inputs.tables, inputs.options, retabled=inputs.tables_for)
    assert told is not None
    return told


def _node(view: View, name: str) -> str:
    states = view.state_nodes
    by_name = {state.claim.metadata.name: state.name for state in states if state.claim is not None}
    by_name |= {state.name: state.name for state in states}
    if name in by_name:
        return by_name[name]
    untracked = any(node.metadata.name == name for node in view.nodes)
    text = f'node "{name}" is not tracked: it has no providerID yet' if untracked else f'there is no node "{name}"'
    near = most_similar(name, list(by_name))
    raise BadInput([Fault(f"{text} in the input", allowed=f"did you mean {near}?" if near else "")])
