"""The forceful controllers and the lifecycle, run once before a pass: where their part of a plan comes from.

What they delete is on its way out by the time that the pass looks at the nodes, so a pass plans for its pods.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from baseload.catalog.columns import InstanceTypes
from baseload.decide.provision.options import Options
from baseload.model.view import View
from baseload.plan.disrupt import NO_DRAIN, ClaimStep, Command, DrainStep, Offering


@dataclass(frozen=True, slots=True)
class Stepped:
    """The view after the step, and what it did."""

    view: View
    commands: tuple[Command, ...] = ()
    node_claims: tuple[ClaimStep, ...] = ()
    drain: DrainStep = NO_DRAIN
    unavailable_offerings: tuple[Offering, ...] = ()


def step(view: View, tables: Mapping[str, InstanceTypes], options: Options) -> Stepped:
    """One run of expiry, repair, interruption, garbage collection, liveness and drains."""
    return Stepped(view)
