"""From inputs to a plan: the decision, and for what it leaves out the explanation."""

from dataclasses import replace

from baseload.decide.explain import explain
from baseload.decide.provision import decide
from baseload.kube.bulk import paused_gc
from baseload.plan.provision import ProvisionPlan
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
