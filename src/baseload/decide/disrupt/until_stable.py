"""Passes one upon the other, each carried out in full before the next, until one finds nothing to do."""

from collections.abc import Mapping

from baseload.catalog.columns import InstanceTypes
from baseload.decide.disrupt.decide import disrupt
from baseload.decide.provision.options import Options
from baseload.model.view import View
from baseload.plan.disrupt import DisruptPasses, End


def until_stable(view: View, tables: Mapping[str, InstanceTypes], options: Options) -> DisruptPasses:
    """What the passes do, and the nodes that are left in the end."""
    plan = disrupt(view, tables, options)
    return DisruptPasses((plan,), End(len(view.nodes), 0.0, not plan.commands))
