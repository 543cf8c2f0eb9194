"""The settings of a scheduler profile, with Kubernetes' defaults (cluster-actors 2, 4, 5).

Names are those of KubeSchedulerConfiguration.
"""

from dataclasses import dataclass
from typing import Final, Literal

from baseload.kube.types.core import TopologySpreadConstraint
from baseload.values.label import HOSTNAME, ZONE

Strategy = Literal["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"]

SYSTEM_SPREAD: Final = (
    TopologySpreadConstraint(max_skew=3, topology_key=HOSTNAME, when_unsatisfiable="ScheduleAnyway"),
    TopologySpreadConstraint(max_skew=5, topology_key=ZONE, when_unsatisfiable="ScheduleAnyway"),
)
"""What pods without constraints of their own are spread by (4.9)"""


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each score counts; 0 leaves it out."""

    taint_toleration: int = 3
    node_affinity: int = 2
    node_resources_fit: int = 1
    pod_topology_spread: int = 2
    inter_pod_affinity: int = 2
    balanced_allocation: int = 1


@dataclass(frozen=True, slots=True)
class Profile:
    """One profile; the defaults are kube-scheduler's."""

    scheduler_name: str = "default-scheduler"
    weights: Weights = Weights()
    scoring_strategy: Strategy = "LeastAllocated"
    resources: tuple[tuple[str, int], ...] = (("cpu", 1), ("memory", 1))
    """What the scoring strategy looks at: (resource, weight)"""
    shape: tuple[tuple[int, int], ...] = ((0, 0), (100, 10))
    """RequestedToCapacityRatio: (utilization in percent, score of 0 to 10), by rising utilization"""
    balanced_resources: tuple[str, ...] = ("cpu", "memory")
    percentage_of_nodes_to_score: int = 0
    """0: the larger the cluster, the smaller the part (2.4)"""
    default_constraints: tuple[TopologySpreadConstraint, ...] = SYSTEM_SPREAD
    hard_pod_affinity_weight: int = 1
    min_candidate_nodes_percentage: int = 10
    min_candidate_nodes_absolute: int = 100

    @property
    def is_spread_by_system(self) -> bool:
        """Whether nodes without a zone are spread over all the same."""
        return self.default_constraints == SYSTEM_SPREAD


DEFAULT: Final = Profile()

_FEW: Final = 100  # so many nodes are always looked at (2.4)
_LEAST: Final = 5  # percent of the nodes of a cluster however large
_MOST: Final = 50
_STEP: Final = 125  # nodes by which the percentage falls by one


def nodes_to_find(nodes: int, percentage: int = 0) -> int:
    """How many feasible nodes end the search (2.4)."""
    if nodes < _FEW:
        return nodes
    percentage = percentage or max(_MOST - nodes // _STEP, _LEAST)
    return max(nodes * percentage // 100, _FEW)
