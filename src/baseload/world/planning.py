"""From inputs to a plan: the decision, and what the input itself adds to it."""

from dataclasses import replace

from baseload.decide.provision import decide
from baseload.kube.bulk import paused_gc
from baseload.plan.provision import ProvisionPlan
from baseload.world.files import Inputs


def provision(inputs: Inputs) -> ProvisionPlan:
    """What one provisioning pass on these inputs would do."""
    with paused_gc():
        plan = decide.provision(inputs.view, inputs.tables, inputs.options)
    return replace(plan, expanded=inputs.expanded)
