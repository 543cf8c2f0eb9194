"""From inputs to a plan: the decision, and for what it leaves out the explanation."""

import time
from dataclasses import replace

from baseload.decide.disrupt import decide as disruption
from baseload.decide.disrupt import until_stable
from baseload.decide.explain import explain
from baseload.decide.provision import decide
from baseload.kube.bulk import paused_gc
from baseload.plan.disrupt import DisruptPasses, DisruptPlan
from baseload.plan.provision import ProvisionPlan
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
    """The inputs of a decision that needs a moment: this one, where the options name none."""
    if inputs.options.now is not None:
        return inputs
    now = time.time_ns()
    return replace(inputs, options=replace(inputs.options, now=now - now % SECOND))


def disrupted(inputs: Inputs) -> DisruptPlan:
    """What one disruption pass on these inputs would start at its moment."""
    with paused_gc():
        return disruption.disrupt(inputs.view, inputs.tables, inputs.options)


def disrupted_until_stable(inputs: Inputs) -> DisruptPasses:
    """Passes one upon the other until one finds nothing to do."""
    with paused_gc():
        return until_stable.until_stable(inputs.view, inputs.tables, inputs.options)
