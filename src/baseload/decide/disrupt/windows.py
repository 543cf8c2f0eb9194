"""Nodes whose pods changed not long ago take none that a consolidation moves (disruption and lifecycle spec 12.3).

That they are no source of consolidation meanwhile either, their Consolidatable condition says
(`decide.lifecycle.markers`).
"""

from collections.abc import Mapping

from baseload.decide.lifecycle import markers
from baseload.kube.types.karpenter import NodePool
from baseload.model.statenode import StateNode


def is_target_inside(state: StateNode, pools: Mapping[str, NodePool], now: int) -> bool:
    """Whether a node takes no moved pods for now; `pools` are those that take part in the simulation."""
    pool = pools.get(state.pool)
    if pool is None or state.claim is None:
        return False
    ends = markers.window_end(state.claim, pool)
    return ends is not None and now < ends
