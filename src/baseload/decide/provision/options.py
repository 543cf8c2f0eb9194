"""The controller settings that change a provisioning decision, and the instant for which it is made."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from baseload.decide.lifecycle.repair_policies import Policy
from baseload.kube.types.core import TopologySpreadConstraint

FEATURE_GATES: Mapping[str, bool] = {
    "CapacityBuffer": False,
    "NodeOverlay": False,
    "NodeRepair": False,
    "ReservedCapacity": True,
    "SpotToSpotConsolidation": False,
    "StaticCapacity": False,
}
"""gate -> whether it is open by default"""


@dataclass(frozen=True, slots=True)
class Options:
    """Karpenter's own settings, under its own names (provisioning spec 25)."""

    preference_policy: Literal["Respect", "Ignore"] = "Respect"
    min_values_policy: Literal["Strict", "BestEffort"] = "Strict"
    ignore_dra_requests: bool = True
    feature_gates: Mapping[str, bool] = field(default_factory=dict)
    default_spread: tuple[TopologySpreadConstraint, ...] = ()  # schedulerConfig.podTopologySpread.defaultConstraints
    per_node_hour: float = 0.0  # dollars that a node costs besides its price; decides nothing, is told apart
    hold_repeated_disruption: bool = False  # leave undone what goes in circles, rather than only tell of it
    repair_policies: tuple[Policy, ...] | None = None  # None: the provider's own
    interruption_messages: tuple[str, ...] = ()  # bodies of messages that are in the queue, in EventBridge's JSON
    cloud_instances: frozenset[str] | None = None  # provider IDs that still exist; None: nobody knows
    now: int | None = None  # nanoseconds since the epoch; None: no instant was given

    def gate(self, name: str) -> bool:
        return self.feature_gates.get(name, FEATURE_GATES[name])
